"""
Schema version 11: clock epochs in place of the log of the clock.

Frozen: stores of this version exist. It imports nothing of this package and never changes.
"""

from __future__ import annotations

import apsw

_PLAUSIBLE_FROM = 1_735_689_600_000_000


def upgrade(connection: apsw.Connection) -> None:
    """Make epochs of the log's entries, and give every time the epoch that it was written in."""
    connection.execute('PRAGMA defer_foreign_keys = ON')
    connection.execute("""
        ALTER TABLE clock_log RENAME TO clock_epochs;
        ALTER TABLE clock_epochs RENAME COLUMN at TO wall;
        ALTER TABLE clock_epochs ADD COLUMN boot INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE clock_epochs ADD COLUMN last_wall INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE clock_epochs ADD COLUMN last_boot INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE clock_epochs ADD COLUMN boot_id TEXT NOT NULL DEFAULT '';
        ALTER TABLE clock_epochs ADD COLUMN time_namespace TEXT NOT NULL DEFAULT '';
        ALTER TABLE clock_epochs ADD COLUMN segment INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE clock_epochs ADD COLUMN evidence TEXT NOT NULL DEFAULT '';
        ALTER TABLE clock_epochs ADD COLUMN trusted INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE clock_epochs ADD COLUMN reason TEXT NOT NULL DEFAULT '';
        ALTER TABLE clock_epochs ADD COLUMN offset INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE clock_epochs ADD COLUMN uncertain INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE clock_epochs ADD COLUMN settled INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE memories RENAME COLUMN created_clock TO created_epoch;
        ALTER TABLE memories RENAME COLUMN accessed_clock TO accessed_epoch;
        ALTER TABLE memories ADD COLUMN updated_epoch INTEGER REFERENCES clock_epochs (id);
        ALTER TABLE memories ADD COLUMN stamp_is_local INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE sessions ADD COLUMN created_epoch INTEGER REFERENCES clock_epochs (id);
        ALTER TABLE sessions ADD COLUMN updated_epoch INTEGER REFERENCES clock_epochs (id);
        ALTER TABLE sessions ADD COLUMN saved_epoch INTEGER REFERENCES clock_epochs (id);
        ALTER TABLE sessions ADD COLUMN ended_epoch INTEGER REFERENCES clock_epochs (id);
        ALTER TABLE audit ADD COLUMN epoch INTEGER REFERENCES clock_epochs (id);
        ALTER TABLE retired_by_age ADD COLUMN epoch INTEGER REFERENCES clock_epochs (id);
    """)
    # What no later entry contradicts, an earlier release took for right.
    connection.execute("""
        UPDATE clock_epochs SET last_wall = wall, evidence = iif(EXISTS (
            SELECT 1 FROM clock_epochs AS later
            WHERE later.id > clock_epochs.id AND later.wall < clock_epochs.wall
        ), '', 'earlier release')
    """)
    _part_implausible(connection)
    connection.execute("""
        UPDATE clock_epochs SET last_wall = max(wall, known.latest) FROM (
            SELECT created_epoch, max(created_at) AS latest FROM memories GROUP BY created_epoch
        ) AS known WHERE known.created_epoch = clock_epochs.id;
        ALTER TABLE clock_epochs DROP COLUMN best;
        ALTER TABLE clock_epochs DROP COLUMN next;
        CREATE INDEX clock_epochs_corrected ON clock_epochs (id) WHERE offset <> 0;
        CREATE INDEX clock_epochs_unsettled ON clock_epochs (id) WHERE settled = 0;

        CREATE TABLE decay_rates (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            epoch INTEGER REFERENCES clock_epochs (id),
            at INTEGER NOT NULL,
            rate REAL NOT NULL
        );
        INSERT INTO decay_rates (at, rate)
            SELECT 0, rate FROM decays ORDER BY id DESC LIMIT 1;

        DROP INDEX decays_by_collection;
        DROP INDEX decays_by_time;
        ALTER TABLE decays RENAME TO old_decays;
        CREATE TABLE decays (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            collection TEXT NOT NULL,
            epoch INTEGER REFERENCES clock_epochs (id),
            at INTEGER NOT NULL
        );
        INSERT INTO decays (id, collection, at) SELECT id, collection, at FROM old_decays;
        DROP TABLE old_decays;
        CREATE INDEX decays_by_collection ON decays (collection, id);

        DROP TABLE earlier_bases;
        CREATE TABLE accesses (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            memory_id INTEGER NOT NULL REFERENCES memories (id),
            epoch INTEGER NOT NULL REFERENCES clock_epochs (id),
            at INTEGER NOT NULL,
            decay_id INTEGER NOT NULL,
            applied INTEGER NOT NULL,
            base REAL,
            last_accessed INTEGER,
            last_epoch INTEGER REFERENCES clock_epochs (id)
        );
        CREATE INDEX accesses_by_memory ON accesses (memory_id, id);
        CREATE INDEX accesses_by_epoch ON accesses (epoch);
        CREATE INDEX accesses_waiting ON accesses (epoch) WHERE applied = 0;

        DROP INDEX retired_by_age_by_time;
        CREATE INDEX retired_by_age_by_epoch ON retired_by_age (epoch);
        DROP INDEX sessions_open;
        CREATE INDEX sessions_open ON sessions (created_epoch, created_at) WHERE status = 'open';
    """)


def _part_implausible(connection: apsw.Connection) -> None:
    """Give what was written before any plausible clock, or between two, an epoch of its own."""
    implausible = f'created_at < {_PLAUSIBLE_FROM} AND id NOT IN (SELECT memory_id FROM origins)'
    ((there,),) = connection.execute(f'SELECT EXISTS (SELECT 1 FROM memories WHERE {implausible})')
    if not there:
        return
    # An odd number comes after the even one of the entry that the rows follow.
    connection.execute(f"""
        UPDATE clock_epochs SET id = -2 * id;
        UPDATE clock_epochs SET id = -id;
        UPDATE memories SET created_epoch = 2 * created_epoch, accessed_epoch = 2 * accessed_epoch;
        INSERT INTO clock_epochs (id, wall, last_wall, best)
            SELECT coalesce(created_epoch, 0) + 1, min(created_at), max(created_at), 0
            FROM memories WHERE {implausible} GROUP BY created_epoch;
        UPDATE memories SET created_epoch = coalesce(created_epoch, 0) + 1 WHERE {implausible};
        UPDATE sqlite_sequence SET seq = (SELECT max(id) FROM clock_epochs)
            WHERE name = 'clock_epochs';
    """)
