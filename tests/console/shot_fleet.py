"""A fleet with a job in every state, and names that nobody should give, for pictures."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from shardsched.clock import SYSTEM_CLOCK
from shardsched.core.fire import Cause, ItemState
from tests.console.crew import Crew
from tests.history.stage import START, make_end, run_record, store

if TYPE_CHECKING:
    from tests.console.site import Site

EXECUTORS = ("crawler-a", "crawler-b", "crawler-c", "crawler-d")
LONG = "a-name-that-somebody-let-a-script-make-from-an-address-shop.example.org." + "x" * 56
HTML = "<img src=x onerror=alert(1)>"
RTL = "\u0623\u062e\u0628\u0627\u0631-\u202egpj.exe"
MESSAGE = "ConnectionError: https://news.example/archive/2026/12/01/page/1799 answered 503 Service Unavailable"


def play(site: Site) -> Crew:
    """Play a fleet with a job in every state."""
    site.clock.advance((SYSTEM_CLOCK.now() - site.clock.now()).total_seconds())
    crew = Crew(site)
    for name in EXECUTORS:
        crew.join(name, handlers=("crawl", "news:crawl"), slots=32)
    crew.lead("crawler-b")
    crew.site.clock.advance(60)
    halves = {name: tuple(range(place, 12, 4)) for place, name in enumerate(EXECUTORS)}
    crew.job(
        "news",
        halves,
        items=12,
        cron="*/10 * * * *",
        timezone="Asia/Shanghai",
        description="Front pages of the news sites",
        item_params={0: "site=sina", 1: "site=sohu", 2: "region=north&depth=3"},
        retries=3,
        timeout=300,
        after=[],
        param='{"depth": 3}',
    )
    for item in range(12):
        crew.write_cursor("news", item, executor=EXECUTORS[item % 4], attempt=1)
    for item in (1, 5):
        crew.claim("news", item, EXECUTORS[item % 4])
    crew.claim("news", 6, "crawler-c", cause=Cause.FAILOVER, attempt=2)
    crew.write_cursor("news", 3, state=ItemState.FAILED, message=MESSAGE, executor="crawler-d", attempt=3)
    for item in range(3):
        crew.save("news", item, f'{{"page": {item * 731 + 12}, "seen": "2026-12-01T08:00:00Z"}}')
    crew.job(
        "\u6293\u53d6-\u65b0\u95fb",
        {"crawler-a": (0, 1)},
        items=2,
        cron="0 30 2 ? * MON-FRI",
        description="\u6bcf\u5929\u51cc\u6668\u6293\u53d6\u6240\u6709\u65b0\u95fb\u7f51\u7ad9\u7684\u9996\u9875",
    )
    crew.job("asleep", {"crawler-a": (0,), "crawler-b": (1,)}, items=2, paused=True)
    crew.job(LONG, {}, handler="@http", task={"url": "https://shop.example/{item}"}, items=30)
    crew.job(
        "big", {name: tuple(range(place, 100, 4)) for place, name in enumerate(EXECUTORS)}, items=100, cron="0 * * * *"
    )
    for item in range(100):
        state = ItemState.FAILED if item % 37 == 5 else ItemState.MISSED if item % 41 == 7 else ItemState.DONE
        crew.write_cursor(
            "big", item, state=state, executor=EXECUTORS[item % 4], message=MESSAGE if state is ItemState.FAILED else ""
        )
    crew.job(
        "prices", {"crawler-a": (0, 1, 2), "crawler-b": (3,)}, items=6, disabled_items=[4, 5], after=["news"], cron=""
    )
    crew.write_cursor("prices", 0, state=ItemState.STOPPED)
    crew.write_cursor("prices", 1, state=ItemState.RUNNING, executor="crawler-z")
    crew.job("by-hand", {"crawler-c": (0,)}, cron="", description="Only when somebody asks " * 12, failover=False)
    crew.job(
        "dst", {"crawler-d": (0,)}, cron="30 2 6-10 3 *", timezone="America/New_York", pause=["sat", "12/24-01/02"]
    )
    crew.job("gpu-render", {}, labels={"gpu": "yes"}, items=3)
    crew.job(
        "shell", {"crawler-a": (0,)}, handler="@shell", task={"argv": ["/usr/bin/crawl", "--item", "{item}", "--quiet"]}
    )
    crew.job("spider", {"crawler-b": (0,)}, handler="@scrapy", task={"spider": "shop.spiders:Prices"})
    for name in (HTML, RTL, "y" * 300, "broken"):
        crew.put(crew.paths.job(name), b"{")
    now = site.clock.now()
    outcomes = ("ok", "ok", "ok", "ok", "failed", "ok", "timeout", "ok", "missed", "stopped", "lost", "ok", "ok")
    runs = [
        make_end(
            int((now - START).total_seconds()) - 600 * (number // 12),
            run_id=f"run-{number}",
            outcome=outcomes[number % 13 if number % 3 else 0],
            job="news",
            item=number % 12,
            items=12,
            fire=now - timedelta(minutes=10 * (number // 12)),
            took_s=1.5 + number % 7,
            attempt=1,
            executor=EXECUTORS[number % 4],
            message=MESSAGE if outcomes[number % 13] == "failed" else "",
        )
        for number in range(12 * 40)
    ]
    store(site.history.database, [run_record(run) for run in runs])
    crew.show()
    return crew
