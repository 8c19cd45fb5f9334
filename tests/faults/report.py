"""What a campaign showed, as a document and as lines for people."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tests.faults.strike import Kind, percentile
from tests.faults.targets import repeats
from tests.faults.timeline import timeline
from tests.faults.verdict import gaps, lives, takeovers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.faults.campaign import Campaign
    from tests.faults.strike import Strike
    from tests.fleet.fleet_record import RecordedRun


def document(campaign: Campaign, seed: int) -> dict[str, Any]:
    """Return all figures of a closed campaign."""
    runs, strikes, t_s = campaign.runs(), campaign.strikes, campaign.site.t_s
    alone = [strike for strike in strikes if strike.is_alone]
    by_fault: dict[str, dict[str, Any]] = defaultdict(dict)
    again, life = takeovers(runs, alone), lives(runs, strikes)
    for name, count in Counter(strike.fault for strike in strikes).items():
        settled = [s.settled_at - s.healed_at for s in strikes if s.fault == name and s.is_settled]
        by_fault[name] = {
            "count": count,
            "takeover_s": _spread(again.get(name, [])),
            "life_s": _spread(life.get(name, [])),
            "recovery_s": _spread(settled),
            "new_leader_s": _spread(_elections(campaign, name)),
            "repeated": sum(repeats(runs, strike) for strike in strikes if strike.fault == name),
            "reruns": sum(_reruns(runs, strike) for strike in strikes if strike.fault == name),
        }
    killed = takeovers(
        runs, [strike for strike in alone if strike.kind is Kind.KILLED and "restarted" not in strike.fault]
    )
    return {
        "seed": seed,
        "t_s": t_s,
        "faults": len(strikes),
        "runs": len(runs),
        "loads": campaign.loads(),
        "history": campaign.history.figures,
        "targets": dict(Counter(str(target.fate) for target in campaign.targets())),
        "takeover_after_kill_s": _spread(
            [s for name, some in killed.items() if not name.startswith("warden") for s in some]
        ),
        "gap_s": _spread(gaps(runs)),
        "by_fault": dict(sorted(by_fault.items())),
        "strikes": [asdict(strike) for strike in strikes],
        "violations": campaign.found,
    }


def _elections(campaign: Campaign, fault: str) -> list[float]:
    """Return the seconds from each fault that hit the leader until another was seen to lead; half a second coarse."""
    found = []
    for strike in campaign.strikes:
        if strike.fault == fault and fault.startswith("leader-") and strike.is_alone:
            led = (
                at
                for at, leader in campaign.observer.led
                if at > strike.begun_at and leader not in {None, *strike.victims}
            )
            found.append(next(led, math.inf) - strike.begun_at)
    return found


def _reruns(runs: Sequence[RecordedRun], strike: Strike) -> int:
    return sum(run.attempt > 1 and strike.begun_at <= run.start <= strike.settled_at for run in runs)


def _spread(values: list[float]) -> dict[str, float | int]:
    if not values:
        return {"n": 0}
    return {
        "n": len(values),
        "min": round(min(values), 3),
        "p50": round(percentile(values, 0.5), 3),
        "p95": round(percentile(values, 0.95), 3),
        "max": round(max(values), 3),
    }


def write(campaign: Campaign, seed: int, folder: Path) -> dict[str, Any]:
    """Write the document, the story and the picture into a folder, and return the document."""
    made = document(campaign, seed)
    (folder / "report.json").write_text(json.dumps(made, indent=1) + "\n")
    (folder / "story.txt").write_text("\n".join(campaign.story) + "\n")
    (folder / "timeline.svg").write_text(timeline(campaign.runs(), campaign.strikes, f"seed {seed}"))
    return made


def lines(made: dict[str, Any]) -> list[str]:
    """Return the figures as people read them."""
    found = [
        f"seed {made['seed']}, T = {made['t_s']:g} s: {made['faults']} faults, {made['runs']} runs",
        f"targets: {made['targets']}; violations: {len(made['violations'])}",
        f"history: {made['history']}",
        f"takeover after a kill: {_words(made['takeover_after_kill_s'])}",
        f"from the last sign of life to the re-run elsewhere: {_words(made['gap_s'])}",
    ]
    for name, figures in made["by_fault"].items():
        parts = [
            f"{what[:-2]} {_words(figures[what])}"
            for what in ("takeover_s", "life_s", "new_leader_s", "recovery_s")
            if figures[what]["n"]
        ]
        found.append(
            f"{name} x{figures['count']}: {figures['reruns']} re-runs ({figures['repeated']} had ended); {'; '.join(parts)}"
        )
    return found


def _words(spread: dict[str, float]) -> str:
    if not spread["n"]:
        return "none"
    some = {name: spread[name] for name in ("min", "p50", "p95", "max") if math.isfinite(spread[name])}
    return f"n={spread['n']} " + " ".join(f"{name} {value:.2f}" for name, value in some.items()) + " s"
