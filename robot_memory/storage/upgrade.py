"""
Upgrading a store to this release, with a copy of what it was beside it.

The copy is `<store>.before-upgrade`: one is kept, for 30 days.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from robot_memory.core.clock import DAY
from robot_memory.core.errors import Unavailable
from robot_memory.core.files import keep_file, measure_file
from robot_memory.storage import checksums, schema_runner
from robot_memory.storage.store_files import LOG, has_log, hold_scratch, name_file

logger = logging.getLogger(__name__)
Progress = Callable[[int, int], None]
KEPT_DAYS = 30
_MARGIN = 16_000_000
"""Bytes of disk that are left free beside the copy and the log of the upgrade."""


class NoRoom(Unavailable):
    """The disk has no room for the copy that an upgrade keeps; the store was not changed."""


def prepare(
    connection: apsw.Connection, path: Path, allowed: bool, progress: Progress
) -> int | None:
    """
    Make a store of an empty file, and bring an older store to this release where that is allowed.

    Return the schema version before an upgrade, None where there was none. `progress` is told how
    many memories of how many are done. Raise Unavailable for an older store that is not to be
    upgraded, and NoRoom where the copy of it does not fit on the disk; the file then stays as it
    was, and where the disk fails. What another program or a newer release wrote has been refused
    before.
    """
    if not schema_runner.version_of(connection):
        schema_runner.create(connection)
    if schema_runner.is_current(connection):
        return None
    version = schema_runner.version_of(connection)
    if not allowed:
        raise Unavailable(
            f'the store {path} was written by an earlier release (schema version {version}, this '
            f'release uses {len(schema_runner.STEPS)}); `robot-memory upgrade --db {path}` '
            'upgrades it and keeps a copy'
        )
    try:
        with _alone(path):
            if schema_runner.is_current(connection):  # another process has done it meanwhile
                return None
            _keep(connection, path, copy_of(path))
            schema_runner.upgrade(connection, progress)
            _add_checksums(connection, path)
    except OSError as error:
        raise Unavailable(
            f'{path} cannot be upgraded: the copy {copy_of(path)} cannot be made ({error}); '
            'check the disk, then open it again'
        ) from error
    logger.warning(
        'upgraded the store %s from schema version %d; the old file is copied to %s',
        path,
        version,
        copy_of(path),
    )
    return version


def _add_checksums(connection: apsw.Connection, path: Path) -> None:
    """Write the file anew with checksums; where that cannot be now, it stays as it is."""
    try:
        if not checksums.are_kept(connection):
            checksums.write_anew(connection)
    except (apsw.FullError, apsw.BusyError, apsw.IOError) as error:
        logger.warning(
            'the pages of %s have no checksums yet (%s); `robot-memory maintain` adds them once '
            'the disk has room for a copy of the file',
            path,
            error,
        )


def copy_of(path: Path) -> Path:
    """Return where the copy of a store is kept."""
    return path.with_name(f'{path.name}.before-upgrade')


def remove_expired_copy(path: Path, now: int) -> bool:
    """Remove the copy of a store if it is over 30 days old; say whether it was."""
    kept = copy_of(path)
    try:
        if now - kept.stat().st_mtime_ns // 1000 < KEPT_DAYS * DAY:
            return False
        kept.unlink()
    except FileNotFoundError:
        return False
    return True


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Wait until no other process upgrades this store."""
    # A file of its own: closing a descriptor of the store would drop SQLite's locks on it.
    lock = path.with_name(f'.{path.name}.upgrade.lock')
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
        lock.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _keep(connection: apsw.Connection, path: Path, kept: Path) -> None:
    """Copy a store to a file of that name, whole or not at all."""
    with hold_scratch(path.with_name(f'.{path.name}.before-upgrade.part')) as part:
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        if not _clone(connection, path, part):
            _refuse_without_room(path)
            _copy(connection, part)
        keep_file(part, kept)  # before the first change of the store


def _clone(connection: apsw.Connection, path: Path, part: Path) -> bool:
    """Share the store's blocks with a copy (reflink) where the file system can; say whether."""
    import subprocess  # here: whoever upgrades nothing does not wait for it

    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    connection.execute('BEGIN IMMEDIATE')  # from here nobody writes
    try:
        if has_log(path):
            return False
        # A process of its own: closing a descriptor of the store here would drop SQLite's locks.
        done = subprocess.run(
            ['cp', '--reflink=always', '--', path, part], capture_output=True, check=False
        )
        return done.returncode == 0
    except OSError:  # no cp here
        return False
    finally:
        connection.execute('ROLLBACK')


def _refuse_without_room(path: Path) -> None:
    size = measure_file(path) + measure_file(name_file(path, LOG))
    # The copy, and as much again for the rows that the upgrade writes anew.
    needed = 2 * size + _MARGIN
    free = shutil.disk_usage(path.parent).free
    if free < needed:
        raise NoRoom(
            f'upgrading {path} requires {needed / 1e6:.0f} MB beside it for a copy and rewritten '
            f'indexes, but the disk has {free / 1e6:.0f} MB free; nothing was changed: free some '
            'space, then restart'
        )


def _copy(connection: apsw.Connection, part: Path) -> None:
    target = checksums.connect(part)
    try:
        connection.execute('BEGIN')
        try:
            checksums.copy(connection, target)
        finally:
            connection.execute('ROLLBACK')
    finally:
        target.close()
