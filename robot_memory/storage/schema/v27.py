"""
Schema version 27: active memories by when they occurred, for a timeline.

Frozen: stores of this version exist. It imports nothing of this package and never changes.
"""

from __future__ import annotations

import apsw


def upgrade(connection: apsw.Connection) -> None:
    """Create the index: by the stamp of a measurement, else by when a memory was stored."""
    connection.execute("""
        CREATE INDEX memories_by_occurrence
            ON memories (coalesce(stamp / 1000, created_at), id) WHERE status = 'active';
    """)
