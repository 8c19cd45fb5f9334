"""The API against its own description: whatever is sent, answers are as described and nothing breaks."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
import schemathesis
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from console.limit import limiter

if TYPE_CHECKING:
    from tests.console.site import Site

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
BROKEN_CHECKS = [*CHECKS, negative_data_rejection]
EXAMPLES = int(os.environ.get("SHARDSCHED_TEST_EXAMPLES", "5"))
"""Of each operation, in each mode."""
_SETTINGS = hypothesis.settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(hypothesis.HealthCheck),
)


@pytest.mark.timeout(120 + 20 * EXAMPLES)
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["valid", "broken"])
@pytest.mark.parametrize("is_about_jobs", [False, True], ids=["others", "jobs"])
def test_api_answers_as_described_to_anything(
    site: Site, monkeypatch: pytest.MonkeyPatch, *, is_about_jobs: bool, mode: GenerationMode
) -> None:
    """Every operation, with valid parameters and bodies, and with broken ones, which are refused; as an admin."""
    monkeypatch.setattr(limiter, "enabled", False)
    headers = site.token("admin") | {"Accept-Encoding": "identity"}
    schema = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", site.app, headers=headers)
    schema.config.generation.update(with_security_parameters=False)  # else what lacks the token is told apart in vain
    count = 0
    for result in schema.get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()
        if ("/jobs" in operation.path) == is_about_jobs:
            count += _fuzz(operation, headers, mode)
    assert count > 10


def _fuzz(operation: Any, headers: dict[str, str], mode: GenerationMode) -> bool:
    """Return whether there was anything to try; without parameters nothing can be broken."""
    checks = CHECKS if mode is GenerationMode.POSITIVE else BROKEN_CHECKS

    @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
    @_SETTINGS
    def check(case: Any) -> None:
        case.call_and_validate(headers=headers, checks=checks)

    try:
        check()
    except hypothesis.errors.Unsatisfiable:
        return False
    return True
