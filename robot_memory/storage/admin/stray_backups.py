"""Copies of a store among its backups that are not named as such, as renamed ones."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from robot_memory.core.errors import Unavailable
from robot_memory.core.files import measure_file
from robot_memory.storage import checksums
from robot_memory.storage.admin.backup import copy_backup
from robot_memory.storage.page_file import MAGIC
from robot_memory.storage.store_files import (
    INDEX,
    JOURNAL,
    LOG,
    SUFFIXES,
    copy_with_log,
    has_log,
    hold_scratch,
    name_file,
)
from robot_memory.storage.tables.meta import get_store_id

_LOG_HEADERS = (b'\x37\x7f\x06\x82', b'\x37\x7f\x06\x83', b'\xd9\xd5\x05\xf9\x20\xa1\x63\xd7')
"""What logs and rollback journals begin with."""
_UNREAD = 'but what the log has was not searched'


@dataclass
class Strays:
    """Name the copies that hold something, those that do not, and files that cannot be read."""

    holding: list[Path] = field(default_factory=list)
    clean: list[Path] = field(default_factory=list)
    unread: list[tuple[Path, str]] = field(default_factory=list)


def find_strays(
    folder: Path,
    known: Collection[Path],
    store_id: str,
    holds: Callable[[apsw.Connection], bool],
) -> Strays:
    """Look for copies of a store in the files of a folder, the known ones aside."""
    found = Strays()
    left_out = {name_file(path, suffix).resolve() for path in known for suffix in SUFFIXES}
    logs: list[Path] = []
    answered: set[Path] = set()  # logs that are named with their database
    foreign: set[str] = set()
    for file in sorted(folder.iterdir()):
        # An index (-shm) of a store that is open here would lose its locks at being closed.
        is_hidden = file.name.startswith('.') or file.name.endswith(INDEX)
        if is_hidden or file.resolve() in left_out or not file.is_file():
            continue
        beside = list_logs(file)
        try:
            head = _read_head(file)
            if head.startswith(_LOG_HEADERS):
                logs.append(file)
            if head != MAGIC:
                continue
            held = _read(file, store_id, holds)
        except (OSError, EOFError, zlib.error, apsw.Error, Unavailable) as error:
            why = f'{name_with(beside)} may be a copy of the store, but: {error}'
            found.unread.append((file, why))
        else:
            if held is None:
                foreign.add(_name_database(file))
            elif held:
                found.holding.append(file)
            elif beside:
                why = f'{name_with(beside)} is a copy of the store, {_UNREAD}: delete both'
                found.unread.append((file, why))
            else:
                found.clean.append(file)
        answered.update(beside)
    for log in logs:
        if log not in answered and _name_database(log) not in foreign:
            why = f'it is a log without its database, {_UNREAD}: delete it if that was a copy'
            found.unread.append((log, f'{why} of the store'))
    return found


def list_logs(file: Path) -> list[Path]:
    """Return the logs beside a file in which SQLite would read more, or another state."""
    beside = (name_file(file, suffix) for suffix in (LOG, JOURNAL))
    return [log for log in beside if measure_file(log)]


def name_with(logs: Collection[Path]) -> str:
    """Return what stands for a file, and its logs, where something is said of it."""
    return f'with its log {" and ".join(map(str, logs))} it' if logs else 'it'


def _name_database(file: Path) -> str:
    """Return the name of a database, or of that which a log is of, be they packed or not."""
    name = file.name.removesuffix('.gz')
    for suffix in (LOG, JOURNAL):
        name = name.removesuffix(suffix)
    return name.removesuffix('.gz')


def _read_head(file: Path) -> bytes:
    try:
        with gzip.open(file) if file.suffix == '.gz' else open(file, 'rb') as content:
            return content.read(len(MAGIC))
    except gzip.BadGzipFile:
        return b''


def _read(file: Path, store_id: str, holds: Callable[[apsw.Connection], bool]) -> bool | None:
    """Say whether a copy holds something, None where it is of another store, or of none."""

    def ask(connection: apsw.Connection) -> bool | None:
        try:
            return holds(connection) if get_store_id(connection) == store_id else None
        except (apsw.SQLError, ValueError):  # a database that is no store
            return None
        finally:
            connection.close()

    part = file.with_name(f'.{file.name}.reading.part')
    if file.suffix == '.gz':
        with hold_scratch(part):
            copy_backup(file, part)
            return ask(_freeze(part))
    told = ask(_freeze(file))
    if told or not has_log(file):
        return told
    with hold_scratch(part):
        copy_with_log(file, part)
        with_log = ask(checksums.connect(part, apsw.SQLITE_OPEN_READWRITE))
    return told if with_log is None else with_log


def _freeze(file: Path) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return apsw.Connection(checksums.name_frozen(file), flags=flags)
