"""The figures of one executor for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from shardsched.errors import SettingsError
from shardsched.history.recorder import Storing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from prometheus_client import Metric

    from shardsched.history.row import RunRow
    from shardsched.vitals import Figures, Vitals

_SESSIONS = ("absent", "active", "suspended", "lost")
_LATE_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
_DURATION_S = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 14_400)


def executor_metrics(vitals: Vitals) -> CollectorRegistry:
    """Return the figures of an executor, which are looked up whenever somebody reads them.

    Args:
        vitals: The executor's.
    """
    registry = CollectorRegistry()
    runs = Counter("shardsched_runs", "Runs that ended, by outcome.", ["outcome"], registry=registry)
    late = Histogram(
        "shardsched_run_lateness_seconds",
        "How long after its fire a run's handler began.",
        buckets=_LATE_S,
        registry=registry,
    )
    duration = Histogram(
        "shardsched_run_duration_seconds", "How long runs took.", buckets=_DURATION_S, registry=registry
    )

    def ended(run: RunRow) -> None:
        runs.labels(run.outcome or "unknown").inc()
        if run.started_at is not None:
            late.observe(max((run.started_at - run.fire).total_seconds(), 0.0))
            duration.observe(run.duration_s)

    vitals.on_run_ended(ended)
    registry.register(_Present(vitals))
    return registry


def serve_metrics(vitals: Vitals, host: str, port: int) -> Callable[[], None]:
    """Serve the figures of an executor by HTTP, from a thread; return what ends that.

    Args:
        vitals: The executor's.
        host: Address to listen at.
        port: Port to listen at.

    Raises:
        SettingsError: Nothing can listen there.
    """
    try:
        server, thread = start_http_server(port, host, executor_metrics(vitals))
    except OSError as error:
        message = f"metrics cannot be served at {host}:{port} ({error.strerror}); give another --metrics-port"
        raise SettingsError(message) from error

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join(5)

    return stop


class _Present(Collector):
    """What is looked up at the moment of reading."""

    def __init__(self, vitals: Vitals) -> None:
        self._vitals = vitals

    def collect(self) -> Iterable[Metric]:
        now = self._vitals.figures()
        yield _gauge("shardsched_items_owned", "Items that this executor owns.", now.items_owned)
        yield _gauge("shardsched_items_running", "Items that it runs.", now.items_running)
        yield _gauge("shardsched_items_waiting", "Items due that wait for a free slot.", now.items_waiting)
        yield _gauge("shardsched_leader", "Whether it leads.", now.is_leader)
        yield _states("shardsched_session", "What its session with the registry is worth.", _SESSIONS, now.session)
        yield from _history(now)
        requests = CounterMetricFamily(
            "shardsched_registry_requests", "Requests to the registry, by kind.", labels=["kind"]
        )
        for kind, count in sorted(now.requests.items()):
            requests.add_metric([kind], count)
        yield requests


def _history(now: Figures) -> Iterable[Metric]:
    state = now.history
    yield _states("shardsched_history", "Where records of history go.", [str(one) for one in Storing], state.storing)
    yield _gauge("shardsched_history_queued", "Records of history that wait in memory.", state.queued_count)
    yield _gauge("shardsched_history_spooled_bytes", "Bytes of records of history on disk.", state.spooled_bytes)
    dropped = CounterMetricFamily("shardsched_history_dropped", "Records of history that were given up.")
    dropped.add_metric([], state.dropped_count)
    yield dropped


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value=value)


def _states(name: str, text: str, states: Iterable[str], present: str) -> Metric:
    """Return a gauge that is 1 for the present state and 0 for the others."""
    family = GaugeMetricFamily(name, text, labels=["state"])
    for state in states:
        family.add_metric([state], float(state == present))
    return family
