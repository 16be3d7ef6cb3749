"""
Copies of the file in another folder, made while others read and write.

A copy is checked before it takes its name, and only then the oldest one goes; a crash leaves what
was there.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import BinaryIO, cast

import apsw

from robot_memory.core.clock import (
    DAY,
    RELEASED,
    format_instant,
    parse_instant,
)
from robot_memory.core.errors import Conflict, InvalidArgument, Unavailable
from robot_memory.core.files import hold_file, keep_file
from robot_memory.core.folders import expand_path
from robot_memory.core.settings import Settings
from robot_memory.storage import checksums
from robot_memory.storage.admin.audit_check import save_head
from robot_memory.storage.admin.backup_folders import note_folder
from robot_memory.storage.connection import Database
from robot_memory.storage.page_file import HEADER_BYTES, MAGIC, read_size
from robot_memory.storage.store_files import hold_scratch, remove_stores
from robot_memory.storage.tables import erasures
from robot_memory.storage.tables.audit import BACKUP, get_head

INTERVALS = {'hourly': DAY // 24, 'daily': DAY, 'weekly': 7 * DAY}
_SECOND = 1_000_000
CHUNK = 1 << 20
_SPARE = 64 << 20
"""Bytes of the disk that stay free when a backup is unpacked."""
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Plan:
    """Say where backups go, how often one is made, how many stay (None: all), if with gzip."""

    folder: Path
    interval: int
    keep: int | None
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
    Return instant and file of the backups of a store in a folder, in the order of their making.

    Those that were given a name of their own come first.
    """
    files = [folder / name for name in _read_names(_name_list(folder, stem))]
    named = [(path.stat().st_mtime_ns // 1000, path) for path in files if path.is_file()]
    return [*sorted(named), *_list_dated(folder, stem)]


def _list_dated(folder: Path, stem: str) -> list[tuple[int, Path]]:
    """
    Return those that are named by their instants, of which the oldest give way to new ones.

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
    made = {name: place for place, name in enumerate(_read_names(_order(folder, stem)))}
    return sorted(found, key=lambda one: (made.get(one[1].name, -1), one))


def _order(folder: Path, stem: str) -> Path:
    """Return the file that notes in which order backups were made."""
    return folder / f'.{stem}.order'


def _name_list(folder: Path, stem: str) -> Path:
    """Return the file that notes which backups were given a name of their own."""
    return folder / f'.{stem}.named'


def list_notes(folder: Path, stem: str) -> list[Path]:
    """Return the files in which a folder notes the backups of a store, be they there or not."""
    return [_order(folder, stem), _name_list(folder, stem)]


def has_backups(folder: Path, stem: str) -> bool:
    """Say whether a folder has backups of a store, or had some that were removed since."""
    return bool(backups(folder, stem)) or any(note.exists() for note in list_notes(folder, stem))


def _read_names(file: Path) -> list[str]:
    """Return the names of backups that a file of the folder notes, as far as it can be read."""
    try:
        return file.read_text(encoding='utf-8').splitlines()
    except (FileNotFoundError, NotADirectoryError, UnicodeDecodeError):
        return []


def _write_names(file: Path, names: Iterable[str]) -> None:
    part = file.with_name(f'{file.stem}-{file.suffix[1:]}.part')
    part.write_text(''.join(f'{name}\n' for name in names), encoding='utf-8')
    part.replace(file)


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
    with _hold_folder(db, plan.folder) as alone:
        known = _list_dated(plan.folder, db.path.stem)
        if not alone or not _is_due((at for at, _ in known), plan, now, age) or _is_new(db):
            return None
        return _add_dated(db, plan, now, stopped)


def back_up_now(db: Database, plan: Plan, now: int) -> Path:
    """
    Make a backup whether one is due or not; return its file.

    Raise Unavailable as `back_up` does, or where another process is at the folder's backups, and
    Conflict for a store that never held a memory.
    """
    with _hold_folder(db, plan.folder) as alone:
        _refuse_occupied(plan.folder, alone)
        if _is_new(db):
            raise Conflict(f'{db.path} never held a memory; no backup was made, others stay')
        made = _add_dated(db, plan, now, lambda: False)
    assert made is not None
    return made


def back_up_to(db: Database, file: Path) -> None:
    """
    Make a backup of a name, with gzip where it ends in .gz.

    Raise InvalidArgument or Conflict for a name that is taken, else Unavailable as `back_up_now`.
    """
    if Path(os.path.realpath(file)) in db.files:
        raise InvalidArgument(f'{file} is a file of the store itself; choose another file name')
    folder, stem = file.parent, db.path.stem
    with _hold_folder(db, folder) as alone:
        _refuse_occupied(folder, alone)
        if os.path.lexists(file):
            raise Conflict(f'{file} exists; nothing was written: choose another file name')
        with _copy_whole(db, folder, file.name, file.suffix == '.gz') as whole:
            assert whole is not None
            names = {*_read_names(_name_list(folder, stem)), file.name}
            _write_names(_name_list(folder, stem), sorted(names))
            keep_file(whole, file)


@contextmanager
def _hold_folder(db: Database, folder: Path) -> Iterator[bool]:
    """
    Make a folder of backups if need be; say whether no other process is at the backups there.

    Raise Unavailable for what goes wrong inside.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with hold_file(name_lock(folder, db.path.stem)) as alone:
            if alone:
                remove_stores(folder, f'.{db.path.stem}-*.part')
            yield alone
    except (OSError, apsw.Error) as error:
        raise Unavailable(
            f'cannot create a backup of {db.path} in {folder}: {error}; existing backups '
            'are unchanged'
        ) from None


def _refuse_occupied(folder: Path, alone: bool) -> None:
    if not alone:
        raise Unavailable(
            f'another process is at the backups in {folder}; nothing was written, try again'
        )


def _add_dated(db: Database, plan: Plan, now: int, stopped: Callable[[], bool]) -> Path | None:
    """Make a backup named by its instant, and remove the oldest beyond those that stay."""
    stem = db.path.stem
    known = _list_dated(plan.folder, stem)
    taken = {at for at, _ in known}
    while now // _SECOND * _SECOND in taken:
        now += _SECOND
    moment = re.sub('[-:]', '', format_instant(now)[:19])
    made = plan.folder / f'{stem}-{moment}Z.db{".gz" if plan.compress else ""}'
    with _copy_whole(db, plan.folder, moment, plan.compress, stopped) as whole:
        if whole is None:
            return None
        names = [*(path.name for _, path in known), made.name]
        _write_names(_order(plan.folder, stem), names)
        keep_file(whole, made)
    if plan.keep is not None:
        for _, path in known[: max(0, len(known) + 1 - plan.keep)]:
            path.unlink()
    return made


@contextmanager
def _copy_whole(
    db: Database,
    folder: Path,
    label: str,
    compress: bool,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[Path | None]:
    """Give a checked copy of the store in a folder, None where it was stopped, for a while."""
    stem = db.path.stem
    note_folder(db, folder, had_backups=has_backups(folder, stem))
    with (
        hold_scratch(folder / f'.{stem}-{label}.part') as part,
        hold_scratch(folder / f'.{stem}-{label}.gz.part') as packed,
    ):
        if not _copy(db, part, stopped):
            yield None
            return
        _check(part)
        yield _pack(part, packed) if compress else part


def name_lock(folder: Path, stem: str) -> Path:
    """Return the file that is locked by who makes or rewrites backups of a store."""
    return folder / f'.{stem}.lock'


def is_new(connection: apsw.Connection) -> bool:
    """Say whether a store never held a memory."""
    return not connection.execute('SELECT 1 FROM memories LIMIT 1').fetchone()


def _is_new(db: Database) -> bool:
    with db.read() as connection:
        return is_new(connection)


def _copy(db: Database, path: Path, stopped: Callable[[], bool]) -> bool:
    """Copy the store as it is at one instant; say whether it was not stopped."""
    os.close(os.open(path, NEW, 0o600))
    target = checksums.connect(path)
    try:
        with db.read() as source:
            source.execute('SELECT 1 FROM meta').fetchone()
            if not checksums.copy(source, target, stopped):
                return False
        save_head(target, BACKUP, get_head(target))
        erasures.remove_all_words(target)
    finally:
        target.close()
    return True


def _check(path: Path) -> None:
    # A connection that may only read passes over the tables' CHECK constraints.
    connection = checksums.connect(path, apsw.SQLITE_OPEN_READWRITE)
    try:
        answer = connection.pragma('quick_check')
        if answer != 'ok':
            raise Unavailable(f'the copy {path} is incomplete: {answer}; check the disk')
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
    """
    Copy a backup into a new file that nobody else can read, unpacked if it is .gz.

    Of a packed one no more is written than the store in it has by its own header, and nothing
    where the disk would be full then (OSError, ENOSPC): 1 MB may have been 1 GB of zeros. Raise
    EOFError where less is in it, and what gzip raises where the checksum of the packing is wrong.
    """
    is_packed = backup.suffix == '.gz'
    with (
        gzip.open(backup) if is_packed else open(backup, 'rb') as source,
        os.fdopen(os.open(path, NEW, 0o600), 'wb') as target,
    ):
        if not is_packed:
            shutil.copyfileobj(source, target, CHUNK)
            return
        head = source.read(HEADER_BYTES)
        left = _measure_store(head)
        disk = os.statvfs(path.parent)
        if left > disk.f_bavail * disk.f_frsize - _SPARE:
            raise OSError(errno.ENOSPC, f'{left} bytes are needed')
        chunk = head
        while chunk:
            target.write(chunk)
            left -= len(chunk)
            chunk = source.read(min(CHUNK, left))
        if left:
            raise EOFError(f'it ends {left} bytes before the end of the store')
        source.read(1)  # only at the end the checksum is compared


def _measure_store(head: bytes) -> int:
    """Return how many bytes a store has by the header of its file; of no store the header's."""
    size, pages = read_size(head)
    return max(len(head), size * pages) if head.startswith(MAGIC) else len(head)


def _pack(path: Path, packed: Path) -> Path:
    """Compress a file, and read it back to compare."""
    compress_file(path, packed)
    with open(path, 'rb') as source, gzip.open(packed, 'rb') as file:
        if compute_digest(source) != compute_digest(cast(BinaryIO, file)):
            raise Unavailable(f'{packed} does not match what was written; check the disk')
    return packed


def compute_digest(file: BinaryIO) -> bytes:
    """Return the SHA-256 of what is left to read of a file."""
    found = hashlib.sha256()
    while chunk := file.read(CHUNK):
        found.update(chunk)
    return found.digest()
