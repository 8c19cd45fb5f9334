"""What is done by hand when the console's parts from elsewhere change."""

from __future__ import annotations
