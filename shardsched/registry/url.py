"""temporary"""

from __future__ import annotations


def open_registry(url, *, session_timeout_s=10.0, clock=None, tick_s=None):
    if url.startswith("zk://"):
        from shardsched.registry.zookeeper import ZooKeeperRegistry

        hosts, _, chroot = url[5:].partition("?")[0].partition("/")
        return ZooKeeperRegistry(hosts, chroot="/" + chroot, session_timeout_s=session_timeout_s, tick_s=tick_s or 0.5)
    raise ValueError(url)
