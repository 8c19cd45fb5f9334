"""What may be wrong with jobs that fire after others."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from shardsched.admin.finding import Case, Fault, Finding
from shardsched.core.dependency import upstream_fault, upstream_of
from shardsched.core.tally_record import decode_tally
from shardsched.errors import CorruptNodeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from shardsched.admin.mend import Mend
    from shardsched.admin.reader import Reader
    from shardsched.core.view import JobEntry


def chain_cases(mend: Mend, reader: Reader, entries: Mapping[str, JobEntry]) -> Iterator[Case]:
    """Return what is wrong with the tallies, and with who waits for whom."""
    for name, node in sorted(reader.nodes("fires", entries).items()):
        try:
            decode_tally(node.path, node.value)
        except CorruptNodeError as error:
            finding = Finding(
                fault=Fault.UNREADABLE,
                path=node.path,
                job=name,
                message=f"its fires are not counted, and nothing fires after them: {error.reason}",
                cure="run 'shardsched doctor --repair'; its fires count from then on",
                is_mendable=True,
            )
            yield Case(finding, partial(mend.delete_node, node.path, node.version))
    after = {name: entry.config.after for name, entry in entries.items() if entry.config is not None}
    for name in sorted(name for name, upstream in after.items() if upstream):
        config = entries[name].config
        fault = upstream_fault(config, entries) if config is not None else None
        cure = f"create it, or change 'after' of {name} with 'shardsched job update'"
        path = mend.paths.job(name)
        if fault is not None:
            yield Case(Finding(fault=Fault.UNKNOWN_UPSTREAM, path=path, job=name, message=fault, cure=cure))
        if name in upstream_of(name, lambda job: after.get(job, ())):
            message = "it waits for itself, directly or by way of others: nothing of the circle fires after the rest"
            cure = f"change 'after' of {name} with 'shardsched job update'"
            yield Case(Finding(fault=Fault.CIRCLE, path=path, job=name, message=message, cure=cure))
