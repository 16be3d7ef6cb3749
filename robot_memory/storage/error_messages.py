"""Every error of SQLite in words that say what to do about it."""

from __future__ import annotations

import errno
import logging
import os
import re
import shutil
import tempfile
from json import JSONDecodeError
from pathlib import Path

import apsw

from robot_memory.core.errors import (
    Damaged,
    Internal,
    InvalidArgument,
    RobotMemoryError,
    Unavailable,
)

logger = logging.getLogger(__name__)

_LEAST_FREE = 64 * 1024
"""Bytes that SQLite needs to open a store: the first page of its log and of the log's index."""


def describe_error(
    path: Path, error: apsw.Error | MemoryError | ValueError, wait: str
) -> RobotMemoryError | None:
    """
    Return the error to raise for one of SQLite, of memory, or of a stored text that is no JSON.

    `wait` says how long a write waited for another process. No text is stored with NUL: one lies
    on a page of zeros, whose checksum matches. None is for other errors of values, which are the
    caller's.
    """
    if isinstance(error, ValueError):
        has_zeros = isinstance(error, JSONDecodeError) and '\0' in error.doc
        owners = _list_owners(path) if has_zeros else None
        return _describe_damage(path, owners) if owners else None
    if isinstance(error, apsw.BusyError):
        return Unavailable(
            f'another process is writing to {path} and {wait}; nothing was changed, try again'
        )
    if isinstance(error, apsw.NotADBError):
        return Unavailable(f'{path} is not a robot_memory store; set db_path to another file')
    if _may_be_damage(error) and (owners := _list_owners(path)):
        return _describe_damage(path, owners)
    if is_full(path, error):
        return Unavailable(
            f'the disk of the store {path} is full ({error}); nothing was changed: free space, '
            'then try again'
        )
    if isinstance(error, (apsw.IOError, apsw.CorruptError, apsw.NoLFSError)):
        return Unavailable(
            f'cannot use the store {path}: {error}; check the disk and whether another program '
            'wrote to the file; restore a backup or import an archive'
        )
    if isinstance(error, (apsw.ProtocolError, apsw.LockedError, apsw.SchemaChangeError)):
        return Unavailable(
            f'other connections block {path} ({error}); nothing was changed, try again'
        )
    if isinstance(error, (apsw.InterruptError, apsw.AbortError)):
        return Unavailable(
            f'the call to {path} was interrupted ({error}); nothing was changed, try again'
        )
    if isinstance(error, (apsw.NoMemError, MemoryError)):
        return Unavailable('out of memory; nothing was changed, request less')
    if isinstance(error, apsw.TooBigError):
        return InvalidArgument(f'value exceeds the limits of the store ({error})')
    if isinstance(
        error, (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError)
    ):
        return describe_unopened(path, error)
    if isinstance(error, apsw.ForkingViolationError):
        return Unavailable(
            f'the store {path} was opened before this process was forked; open it after the fork'
        )
    if isinstance(error, apsw.SQLError) and re.search('no such (table|column)', str(error)):
        return describe_overwritten(path, error)
    return _describe_fault(path, error)


def is_full(path: Path, error: Exception) -> bool:
    """Say whether an error came of a disk without room for the log of a store and its index."""
    if isinstance(error, apsw.FullError):
        return True
    return isinstance(error, apsw.IOError) and not has_room(path.parent)


def has_room(folder: Path, least: int = _LEAST_FREE) -> bool:
    """Say whether so many bytes are free, and a file of some fits: a quota counts as well."""
    try:
        if shutil.disk_usage(folder).free < least:
            return False
        with tempfile.TemporaryFile(dir=folder) as file:
            os.posix_fallocate(file.fileno(), 0, _LEAST_FREE)
    except OSError as error:
        return error.errno not in (errno.ENOSPC, errno.EDQUOT)
    return True


def _may_be_damage(error: apsw.Error | MemoryError) -> bool:
    """Say whether pages are to be looked at: full text tells of one that is wrong as it likes."""
    if isinstance(error, apsw.IOError):
        return getattr(error, 'extendedresult', 0) == apsw.SQLITE_IOERR_DATA
    is_of_words = isinstance(error, apsw.SQLError) and 'fts' in str(error)
    return isinstance(error, apsw.CorruptError) or is_of_words


def describe_overwritten(path: Path, why: object) -> Unavailable:
    """Return the error for a file that is another store than the one that was opened."""
    return Unavailable(
        f'{path} is no longer the store that was opened ({why}): another program overwrote it; '
        'stop that program, then restore a backup or import an archive'
    )


def describe_unopened(path: Path, error: Exception) -> Unavailable:
    """Return the error for a file that cannot be opened for writing."""
    if os.path.isdir(path):  # unlike Path.is_dir it fails nowhere
        return describe_folder(path)
    return Unavailable(
        f'{path} cannot be opened for writing ({error}); set db_path to a file in a writable '
        'folder'
    )


def describe_folder(path: Path) -> Unavailable:
    """Return the error for a folder that was named in place of a store."""
    file = path / 'memory.db'
    wanted = f': {file}' if os.path.isfile(file) else ''
    return Unavailable(
        f'{path} is a folder; set db_path (--db, ROBOT_MEMORY_DB) to the file of the store{wanted}'
    )


def _list_owners(path: Path) -> frozenset[str]:
    from robot_memory.storage import damage

    return damage.list_owners(path)


def _describe_damage(path: Path, owners: frozenset[str]) -> Damaged:
    from robot_memory.storage import damage

    return Damaged(
        f'the store {path} is damaged: {damage.describe(path)}: a checksum does not match; '
        'calls that do not need it go on; `robot-memory salvage` writes a new store from all '
        'rows that can be read, or restore a backup',
        owners,
    )


def _describe_fault(path: Path, error: apsw.Error) -> Internal:
    logger.error('a statement on %s failed', path, exc_info=error)
    return Internal(
        f'a statement on the store {path} failed: {type(error).__name__}: {error}; '
        'nothing was changed, the log has the traceback'
    )
