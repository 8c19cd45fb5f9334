"""A run that is one HTTP request.

The standard library makes it: a process that asks once has no use for a pool of connections, and so every executor
can, whatever is installed. It knows the proxies of the environment and checks certificates.
"""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any, Protocol

from shardsched.core.placeholder import fill, in_json, in_url
from shardsched.core.program import run_values
from shardsched.core.secret import looks_secret, shown_url, shown_values
from shardsched.core.task_value import is_expected
from shardsched.errors import RunFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from email.message import Message

    from shardsched.execution.context import ShardingContext

MAX_BODY_BYTES = 1 << 20
"""Of an answer's body no more is read."""
SHOWN_BODY_BYTES = 4 * 1024
"""Of an answer's body no more is logged."""
CONNECT_TIMEOUT_S = 10.0
"""How long connecting may take, unless told."""
TIMEOUT_S = 30.0
"""How long the server may be silent, unless told."""
_CHUNK_BYTES = 64 * 1024


class _Answer(Protocol):
    """What urllib gives back."""

    status: int
    reason: str
    headers: Message

    def read1(self, n: int) -> bytes:
        """Return what has come, n bytes at most."""
        ...


def make_request(ctx: ShardingContext, task: Mapping[str, Any]) -> None:
    """Make the request of a checked task, log the answer and count it.

    Raises:
        RunFailedError: No answer, or one of another status than expected.
    """
    request = _request(ctx, task)
    what = f"{request.get_method()} {shown_url(request.full_url)}"
    headers = dict(request.header_items())
    ctx.log.info("%s %s", what, shown_values(headers))
    try:
        answer = _opener(task).open(request, timeout=task.get("connect_timeout", CONNECT_TIMEOUT_S))
        with answer:
            body = _body_of(answer)
    except urllib.error.URLError as error:
        raise RunFailedError(f"{what} got no answer: {error.reason}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise RunFailedError(f"{what} got no answer: {type(error).__name__}: {error}") from error
    ctx.stats |= {"status": answer.status, "bytes": len(body)}
    ctx.log.info("answered %d %s %s", answer.status, answer.reason, shown_values(dict(answer.headers.items())))
    ctx.log.info("%s", body[:SHOWN_BODY_BYTES].decode(errors="replace"))
    expected = task.get("expect", "200-299")
    if not is_expected(answer.status, expected):
        raise RunFailedError(f"{what} was answered {answer.status} {answer.reason}; expected {expected}")


def _request(ctx: ShardingContext, task: Mapping[str, Any]) -> urllib.request.Request:
    values = run_values(vars(ctx) | {"fire_time": ctx.fire_time.isoformat()})
    headers = {name: fill(text, values) for name, text in task.get("headers", {}).items()}
    names = {name.lower() for name in headers}
    if "user-agent" not in names:
        headers["User-Agent"] = "shardsched"
    body = None
    if "body" in task:
        if "content-type" not in names:
            headers["Content-Type"] = "text/plain; charset=utf-8"
        body = fill(task["body"], values, _encoder(headers)).encode()
    url = fill(task["url"], values, in_url)
    # The address was checked when the task was: it is one of http or https.
    return urllib.request.Request(url, body, headers, method=task.get("method", "GET"))  # noqa: S310


def _encoder(headers: Mapping[str, str]) -> Callable[[str], str]:
    kind = next(text for name, text in headers.items() if name.lower() == "content-type").partition(";")[0].strip()
    if kind.endswith(("/json", "+json")):
        return in_json
    return in_url if kind == "application/x-www-form-urlencoded" else str


def _body_of(answer: _Answer) -> bytes:
    body = bytearray()
    while len(body) < MAX_BODY_BYTES and (data := answer.read1(_CHUNK_BYTES)):
        body += data
    return bytes(body[:MAX_BODY_BYTES])


def _opener(task: Mapping[str, Any]) -> urllib.request.OpenerDirector:
    timeout_s = task.get("timeout", TIMEOUT_S)
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        _Plain(timeout_s),
        _Secure(timeout_s),
        _Redirects(task.get("redirects", 0)),
        _EveryStatus(),
        urllib.request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener


def _patient(kind: type[http.client.HTTPConnection], timeout_s: float) -> type[http.client.HTTPConnection]:
    """Return a kind of connection that, once connected, waits so many seconds for each answer."""

    class Patient(kind):  # type: ignore[misc,valid-type]  # the base is an argument
        def connect(self) -> None:
            super().connect()
            self.sock.settimeout(timeout_s)

    return Patient


class _Plain(urllib.request.HTTPHandler):
    def __init__(self, timeout_s: float) -> None:
        super().__init__()
        self._kind = _patient(http.client.HTTPConnection, timeout_s)

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._kind, req)


class _Secure(urllib.request.HTTPSHandler):
    def __init__(self, timeout_s: float) -> None:
        super().__init__()
        self._kind = _patient(http.client.HTTPSConnection, timeout_s)

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._kind, req)


class _EveryStatus(urllib.request.HTTPErrorProcessor):
    """Gives back an answer of any status; redirects alone are handed on."""

    def http_response(self, request: urllib.request.Request, response: Any) -> Any:
        if response.status in {301, 302, 303, 307, 308}:
            return super().http_response(request, response)
        return response

    https_response = http_response


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows so many redirects at most; with none left the redirect is the answer."""

    def __init__(self, count: int) -> None:
        self._left = count

    def http_error_302(self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any) -> Any:
        if self._left <= 0:
            return fp
        self._left -= 1
        return super().http_error_302(req, fp, code, msg, headers) or fp

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        if request is not None and (request.type, request.host) != (req.type, req.host):
            # What proves who we are is for the host that was named, not for whom it names.
            request.headers = {name: text for name, text in request.headers.items() if not looks_secret(name)}
        return request

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302
