"""How executors agree: lease, membership, leader, assignment, claims, and the mirror of the control plane."""

from __future__ import annotations
