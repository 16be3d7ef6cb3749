"""
Schema of authority: who wrote what, and who stands behind it.

Frozen: stores of this version exist. It imports nothing of this package and never changes.
"""

from __future__ import annotations

import apsw


def upgrade(connection: apsw.Connection) -> None:
    """Create the tables of writers, observations and proposals; add the columns of authority."""
    connection.execute("""
        CREATE TABLE writers (
            id INTEGER PRIMARY KEY,
            face TEXT NOT NULL,
            client TEXT NOT NULL,
            principal TEXT NOT NULL,
            actor TEXT NOT NULL,
            authority TEXT NOT NULL CHECK (authority IN
                ('operator', 'planner', 'robot', 'person', 'observed', 'imported')),
            UNIQUE (face, client, principal, actor, authority)
        );

        -- The defaults are those of rows from before provenance: they stay where they stood.
        ALTER TABLE memories ADD COLUMN writer_id INTEGER REFERENCES writers (id);
        ALTER TABLE memories ADD COLUMN authority TEXT NOT NULL DEFAULT 'planner';
        ALTER TABLE memories ADD COLUMN stands INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE audit ADD COLUMN writer_id INTEGER REFERENCES writers (id);

        CREATE TABLE observations (
            id INTEGER PRIMARY KEY,
            memory_id INTEGER NOT NULL REFERENCES memories (id),
            at INTEGER NOT NULL,
            epoch INTEGER,
            writer_id INTEGER NOT NULL REFERENCES writers (id),
            session_id TEXT REFERENCES sessions (id),
            text TEXT,
            context TEXT NOT NULL,
            stamp INTEGER,
            outcome TEXT,
            simulated INTEGER,
            audit_id INTEGER REFERENCES audit (id)
        );
        CREATE INDEX observations_by_memory ON observations (memory_id);

        CREATE TABLE proposals (
            id INTEGER PRIMARY KEY,
            memory_id INTEGER NOT NULL REFERENCES memories (id),
            action TEXT NOT NULL CHECK (action IN ('update', 'forget')),
            content TEXT,
            context TEXT,
            reason TEXT NOT NULL,
            writer_id INTEGER NOT NULL REFERENCES writers (id),
            at INTEGER NOT NULL,
            epoch INTEGER,
            state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'accepted', 'rejected')),
            decided_by INTEGER REFERENCES writers (id),
            decided_at INTEGER,
            decided_epoch INTEGER
        );
        CREATE INDEX proposals_by_memory ON proposals (memory_id);
        CREATE INDEX open_proposals ON proposals (id) WHERE state = 'open';

        CREATE TABLE protected_changes (
            id INTEGER PRIMARY KEY,
            memory_id INTEGER NOT NULL REFERENCES memories (id),
            action TEXT NOT NULL,
            content TEXT NOT NULL,
            writer_id INTEGER NOT NULL REFERENCES writers (id),
            at INTEGER NOT NULL,
            epoch INTEGER,
            confirmed_by INTEGER REFERENCES writers (id),
            confirmed_at INTEGER,
            confirmed_epoch INTEGER
        );
        CREATE INDEX unconfirmed_changes ON protected_changes (memory_id)
            WHERE confirmed_by IS NULL;
    """)
