"""How the costs of a fleet grow with its executors, its jobs and the items of a job.

``python -m benchmarks.curves [--quick]`` measures and writes a table and a plot of each into ``docs/performance``.
"""

from __future__ import annotations
