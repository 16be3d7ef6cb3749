"""The shape of the file, as numbered steps; a file of an older version is brought up in place."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable

import apsw

from robot_memory.errors import Unavailable
from robot_memory.store import archive, clocks, counts, facets, memories, places, turns


def first_tables(connection: apsw.Connection) -> None:
    """Make memories, payloads, sessions, the audit trail and the words' index."""
    connection.execute("""
        CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

        CREATE TABLE sessions (
            id TEXT PRIMARY KEY,
            collection TEXT NOT NULL,
            context TEXT NOT NULL,
            status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'ended')),
            outcome_score REAL,
            created_at INTEGER NOT NULL,
            ended_at INTEGER
        ) WITHOUT ROWID;

        CREATE TABLE memories (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            type TEXT NOT NULL CHECK (type IN ('fact', 'perception')),
            collection TEXT NOT NULL,
            session_id TEXT REFERENCES sessions (id),
            content TEXT NOT NULL,
            content_hash BLOB NOT NULL,
            guard TEXT NOT NULL,
            token_count INTEGER NOT NULL,
            category TEXT NOT NULL,
            confidence REAL NOT NULL,
            confidence_base REAL NOT NULL,
            tags TEXT NOT NULL,
            scope_files TEXT NOT NULL,
            perception_type TEXT,
            context TEXT NOT NULL,
            actor_id TEXT,
            event_id TEXT,
            strategy_name TEXT NOT NULL,
            stamp INTEGER,
            frame_id TEXT,
            pose TEXT,
            status TEXT NOT NULL DEFAULT 'active'
                CHECK (status IN ('active', 'invalidated', 'superseded')),
            superseded_by INTEGER REFERENCES memories (id),
            access_count INTEGER NOT NULL DEFAULT 0,
            last_accessed INTEGER,
            embedded INTEGER NOT NULL DEFAULT 0,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL
        );
        CREATE INDEX memories_by_hash ON memories (content_hash)
            WHERE status = 'active' AND type = 'fact';
        CREATE INDEX memories_by_guard ON memories (collection, guard, token_count)
            WHERE status = 'active' AND type = 'fact';
        CREATE INDEX memories_by_session ON memories (session_id) WHERE session_id IS NOT NULL;
        CREATE INDEX memories_by_time ON memories (created_at, id);
        CREATE INDEX memories_by_collection ON memories (collection, confidence)
            WHERE status = 'active';
        CREATE INDEX memories_without_vector ON memories (id)
            WHERE embedded = 0 AND status = 'active';

        CREATE TABLE payloads (
            memory_id INTEGER PRIMARY KEY REFERENCES memories (id),
            data TEXT,
            metadata TEXT
        );

        CREATE TABLE audit (
            id INTEGER PRIMARY KEY,
            memory_id INTEGER NOT NULL REFERENCES memories (id),
            action TEXT NOT NULL,
            actor TEXT NOT NULL,
            reason TEXT NOT NULL,
            detail TEXT NOT NULL,
            at INTEGER NOT NULL
        );
        CREATE INDEX audit_by_memory ON audit (memory_id);

        CREATE VIRTUAL TABLE memories_fts USING fts5 (
            terms,
            content = '',
            contentless_delete = 1,
            tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
        );
        CREATE VIRTUAL TABLE memories_vocabulary USING fts5vocab (memories_fts, row);

        CREATE TABLE vector_log (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            memory_id INTEGER NOT NULL
        );
    """)
    connection.execute(
        'INSERT INTO meta VALUES (?, ?)', ('store_id', f'robot-mem-{secrets.token_hex(8)}')
    )


def payload_parts(connection: apsw.Connection) -> None:
    """Make the parts of payloads, and what tells one event from another."""
    connection.execute("""
        CREATE TABLE parts (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            memory_id INTEGER NOT NULL REFERENCES memories (id),
            name TEXT NOT NULL,
            media_type TEXT NOT NULL,
            size INTEGER NOT NULL,
            protected INTEGER NOT NULL,
            content BLOB,
            removed_at INTEGER,
            UNIQUE (memory_id, name)
        );
        CREATE INDEX parts_to_remove ON parts (id) WHERE protected = 0 AND content IS NOT NULL;
        CREATE INDEX parts_removed ON parts (removed_at) WHERE removed_at IS NOT NULL;

        CREATE TABLE events (
            memory_id INTEGER PRIMARY KEY REFERENCES memories (id),
            source TEXT NOT NULL,
            topic TEXT NOT NULL,
            subject TEXT NOT NULL,
            onset INTEGER NOT NULL,
            peak INTEGER NOT NULL,
            "end" INTEGER NOT NULL,
            look TEXT NOT NULL,
            broken_off INTEGER NOT NULL
        );
        CREATE INDEX events_by_onset ON events (topic, subject, onset);
        CREATE INDEX events_by_peak ON events (topic, subject, peak);

        CREATE INDEX memories_by_stamp ON memories (collection, stamp)
            WHERE stamp IS NOT NULL AND status = 'active';
    """)


def scores_from_rows(connection: apsw.Connection) -> None:
    """
    Make `indexed`, and the words' index anew: collections are terms there now.

    Vectors are made anew by the model, which has changed with this release.
    """
    connection.execute("""
        DROP TABLE IF EXISTS memories_vec;
        DROP TABLE vector_log;
        DROP INDEX memories_without_vector;
        ALTER TABLE memories DROP COLUMN embedded;
        DELETE FROM meta WHERE key = 'vectors';
        INSERT INTO memories_fts (memories_fts) VALUES ('delete-all');

        CREATE TABLE indexed (
            memory_id INTEGER PRIMARY KEY,
            collection TEXT NOT NULL,
            real INTEGER NOT NULL,
            terms BLOB NOT NULL,
            coarse BLOB,
            fine BLOB
        );
        CREATE INDEX indexed_by_collection ON indexed (collection);
        CREATE INDEX indexed_without_vector ON indexed (memory_id) WHERE coarse IS NULL;

        CREATE TABLE collections (
            name TEXT PRIMARY KEY,
            memories INTEGER NOT NULL
        ) WITHOUT ROWID;

        CREATE TABLE changes (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            memory_id INTEGER NOT NULL,
            collection TEXT NOT NULL
        );
    """)
    active = connection.execute(
        "SELECT id, collection, content, context FROM memories WHERE status = 'active' ORDER BY id"
    )
    for memory_id, collection, content, context in active:
        memories.index(connection, memory_id, collection, content, json.loads(context))


def near_things(connection: apsw.Connection) -> None:
    """Make what leads to memories by their contexts, places, times and people."""
    facets.make(connection)
    places.make(connection)
    connection.execute("""
        CREATE INDEX memories_by_actor ON memories (actor_id) WHERE actor_id IS NOT NULL;
        CREATE INDEX memories_by_event ON memories (event_id) WHERE event_id IS NOT NULL;
        CREATE INDEX memories_by_category ON memories (category)
            WHERE category <> 'observation';
        CREATE INDEX memories_by_measurement ON memories (stamp) WHERE stamp IS NOT NULL;
        CREATE INDEX memories_by_access ON memories (last_accessed)
            WHERE last_accessed IS NOT NULL;
        CREATE INDEX memories_by_change ON memories (updated_at)
            WHERE updated_at <> created_at;
        CREATE INDEX memories_ended ON memories (status) WHERE status <> 'active';
    """)
    for memory_id, collection, status, text in connection.execute(
        'SELECT id, collection, status, context FROM memories'
    ):
        context = json.loads(text)
        facets.put(connection, memory_id, context)
        if status == 'active':
            places.put(connection, memory_id, collection, context)


def conversations(connection: apsw.Connection) -> None:
    """Make turns a type of memory, and give sessions a title, tags and times."""
    # SQLite's own way to change a constraint of a table that need not be written anew:
    # https://www.sqlite.org/lang_altertable.html, section 7.
    version = connection.pragma('schema_version')
    connection.pragma('writable_schema', True)
    connection.execute(
        "UPDATE sqlite_schema SET sql = replace(sql, '(''fact'', ''perception'')',"
        " '(''fact'', ''perception'', ''turn'')') WHERE name = 'memories' AND type = 'table'"
    )
    connection.pragma('schema_version', version + 1)
    connection.pragma('writable_schema', False)
    connection.execute("""
        ALTER TABLE sessions ADD COLUMN title TEXT NOT NULL DEFAULT '';
        ALTER TABLE sessions ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
        ALTER TABLE sessions ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}';
        ALTER TABLE sessions ADD COLUMN updated_at INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE sessions ADD COLUMN saved_at INTEGER;
        UPDATE sessions SET updated_at = coalesce(ended_at, created_at);
        CREATE INDEX sessions_open ON sessions (created_at) WHERE status = 'open';
        CREATE INDEX sessions_by_change ON sessions (updated_at);
    """)
    turns.make(connection)


def of_perceptions(connection: apsw.Connection) -> None:
    """Make what leads to perceptions by their type and their frame."""
    connection.execute("""
        CREATE INDEX memories_by_perception ON memories (perception_type)
            WHERE perception_type IS NOT NULL;
        CREATE INDEX memories_by_frame ON memories (frame_id) WHERE frame_id IS NOT NULL;
    """)


MIGRATIONS: tuple[Callable[[apsw.Connection], None], ...] = (
    first_tables,
    payload_parts,
    scores_from_rows,
    near_things,
    conversations,
    counts.make,
    archive.make,
    of_perceptions,
    clocks.make,
)


def migrate(connection: apsw.Connection) -> None:
    """
    Bring the file to the newest version, each step in a transaction of its own.

    Raise Unavailable for a file that a newer release or another program wrote; it stays as it is.
    """
    ((tables,),) = connection.execute('SELECT count(*) FROM sqlite_schema')
    if tables and not connection.pragma('user_version'):
        raise Unavailable(
            f"{connection.filename} is another program's database; name another file in db_path"
        )
    newest = len(MIGRATIONS)
    while (version := connection.pragma('user_version')) != newest:
        if version > newest:
            raise Unavailable(
                f'the store {connection.filename} has version {version}, this release knows '
                f'up to {newest}; use the release that wrote it, or a newer one'
            )
        connection.execute('BEGIN IMMEDIATE')
        try:
            # Another process may have taken this step while we waited for the lock.
            if connection.pragma('user_version') == version:
                MIGRATIONS[version](connection)
                connection.pragma('user_version', version + 1)
            connection.execute('COMMIT')
        except BaseException:
            if connection.in_transaction:  # a full disk has ended it already
                connection.execute('ROLLBACK')
            raise
