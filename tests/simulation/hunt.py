"""Runs many seeds on all cores, and tells those that break something.

``python -m tests.simulation.hunt --enough 3`` stops at the third and prints what it found as JSON.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

from tests.simulation.simulation import CHAINS, Simulation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SEED_COUNT = int(os.environ.get("SHARDSCHED_SIMULATION_SEEDS", "2000"))
"""As many as two cores run in about a minute."""
FIRST_SEED = int(os.environ.get("SHARDSCHED_SIMULATION_FIRST", "0"))
SEEDS = range(FIRST_SEED, FIRST_SEED + SEED_COUNT)
"""The seeds that are tried unless told otherwise."""
CHAINED_SEEDS = range(CHAINS + FIRST_SEED, CHAINS + FIRST_SEED + SEED_COUNT // 16)
"""Those whose jobs fire after others; each takes longer."""
_CHUNK = 25


def hunt(seeds: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Run seeds on all cores and give those that break something, with what they break, in the order of the seeds."""
    chunks = [tuple(seeds[start : start + _CHUNK]) for start in range(0, len(seeds), _CHUNK)]
    with ProcessPoolExecutor(os.cpu_count(), mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            for found in pool.map(_broken, chunks):
                yield from found
        finally:
            pool.shutdown(cancel_futures=True)


def _broken(seeds: tuple[int, ...]) -> list[tuple[int, str]]:
    broken = []
    for seed in seeds:
        try:
            Simulation(seed).run()
        except Exception as error:  # noqa: BLE001 - whatever it is, the seed is told
            broken.append((seed, f"{type(error).__name__}: {error}"))
    return broken


def main() -> None:
    """Read the command line, hunt, and print what was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.hunt", description=__doc__)
    parser.add_argument("--enough", type=int, default=1, help="stop after so many seeds that break something")
    enough = parser.parse_args().enough
    found = []
    for one in hunt(SEEDS):
        found.append(one)
        if len(found) == enough:
            break
    tried = found[-1][0] - SEEDS.start + 1 if len(found) == enough else len(SEEDS)
    sys.stdout.write(json.dumps({"tried": tried, "broken": found}) + "\n")


if __name__ == "__main__":
    main()
