"""
Stores that are served read-only; the file stays as it is.

Of one of an earlier release that cannot be upgraded for want of disk space an upgraded copy in
this process's memory is served. One that this process may not write to is read where it is, with
its log in a private copy where nobody has it open.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import apsw

from robot_memory.core.errors import Unavailable
from robot_memory.core.files import measure_file
from robot_memory.storage import checksums, schema_runner
from robot_memory.storage.error_messages import has_room, is_full
from robot_memory.storage.source import Source
from robot_memory.storage.store_files import LOG, copy_with_log, has_log, name_file
from robot_memory.storage.upgrade import NoRoom, Progress
from robot_memory.storage.vector_extension import load_vectors

_MEMORY = Path('/proc/meminfo')
_BECAUSE = 'because '
_THEN = 'a node and the viewer then open it for writing by themselves, others when restarted'
_MARGIN = 64_000_000
"""Bytes of memory that are left free beside the copy."""
ROOM_SECONDS = 5.0
"""How often who serves a store on a full disk looks whether there is room."""
_ROOM = 4_000_000
"""Bytes that must be free on a disk that was full."""


class ReadOnlyStore(Unavailable):
    """The store is served read-only; the message says why and which command upgrades it."""

    hint = 'Do what the reason names, then restart.'


def open_unwritable(path: Path, error: apsw.Error) -> Source:
    """
    Return how a store is read that this process may not write to, or whose disk is full.

    Raise the error that was the reason where that is no store or for anything else, and
    Unavailable where its log cannot be read, since nobody has it open and there is no room for a
    copy.
    """
    may_not = isinstance(error, (apsw.CantOpenError, apsw.ReadOnlyError))
    fills_disk = not may_not and bool(measure_file(path)) and is_full(path, error)
    if not path.is_file() or not (may_not or fills_disk):
        raise error
    cause = f'it cannot be written ({error})'
    if fills_disk:
        cause = f'its disk is full ({error}); free space{_name_reserve(path)}; {_THEN}'
    why = f'the store {path} is served read-only, {_BECAUSE}{cause}'
    return replace(_find_source(path, why, fills_disk), waits_for_room=fills_disk)


def _find_source(path: Path, why: str, fills_disk: bool) -> Source:
    live = Source(str(path), apsw.SQLITE_OPEN_READONLY, reason=why)
    try:
        with closing(live.connect('FULL')) as connection:
            connection.execute('SELECT 1 FROM sqlite_schema').fetchall()
        return live
    except (apsw.CantOpenError, apsw.ReadOnlyError):  # nobody has it open
        pass
    except apsw.Error:
        if not fills_disk:
            raise
    if has_log(path):
        return _read_copy(path, name_file(path, LOG), why)
    uri = checksums.name_frozen(path)
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return Source(uri, flags, reason=why, is_frozen=True)


class RoomWatch:
    """Know when a store that was opened on a full disk is to be opened anew."""

    def __init__(self) -> None:
        """Look at nothing yet."""
        self._least = _ROOM

    def has_room(self, path: Path, source: Source) -> bool:
        """Say whether a store that waits for room has some now."""
        if not source.waits_for_room:
            self._least = _ROOM
            return False
        return has_room(path.parent, self._least)

    def try_once(self) -> None:
        """Note that it is opened anew: where that is in vain, twice as much must be free then."""
        self._least *= 2


def _name_reserve(path: Path) -> str:
    """Return what of a full disk can go at once, where there is any."""
    reserve = path.with_name(f'.{path.name}.reserve')
    size = measure_file(reserve)
    return f' (deleting {reserve} frees {size / 1e6:.0f} MB)' if size else ''


def _read_copy(path: Path, log: Path, why: str) -> Source:
    folder = Path(tempfile.mkdtemp(prefix='robot_memory-'))
    try:
        size = measure_file(path) + measure_file(log)
        free = shutil.disk_usage(folder).free
        if free < size + _MARGIN:
            raise Unavailable(
                f'{why}, and its log {log} can be read in a copy only: that takes '
                f'{size / 1e6:.0f} MB, {folder.parent} has {free / 1e6:.0f} MB free; set TMPDIR '
                'to a folder with room'
            )
        copy = folder / path.name
        copy_with_log(path, copy)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return Source(str(copy), reason=f'{why}; it is read with its log in a copy', folder=folder)


def refuse_outdated(connection: apsw.Connection, path: Path, reason: str) -> None:
    """Raise Unavailable for a store that may not be written and is not of this release."""
    schema_runner.refuse_foreign(connection)
    if not schema_runner.is_current(connection):
        version = schema_runner.version_of(connection)
        if not version:
            raise Unavailable(f'{path} holds no store yet, and {reason.partition(_BECAUSE)[2]}')
        raise Unavailable(
            f'{path} cannot be written, and is of an earlier release (schema version {version}): '
            'copy it into a writable folder and run `robot-memory upgrade --db COPY`'
        )


def _describe_reason(path: Path, why: NoRoom) -> str:
    """Return why a store is read-only and what to do about it."""
    return (
        f'the store {path} is served read-only, as it was at the start, because {why}, or run '
        f'`robot-memory upgrade --db {path}` and restart'
    )


def load_upgraded_copy(
    path: Path, why: NoRoom, progress: Progress
) -> tuple[apsw.Connection, Source]:
    """
    Return a connection to an upgraded copy in memory, and how others are opened.

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
        uri = f'file:/robot_memory-{os.urandom(8).hex()}?vfs=memdb'
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
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI
    reason = _describe_reason(path, why)
    return copy, Source(uri, flags, has_checksums=False, reason=reason)


def _read_free_memory() -> int:
    """Return the bytes of memory that can be had without swapping; 0 if that is unknown."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in _MEMORY.read_text(encoding='ascii').splitlines():
            if line.startswith('MemAvailable:'):
                return int(line.split()[1]) * 1024
    return 0
