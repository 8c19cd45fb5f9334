"""What a pool makes of the modules it is given, and what its processes import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from shardsched.execution import launch
from shardsched.execution.pool import Outcome
from tests.execution.pool_harness import all_dead

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.execution.pool_harness import PoolUnderTest

LAUNCH = launch.__file__


def test_module_that_cannot_be_imported_fails_its_own_runs_only(
    make_pool: Callable[..., PoolUnderTest], tmp_path: Path
) -> None:
    """Handlers of a broken module fail with its traceback; the others work."""
    (tmp_path / "broken_jobs.py").write_text("import no_such_module_anywhere\n")
    (tmp_path / "exiting_jobs.py").write_text("raise SystemExit(3)\n")
    pool = make_pool(modules=["broken_jobs", "exiting_jobs", "tests.execution.item_jobs"], import_paths=[str(tmp_path)])
    pool.start()
    assert set(pool.ready().failures) == {"broken_jobs", "exiting_jobs"}
    end = pool.run("handler_of_broken")
    assert end.outcome is Outcome.START_FAILED
    assert "broken_jobs" in end.message
    assert "no_such_module_anywhere" in end.traceback
    assert pool.run("quick").outcome is Outcome.OK


def test_failures_that_fill_the_stream_are_told_whole(make_pool: Callable[..., PoolUnderTest], tmp_path: Path) -> None:
    """More tracebacks than a socket buffers arrive all, and the fork server is not taken to be broken meanwhile."""
    names = [f"broken_{number}" for number in range(60)]
    for name in names:
        (tmp_path / f"{name}.py").write_text(f"raise ValueError('x' * 20_000)  # {name}\n")
    pool = make_pool(modules=[*names, "tests.execution.item_jobs"], import_paths=[str(tmp_path)])
    pool.start()
    assert set(pool.ready().failures) == set(names)
    assert pool.run("quick").outcome is Outcome.OK


def test_module_that_starts_a_thread_is_run_without_forking(
    make_pool: Callable[..., PoolUnderTest], tmp_path: Path
) -> None:
    """A fork would copy locks that the thread holds, so each item gets a fresh interpreter, and stops as well."""
    (tmp_path / "threaded_jobs.py").write_text(
        "import threading\n"
        "from shardsched import sharded_job\n"
        "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
        "@sharded_job('threaded', cron='0 0 1 1 *')\n"
        "def threaded(ctx): print('threads', threading.active_count())\n"
    )
    pool = make_pool(modules=["threaded_jobs", "tests.execution.item_jobs"], import_paths=[str(tmp_path)])
    pool.start()
    assert pool.ready().thread_count == 2
    end = pool.run("threaded")
    assert end.outcome is Outcome.OK
    assert pool.log(end) == "threads 2\n"
    run_id = pool.launch("daemon")
    pids = pool.pids(run_id)
    pool.pool.stop_run(run_id, "test", 5)
    assert pool.ended(run_id).outcome is Outcome.STOPPED
    assert all_dead(pids)


def test_module_that_kills_the_fork_server_fails_the_run(
    make_pool: Callable[..., PoolUnderTest], tmp_path: Path
) -> None:
    """A module whose import ends the process fails each run with the reason, without a loop of restarts."""
    (tmp_path / "deadly_jobs.py").write_text("import os\nos._exit(5)\n")
    pool = make_pool(modules=["deadly_jobs"], import_paths=[str(tmp_path)])
    pool.start()
    for _ in range(2):
        end = pool.run("quick")
        assert end.outcome is Outcome.START_FAILED
        assert "code 5 while importing deadly_jobs" in end.message


def test_warden_imports_nothing_of_the_application(pool: PoolUnderTest) -> None:
    """The warden runs isolated and maps no library but Python's own; the fork server has the application's."""
    pool.ready()
    command = Path(f"/proc/{pool.pool.warden_pid}/cmdline").read_bytes().split(b"\0")
    assert command[1:3] == [b"-I", b"-S"]
    assert "site-packages" not in Path(f"/proc/{pool.pool.warden_pid}/maps").read_text()


def test_warden_started_bare_does_not_run_the_package() -> None:
    """Nothing outside the standard library and this folder is imported by the warden's module."""
    code = (
        "import sys; "
        f"import runpy; launch = runpy.run_path({str(LAUNCH)!r}); launch['_import_bare']();"
        "import shardsched.execution.warden;"
        "print(*sorted(name for name in sys.modules if name.startswith('shardsched')))"
    )
    answer = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    modules = set(answer.stdout.split())
    assert "shardsched.execution.warden" in modules
    assert not {name for name in modules if name.count(".") > 1 and not name.startswith("shardsched.execution.")}
    assert not modules & {"shardsched.errors", "shardsched.execution.context", "shardsched.core"}
