"""Handlers with listeners, for tests of who is told what."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from shardsched import FireInfo, JobListener, ShardingContext, sharded_job

if TYPE_CHECKING:
    from collections.abc import Mapping

NEVER = "0 0 0 1 1 ? 2099"


class Teller(JobListener):
    """Says what it is told, and fails where it is told to."""

    def __init__(self, name: str, fails: frozenset[str] = frozenset()) -> None:
        self.name = name
        self.fails = fails

    def _tell(self, what: str, about: object) -> None:
        print(self.name, what, about)  # noqa: T201 - it is what the test reads
        if what in self.fails:
            message = f"{self.name} fails"
            raise RuntimeError(message)

    def before_item(self, ctx: ShardingContext) -> None:
        """Say it."""
        self._tell("before", ctx.item)

    def after_item(self, ctx: ShardingContext, error: BaseException | None) -> None:
        """Say it."""
        self._tell("after", None if error is None else type(error).__name__)

    def fire_started(self, fire: FireInfo) -> None:
        """Say it."""
        self._tell("started", f"{fire.fire_time:%H:%M} {fire.items} {fire.outcome}")

    def fire_completed(self, fire: FireInfo) -> None:
        """Say it."""
        ended: Mapping[str, tuple[int, ...]] = fire.ended
        self._tell("completed", f"{fire.outcome} {dict(ended)}")


class ItemsOnly(JobListener):
    """Is told of items alone."""

    def before_item(self, ctx: ShardingContext) -> None:
        """Say it."""
        print("items only", ctx.item, file=sys.stderr)  # noqa: T201 - it is what the test reads


EVERYTHING = frozenset({"before", "after", "started", "completed"})


@sharded_job("heard", cron=NEVER, listeners=[Teller("first"), Teller("second")])
def heard(ctx: ShardingContext) -> None:
    """Say something in the middle, or raise."""
    print("handler")  # noqa: T201 - it is what the test reads
    if ctx.param:
        raise LookupError(ctx.param)


@sharded_job("heard-async", cron=NEVER, listeners=[Teller("first")])
async def heard_async(_: ShardingContext) -> None:
    """Say something in the middle, from a coroutine."""
    print("handler")  # noqa: T201 - it is what the test reads


@sharded_job("badly-heard", cron=NEVER, listeners=[Teller("bad", EVERYTHING), Teller("good")])
def badly_heard(_: ShardingContext) -> None:
    """Be heard by a listener that always fails."""


@sharded_job("items-heard", cron=NEVER, listeners=[ItemsOnly()])
def items_heard(_: ShardingContext) -> None:
    """Be heard by a listener that is not told of fires."""
