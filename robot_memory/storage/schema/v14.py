"""
Schema version 14: which perceptions are whole, what payloads take, and origins of folded ones.

Frozen: stores of this version exist. It imports nothing of this package and never changes.
"""

from __future__ import annotations

import apsw


def upgrade(connection: apsw.Connection) -> None:
    """Index the events whose memory is there, add up the payloads, and free the origins."""
    connection.execute("""
        CREATE INDEX events_whole ON events (kind, label, onset) WHERE id = memory_id;
        CREATE INDEX memories_superseding ON memories (superseded_by)
            WHERE superseded_by IS NOT NULL;
        CREATE TABLE sizes (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
        INSERT INTO sizes (name, value)
            SELECT 'payloads', coalesce(sum(size), 0) FROM parts WHERE content IS NOT NULL;
    """)
    # A row of origins outlives a memory that is folded; see v5 for how a reference is removed:
    # https://www.sqlite.org/lang_altertable.html, section 7.
    version = connection.pragma('schema_version')
    connection.pragma('writable_schema', True)
    connection.execute(
        'UPDATE sqlite_schema SET sql = replace(sql,'
        " 'memory_id INTEGER PRIMARY KEY REFERENCES memories (id)',"
        " 'memory_id INTEGER PRIMARY KEY')"
        " WHERE name = 'origins' AND type = 'table'"
    )
    connection.pragma('schema_version', version + 1)
    connection.pragma('writable_schema', False)
