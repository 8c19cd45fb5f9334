"""The spectator's picture: what changes in the registry is seen, numbered, and kept when the registry is away."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from shardsched.admin.executor_status import ItemCounts
from shardsched.admin.live import LiveFleet
from shardsched.core.fire import ItemState
from shardsched.core.sight import ItemSight
from shardsched.errors import RegistryError
from shardsched.registry.base import Delete
from shardsched.testing import FakeClock, MemoryRegistry, MemoryStore
from tests.admin.stage import Stage
from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shardsched.admin.live_value import Picture


@pytest.fixture
def live(stage: Stage) -> Iterator[LiveFleet]:
    """A spectator of the stage."""
    fleet = LiveFleet(stage.registry, stage.paths, stage.clock)
    fleet.start()
    yield fleet
    fleet.stop()


def seen(live: LiveFleet, condition: Callable[[Picture], Any]) -> Picture:
    """Look until the picture is as it should be, and return it; its items are counted as counting them anew does."""
    picture = eventually(lambda: picture if condition(picture := live.look()) else None) or live.picture()
    assert picture.held == ItemCounts.of(job.status for job in picture.jobs.values())
    return picture


def letters(picture: Picture, job: str) -> str:
    """What the items of a job look like."""
    return "".join(sight.letter for sight in picture.jobs[job].sights) if job in picture.jobs else ""


def end(stage: Stage, job: str, item: int, state: ItemState, executor: str) -> None:
    """Have a run end, as its executor would write it."""
    stage.change_cursor(job, item, state=state, ended_at=stage.clock.now())
    stage.actors[executor].registry.transact([Delete(stage.paths.marker(job, item))])


def test_picture_follows_a_run(stage: Stage, live: LiveFleet) -> None:
    """An item waits, runs, and shows what became of it; the executor that runs it is counted."""
    stage.join("a")
    stage.join("b")
    stage.lead("a")
    stage.job("news", {"a": (0, 2), "b": (1,)}, items=3)
    picture = seen(live, lambda picture: letters(picture, "news") == "www")
    assert picture.jobs["news"].owners == (1, 2, 1)
    assert [(one.number, one.status.name, one.status.items) for one in picture.executors] == [(1, "a", 2), (2, "b", 1)]
    assert picture.leader is not None
    assert picture.leader.name == "a"

    stage.claim("news", 1, "b")
    stage.clock.advance(21)
    picture = seen(live, lambda picture: letters(picture, "news") == "wrw")
    assert [one.status.running for one in picture.executors] == [0, 1]

    end(stage, "news", 1, ItemState.FAILED, "b")
    picture = seen(live, lambda picture: letters(picture, "news") == "wfw")
    assert picture.counts() == {ItemSight.WAITING: 2, ItemSight.FAILED: 1}
    assert [one.status.running for one in picture.executors] == [0, 0]


def test_run_too_short_to_be_seen_shows_after_its_fire(stage: Stage, live: LiveFleet) -> None:
    """The cursors of a job that fires are read soon after, although no marker was ever seen."""
    stage.join("a")
    stage.job("news", {"a": (0,)}, cron="* * * * *")
    seen(live, lambda picture: picture.is_filled and letters(picture, "news") == "w")
    stage.clock.advance(60)
    fire = stage.clock.now()
    live.look()
    stage.write_cursor("news", 0, fire=fire)
    stage.clock.advance(1.1)
    assert letters(live.look(), "news") == "k"


def test_late_run_is_waited_for(stage: Stage, live: LiveFleet) -> None:
    """Where a fire is not handled at once, its cursors are read again, and no longer once it is."""
    stage.join("a")
    stage.job("news", {"a": (0,)}, cron="0 * * * *")
    seen(live, lambda picture: picture.is_filled and letters(picture, "news") == "w")
    stage.clock.advance(3600)
    fire = stage.clock.now()
    for _ in range(5):
        live.look()
        stage.clock.advance(1.5)
    stage.write_cursor("news", 0, fire=fire)
    for _ in range(10):
        stage.clock.advance(1.5)
        live.look()
    assert letters(live.picture(), "news") == "k"


def test_only_what_changed_is_told(stage: Stage, live: LiveFleet) -> None:
    """Who has seen a picture gets the jobs that changed and those that went; nothing is told where nothing changed."""
    stage.join("a")
    for name in ("news", "shop", "old"):
        stage.job(name, {"a": (0,)})
    first = seen(live, lambda picture: picture.is_filled and [*map(letters, [picture] * 3, picture.jobs)] == ["w"] * 3)
    whole = json.loads(live.change_text() or "")
    assert whole["full"]
    assert [job["name"] for job in whole["jobs"]] == ["news", "old", "shop"]
    assert whole["executors"][0]["name"] == "a"
    assert live.look().version == first.version
    assert live.change_text(first.version) is None

    stage.admin.jobs.pause("shop")
    stage.admin.jobs.delete("old")
    picture = seen(live, lambda picture: "old" not in picture.jobs and letters(picture, "shop") == "p")
    change = json.loads(live.change_text(first.version) or "")
    assert not change["full"]
    assert [(job["name"], job["state"], job["items"]) for job in change["jobs"]] == [("shop", "paused", "p")]
    assert change["removed"] == ["old"]
    assert json.loads(live.change_text("another-1") or "")["full"]
    assert json.loads(live.change_text(f"{picture.boot}-{picture.number + 1}") or "")["full"]
    assert json.loads(live.change_text("nonsense") or "")["full"]


def test_executor_that_leaves_stays_in_the_picture_for_a_while(stage: Stage, live: LiveFleet) -> None:
    """Its items are unowned until they are moved, its number is nobody else's, and after ten minutes it is forgotten."""
    stage.join("a")
    stage.join("b")
    stage.job("news", {"a": (0,), "b": (1,)}, items=2)
    seen(live, lambda picture: letters(picture, "news") == "ww")
    stage.leave("a")
    picture = seen(live, lambda picture: letters(picture, "news") == "uw")
    assert [(one.number, one.status.name, one.status.state) for one in picture.executors] == [
        (1, "a", "gone"),
        (2, "b", "live"),
    ]
    assert picture.executors[0].left_at is not None
    status = live.status()
    assert status is not None
    assert [one.name for one in status.executors] == ["b"]

    stage.join("c")
    stage.assign("news", {"c": (0,), "b": (1,)})
    picture = seen(live, lambda picture: letters(picture, "news") == "ww")
    assert picture.jobs["news"].owners == (3, 2)
    stage.clock.advance(601)
    live.look()
    assert [one.number for one in live.look().executors] == [2, 3]


def test_item_that_moves_while_it_runs_shows_who_runs_it(stage: Stage, live: LiveFleet) -> None:
    """A drained executor finishes what it runs; the picture shows it there until then."""
    stage.join("a")
    stage.join("b")
    stage.job("news", {"a": (0,)})
    stage.claim("news", 0, "a", attempt=1)
    stage.assign("news", {"b": (0,)})
    stage.admin.executors.drain("a", by="li", reason="new disk")
    picture = seen(live, lambda picture: letters(picture, "news") == "r" and len(picture.executors) == 2)
    assert picture.jobs["news"].owners == (1,)
    picture = seen(live, lambda picture: picture.executors[0].status.state == "drained")
    assert picture.executors[0].status.running == 1


def test_job_that_cannot_be_used_harms_no_other(stage: Stage, live: LiveFleet) -> None:
    """What is stored badly shows as such: a job as held, an item as unreadable."""
    stage.join("a")
    stage.job("news", {"a": (0, 1)}, items=2)
    stage.put(stage.paths.job("odd"), b"{")
    stage.write_cursor("news", 0)
    stage.put(stage.paths.cursor("news", 0), b"nonsense")
    picture = seen(live, lambda picture: "odd" in picture.jobs and letters(picture, "news") == "xw")
    assert picture.jobs["odd"].status.state == "held"
    assert picture.jobs["odd"].sights == ()


def test_job_made_anew_forgets_the_old_one(stage: Stage, live: LiveFleet) -> None:
    """The cursors of a job that was deleted say nothing of one that has its name."""
    stage.join("a")
    stage.job("news", {"a": (0,)})
    stage.write_cursor("news", 0, state=ItemState.FAILED)
    seen(live, lambda picture: letters(picture, "news") == "f")
    stage.admin.jobs.delete("news")
    stage.job("news", {"a": (0,)})
    seen(live, lambda picture: letters(picture, "news") == "w")


def test_last_picture_stays_while_the_registry_is_away() -> None:
    """It says why there is nothing newer, is a new picture for those who look on, and goes on by itself."""
    clock = FakeClock()
    store = MemoryStore(clock)
    made: list[MemoryRegistry] = []

    def make() -> MemoryRegistry:
        made.append(MemoryRegistry(store))
        made[-1].open()
        return made[-1]

    stage, registry = Stage(make), make()
    live = LiveFleet(registry, stage.paths, clock)
    live.start()
    stage.join("a")
    stage.job("news", {"a": (0,)})
    first = seen(live, lambda picture: letters(picture, "news") == "w")
    registry.disconnect()
    clock.advance(5)
    with pytest.raises(RegistryError):
        live.look()
    away = live.picture()
    assert away.fault
    assert away.at == first.at
    assert letters(away, "news") == "w"
    assert json.loads(live.change_text(first.version) or "")["fault"] == away.fault
    registry.reconnect()
    back = seen(live, lambda picture: picture.fault is None)
    assert back.number > away.number
    assert back.at == first.at + timedelta(seconds=5) if first.at else False
    live.stop()
    for one in made:
        one.close()


def test_look_at_what_does_nothing_costs_little(stage: Stage, live: LiveFleet) -> None:
    """At rest a look reads one node, and now and then the load reports."""
    stage.join("a")
    for number in range(5):
        stage.job(f"job-{number}", {"a": (0, 1, 2)}, items=3)
    seen(live, lambda picture: picture.is_filled and [*map(letters, [picture] * 5, picture.jobs)] == ["www"] * 5)
    stage.clock.advance(11)
    live.look()
    before = live.request_count
    for _ in range(4):
        live.look()
    assert live.request_count - before == 4
    live.attend("job-1")
    live.look()
    assert live.request_count - before == 6
