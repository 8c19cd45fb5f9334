"""What people and code may do to jobs: create, change, pause and delete them."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shardsched.admin.change import JobChange, Registration
from shardsched.admin.race import ATTEMPT_COUNT, until_won
from shardsched.admin.reader import Reader
from shardsched.admin.removal import JobRemoval
from shardsched.admin.switch import switch_items
from shardsched.admin.upstream import upstream_checks
from shardsched.coordination.namespace import ensure_namespace
from shardsched.coordination.removal import remove_job_nodes
from shardsched.core.eligibility import hosted_handler
from shardsched.core.job_record import decode_job, encode_job
from shardsched.core.name import check_job_name
from shardsched.core.setting import PUBLIC_NAMES, changed_job, differing_settings, make_settings, new_job
from shardsched.core.task import is_builtin
from shardsched.errors import (
    ConfigurationError,
    ConflictError,
    CorruptNodeError,
    JobExistsError,
    JobNotFoundError,
    StaleVersionError,
)
from shardsched.registry.base import Committed, Create, Put, Refused
from shardsched.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from shardsched.admin.removal import Removal
    from shardsched.clock import Clock
    from shardsched.core.job import JobConfig
    from shardsched.core.paths import Paths
    from shardsched.core.view import JobEntry
    from shardsched.registry.base import Node, Registry


class Jobs:
    """The jobs of one namespace. **Thread:** any; nothing is kept between calls."""

    def __init__(self, registry: Registry, paths: Paths, clock: Clock) -> None:
        self._registry = registry
        self._paths = paths
        self._clock = clock
        self._reader = Reader(registry, paths)
        self._removal = JobRemoval(registry, paths, clock)

    def names(self) -> tuple[str, ...]:
        """Return the names of all jobs."""
        return self._reader.job_names()

    def entry(self, name: str) -> JobEntry:
        """Return a job as it is stored.

        Raises:
            JobNotFoundError: There is no such job.
            RegistryUnavailableError: No answer.
        """
        return self._reader.entry(name)

    def create(self, name: str, settings: Mapping[str, Any], *, must_be_hosted: bool = True) -> JobConfig:
        """Create a job.

        Args:
            name: The job's name.
            settings: Settings by the decorator's names; ``handler`` at least, which is its name, or
                ``module:function`` where only one handler is that function.
            must_be_hosted: Whether a living executor must host the handler; else the job may wait for one.

        **Atomicity:** the job and the nodes above its items, all together. **Unknown:** read the job before repeating.

        Raises:
            JobExistsError: There is a job of that name.
            ConfigurationError: A setting is refused, or nobody hosts the handler; nothing was written.
            RegistryUnavailableError: No answer.
        """
        config = new_job(name, uuid.uuid4().hex, settings, self._clock.now())
        if must_be_hosted:
            config = replace(config, handler=self._hosted(config.handler))
        self._write_new(config)
        return config

    def register(self, name: str, settings: Mapping[str, Any], *, overwrite: bool = False) -> Registration:
        """Create a job as its code describes it, or compare what is stored with that.

        The registry's copy wins unless `overwrite` is set. Whether a job is paused is people's business: it counts when
        the job is created and never after.

        Args:
            name: The job's name, and its handler's where the settings name none.
            settings: As for `create`.
            overwrite: Whether the code's settings replace the registry's.

        **Atomicity:** as `create` and `update`. **Unknown:** calling again is safe.

        Raises:
            ConfigurationError: A setting is refused.
            RegistryUnavailableError: No answer.
        """
        described = {"handler": name, **settings}
        for _ in range(ATTEMPT_COUNT):
            stored = self._reader.entries((check_job_name(name),)).get(name)
            armed_at = stored.config.armed_at if stored and stored.config else self._clock.now()
            # A job that has had its last fire is none of code's mistakes: it must have had one when it was armed.
            wanted = new_job(name, uuid.uuid4().hex, described, armed_at)
            registration = self._settle(stored, wanted, overwrite=overwrite)
            if registration is not None:
                return registration
        return Registration(job=name, fault="others change it all the time")

    def _settle(self, stored: JobEntry | None, wanted: JobConfig, *, overwrite: bool) -> Registration | None:
        """Create a job, or compare what is stored with what code wants; None if it changed meanwhile."""
        name = wanted.name
        if stored is None:
            try:
                self._write_new(wanted)
            except JobExistsError:
                return None
            return Registration(job=name, is_created=True)
        if stored.config is not None and stored.config.deleting:
            is_gone = remove_job_nodes(self._registry, self._paths, name)
            return None if is_gone else Registration(job=name, fault="it is being deleted")
        if stored.config is None and not overwrite:
            return Registration(job=name, fault=stored.held)
        names = [setting for setting in PUBLIC_NAMES if setting != "paused"]
        if stored.config is not None:
            differing = set(differing_settings(stored.config, wanted))
            names = [setting for setting in names if setting in differing]
        differences = tuple(PUBLIC_NAMES[setting] for setting in names)
        if not names or not overwrite:
            return Registration(job=name, differences=differences)
        return self._overwrite(stored, {setting: getattr(wanted, setting) for setting in names})

    def _overwrite(self, stored: JobEntry, changes: dict[str, Any]) -> Registration | None:
        name, differences = stored.name, tuple(PUBLIC_NAMES[setting] for setting in changes)
        try:
            self._update(name, changes, expected_version=stored.version)
        except (StaleVersionError, JobNotFoundError):
            return None
        except (CorruptNodeError, ConfigurationError) as error:
            return Registration(job=name, differences=differences, fault=str(error))
        return Registration(job=name, is_updated=True, differences=differences)

    def _write_new(self, config: JobConfig) -> None:
        ensure_namespace(self._registry, self._paths)
        path = self._paths.job(config.name)
        parents = (self._paths.cursors(config.name), self._paths.markers(config.name))
        for _ in range(ATTEMPT_COUNT):
            # Parents may be left of a job that was removed by hand; their records are of another uid and do no harm.
            job, *above = self._registry.read((path, *parents), fresh=True)
            if job is not None:
                break
            missing = [Create(parent) for parent, node in zip(parents, above, strict=True) if node is None]
            creates = [Create(path, encode_job(config)), *missing, *upstream_checks(self._reader, config)]
            if isinstance(self._registry.transact(creates), Committed):
                return
        raise JobExistsError(job=config.name)

    def _hosted(self, handler: str) -> str:
        """Return the name of the hosted handler that is meant; a built-in one need not be hosted yet.

        Raises:
            JobConfigError: No living executor hosts it, or several handlers are that function.
        """
        return handler if is_builtin(handler) else hosted_handler(handler, self._reader.members())

    def update(
        self,
        name: str,
        changes: Mapping[str, Any],
        *,
        expected_version: int | None = None,
        must_be_hosted: bool = True,
    ) -> JobChange:
        """Change settings of a job, or mend a stored setting that cannot be read by giving it anew.

        Args:
            name: The job's name.
            changes: Settings by the decorator's names.
            expected_version: The version that the changes were decided on; None to change whatever is there.
            must_be_hosted: Whether a living executor must host a handler that is given.

        **Atomicity:** all changes or none. **Unknown:** read the job before repeating.

        Raises:
            JobNotFoundError: There is no such job.
            StaleVersionError: The job has another version than expected.
            ConflictError: The job is being deleted.
            ConfigurationError: A setting is refused; nothing was written.
            CorruptNodeError: The stored record cannot be read, also with these changes.
            RegistryUnavailableError: No answer.
        """
        return self._update(
            name, make_settings(changes), expected_version=expected_version, must_be_hosted=must_be_hosted
        )

    def _update(
        self, name: str, changes: dict[str, Any], *, expected_version: int | None, must_be_hosted: bool = False
    ) -> JobChange:
        name = self._reader.known_job(name)
        check_job_name(name)
        if must_be_hosted and "handler" in changes:
            changes["handler"] = self._hosted(changes["handler"])
        return until_won(lambda: self._try_update(name, changes, expected_version), self._paths.job(name))

    def _try_update(self, name: str, changes: Mapping[str, Any], expected_version: int | None) -> JobChange | None:
        path = self._paths.job(name)
        node = self._registry.get(path, fresh=True)
        if node is None:
            raise JobNotFoundError(job=name)
        if expected_version not in {None, node.version}:
            raise StaleVersionError(path=path, expected_version=expected_version)
        config, changed = self._changed(node, name, changes)
        if not changed:
            return JobChange(job=name, version=node.version, changed=())
        checks = upstream_checks(self._reader, config) if "after" in changed else ()
        outcome = self._registry.transact([Put(path, encode_job(config), node.version), *checks])
        if isinstance(outcome, Refused):
            return None
        return JobChange(job=name, version=outcome.versions[0], changed=changed)

    def _changed(self, node: Node, name: str, changes: Mapping[str, Any]) -> tuple[JobConfig, tuple[str, ...]]:
        """Return the changed configuration, and the settings that differ."""
        config = changed_job(node.path, name, node.value, changes, self._clock.now())
        if config.deleting:
            raise ConflictError(
                Sentence("job %(name)r is being deleted; wait until it is gone, then create it anew", name=name)
            )
        try:
            differing = differing_settings(decode_job(node.path, name, node.value), config)
        except CorruptNodeError:
            differing = tuple(changes)
        return config, tuple(PUBLIC_NAMES[setting] for setting in differing)

    def pause(self, name: str) -> JobChange:
        """Have a job start no scheduled fire; what runs goes on, and triggers are still taken.

        Nothing changes if it is paused already. Raises as `update`.
        """
        return self.update(name, {"paused": True})

    def resume(self, name: str) -> JobChange:
        """Have a paused job fire again, from its next fire on: paused time is not caught up.

        Nothing changes if it is not paused. Raises as `update`.
        """
        return self.update(name, {"paused": False})

    def disable(self, name: str, items: Iterable[int]) -> JobChange:
        """Have items of a job start nothing: no fire, no trigger, no retry; what runs goes on.

        Raises as `update`, and `ItemParameterError` where there is no such item.
        """
        return switch_items(self.entry, self.update, name, items, is_enabled=False)

    def enable(self, name: str, items: Iterable[int] | None = None) -> JobChange:
        """Have disabled items of a job, all where none are named, start again from their next fire on.

        Raises as `disable`.
        """
        return switch_items(self.entry, self.update, name, items, is_enabled=True)

    def delete(self, name: str, *, wait_s: float = 30.0, by: str = "") -> Removal:
        """Stop a job's items, then remove all of its nodes; what is interrupted goes on when called again.

        Args:
            name: The job's name, also one that was made by hand and is not valid.
            wait_s: How long to wait for its items to stop, in seconds. If it is not enough, the leader finishes.
            by: Who asks.

        **Atomicity:** first the job is marked, so that nothing starts any more; its own node goes last. **Unknown:**
        calling again is safe.

        Raises:
            JobNotFoundError: There is no such job.
            RegistryUnavailableError: No answer.
        """
        return self._removal.delete(name, wait_s=wait_s, by=by)
