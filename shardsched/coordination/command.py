"""Writing down what is asked of a job besides its configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardsched.core.command import encode_commands
from shardsched.registry.base import Create, Put

if TYPE_CHECKING:
    from shardsched.core.command import Commands
    from shardsched.core.paths import Paths
    from shardsched.core.view import JobEntry


def write_commands(paths: Paths, entry: JobEntry, commands: Commands) -> Create | Put:
    """Return the operation that stores commands in place of those that were read."""
    path, value = paths.commands(entry.name), encode_commands(commands)
    if entry.commands_version is None:
        return Create(path, value)
    return Put(path, value, entry.commands_version)
