"""
Schema version 25: payload parts have a digest each.

Frozen: stores of this version exist. It imports nothing of this package and never changes.
"""

from __future__ import annotations

import apsw


def upgrade(connection: apsw.Connection) -> None:
    """Create the table; parts that are there get their digests later, one after the other."""
    connection.execute("""
        -- SHA-256 of the bytes of a part; not in `parts`, where adding one would write the bytes
        -- anew, and where damage to them would hide it.
        CREATE TABLE part_digests (
            part_id INTEGER PRIMARY KEY,
            digest BLOB NOT NULL
        );
        CREATE TRIGGER parts_deleted AFTER DELETE ON parts BEGIN
            DELETE FROM part_digests WHERE part_id = old.id;
        END;
    """)
