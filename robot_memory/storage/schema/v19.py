"""
Schema version 19: vectors of more than one model.

Frozen: stores of this version exist. It imports nothing of this package and never changes.
"""

from __future__ import annotations

import apsw


def upgrade(connection: apsw.Connection) -> None:
    """Create the tables of models beside the first one, and of their vectors."""
    connection.execute("""
        CREATE TABLE models (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            dimension INTEGER NOT NULL
        );
        -- Without planes a memory waits for its vector.
        CREATE TABLE other_vectors (
            model INTEGER NOT NULL REFERENCES models (id),
            memory_id INTEGER NOT NULL,
            collection TEXT NOT NULL,
            coarse BLOB,
            fine BLOB,
            PRIMARY KEY (model, memory_id)
        ) WITHOUT ROWID;
        CREATE INDEX other_vectors_missing ON other_vectors (model, memory_id)
            WHERE coarse IS NULL;
        CREATE INDEX other_vectors_by_collection ON other_vectors (model, collection);
    """)
