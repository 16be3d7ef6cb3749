"""
Copies of the file in another folder, made while others read and write.

A copy is checked before it takes its name, and only then the oldest one goes; a crash leaves what
was there.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import BinaryIO, cast

import apsw

from robot_memory.clock import DAY, instant, iso
from robot_memory.errors import Unavailable
from robot_memory.folders import expanded
from robot_memory.settings import Settings
from robot_memory.store.connection import Database

INTERVALS = {'hourly': DAY // 24, 'daily': DAY, 'weekly': 7 * DAY}
_PAGES = 2048
_CHUNK = 1 << 20
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Plan:
    """Say where backups go, how often one is made, how many stay, and whether with gzip."""

    folder: Path
    interval: int
    keep: int
    compress: bool


def plan_of(settings: Settings) -> Plan | None:
    """Return what the settings want, None where it is nothing."""
    if not settings.backup_folder:
        return None
    return Plan(
        expanded(settings.backup_folder, 'backup_folder'),
        INTERVALS[settings.backup_interval],
        settings.backup_keep,
        settings.backup_compression == 'gzip',
    )


def backups(folder: Path, stem: str) -> list[tuple[int, Path]]:
    """Return instant and file of the backups of a store, the oldest first."""
    name = re.compile(re.escape(stem) + r'-(\d{8}T\d{6})Z\.db(?:\.gz)?')
    found = []
    for path in folder.glob('*') if folder.is_dir() else ():
        match = name.fullmatch(path.name)
        if match:
            moment = datetime.strptime(match[1], '%Y%m%dT%H%M%S').replace(tzinfo=timezone.utc)
            found.append((instant(moment.isoformat()), path))
    return sorted(found)


def back_up(
    db: Database, plan: Plan, now: int, stopped: Callable[[], bool] = lambda: False
) -> Path | None:
    """
    Make a backup where one is due; return its file, None where none is due or all was stopped.

    A store that never held a memory is passed over, so that a lost store's last backups do not
    give way to empty ones. Raise Unavailable where the folder cannot be used or the copy is bad.
    """
    stem = db.path.stem
    try:
        plan.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _alone(plan.folder / f'.{stem}.lock') as alone:
            known = backups(plan.folder, stem)
            is_due = not known or now - known[-1][0] >= plan.interval
            if not alone or not is_due or _is_new(db):
                return None
            for rest in plan.folder.glob(f'.{stem}-*.part'):
                rest.unlink()
            moment = re.sub('[-:]', '', iso(now)[:19])
            made = plan.folder / f'{stem}-{moment}Z.db{".gz" if plan.compress else ""}'
            part = plan.folder / f'.{stem}-{moment}.part'
            packed = plan.folder / f'.{stem}-{moment}.gz.part'
            try:
                if not _copy(db, part, stopped):
                    return None
                _check(part)
                _keep(_pack(part, packed) if plan.compress else part, made)
            finally:
                part.unlink(missing_ok=True)
                packed.unlink(missing_ok=True)
            for _, old in backups(plan.folder, stem)[: -plan.keep]:
                old.unlink()
    except (OSError, apsw.Error) as error:
        raise Unavailable(
            f'no backup of {db.path} can be made in {plan.folder}: {error}; what was there stays'
        ) from None
    return made


def _is_new(db: Database) -> bool:
    with db.read() as connection:
        return not connection.execute('SELECT 1 FROM memories LIMIT 1').fetchone()


@contextmanager
def _alone(path: Path) -> Iterator[bool]:
    """Say whether no other process makes a backup here; none begins one meanwhile."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield True
        except BlockingIOError:
            yield False
    finally:
        os.close(descriptor)


def _copy(db: Database, path: Path, stopped: Callable[[], bool]) -> bool:
    """Copy the store as it is at one instant; say whether it was not stopped."""
    os.close(os.open(path, _NEW, 0o600))
    target = apsw.Connection(str(path))
    try:
        # The transaction holds the snapshot, so that others' writes do not begin the copy anew.
        with db.read() as source, target.backup('main', source, 'main') as copy:
            source.execute('SELECT 1 FROM meta').fetchone()
            while not copy.done:
                copy.step(_PAGES)
                if stopped():
                    return False
        target.pragma('journal_mode', 'delete')
    finally:
        target.close()
    return True


def _check(path: Path) -> None:
    # A connection that may only read passes over the tables' CHECK constraints.
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        told = connection.pragma('quick_check')
        if told != 'ok':
            raise Unavailable(f'the copy {path} is not whole: {told}; check the disk')
    finally:
        connection.close()


def _pack(path: Path, packed: Path) -> Path:
    """Compress a file, and read it back to compare."""
    descriptor = os.open(packed, _NEW, 0o600)
    with (
        os.fdopen(descriptor, 'wb') as raw,
        gzip.GzipFile('', 'wb', compresslevel=6, fileobj=raw, mtime=0) as file,
        open(path, 'rb') as source,
    ):
        shutil.copyfileobj(source, file, _CHUNK)
    with open(path, 'rb') as source, gzip.open(packed, 'rb') as file:
        if _digest(source) != _digest(cast(BinaryIO, file)):
            raise Unavailable(f'{packed} does not hold what was written; check the disk')
    return packed


def _digest(file: BinaryIO) -> bytes:
    found = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        found.update(chunk)
    return found.digest()


def _keep(path: Path, made: Path) -> None:
    """Give a whole file its name once it is on the disk."""
    with open(path, 'rb') as file:
        os.fsync(file.fileno())
    path.replace(made)
