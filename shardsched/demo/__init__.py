"""``shardsched demo``: three executors crawl a site, one is killed, and the result is checked."""

from __future__ import annotations

from shardsched.demo.command import demo

__all__ = ["demo"]
