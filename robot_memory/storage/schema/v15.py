"""
Schema version 15: audit lines of folded memories are removed, with what links the others.

Frozen: stores of this version exist. It imports nothing of this package and never changes.
"""

from __future__ import annotations

import apsw


def upgrade(connection: apsw.Connection) -> None:
    """Create the table of removed lines, and index the lines of payloads that were removed."""
    connection.execute("""
        CREATE TABLE audit_gaps (
            first INTEGER PRIMARY KEY,
            last INTEGER NOT NULL,
            chain BLOB NOT NULL
        );
        CREATE INDEX audit_of_removals ON audit (at)
            WHERE action = 'payload_removed' AND memory_id IS NULL;
    """)
