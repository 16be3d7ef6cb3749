"""
Schema version 23: the places of memories by frame, and the transforms between frames at instants.

Frozen: stores of this version exist. It imports nothing of this package and never changes.
"""

from __future__ import annotations

import apsw


def upgrade(connection: apsw.Connection) -> None:
    """Create the tables; the places of memories are derived from their rows."""
    connection.execute("""
        -- The id is that of a path in place_paths, under which the grid has the places.
        CREATE TABLE place_frames (
            id INTEGER PRIMARY KEY,
            collection TEXT NOT NULL,
            frame TEXT NOT NULL,
            map TEXT NOT NULL,
            revision INTEGER NOT NULL,
            UNIQUE (collection, frame, map, revision)
        );
        CREATE TABLE placed (
            memory_id INTEGER PRIMARY KEY,
            frame_id INTEGER NOT NULL REFERENCES place_frames (id),
            x REAL NOT NULL,
            y REAL NOT NULL,
            z REAL NOT NULL,
            spread BLOB
        );
        CREATE INDEX placed_by_frame ON placed (frame_id, memory_id);
        CREATE TABLE transform_instants (
            source TEXT NOT NULL,
            stamp INTEGER NOT NULL,
            PRIMARY KEY (source, stamp)
        ) WITHOUT ROWID;
        -- Rows where something changed since the instant before; without numbers: unknown.
        CREATE TABLE transforms (
            source TEXT NOT NULL,
            child TEXT NOT NULL,
            stamp INTEGER NOT NULL,
            parent TEXT NOT NULL,
            static INTEGER NOT NULL,
            numbers BLOB,
            PRIMARY KEY (source, child, stamp)
        ) WITHOUT ROWID;
    """)
