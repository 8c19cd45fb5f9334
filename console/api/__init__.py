"""The REST API: one blueprint a file. A new one is added to the list here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import jsonify

from console.api import (
    audit,
    cron,
    execution,
    executor,
    job,
    job_command,
    job_file,
    me,
    shard_map,
    stats,
    token,
    user,
)
from console.api.base import PREFIX, ConsoleApi
from console.role import role

if TYPE_CHECKING:
    from flask import Flask
    from flask.typing import ResponseReturnValue

RESOURCES = (
    executor.blueprint,
    execution.blueprint,
    stats.blueprint,
    me.blueprint,
    user.blueprint,
    token.blueprint,
    audit.blueprint,
    cron.blueprint,
    shard_map.blueprint,
    job.blueprint,
    job_command.blueprint,
    job_file.blueprint,
)

_OPTIONS = {
    "info": {
        "description": "Everything that the console shows and does. Send a token as `Authorization: Bearer sck_…`; "
        "errors are `application/problem+json`. A GET changes nothing; changes need the ETag of what they were decided "
        "on as `If-Match`; a POST with an `Idempotency-Key` acts once."
    },
    "security": [{"token": []}],
}


def init_api(app: Flask) -> None:
    """Add the API to an app."""
    app.config.update(API_TITLE="shardsched", API_VERSION="v1", OPENAPI_VERSION="3.1.0", API_SPEC_OPTIONS=_OPTIONS)
    api = ConsoleApi(app)
    api.spec.components.security_scheme("token", {"type": "http", "scheme": "bearer"})
    for blueprint in RESOURCES:
        api.register_blueprint(blueprint)

    @app.get(f"{PREFIX}/openapi.json", endpoint="openapi")
    @role("viewer")
    def openapi() -> ResponseReturnValue:
        """Describe the API."""
        return jsonify(_described(api))


def _described(api: ConsoleApi) -> dict[str, Any]:
    """Return the description, in which resources have their plain names: blueprints share theirs with pages."""
    document: dict[str, Any] = api.spec.to_dict()
    for tag in document["tags"]:
        tag["name"] = tag["name"].removeprefix("api_")
    for path in document["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict):
                operation["tags"] = [name.removeprefix("api_") for name in operation["tags"]]
    return document
