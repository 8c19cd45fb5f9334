"""Putting the console together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flask import Flask
from flask_compress import Compress
from werkzeug.middleware.proxy_fix import ProxyFix

from console.api import init_api
from console.asset import init_assets
from console.context import Context
from console.first_user import make_first_user
from console.fleet import Fleet
from console.guard import init_guard
from console.header import init_headers
from console.job_list import JobIndex
from console.job_rate import Rates
from console.known import KnownPeople
from console.limit import init_limits
from console.load_ring import LoadRing
from console.locale import init_locale
from console.once import Lately
from console.page import init_pages
from console.password import Passwords
from console.problem import init_problems
from console.setup_code import SetupCode
from console.sign_in import init_sign_in
from console.store import Store
from console.view import init_views
from shardsched.clock import SYSTEM_CLOCK
from shardsched.history.journal import Journal
from shardsched.history.log_shelf import LogShelf

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.fleet import Link
    from console.setting import ConsoleSettings
    from shardsched.clock import Clock
    from shardsched.history.query import History
    from shardsched.people import People

MAX_BODY_BYTES = 1024 * 1024


def create_app(
    settings: ConsoleSettings,
    connect: Callable[[], Link],
    people: People,
    history: History,
    *,
    clock: Clock = SYSTEM_CLOCK,
    passwords: Passwords | None = None,
) -> Flask:
    """Return the console as a WSGI application; nothing is connected before the first request.

    Args:
        settings: What it is told.
        connect: Reaches the registry; called again until it does.
        people: Users, audit and revisions.
        history: Runs and events as they were.
        clock: The machine's clocks.
        passwords: How passwords are kept; tests give a cheaper way.

    Raises:
        ConfigurationError: The password file of the first user is refused.
    """
    app = Flask("console", root_path=str(Path(__file__).parent), static_folder=None)
    app.config.update(
        SECRET_KEY=settings.secret_key,
        MAX_CONTENT_LENGTH=MAX_BODY_BYTES,
        MAX_FORM_MEMORY_SIZE=MAX_BODY_BYTES,
        SESSION_COOKIE_NAME="__Host-shardsched" if settings.is_https else "shardsched",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=settings.is_https,
        COMPRESS_ALGORITHM=["br", "gzip"],
        COMPRESS_STREAMS=False,
        COMPRESS_MIN_SIZE=1024,
        TEMPLATES_AUTO_RELOAD=False,
    )
    fleet = Fleet(connect, clock)
    app.extensions["console"] = Context(
        settings=settings,
        fleet=fleet,
        people=people,
        store=Store(people),
        known=KnownPeople(clock),
        history=history,
        journal=Journal(history.database, settings.namespace),
        logs=LogShelf(settings.state_dir),
        loads=LoadRing(fleet, clock),
        jobs=JobIndex(),
        rates=Rates(history, clock),
        lately=Lately(clock),
        clock=clock,
        passwords=passwords or Passwords(),
        setup_code=SetupCode(clock),
    )
    init_assets(app)
    if settings.trusted_proxies:
        count = settings.trusted_proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=count, x_proto=count, x_host=count)  # type: ignore[method-assign]
    init_headers(app)
    Compress(app)
    init_locale(app)
    init_sign_in(app)
    init_guard(app)
    init_limits(app)
    init_problems(app)
    init_views(app)
    app.before_request(app.extensions["console"].loads.start)
    init_pages(app)
    init_api(app)
    make_first_user(app)
    return app
