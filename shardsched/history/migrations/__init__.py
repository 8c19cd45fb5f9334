"""The steps by which the tables of history came to be what they are; Alembic runs them."""

from __future__ import annotations
