"""Counts errors in growing log files, each line once: every fire goes on where the one before it ended.

``LOG_FOLDER`` names the folder. Each item has its own files of it, and its checkpoint says how far it has read them.
A run that takes over from a killed one begins there, too, and not at the beginning.
"""

from __future__ import annotations

import os
from pathlib import Path

from shardsched import ShardingContext, sharded_job

BATCH_BYTES = 1 << 20
"""How much is read between two saves: so much is read again at most after a kill."""


@sharded_job("follow-logs", cron="0 * * * * ?", items=4)
def follow_logs(ctx: ShardingContext) -> None:
    """Read what was added to this item's files since its last save."""
    # The files of an item are others when there is another number of items, so that number belongs to the state.
    known = ctx.load({})
    if known.get("items") != ctx.items:
        known = {"items": ctx.items, "offsets": {}, "errors": 0}
    for path in ctx.mine(sorted(Path(os.environ["LOG_FOLDER"]).glob("*.log")), key=lambda path: path.name):
        while lines := _lines_after(path, known["offsets"].get(path.name, 0)):
            ctx.checkpoint()  # a safe place to stop
            known["errors"] += lines.count(b" ERROR ")
            known["offsets"][path.name] = known["offsets"].get(path.name, 0) + len(lines)
            ctx.save(known)  # stored when this returns
    ctx.log.info("%d errors so far", known["errors"])


def _lines_after(path: Path, offset: int) -> bytes:
    """Return whole lines of a file from an offset on, a batch at most."""
    with path.open("rb") as file:
        file.seek(offset)
        batch = file.read(BATCH_BYTES)
    return batch[: batch.rfind(b"\n") + 1]
