"""
Schema version 17: which occasion of a known text is the newest, and what replaces what.

Frozen: stores of this version exist. It imports nothing of this package and never changes.
"""

from __future__ import annotations

import apsw

_ORDER = (
    "CASE {} WHEN 'operator' THEN 0 WHEN 'planner' THEN 1 WHEN 'robot' THEN 2"
    " WHEN 'person' THEN 3 WHEN 'observed' THEN 4 ELSE 5 END"
)


def upgrade(connection: apsw.Connection) -> None:
    """Say of observations whether they stand before the memory, and create the replacements."""
    connection.execute(f"""
        ALTER TABLE observations ADD COLUMN actor_id TEXT;
        ALTER TABLE observations ADD COLUMN newer INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE observations ADD COLUMN ended_by INTEGER;
        UPDATE observations SET
            actor_id = iif(json_type(context, '$.actor_id') = 'text',
                json_extract(context, '$.actor_id'), NULL),
            newer = EXISTS (SELECT 1 FROM audit AS a WHERE a.id = audit_id
                    AND a.action = 'observed')
                AND EXISTS (SELECT 1 FROM memories AS m JOIN writers AS w
                    ON w.id = observations.writer_id WHERE m.id = memory_id
                    AND {_ORDER.format('w.authority')} <= {_ORDER.format('m.authority')});
        DROP INDEX observations_by_memory;
        CREATE INDEX observations_by_memory ON observations
            (memory_id, ended_by, newer, outcome, simulated, at, epoch);
        CREATE INDEX observations_by_session ON observations (session_id)
            WHERE session_id IS NOT NULL;
        CREATE INDEX observations_by_actor ON observations (actor_id) WHERE actor_id IS NOT NULL;

        CREATE TABLE replacements (
            id INTEGER PRIMARY KEY,
            replacing_id INTEGER NOT NULL REFERENCES memories (id),
            replaced_id INTEGER NOT NULL REFERENCES memories (id),
            audit_id INTEGER NOT NULL REFERENCES audit (id),
            settled INTEGER NOT NULL,
            ended_by INTEGER
        );
        CREATE INDEX replacements_by_replacing ON replacements (replacing_id);
        CREATE INDEX replacements_by_replaced ON replacements (replaced_id);

        ALTER TABLE proposals ADD COLUMN replacing_id INTEGER REFERENCES memories (id);
        UPDATE meta SET value = 0 WHERE key = 'derived_rules'
            AND EXISTS (SELECT 1 FROM observations);
    """)
    # A proposal may be one to replace; see v5 for how a constraint is changed:
    # https://www.sqlite.org/lang_altertable.html, section 7.
    version = connection.pragma('schema_version')
    connection.pragma('writable_schema', True)
    connection.execute(
        'UPDATE sqlite_schema SET sql = replace(sql,'
        " '(''update'', ''forget'')', '(''update'', ''forget'', ''replace'')')"
        " WHERE name = 'proposals' AND type = 'table'"
    )
    connection.pragma('schema_version', version + 1)
    connection.pragma('writable_schema', False)
