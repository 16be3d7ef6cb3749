"""
A store of an earlier release that cannot be upgraded for want of disk space, served read-only.

What is served is an upgraded copy in this process's memory; the file stays as it is.
"""

from __future__ import annotations

import contextlib
import ctypes
import secrets
from pathlib import Path
from urllib.parse import quote

import apsw

from robot_memory.core.errors import Unavailable
from robot_memory.storage import checksums, schema_runner
from robot_memory.storage.upgrade import NoRoom, Progress
from robot_memory.storage.vector_extension import load_vectors

_MEMORY = Path('/proc/meminfo')
_MARGIN = 64_000_000
"""Bytes of memory that are left free beside the copy."""


class ReadOnlyStore(Unavailable):
    """The store is served read-only; the message says why and which command upgrades it."""

    hint = 'Free disk space, upgrade the store with the named command, then restart.'


def describe_reason(path: Path, why: NoRoom) -> str:
    """Return why a store is read-only and what to do about it."""
    return (
        f'the store {path} is served read-only, as it was at the start, because {why}, or run '
        f'`robot-memory upgrade --db {path}` and restart'
    )


def load_upgraded_copy(path: Path, why: NoRoom, progress: Progress) -> tuple[apsw.Connection, str]:
    """
    Return a connection to an upgraded copy in memory, and its URI for further connections.

    The copy lasts as long as a connection to it is open. Raise the NoRoom that was the reason if
    it does not fit in memory, either.
    """
    source = checksums.connect(
        f'file:{quote(str(path.absolute()))}', apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI
    )
    try:
        load_vectors(source)
        size = source.pragma('page_size') * source.pragma('page_count')
        needed = 3 * size + _MARGIN  # the copy, the rows that the upgrade rewrites, the journal
        if _read_free_memory() < needed:
            raise why
        # memdb shares a database whose name begins with a slash with the process's connections.
        uri = f'file:/robot_memory-{secrets.token_hex(8)}?vfs=memdb'
        copy = apsw.Connection(
            uri, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
        )
        try:
            limit = ctypes.c_int64(needed)
            copy.file_control('main', apsw.SQLITE_FCNTL_SIZE_LIMIT, ctypes.addressof(limit))
            load_vectors(copy)
            # Not SQLite's backup: it copies the mark of a log (WAL), which memdb cannot open.
            source.execute('VACUUM INTO ?', (uri,))
            schema_runner.upgrade(copy, progress)
        except BaseException:
            copy.close()
            raise
    finally:
        source.close()
    return copy, uri


def _read_free_memory() -> int:
    """Return the bytes of memory that can be had without swapping; 0 if that is unknown."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in _MEMORY.read_text(encoding='ascii').splitlines():
            if line.startswith('MemAvailable:'):
                return int(line.split()[1]) * 1024
    return 0
