"""The site that the demo crawls can be crawled, and its index lists what its links reach."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from examples.pydoc_site import PydocServer, PydocSite, module_names
from shardsched.demo.closure import link_closure

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = ("abc", "collections", "collections.abc", "json", "json.decoder", "json.encoder", "msvcrt", "nt")


@pytest.fixture
def server() -> Iterator[PydocServer]:
    """A small site being served."""
    with PydocServer(PydocSite(NAMES)) as served:
        thread = threading.Thread(target=served.serve_forever, args=(0.05,))
        thread.start()
        yield served
        served.shutdown()
        thread.join()


def test_module_names_are_hundreds_and_many_systems_agree() -> None:
    """There are enough pages to share, in a fixed order, and none whose import opens a window."""
    names = module_names(240)
    assert len(names) == 240
    assert list(names) == sorted(set(names))
    assert {"json", "os", "asyncio.tasks"} <= set(names)
    assert not {"antigravity", "this", "idlelib", "test"} & set(names)
    assert set(module_names(100)) < set(names)


def test_closure_of_the_site_is_what_its_index_lists(server: PydocServer) -> None:
    """Following every link finds each module's page and nothing else; broken pages are pages too."""
    counts: list[int] = []
    assert link_closure(server.url, counts.append) == {f"{server.url}{name}.html" for name in NAMES}
    index_count = len({name[0] for name in NAMES}) + 1
    assert counts == list(range(1, len(NAMES) + index_count + 1))


def test_page_of_a_module_for_another_system_is_an_error_page() -> None:
    """What cannot be imported answers 500 with the reason, again and again."""
    site = PydocSite(NAMES)
    status, body = site.page("/msvcrt.html")
    assert status == 500
    assert b"msvcrt cannot be shown" in body
    assert site.page("/msvcrt.html") == (status, body)


@pytest.mark.parametrize("path", ["/os.html", "/index-z.html", "/index-.html", "/../etc/passwd", "/<b>"])
def test_page_of_an_unknown_path_is_404_and_escaped(path: str) -> None:
    """Only listed modules are imported and shown."""
    status, body = PydocSite(NAMES).page(path)
    assert status == 404
    assert b"<b>" not in body


def test_page_links_stay_within_the_site() -> None:
    """Links to modules that have no page are taken out, so that the crawl has an end."""
    _, body = PydocSite(("json", "json.decoder")).page("/json.html")
    assert b'href="json.decoder.html' in body
    assert b'href="json.encoder.html' not in body
    assert b'href="builtins.html' not in body
    assert b'href="#"' in body
