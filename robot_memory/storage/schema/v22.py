"""
Schema version 22: erasure.

Frozen: stores of this version exist. It imports nothing of this package and never changes.
"""

from __future__ import annotations

import apsw


def upgrade(connection: apsw.Connection) -> None:
    """Create the tables of erasures, of what waits to be confirmed, and of tombstones."""
    connection.execute("""
        -- What was erased: its origin, and of events where and when they were. No text.
        CREATE TABLE tombstones (
            id INTEGER PRIMARY KEY,
            erasure INTEGER NOT NULL,
            store_id TEXT,
            first_id INTEGER,
            created_at INTEGER,
            source TEXT,
            topic TEXT,
            subject BLOB,
            onset INTEGER,
            peak INTEGER,
            "end" INTEGER
        );
        CREATE INDEX tombstones_by_origin ON tombstones (first_id, store_id)
            WHERE store_id IS NOT NULL;
        CREATE INDEX tombstones_by_onset ON tombstones (onset) WHERE topic IS NOT NULL;
        CREATE INDEX tombstones_by_peak ON tombstones (peak) WHERE topic IS NOT NULL;
        CREATE INDEX tombstones_by_end ON tombstones ("end") WHERE topic IS NOT NULL;
        -- What a token confirms: ids and fingerprints. The token itself is not stored.
        CREATE TABLE confirmations (
            token BLOB PRIMARY KEY,
            action TEXT NOT NULL,
            principal TEXT NOT NULL,
            at INTEGER NOT NULL,
            items TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE erasures (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            state TEXT NOT NULL CHECK (state IN ('pending', 'cleaning', 'done')),
            at INTEGER NOT NULL,
            epoch INTEGER REFERENCES clock_epochs (id),
            writer_id INTEGER NOT NULL REFERENCES writers (id),
            reason TEXT NOT NULL,
            items TEXT NOT NULL,
            counts TEXT NOT NULL,
            digests TEXT NOT NULL,
            -- What the proof looks for; removed before it.
            words TEXT,
            waits_for TEXT NOT NULL DEFAULT '',
            receipt TEXT
        );
        CREATE INDEX erasures_unfinished ON erasures (id) WHERE state <> 'done';
    """)
