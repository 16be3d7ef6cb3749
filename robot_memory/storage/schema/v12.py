"""
Schema version 12: a chained audit, and the revisions of memories.

Frozen: stores of this version exist. It imports nothing of this package and never changes.
"""

from __future__ import annotations

import hashlib
import json
import secrets

import apsw

_EPOCHS = (('audit', 'epoch'), ('memories', 'updated_epoch'), ('memories', 'accessed_epoch'))
"""Columns that come with clock epochs; until those are there, they are empty."""


def upgrade(connection: apsw.Connection) -> None:
    """Create the table of revisions, and chain the audit lines that there are."""
    _free_audit(connection)
    for table, column in _EPOCHS:
        known = [row[1] for row in connection.execute(f'PRAGMA table_info({table})')]
        if column not in known:
            connection.execute(f'ALTER TABLE {table} ADD COLUMN {column} INTEGER')
    connection.execute("""
        ALTER TABLE audit ADD COLUMN last_memory_id INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE audit ADD COLUMN digest BLOB;
        ALTER TABLE audit ADD COLUMN salt BLOB;
        ALTER TABLE audit ADD COLUMN note BLOB NOT NULL DEFAULT x'';
        ALTER TABLE audit ADD COLUMN chain BLOB NOT NULL DEFAULT x'';
        ALTER TABLE memories ADD COLUMN salt BLOB;

        CREATE TABLE revisions (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            memory_id INTEGER NOT NULL REFERENCES memories (id),
            audit_id INTEGER NOT NULL,
            content TEXT NOT NULL,
            actor_id TEXT,
            category TEXT NOT NULL,
            confidence REAL NOT NULL,
            confidence_base REAL NOT NULL,
            tags TEXT NOT NULL,
            scope_files TEXT NOT NULL,
            context TEXT NOT NULL,
            strategy_name TEXT NOT NULL,
            status TEXT NOT NULL,
            superseded_by INTEGER,
            authority TEXT NOT NULL,
            stands INTEGER NOT NULL,
            writer_id INTEGER REFERENCES writers (id),
            updated_at INTEGER NOT NULL,
            updated_epoch INTEGER,
            last_accessed INTEGER,
            accessed_epoch INTEGER,
            salt BLOB
        );
        CREATE INDEX revisions_by_memory ON revisions (memory_id, audit_id);
        CREATE INDEX revisions_by_line ON revisions (audit_id);
    """)
    ((highest,),) = connection.execute('SELECT coalesce(max(id), 0) FROM memories')
    ((last,),) = connection.execute('SELECT coalesce(max(id), 0) FROM audit')
    _chain(connection, highest)
    if highest:  # what was changed before this has no revisions
        connection.execute("INSERT INTO meta (key, value) VALUES ('history_from', ?)", (last,))


def _free_audit(connection: apsw.Connection) -> None:
    """Let a line outlive the memory that it tells of, and tell of none."""
    # See v5: https://www.sqlite.org/lang_altertable.html, section 7.
    version = connection.pragma('schema_version')
    connection.pragma('writable_schema', True)
    connection.execute(
        'UPDATE sqlite_schema SET sql ='
        " replace(sql, 'memory_id INTEGER NOT NULL REFERENCES memories (id)', 'memory_id INTEGER')"
        " WHERE name = 'audit' AND type = 'table'"
    )
    connection.pragma('schema_version', version + 1)
    connection.pragma('writable_schema', False)


def _chain(connection: apsw.Connection, highest: int) -> None:
    """Chain the lines; `highest` is the highest id of a memory."""
    who = {
        row[0]: list(row[1:])
        for row in connection.execute(
            'SELECT id, face, client, principal, actor, authority FROM writers'
        )
    }
    rows = connection.execute(
        'SELECT id, memory_id, action, actor, reason, detail, at, epoch, writer_id FROM audit'
        ' ORDER BY id'
    ).fetchall()
    before = b''
    for line, memory_id, action, actor, reason, detail, at, epoch, writer_id in rows:
        salt = secrets.token_bytes(16)
        words = [text.encode() for text in (str(reason), str(detail))]
        note = hashlib.sha256(
            salt + b''.join(len(word).to_bytes(8, 'big') + word for word in words)
        ).digest()
        writer = who.get(writer_id)
        columns = [line, memory_id, highest, action, actor, writer, at, epoch, None, note.hex()]
        text = json.dumps(columns, separators=(',', ':'))
        before = hashlib.sha256(before + text.encode()).digest()
        connection.execute(
            'UPDATE audit SET last_memory_id = ?, salt = ?, note = ?, chain = ? WHERE id = ?',
            (highest, salt, note, before, line),
        )
