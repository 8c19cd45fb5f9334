"""The pages: one blueprint a file. A new one is added to the list here, and shows in the left bar by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.page import (
    audit,
    away,
    docs,
    execution,
    executor,
    health,
    home,
    job,
    job_act,
    job_bulk,
    job_edit,
    job_file,
    job_revision,
    login,
    map,
    overview,
    preference,
    profile,
    search,
    setup,
    statistics,
    token,
    user,
)

if TYPE_CHECKING:
    from flask import Flask

_MORE_VIEWS = (job_act, job_bulk, job_edit, job_file, job_revision)
"""Modules that add views to the blueprint of another one."""
BLUEPRINTS = (
    home.blueprint,
    overview.blueprint,
    map.blueprint,
    setup.blueprint,
    login.blueprint,
    preference.blueprint,
    profile.blueprint,
    search.blueprint,
    away.blueprint,
    executor.blueprint,
    execution.blueprint,
    statistics.blueprint,
    job.blueprint,
    user.blueprint,
    token.blueprint,
    audit.blueprint,
    docs.blueprint,
    health.blueprint,
)


def init_pages(app: Flask) -> None:
    """Add all pages to an app."""
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
