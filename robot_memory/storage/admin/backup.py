"""
Copies of the file in another folder, made while others read and write.

A copy is checked before it takes its name, and only then the oldest one goes; a crash leaves what
was there.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import logging
import os
import re
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import BinaryIO, cast

import apsw

from robot_memory.core.clock import (
    DAY,
    RELEASED,
    Clock,
    SteadyClock,
    format_instant,
    parse_instant,
)
from robot_memory.core.errors import Unavailable
from robot_memory.core.files import hold_file, sync_folder
from robot_memory.core.folders import expand_path
from robot_memory.core.settings import Settings
from robot_memory.storage import checksums
from robot_memory.storage.admin.audit_check import save_head
from robot_memory.storage.connection import Database
from robot_memory.storage.store_files import hold_scratch, remove_stores
from robot_memory.storage.tables import erasures, meta
from robot_memory.storage.tables.audit import BACKUP, get_head
from robot_memory.storage.upgrade import remove_expired_copy

logger = logging.getLogger(__name__)

INTERVALS = {'hourly': DAY // 24, 'daily': DAY, 'weekly': 7 * DAY}
FOLDERS = 'backup_folders'
"""The fact about the store that lists the folders of its backups, as JSON."""
_SECOND = 1_000_000
_PAGES = 2048
CHUNK = 1 << 20
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_INTERVAL_SECONDS = 600.0
"""How often it is checked whether a backup is due."""


@dataclass(frozen=True)
class Plan:
    """Say where backups go, how often one is made, how many stay, and whether with gzip."""

    folder: Path
    interval: int
    keep: int
    compress: bool


@dataclass(frozen=True)
class Age:
    """
    Tell by a steady clock, in seconds, what the clock of the wall may have wrong.

    `last` is how long ago this process made its last backup, None where it made none, `running`
    how long it runs.
    """

    last: float | None = None
    running: float = 0.0


def plan_of(settings: Settings) -> Plan | None:
    """Return what the settings want, None where it is nothing."""
    if not settings.backup_folder:
        return None
    return Plan(
        expand_path(settings.backup_folder, 'backup_folder'),
        INTERVALS[settings.backup_interval],
        settings.backup_keep,
        settings.backup_compression == 'gzip',
    )


def backups(folder: Path, stem: str) -> list[tuple[int, Path]]:
    """
    Return instant and file of the backups of a store, in the order in which they were made.

    The instant is what the clock said, which may have been wrong, so the order is noted in the
    folder; what is not noted comes first, by its instant.
    """
    name = re.compile(re.escape(stem) + r'-(\d{8}T\d{6})Z\.db(?:\.gz)?')
    found = []
    for path in folder.glob('*') if folder.is_dir() else ():
        match = name.fullmatch(path.name)
        if match:
            moment = datetime.strptime(match[1], '%Y%m%dT%H%M%S').replace(tzinfo=timezone.utc)
            found.append((parse_instant(moment.isoformat()), path))
    made = {name: place for place, name in enumerate(_noted(folder, stem))}
    return sorted(found, key=lambda one: (made.get(one[1].name, -1), one))


def _order(folder: Path, stem: str) -> Path:
    return folder / f'.{stem}.order'


def _noted(folder: Path, stem: str) -> list[str]:
    """Return the names of backups in the order in which they were made, as far as it is noted."""
    try:
        return _order(folder, stem).read_text(encoding='utf-8').splitlines()
    except (FileNotFoundError, UnicodeDecodeError):
        return []


def _note(folder: Path, stem: str, names: Iterable[str]) -> None:
    part = folder / f'.{stem}-order.part'
    part.write_text(''.join(f'{name}\n' for name in names), encoding='utf-8')
    part.replace(_order(folder, stem))


def _is_due(known: Iterable[int], plan: Plan, now: int, age: Age) -> bool:
    """
    Say whether the last backup is an interval old; one from the future has no age.

    Where the clock cannot be right, one is made an interval after the process began.
    """
    interval = plan.interval / 1e6
    if age.last is not None and age.last < interval:
        return False
    times = list(known)
    if times and now < RELEASED:
        return age.running >= interval
    return now - max((at for at in times if at <= now), default=-interval) >= plan.interval


def back_up(
    db: Database,
    plan: Plan,
    now: int,
    stopped: Callable[[], bool] = lambda: False,
    age: Age = Age(),
) -> Path | None:
    """
    Make a backup where one is due; return its file, None where none is due or all was stopped.

    A store that never held a memory is passed over, so that a lost store's last backups do not
    give way to empty ones. Raise Unavailable where the folder cannot be used or the copy is bad.
    """
    stem = db.path.stem
    try:
        plan.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with hold_file(name_lock(plan.folder, stem)) as alone:
            known = backups(plan.folder, stem)
            is_due = _is_due((at for at, _ in known), plan, now, age)
            if not alone or not is_due or _is_new(db):
                return None
            remove_stores(plan.folder, f'.{stem}-*.part')
            taken = {at for at, _ in known}
            while now // _SECOND * _SECOND in taken:
                now += _SECOND
            moment = re.sub('[-:]', '', format_instant(now)[:19])
            made = plan.folder / f'{stem}-{moment}Z.db{".gz" if plan.compress else ""}'
            _note_folder(db, plan.folder)
            with (
                hold_scratch(plan.folder / f'.{stem}-{moment}.part') as part,
                hold_scratch(plan.folder / f'.{stem}-{moment}.gz.part') as packed,
            ):
                if not _copy(db, part, stopped):
                    return None
                _check(part)
                whole = _pack(part, packed) if plan.compress else part
                _note(plan.folder, stem, [*(path.name for _, path in known), made.name])
                keep_file(whole, made)
            for _, path in known[: max(0, len(known) + 1 - plan.keep)]:
                path.unlink()
    except (OSError, apsw.Error) as error:
        raise Unavailable(
            f'cannot create a backup of {db.path} in {plan.folder}: {error}; existing backups '
            'are unchanged'
        ) from None
    return made


def name_lock(folder: Path, stem: str) -> Path:
    """Return the file that is locked by who makes or rewrites backups of a store."""
    return folder / f'.{stem}.lock'


def _note_folder(db: Database, folder: Path) -> None:
    """Note in the store where its backups are: an erasure answers for them."""
    with db.read() as connection:
        known = json.loads(meta.get(connection, FOLDERS) or '[]')
    if str(folder.absolute()) not in known and not db.read_only_reason:
        with db.write() as connection:
            meta.put(connection, FOLDERS, json.dumps([*known, str(folder.absolute())]))


def _is_new(db: Database) -> bool:
    with db.read() as connection:
        return not connection.execute('SELECT 1 FROM memories LIMIT 1').fetchone()


def _copy(db: Database, path: Path, stopped: Callable[[], bool]) -> bool:
    """Copy the store as it is at one instant; say whether it was not stopped."""
    os.close(os.open(path, NEW, 0o600))
    target = checksums.connect(path)
    try:
        # The transaction holds the snapshot, so that others' writes do not begin the copy anew.
        with db.read() as source, target.backup('main', source, 'main') as copy:
            source.execute('SELECT 1 FROM meta').fetchone()
            while not copy.done:
                copy.step(_PAGES)
                if stopped():
                    return False
        target.pragma('journal_mode', 'delete')
        save_head(target, BACKUP, get_head(target))
        erasures.remove_all_words(target)
    finally:
        target.close()
    return True


def _check(path: Path) -> None:
    # A connection that may only read passes over the tables' CHECK constraints.
    connection = checksums.connect(path, apsw.SQLITE_OPEN_READWRITE)
    try:
        told = connection.pragma('quick_check')
        if told != 'ok':
            raise Unavailable(f'the copy {path} is incomplete: {told}; check the disk')
    finally:
        connection.close()


def compress_file(path: Path, packed: Path) -> None:
    """Compress a file into a new one that nobody else can read."""
    with (
        os.fdopen(os.open(packed, NEW, 0o600), 'wb') as raw,
        gzip.GzipFile('', 'wb', compresslevel=6, fileobj=raw, mtime=0) as file,
        open(path, 'rb') as source,
    ):
        shutil.copyfileobj(source, file, CHUNK)


def copy_backup(backup: Path, path: Path) -> None:
    """Copy a backup into a new file that nobody else can read, unpacked if it is .gz."""
    with (
        gzip.open(backup) if backup.suffix == '.gz' else open(backup, 'rb') as source,
        os.fdopen(os.open(path, NEW, 0o600), 'wb') as target,
    ):
        shutil.copyfileobj(source, target, CHUNK)


def _pack(path: Path, packed: Path) -> Path:
    """Compress a file, and read it back to compare."""
    compress_file(path, packed)
    with open(path, 'rb') as source, gzip.open(packed, 'rb') as file:
        if _digest(source) != _digest(cast(BinaryIO, file)):
            raise Unavailable(f'{packed} does not match what was written; check the disk')
    return packed


def _digest(file: BinaryIO) -> bytes:
    found = hashlib.sha256()
    while chunk := file.read(CHUNK):
        found.update(chunk)
    return found.digest()


def keep_file(path: Path, made: Path) -> None:
    """Give a whole file its name once it is on the disk; then the name is, too."""
    with open(path, 'rb') as file:
        os.fsync(file.fileno())
    path.replace(made)
    sync_folder(made.parent)


class Backups:
    """Make the backups of a store that its settings want, as long as a process runs."""

    def __init__(
        self,
        db: Database,
        settings: Settings,
        clock: Clock,
        steady: SteadyClock,
        is_stopping: Callable[[], bool],
    ) -> None:
        """Begin with no backup made by this process."""
        self._db = db
        self._settings = settings
        self._clock = clock
        self._steady = steady
        self._is_stopping = is_stopping
        self._began = steady()
        self._made: float | None = None
        self._last_run: float | None = None

    def make_due(self) -> Path | None:
        """Make a backup if one is due; return its file."""
        plan = plan_of(self._settings)
        if plan is None:
            return None
        now = self._steady()
        age = Age(None if self._made is None else now - self._made, now - self._began)
        made = back_up(self._db, plan, self._clock(), self._is_stopping, age)
        if made is not None:
            self._made = now
        return made

    def run(self) -> None:
        """
        Make a backup if one is due, and remove an expired copy of before an upgrade.

        The worker's job; it looks every ten minutes only.
        """
        now = self._steady()
        if self._last_run is not None and now - self._last_run < _INTERVAL_SECONDS:
            return
        self._last_run = now
        remove_expired_copy(self._db.path, self._clock())
        made = self.make_due()
        if made is not None:
            logger.info('created backup %s', made)
