"""Copies of a store among its backups that are not named as such, as renamed ones."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Collection
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from robot_memory.storage import checksums
from robot_memory.storage.admin.backup import backups, copy_backup, list_notes
from robot_memory.storage.store_files import hold_scratch
from robot_memory.storage.tables.meta import get_store_id

_HEADER = b'SQLite format 3\0'


@dataclass
class Strays:
    """Name the copies that hold something, those that do not, and files that cannot be read."""

    holding: list[Path] = field(default_factory=list)
    clean: list[Path] = field(default_factory=list)
    unread: list[tuple[Path, str]] = field(default_factory=list)


def has_backups(folder: Path, stem: str) -> bool:
    """Say whether a folder has backups of a store, or had some that were removed since."""
    return bool(backups(folder, stem)) or any(note.exists() for note in list_notes(folder, stem))


def find_strays(
    folder: Path,
    known: Collection[Path],
    store_id: str,
    holds: Callable[[apsw.Connection], bool],
) -> Strays:
    """Look for copies of a store in the files of a folder, the known ones aside."""
    found = Strays()
    resolved = {path.resolve() for path in known}
    for file in sorted(folder.iterdir()):
        if file.name.startswith('.') or file.resolve() in resolved or not file.is_file():
            continue
        try:
            if not _is_database(file):
                continue
            held = _read(file, store_id, holds)
        except (apsw.SQLError, ValueError):  # a database that is no store
            continue
        except (OSError, EOFError, zlib.error, apsw.Error) as error:
            found.unread.append((file, f'it may be a copy of the store, but: {error}'))
        else:
            if held is not None:
                (found.holding if held else found.clean).append(file)
    return found


def _is_database(file: Path) -> bool:
    try:
        with gzip.open(file) if file.suffix == '.gz' else open(file, 'rb') as content:
            return content.read(len(_HEADER)) == _HEADER
    except gzip.BadGzipFile:
        return False


def _read(file: Path, store_id: str, holds: Callable[[apsw.Connection], bool]) -> bool | None:
    """Say whether a copy holds something, None where it is of another store."""
    part = file.with_name(f'.{file.name}.reading.part')
    is_packed = file.suffix == '.gz'
    with hold_scratch(part) if is_packed else nullcontext():
        if is_packed:
            copy_backup(file, part)
        connection = apsw.Connection(
            checksums.name_frozen(part if is_packed else file),
            flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
        )
        try:
            return holds(connection) if get_store_id(connection) == store_id else None
        finally:
            connection.close()
