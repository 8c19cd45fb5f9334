"""The command line, run in this process against a registry of the test's own."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from shardsched.cli import main
from shardsched.registry.url import open_registry
from tests.admin.stage import Stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from click.testing import Result

    from shardsched.registry.base import Registry


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Runs commands."""

    url: str
    """The registry."""
    namespace: str
    """The namespace."""
    history: str = "none"
    """The history database."""

    def __call__(self, *arguments: str, stdin: str | None = None) -> Result:
        """Run a command with the registry and namespace of the test."""
        environment = {
            "SHARDSCHED_REGISTRY": self.url,
            "SHARDSCHED_NAMESPACE": self.namespace,
            "SHARDSCHED_HISTORY": self.history,
        }
        return CliRunner(env=environment).invoke(main, list(arguments), input=stdin)

    def ok(self, *arguments: str) -> str:
        """Run a command that must succeed; return what it printed."""
        result = self(*arguments)
        assert result.exit_code == 0, result.output
        assert result.stderr == ""
        return result.stdout

    def json(self, *arguments: str) -> Any:
        """Run a reading command; return the JSON that it printed."""
        return json.loads(self.ok(*arguments, "--json"))

    def error(self, code: int, *arguments: str) -> str:
        """Run a command that must fail with a code; return its one line on standard error."""
        result = self(*arguments)
        assert result.exit_code == code, (result.exit_code, result.output)
        lines = result.stderr.splitlines()
        assert len(lines) == 1, lines
        assert lines[0].startswith("shardsched: ")
        return lines[0]


@pytest.fixture(params=["memory", "sqlite"])
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """A namespace of the test's own."""
    is_memory = request.param == "memory"
    url = f"memory://{uuid.uuid4().hex}" if is_memory else f"sqlite:///{tmp_path / 'fleet.db'}"
    made: list[Registry] = []

    def make() -> Registry:
        registry = open_registry(url)
        registry.open()
        made.append(registry)
        return registry

    stage = Stage(make)
    stage.url = url
    yield stage
    for registry in made:
        registry.close()


@pytest.fixture
def shell(stage: Stage) -> CommandLine:
    """The command line on the stage's namespace."""
    return CommandLine(stage.url, stage.paths.namespace)
