"""What the document on types of jobs shows is run."""

from __future__ import annotations

import importlib
import re
import shlex
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from examples.pydoc_site import PydocServer, PydocSite
from shardsched.core.setting import new_job
from shardsched.execution.handlers import TABLE
from shardsched.execution.pool import Outcome
from shardsched.testing import FakeClock
from tests.execution.pool_harness import EPOCH, PoolUnderTest, spec
from tests.execution.web_server import WebServer
from tests.packaging.source import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from shardsched.core.job import JobConfig
    from tests.admin.stage import Stage
    from tests.cli.conftest import CommandLine

TEXT = (ROOT / "docs" / "job-types.md").read_text()
COMMANDS = [
    shlex.split(line.removeprefix("$ shardsched ")) for line in re.findall(r"^\$ shardsched .*$", TEXT, re.MULTILINE)
]
CODE = re.findall(r"^```python\n# (crawler/\w+\.py).*?\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
BUILTIN_JOBS = {"disk-space", "largest", "reindex", "shelves"}


@pytest.fixture(scope="module")
def crawler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the document's modules, which are imported."""
    folder = tmp_path_factory.mktemp("document")
    (folder / "crawler").mkdir()
    for name in {name for name, _ in CODE}:
        (folder / name).write_text("\n".join(code for of, code in CODE if of == name))
    sys.path.insert(0, str(folder))
    importlib.import_module("crawler.jobs")
    yield folder
    sys.path.remove(str(folder))


@pytest.fixture
def pool(crawler: Path, make_pool: Callable[..., PoolUnderTest]) -> PoolUnderTest:
    """A pool that hosts them."""
    pool = make_pool(modules=["crawler.jobs"], import_paths=[str(crawler)])
    pool.start()
    return pool


def described(name: str) -> JobConfig:
    """Return a job as the document's code describes it."""
    handler = TABLE.get(name)
    assert handler is not None
    settings = {key: value for key, value in handler.settings.items() if key != "overwrite"}
    return new_job(name, "u", {"handler": name, **settings}, FakeClock().now())


def run(pool: PoolUnderTest, name: str, item: int = 0, **changes: Any) -> tuple[Outcome, str, dict[str, Any]]:
    """Run an item of a job of the document; return how it ended, its log and its stats."""
    config = described(name)
    run_id = f"{name}-{item}"
    order = spec(config.handler, run_id, config.param, config.item_param(item), task={**config.task, **changes} or None)
    pool.pool.launch(order, EPOCH)
    end = pool.ended(run_id, 60)
    return end.outcome, pool.log(end), dict(end.stats)


def test_document_has_an_example_of_each_type() -> None:
    """The kinds and the ways to say them are all there."""
    assert {command[2] for command in COMMANDS} == BUILTIN_JOBS
    assert {name for name, _ in CODE} == {"crawler/jobs.py", "crawler/spiders.py"}


@pytest.mark.usefixtures("crawler")
def test_commands_and_code_of_the_document_make_the_same_jobs(stage: Stage, shell: CommandLine) -> None:
    """A job is the same whichever way it was said, but for what the code says of defaults."""
    for command in COMMANDS:
        shell.ok(*command)
    for name in BUILTIN_JOBS:
        by_command, by_code = stage.config(name), described(name)
        assert (by_command.handler, by_command.cron, by_command.items) == (by_code.handler, by_code.cron, by_code.items)
        assert (by_command.item_params, by_command.param) == (by_code.item_params, by_code.param)
        assert {key: by_code.task[key] for key in by_command.task} == by_command.task


def test_programs_of_the_document_run(pool: PoolUnderTest) -> None:
    """Each item gets its parameter."""
    outcome, log, _ = run(pool, "disk-space", item=1)
    assert outcome is Outcome.OK
    assert log.startswith("Filesystem")
    assert run(pool, "largest")[0] is Outcome.OK


def test_request_of_the_document_is_made(pool: PoolUnderTest) -> None:
    """It asks what it should."""
    with WebServer() as web:
        outcome, _, stats = run(pool, "reindex", url=web.url + "/reindex/{param}")
        assert (outcome, stats["status"]) == (Outcome.OK, 200)
        assert (web.asked[0].path, web.asked[0].body) == ("/reindex/fiction", '{"shelf": "fiction", "token": 0}')


def test_flows_of_the_document_run(pool: PoolUnderTest) -> None:
    """Both forms work their batches."""
    outcome, log, stats = run(pool, "orders")
    assert (outcome, stats) == (Outcome.OK, {"batches": 4, "records": 10})
    assert "ships order 0, order 1, order 2" in log
    outcome, log, stats = run(pool, "pages")
    assert (outcome, stats) == (Outcome.OK, {"batches": 1, "records": 1})
    assert "reads ['page 0']" in log


def test_spider_of_the_document_crawls(pool: PoolUnderTest) -> None:
    """It reads the site."""
    with PydocServer(PydocSite(("json", "zipapp"))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        outcome, _, stats = run(pool, "shelves", args={"site": server.url})
        server.shutdown()
        thread.join()
    assert outcome is Outcome.OK
    assert stats["item_scraped_count"] >= 5
