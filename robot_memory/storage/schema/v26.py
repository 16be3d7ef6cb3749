"""
Schema version 26: revisions of maps, what brings one into another, and named regions.

Frozen: stores of this version exist. It imports nothing of this package and never changes.
"""

from __future__ import annotations

import apsw


def upgrade(connection: apsw.Connection) -> None:
    """Create the tables; memories of before are of no named map."""
    connection.execute("""
        -- A row each time another revision holds in a frame, or its mapping begins or ends.
        CREATE TABLE maps (
            id INTEGER PRIMARY KEY,
            frame TEXT NOT NULL,
            name TEXT NOT NULL,
            revision INTEGER NOT NULL,
            mapping INTEGER NOT NULL,
            digest BLOB,
            at INTEGER NOT NULL,
            epoch INTEGER REFERENCES clock_epochs (id),
            writer_id INTEGER NOT NULL REFERENCES writers (id)
        );
        -- The pose of the older map in the newer one; the newest row of two revisions counts.
        CREATE TABLE map_anchors (
            id INTEGER PRIMARY KEY,
            old_name TEXT NOT NULL,
            old_revision INTEGER NOT NULL,
            name TEXT NOT NULL,
            revision INTEGER NOT NULL,
            numbers BLOB NOT NULL,
            residual REAL NOT NULL,
            landmarks INTEGER NOT NULL,
            at INTEGER NOT NULL,
            epoch INTEGER REFERENCES clock_epochs (id),
            writer_id INTEGER NOT NULL REFERENCES writers (id)
        );
        -- The key is the name as names are compared; the shape is JSON.
        CREATE TABLE regions (
            key TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            frame TEXT NOT NULL,
            map TEXT NOT NULL,
            revision INTEGER NOT NULL,
            shape TEXT NOT NULL,
            at INTEGER NOT NULL,
            epoch INTEGER REFERENCES clock_epochs (id),
            writer_id INTEGER NOT NULL REFERENCES writers (id)
        ) WITHOUT ROWID;
    """)
