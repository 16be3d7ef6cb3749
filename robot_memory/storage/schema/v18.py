"""
Schema version 18: the conditions of rules.

Frozen: stores of this version exist. It imports nothing of this package and never changes.
"""

from __future__ import annotations

import apsw


def upgrade(connection: apsw.Connection) -> None:
    """Create the table of conditions; its rows are derived from the rules' texts."""
    connection.execute("""
        CREATE TABLE rule_conditions (
            memory_id INTEGER PRIMARY KEY,
            content_hash BLOB NOT NULL,
            version INTEGER NOT NULL,
            condition TEXT NOT NULL
        );
    """)
