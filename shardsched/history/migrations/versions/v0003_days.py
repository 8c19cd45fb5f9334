"""Make the table of figures by the day.

From here on, figures of all jobs together are kept too; none are made of what was before.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Make it."""
    op.create_table(
        "shardsched_days",
        sa.Column("namespace", _TEXT, primary_key=True),
        sa.Column("job", _TEXT, primary_key=True),
        sa.Column("start_us", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("executor", _TEXT, primary_key=True),
        sa.Column("outcome", _TEXT, primary_key=True),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in ("runs", "timed", "duration_us", "lateness_us")),
        *(sa.Column(f"h{number:02}", sa.Integer) for number in range(52)),
        sqlite_with_rowid=False,
    )
    op.create_index("shardsched_days_start", "shardsched_days", ["namespace", "start_us"])
