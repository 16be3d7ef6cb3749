"""
Putting a backup in the place of a store.

The backup is checked before anything is changed. What was erased from the store stays erased: a
backup that holds it is refused, and what keeps it from coming back is carried over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from robot_memory.core.authority import Writer
from robot_memory.core.clock import Clock, wall_clock
from robot_memory.core.errors import Conflict, Unavailable
from robot_memory.storage import schema_runner
from robot_memory.storage.admin import audit_losses
from robot_memory.storage.admin.audit_losses import Loss
from robot_memory.storage.admin.row_reading import Table, list_columns, read_rows
from robot_memory.storage.admin.verify import LOSS, open_checked, unpack, verify
from robot_memory.storage.error_messages import describe_folder
from robot_memory.storage.lock_owners import name_users
from robot_memory.storage.replacement import InUse, replace_store
from robot_memory.storage.store_files import hold_scratch
from robot_memory.storage.tables import erasures, tombstones
from robot_memory.storage.tables.erasable import find_created
from robot_memory.storage.tables.erasures import Erasure
from robot_memory.storage.tables.meta import get_store_id
from robot_memory.storage.tables.tombstones import Tombstone

_SHOWN = 5


@dataclass(frozen=True)
class Restored:
    """
    Say where the old file is kept, if there was one, and what became of its erasures.

    `carried` counts the tombstones that the backup lacked, `unread` names those that could not be
    read: what they are of may come back from an archive or a recording. `loss` says which lines
    of the audit are missing since a salvage.
    """

    kept: Path | None
    carried: int
    unread: tuple[str, ...]
    loss: str = ''


@dataclass
class _Erased:
    """Hold what tells of a store's erasures, as far as it can be read."""

    tombstones: list[Tombstone] = field(default_factory=list)
    erasures: dict[int, Erasure] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)


def restore(
    backup: Path, path: Path, accepting: Writer | None = None, clock: Clock = wall_clock
) -> Restored:
    """
    Put a checked copy of a backup in the place of a store.

    Raise Unavailable where the backup is damaged, the store is in use or a folder, and Conflict
    where the backup holds what was erased from the store since, or lines of its audit are missing
    since a salvage and nobody is `accepting` that, or the store has such lines.
    """
    if path.is_dir():
        raise describe_folder(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with hold_scratch(path.with_name(f'.{path.name}.restoring')) as part:
        unpack(backup, part)
        _refuse_damaged(backup, part)
        loss = _take_loss(backup, part, path, accepting, clock)
        users = name_users(path)
        if users:
            raise InUse(f'{path} is in use by {users}; end that first, nothing was changed')
        erased = _read_erased(path) if path.exists() else _Erased()
        _refuse_erased(backup, part, erased)
        carried = _carry_over(part, erased)
        if carried:
            _refuse_damaged(backup, part)
        kept = replace_store(path, part)
    return Restored(kept, carried, tuple(erased.unread), loss)


def _refuse_damaged(backup: Path, copy: Path) -> None:
    try:
        checks = verify(copy, backup)
    except Unavailable as error:
        raise Unavailable(f'{error}; nothing was changed: use another one') from error
    bad = [check for check in checks if not check.holds and check.kind != LOSS]
    if bad:
        details = '; '.join(f'{check.name}: {check.detail}' for check in bad)
        raise Unavailable(
            f'{backup} is not whole ({details}); nothing was changed: use another one'
        )


def _take_loss(
    backup: Path, copy: Path, path: Path, accepting: Writer | None, clock: Clock
) -> str:
    """Return what of the audit a salvage lost; raise Conflict where nobody accepts it."""
    connection = open_checked(copy)
    try:
        losses = audit_losses.read_losses(connection)
        new = [loss for loss in losses if not loss.accepted]
        _refuse_unlost(backup, connection, path, losses)
        if not new:
            return '; '.join(map(str, losses))
        if accepting is None:
            raise Conflict(
                f'the audit of {backup} is not whole: {"; ".join(map(str, new))}; nothing was '
                'changed: pass --accept-loss to use it all the same, which its audit will tell'
            )
        schema_runner.upgrade(connection)
        connection.execute('BEGIN IMMEDIATE')
        audit_losses.accept(connection, new, accepting, clock())
        connection.execute('COMMIT')
        return '; '.join(map(str, audit_losses.read_losses(connection)))
    finally:
        connection.close()


def _refuse_unlost(
    backup: Path, salvaged: apsw.Connection, path: Path, losses: Sequence[Loss]
) -> None:
    """Raise Conflict where lines that are said to be lost can be read in the store."""
    if not losses or not path.exists():
        return
    try:
        connection = open_checked(path)
    except Unavailable:
        return
    try:
        found = audit_losses.find_unlost(connection, salvaged, losses)
    finally:
        connection.close()
    if found:
        raise Conflict(
            f'{backup} says that lines of the audit are lost which are in {path} '
            f'(lines {_list_first(found)}): '
            'they were removed, or that store was put back since; nothing was changed: salvage '
            'the store anew, or move it away first if it is not to count'
        )


def _list_first(ids: Sequence[int]) -> str:
    """Return the first of some ids, and whether there are more."""
    return ', '.join(map(str, ids[:_SHOWN])) + (', ...' if len(ids) > _SHOWN else '')


def _read_erased(path: Path) -> _Erased:
    """Read what tells of a store's erasures, of any schema and around what is damaged."""
    found = _Erased()
    try:
        connection = open_checked(path)
    except Unavailable as error:
        found.unread.append(str(error))
        return found
    try:
        columns = list_columns(connection, 'tombstones')
        if columns:
            table = Table('tombstones', columns)
            rows = read_rows(connection, table, found.unread.append)
            found.tombstones = [
                Tombstone.make(dict(zip(columns, row, strict=True))) for row in rows
            ]
            found.erasures = _read_erasures(connection, found.unread)
    except apsw.Error as error:
        found.unread.append(f'{path}: {error}')
    finally:
        connection.close()
    return found


def _read_erasures(connection: apsw.Connection, unread: list[str]) -> dict[int, Erasure]:
    if not schema_runner.is_current(connection):
        return {}
    try:
        return {erasure.id: erasure for erasure in erasures.list_all(connection)}
    except apsw.Error as error:
        unread.append(f'who erased what: {error}')
        return {}


def _refuse_erased(backup: Path, copy: Path, erased: _Erased) -> None:
    """Raise Conflict where a backup holds memories that were erased from the store since."""
    connection = open_checked(copy)
    try:
        store_id = get_store_id(connection)
        created: Mapping[int, int] = {
            one.first_id: one.created_at or 0
            for one in erased.tombstones
            if one.first_id is not None and one.store_id == store_id
        }
        held = find_created(connection, created)
    finally:
        connection.close()
    if held:
        raise Conflict(
            f'{backup} holds {len(held)} memories that were erased since '
            f'(ids {_list_first(held)}); nothing '
            'was changed: use a backup that the erasure rewrote, or a later one'
        )


def _carry_over(copy: Path, erased: _Erased) -> int:
    """Store tombstones that a backup lacks, with who erased and why; return how many."""
    if not erased.tombstones:
        return 0
    connection = open_checked(copy)
    try:
        schema_runner.upgrade(connection)
        connection.execute('BEGIN IMMEDIATE')
        known = {one.said for one in tombstones.read_all(connection)}
        missing: dict[int, list[Tombstone]] = {}
        for one in erased.tombstones:
            if one.said not in known:
                missing.setdefault(one.erasure, []).append(one)
        for number, those in missing.items():
            again = erasures.carry_over(connection, erased.erasures.get(number))
            tombstones.put_all(connection, again, those)
        connection.execute('COMMIT')
        return sum(map(len, missing.values()))
    finally:
        connection.close()
