"""
Schema version 21: trials of skills, and what is learned from them.

Frozen: stores of this version exist. It imports nothing of this package and never changes.
"""

from __future__ import annotations

import apsw


def upgrade(connection: apsw.Connection) -> None:
    """Create the tables of trials; their rows are derived from the contexts of memories."""
    connection.execute("""
        -- The words themselves are in the contexts of memories alone.
        CREATE TABLE situations (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            digest BLOB NOT NULL UNIQUE
        );
        CREATE TABLE situation_vectors (
            situation INTEGER NOT NULL REFERENCES situations (id),
            model TEXT NOT NULL,
            vector BLOB NOT NULL,
            PRIMARY KEY (situation, model)
        ) WITHOUT ROWID;
        CREATE TABLE trials (
            memory_id INTEGER PRIMARY KEY,
            version INTEGER NOT NULL,
            collection TEXT NOT NULL,
            skill TEXT NOT NULL,
            situation INTEGER NOT NULL REFERENCES situations (id),
            figures TEXT NOT NULL,
            success INTEGER,
            simulated INTEGER NOT NULL,
            robot TEXT,
            surprise REAL,
            key TEXT,
            body TEXT
        );
        CREATE INDEX trials_by_skill ON trials (collection, skill, memory_id);
        CREATE INDEX trials_by_situation ON trials (situation);
        CREATE INDEX trials_by_key ON trials (collection, key) WHERE key IS NOT NULL;
        -- Which memories a trial used.
        CREATE TABLE trial_uses (
            used INTEGER NOT NULL,
            trial INTEGER NOT NULL,
            PRIMARY KEY (used, trial)
        ) WITHOUT ROWID;
        CREATE INDEX trial_uses_by_trial ON trial_uses (trial);
        -- What was learned of a skill from so many trials, up to a memory.
        CREATE TABLE skill_states (
            collection TEXT NOT NULL,
            skill TEXT NOT NULL,
            trials INTEGER NOT NULL,
            last INTEGER NOT NULL,
            state TEXT NOT NULL,
            PRIMARY KEY (collection, skill)
        ) WITHOUT ROWID;
    """)
