"""Cleaning the file of what was erased: the words' index, free pages, the log."""

from __future__ import annotations

import json
import time
from typing import Any

import apsw

from robot_memory.storage.admin import byte_search
from robot_memory.storage.connection import Database
from robot_memory.storage.indexes import fulltext, merging
from robot_memory.storage.lock_owners import name_readers
from robot_memory.storage.tables import erased_texts, meta
from robot_memory.text import tokenizer

_PAUSE_SECONDS = 0.0005
_COMPACTING_SECONDS = 5.0
_MERGED_PAGES = 500
"""Pages that are merged in one transaction, which other writes wait for."""


def remove_words(db: Database) -> int:
    """Write the full-text index anew, without terms of rows that are gone; return the steps."""
    with db.read() as connection:
        old = merging.list_segments(connection)
    again, steps = True, 0
    # What others write meanwhile is in new segments: beside a busy writer these have no end.
    while old:
        with db.write() as connection:
            merged = merging.merge(connection, _MERGED_PAGES, again=again)
            old &= merging.list_segments(connection)
        if again and not merged:
            break
        again = not merged
        steps += merged
    return steps


def compact(db: Database) -> None:
    """Write the whole file anew: it then holds rows that are there and nothing else."""
    remove_words(db)  # a VACUUM alone copies the terms of rows that are gone
    until = time.monotonic() + _COMPACTING_SECONDS
    with db.connect(alone=True) as connection:
        while True:
            try:
                connection.execute('VACUUM')
                break
            except apsw.BusyError:  # it is not made to wait where another process just wrote
                if time.monotonic() > until:
                    raise
                time.sleep(_PAUSE_SECONDS)
    with db.write() as connection:
        meta.set_switch(connection, meta.SECURE_DELETE, True)


def is_overwritten(db: Database) -> bool:
    """Say whether all that was ever freed in the file was overwritten."""
    with db.read() as connection:
        return bool(meta.get_switch(connection, meta.SECURE_DELETE))


def empty_log(db: Database, patience: float = 2.0) -> str:
    """
    Write the log into the file and empty it; return who keeps it, '' where it is empty.

    It waits for readers, and writers for it, for some seconds at most (`patience`).
    """
    with db.connect() as connection:
        until = time.monotonic() + patience

        def wait(_: int) -> bool:
            time.sleep(_PAUSE_SECONDS)  # shorter than SQLite's own: writers leave small gaps
            return time.monotonic() < until

        connection.set_busy_handler(wait)
        try:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.BusyError:
            readers = name_readers(db.files[0]) or 'a process'
            return f'{readers} reads an earlier state of the store'
    return ''


def find_terms(db: Database, words: list[str]) -> list[str]:
    """Return the terms of some words by which the index leads to rows that are not there."""
    plain = [word for word in words if not word.startswith(erased_texts.SAMPLE)]
    with db.connect() as connection:
        connection.execute(
            "CREATE VIRTUAL TABLE temp.occurrences USING fts5vocab('main', 'memories_fts',"
            " 'instance')"
        )
        terms = (term for word in plain for term in tokenizer.extract_terms(word))
        stems = sorted(set(fulltext.stems(connection, terms)))
        rows: Any = connection.execute(
            'SELECT t.value FROM json_each(?) AS t WHERE EXISTS (SELECT 1 FROM temp.occurrences'
            ' AS o WHERE o.term = t.value AND o.doc NOT IN (SELECT memory_id FROM indexed))',
            (json.dumps(stems, ensure_ascii=False),),
        ).fetchall()
    return [row[0] for row in rows]


def find_pages(db: Database) -> list[int] | None:
    """Return free pages that are not zero; None where a reader keeps the file from being whole."""
    with db.write(), db.connect() as connection:  # nobody writes meanwhile
        in_log, written = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        return byte_search.find_dirty_pages(db.files[0]) if in_log == written else None
