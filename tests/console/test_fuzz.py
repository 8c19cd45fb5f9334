"""The API against its own description: whatever is sent, answers are as described and nothing breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
import schemathesis
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from console.limit import limiter

if TYPE_CHECKING:
    from tests.console.site import Site

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = 8
"""Of each operation."""


@pytest.mark.parametrize("is_about_jobs", [False, True])
def test_api_answers_as_described_to_anything(
    site: Site, monkeypatch: pytest.MonkeyPatch, *, is_about_jobs: bool
) -> None:
    """Every operation, with valid and broken parameters and bodies, as an admin."""
    monkeypatch.setattr(limiter, "enabled", False)
    headers = site.token("admin") | {"Accept-Encoding": "identity"}
    schema = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", site.app, headers=headers)
    count = 0
    for result in schema.get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()
        if ("/jobs" in operation.path) == is_about_jobs:
            _fuzz(operation, headers)
            count += 1
    assert count > 10


def _fuzz(operation: Any, headers: dict[str, str]) -> None:
    @hypothesis.given(case=operation.as_strategy())
    @hypothesis.settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    def check(case: Any) -> None:
        case.call_and_validate(headers=headers, checks=CHECKS)

    check()
