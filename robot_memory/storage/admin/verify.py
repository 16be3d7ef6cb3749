"""Verifying a store or a backup of it, without changing it: each check says what it looked at."""

from __future__ import annotations

import errno
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from robot_memory.core.errors import Unavailable
from robot_memory.storage import checksums, damage, schema_runner
from robot_memory.storage.admin import audit_check, audit_losses
from robot_memory.storage.admin.backup import copy_backup
from robot_memory.storage.admin.maintenance import count_indexed, find_broken
from robot_memory.storage.indexes.set_aside import WORDS
from robot_memory.storage.lock_owners import name_users
from robot_memory.storage.page_file import open_pages
from robot_memory.storage.store_files import has_log
from robot_memory.storage.tables import mending, meta, part_digests
from robot_memory.storage.upgrade import NoRoom
from robot_memory.storage.vector_extension import load_vectors

_SHOWN = 3
_PATIENCE_MS = 5_000
_FOREIGN = (
    '; the structure is whole, so another program (the sqlite3 shell?) probably wrote to the file '
    'without checksums: `robot-memory verify --accept` takes the pages as they are'
)
REPLACE = (
    '`robot-memory restore BACKUP` puts a backup in its place, `robot-memory salvage` writes a '
    'new store from what can be read'
)
"""What cures a damaged store."""
_UPGRADE = '`robot-memory upgrade`, which keeps a copy; the node does it at its start'
_ACCEPT = '`robot-memory verify --accept`'
_REBUILD = '`robot-memory maintain` makes indexes anew'
_COMPARE = (
    'somebody changed the file: `robot-memory audit verify --head FILE` compares a head that was '
    'kept elsewhere, `robot-memory restore BACKUP` goes back to an unchanged store'
)


LOSS = 'loss'


class Locked(Unavailable):
    """Another process keeps a store for itself."""


@dataclass(frozen=True)
class Check:
    """
    Say what was checked, whether all is well, what was found, and what cures or betters it.

    `kind` is LOSS where nothing is at fault but a salvage lost something; it holds once accepted.
    """

    name: str
    holds: bool
    detail: str
    cure: str = ''
    kind: str = ''


def verify(path: Path, named: Path | None = None) -> list[Check]:
    """
    Check a file from its pages to its audit; one that is .gz is unpacked beside it.

    Raise Unavailable where it cannot be opened at all, which names what the file is a copy of.
    """
    with _unpacked(path) as file:
        pages = _check_pages(file)
        if not pages.holds:  # the first page may be among them, without which nothing opens
            return [pages]
        with hold_checked(file, named or path) as connection:
            connection.execute('BEGIN')  # one state of the store, whatever others write
            return [pages, *_check_content(connection)]


@contextmanager
def _unpacked(path: Path) -> Iterator[Path]:
    """Give a file itself or, of one that is .gz, what is packed in it, for a while."""
    if path.suffix != '.gz':
        yield path
        return
    with tempfile.TemporaryDirectory(prefix='robot_memory-') as folder:
        copy = Path(folder) / path.stem
        unpack(path, copy)
        yield copy


def unpack(backup: Path, path: Path) -> None:
    """Copy a backup to a new file; raise Unavailable where it is damaged, NoRoom without room."""
    try:
        copy_backup(backup, path)
    except (EOFError, OSError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoRoom(f'{path.parent} has no room for {backup} unpacked; make some') from error
        raise Unavailable(f'{backup} cannot be read: {error}; use another backup') from error


def open_checked(path: Path, named: Path | None = None) -> apsw.Connection:
    """Open a store that is only read; raise Unavailable, by a name, for what is none."""
    named = named or path
    try:
        connection = _connect(path)
        try:
            load_vectors(connection)
            schema_runner.refuse_foreign(connection)
        except BaseException:
            connection.close()
            raise
    except apsw.BusyError as error:
        user = name_users(path) or 'a process'
        raise Locked(
            f'{named} cannot be read: {user} keeps it locked for itself; end that, then try again'
        ) from error
    except apsw.Error as error:
        raise Unavailable(f'{named} cannot be read as a store: {error}') from error
    return connection


def _connect(path: Path) -> apsw.Connection:
    """Open a file that is not to be changed, be it by its log."""
    log = has_log(path)
    may_write = all(os.access(one, os.W_OK, effective_ids=True) for one in (path, path.parent))
    if not log and not may_write:
        return connect_alone(path)  # it leaves no -shm of a user who may not write
    connection = checksums.connect(path, apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(_PATIENCE_MS)  # others open, close and compact it
    if log:  # an empty one is left to SQLite, which removes it
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    return connection


def _connect_to_write(path: Path) -> apsw.Connection:
    return checksums.connect(path, apsw.SQLITE_OPEN_READWRITE)


def connect_alone(path: Path) -> apsw.Connection:
    """Open the file of a store without its log, and without a lock or a change."""
    return apsw.Connection(
        checksums.name_frozen(path),
        flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
    )


@contextmanager
def hold_checked(path: Path, named: Path | None = None) -> Iterator[apsw.Connection]:
    """Open a store to read from it for a while; raise Unavailable for any error of SQLite."""
    named = named or path
    connection = open_checked(path, named)
    try:
        yield connection
    except apsw.BusyError as error:
        raise Locked(f'{named} cannot be read now: {error}; try again') from error
    except apsw.Error as error:
        raise Unavailable(f'{named} cannot be read as a store: {error}; {REPLACE}') from error
    finally:
        connection.close()


def is_whole_without(path: Path) -> bool:
    """Say whether SQLite finds a file whole where it does not look at checksums."""
    with _unverified(path, _connect) as connection:
        rows: list[Any] = connection.execute('PRAGMA integrity_check(1)').fetchall()
    return rows == [('ok',)]


def _find_changed(path: Path) -> str:
    """Return which memory or audit line of a file with foreign pages is not as it was written."""
    with _unverified(path, _connect) as connection:
        connection.execute('BEGIN')
        if not schema_runner.is_current(connection):
            return ''
        return audit_check.check(connection, all_lines=True).problem


def accept_pages(path: Path) -> None:
    """
    Give the pages of a store new checksums, as they are now.

    Raise Unavailable where the structure is not whole, a page is blank, or turning one bit of a
    page back makes its checksum match: then bits are wrong, not checksums.
    """
    blank, flipped = _find_causes(path, damage.find_damaged(path))
    if blank or flipped:
        what = f'one bit of page {flipped[0]} of {path} flipped' if flipped else ''
        what = f'page {blank[0]} of {path} is blank' if blank else what
        raise Unavailable(
            f'{what}: no other program wrote that; use '
            '`robot-memory restore` or `robot-memory salvage`'
        )
    if not is_whole_without(path):
        raise Unavailable(
            f'the structure of {path} is not whole: its pages are damaged, not only their '
            'checksums; use `robot-memory restore` or `robot-memory salvage`'
        )
    with _unverified(path, _connect_to_write) as connection:
        checksums.write_anew(connection)


@contextmanager
def _unverified(
    path: Path, connect: Callable[[Path], apsw.Connection]
) -> Iterator[apsw.Connection]:
    connection = connect(path)
    try:
        load_vectors(connection)
        connection.pragma('checksum_verification', False)
        yield connection
    except apsw.Error as error:
        raise Unavailable(f'{path} cannot be read as a store: {error}') from error
    finally:
        connection.close()


def _find_causes(path: Path, damaged: list[int]) -> tuple[list[int], list[int]]:
    """Return the damaged pages that are blank, and those of the others with one flipped bit."""
    blank = damage.list_blank(path, damaged)
    return blank, damage.find_flipped(path, [one for one in damaged if one not in blank])


def _check_pages(path: Path) -> Check:
    damaged = damage.find_damaged(path)
    with open_pages(path) as file:
        count, has_checksums = file.count, file.has_checksums
    cure = ''
    if damaged:
        summary = f'{len(damaged)} of {count} pages are damaged: {damage.describe(path, damaged)}'
        blank, flipped = _find_causes(path, damaged)
        is_foreign = not flipped and not blank and is_whole_without(path)
        summary += f'; one bit of page {flipped[0]} flipped' if flipped else ''
        summary += f'; page {blank[0]} is blank' if blank else ''
        summary, cure = (summary + _FOREIGN, _ACCEPT) if is_foreign else (summary, REPLACE)
        changed = _find_changed(path) if is_foreign else ''
        if changed:
            summary += f'; {changed}: texts changed, by that program or by damage'
            cure = f'if that change was meant {_ACCEPT}, else {REPLACE}'
    elif has_checksums:
        summary = f'the checksums of {count} pages match'
    else:
        summary = 'the pages have no checksums: `robot-memory upgrade` or `maintain` adds them'
        cure = '`robot-memory maintain` adds them, with room for a copy of the file'
    return Check('pages', not damaged, summary, cure)


def _check_content(connection: apsw.Connection) -> Iterator[Check]:
    lines: list[Any] = connection.execute('PRAGMA integrity_check(20)').fetchall()
    found = [str(row[0]) for row in lines]
    whole = found == ['ok']
    yield Check(
        'structure',
        whole,
        'tables and indexes fit' if whole else '; '.join(found[:_SHOWN]),
        '' if whole else _REBUILD if find_broken(found) else REPLACE,
    )
    if not schema_runner.is_current(connection):
        version = schema_runner.version_of(connection)
        schema_detail = f'schema version {version}: `robot-memory upgrade` upgrades it'
        yield Check('schema', True, schema_detail, _UPGRADE)
        return
    rows, indexed, words = count_indexed(connection)
    left = mending.read(connection)
    fits = rows == indexed and (rows == words or WORDS in left)
    summary = (
        f'{rows} active memories, {indexed} in the index of vectors, {words} in that of words'
    )
    if left:
        summary += f'; being made anew: {mending.describe(left)}'
    yield Check('indexes', fits, summary, _REBUILD if left or not fits else '')
    yield _check_parts(connection)
    chain = audit_check.check(connection, all_lines=True)
    yield _judge_audit(chain)
    yield Check('store', True, f'store {meta.get_store_id(connection)}')


def _judge_audit(chain: audit_check.Verified) -> Check:
    """Tell a chain that is whole from one that a salvage left with gaps, and one at fault."""
    if chain.problem:
        detail = f'{chain.problem}; besides, {chain.loss}' if chain.loss else chain.problem
        return Check('audit', False, detail, _COMPARE)
    if not chain.losses:
        return Check('audit', True, f'the chain of {chain.head.id} lines is whole')
    detail = f'the chain is not whole: {chain.loss}; all lines that are there fit'
    cure = '' if chain.is_accepted else audit_losses.ACCEPT
    return Check('audit', chain.is_accepted, detail, cure, LOSS)


def _check_parts(connection: apsw.Connection) -> Check:
    matching = unchecked = 0
    damaged = []
    for one in part_digests.check(connection):
        if one.damage:
            damaged.append(str(one))
        unchecked += one.is_new
        matching += not (one.is_new or one.damage)
    summary = f'{matching} parts match their digests'
    if unchecked:
        summary += f', {unchecked} have none yet: a running process adds them'
    if damaged:
        rest = f' and {len(damaged) - _SHOWN} more' if len(damaged) > _SHOWN else ''
        summary = f'{"; ".join(damaged[:_SHOWN])}{rest}'
    return Check('payloads', not damaged, summary, REPLACE if damaged else '')
