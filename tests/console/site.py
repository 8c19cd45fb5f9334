"""A console with a fleet in memory, as tests use it."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Any

from argon2 import PasswordHasher

from console.app import create_app
from console.context import Context
from console.fleet import Link
from console.password import Passwords
from console.setting import ConsoleSettings
from shardsched.admin import Admin
from shardsched.admin.live import LiveFleet
from shardsched.core.paths import Paths
from shardsched.errors import RegistryUnavailableError
from shardsched.history.query import History
from shardsched.people import People
from shardsched.people.role import Role
from shardsched.testing import FakeClock, MemoryRegistry, MemoryStore

if TYPE_CHECKING:
    from pathlib import Path

    from flask import Flask
    from flask.testing import FlaskClient
    from werkzeug.test import TestResponse

    from shardsched.people.user import User

PASSWORD = "an otter paints seven bridges"  # noqa: S105 - of people who do not exist
KEY = "for-tests-only-0123456789-abcdefghij"
_TOKEN = re.compile(r'name="csrf-token" content="([^"]+)"')
CHEAP = Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
"""Hashing that takes no time; what it costs otherwise is not ours to test."""


class Site:
    """One console, its clock, its registry and its people.

    Args:
        folder: For the history database.
        empty_history: A history database with tables and no rows, to be copied: making the tables takes long.
        database_url: Another history database.
        **settings: Of the console, where not the usual.
    """

    def __init__(self, folder: Path, empty_history: Path, *, database_url: str = "", **settings: Any) -> None:
        self.clock = FakeClock()
        self.store = MemoryStore(self.clock)
        self.paths = Paths("fleet")
        self.is_registry_away = False
        self.registry: MemoryRegistry | None = None
        self.database = folder / "history.db"
        shutil.copy(empty_history, self.database)
        url = database_url or f"sqlite:///{self.database}"
        self.people = People(url, "fleet", self.clock, patience_s=1.0)
        self.history = History(url, namespace="fleet", clock=self.clock, patience_s=1.0)
        self.app: Flask = create_app(
            ConsoleSettings(**{"namespace": "fleet", "registry": "memory://", "secret_key": KEY} | settings),
            self._connect,
            self.people,
            self.history,
            clock=self.clock,
            passwords=CHEAP,
        )
        self.app.testing = False
        self._users: dict[str, User] = {}

    @property
    def parts(self) -> Context:
        """The console's parts."""
        parts = self.app.extensions["console"]
        assert isinstance(parts, Context)
        return parts

    def _connect(self) -> Link:
        if self.is_registry_away:
            raise RegistryUnavailableError("the registry is away, says the test")
        self.registry = MemoryRegistry(self.store)
        self.registry.open()
        return Link(
            admin=Admin(self.registry, self.paths, self.clock),
            live=LiveFleet(self.registry, self.paths, self.clock),
            close=self.registry.close,
        )

    def user(self, role: str = "admin", name: str = "") -> User:
        """Return the user of a role, made when first asked for; named after it unless told otherwise."""
        name = name or f"{role}-person"
        if name not in self._users:
            self._users[name] = self.people.users.create(name, Role(role), CHEAP.hash(PASSWORD))
        return self._users[name]

    def client(self, role: str = "", name: str = "") -> FlaskClient:
        """Return a browser, signed in as a user of a role, if one is told."""
        browser = self.app.test_client()
        if role:
            user = self.user(role, name)
            answer = self.post(browser, "/login", name=user.name, password=PASSWORD)
            assert answer.status_code == 302, answer.text
        return browser

    def post(self, browser: FlaskClient, path: str, **form: Any) -> TestResponse:
        """Send a form with the forgery token that the browser was given."""
        return browser.post(path, data={"csrf_token": self.csrf(browser), **form})

    def csrf(self, browser: FlaskClient) -> str:
        """Return the forgery token of a browser."""
        found = _TOKEN.search(browser.get("/nothing-here").text)
        assert found is not None
        return found[1]

    def token(self, role: str = "admin", *, scope: str = "") -> dict[str, str]:
        """Return the headers of a program that uses a token of a role."""
        secret, _token = self.people.tokens.create(self.user(role), "test", Role(role), scope=scope)
        return {"Authorization": f"Bearer {secret}"}

    def close(self) -> None:
        """End all that runs."""
        self.parts.loads.close()
        self.parts.fleet.close()
        self.parts.store.close()
        self.people.close()
        self.history.close()
