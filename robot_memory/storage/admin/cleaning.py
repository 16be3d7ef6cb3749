"""Cleaning the file of what was erased: the words' index, free pages, the log."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw

from robot_memory.storage.admin import byte_search
from robot_memory.storage.connection import Database
from robot_memory.storage.indexes import fulltext, merging
from robot_memory.storage.tables import erased_texts, meta
from robot_memory.text import tokenizer

_PAUSE_SECONDS = 0.0005
_COMPACTING_SECONDS = 5.0
_MERGED_PAGES = 500
"""Pages that are merged in one transaction, which other writes wait for."""
_ASK = """
import fcntl, json, struct, sys
found = []
with open(sys.argv[1], 'r+b') as file:
    for place in map(int, sys.argv[2:]):
        asked = struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, place, 1, 0)
        kind, _, _, _, pid = struct.unpack('hhqqi4x', fcntl.fcntl(file, fcntl.F_GETLK, asked))
        if kind != fcntl.F_UNLCK:
            found.append(pid)
print(json.dumps(sorted(set(found))))
"""
"""Prints the processes that lock some bytes of a -shm: sqlite.org/walformat.html."""
_READERS, _USERS = ('124', '125', '126', '127'), ('128',)
"""What is locked by who reads from the log, and by who has the store open."""


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
            readers = _name_processes(db.files[2], _READERS) or 'a process'
            return f'{readers} reads an earlier state of the store'
    return ''


def name_users(path: Path) -> str:
    """Return the other processes that have a store open, '' where there are none."""
    index = Path(f'{path}-shm')
    return _name_processes(index, _USERS) if index.exists() else ''


def _name_processes(index: Path, places: Sequence[str]) -> str:
    """Return the processes that hold locks at some places, with their ids and commands."""
    # A process of its own: closing a descriptor of the file here would drop SQLite's locks.
    done = subprocess.run(
        [sys.executable, '-I', '-S', '-c', _ASK, str(index), *places],
        capture_output=True,
        text=True,
        check=False,
    )
    pids = json.loads(done.stdout) if done.returncode == 0 else []
    return ' and '.join(f'process {pid}{_name_command(pid)}' for pid in pids)


def _name_command(pid: int) -> str:
    try:
        words = Path(f'/proc/{pid}/cmdline').read_bytes().split(b'\0')
    except OSError:
        return ''
    text = b' '.join(words).decode('utf-8', 'replace').strip()
    return f' ({text[:100]})' if text else ''


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
