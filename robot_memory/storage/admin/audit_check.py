"""Verifying the audit: every line is recomputed, and the first that does not fit is named."""

from __future__ import annotations

import bisect
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import apsw

from robot_memory.core.ranges import join_ranges, read_ranges, read_steps
from robot_memory.storage.admin import audit_losses
from robot_memory.storage.admin.audit_losses import Loss
from robot_memory.storage.connection import Database
from robot_memory.storage.tables import audit, meta
from robot_memory.storage.tables.audit import CREATIONS, FOLDED, Head
from robot_memory.storage.tables.revisions import DIGESTED, digest_state

NOW = 2**62
"""Stands for the line that ended the present state of a memory: none did."""
_BATCH = 2000
_TYPES = 'text text text text blob blob'
_SELECT = (
    'SELECT a.id, memory_id, last_memory_id, CAST(action AS BLOB), CAST(a.actor AS BLOB),'
    ' at, epoch, digest, note, salt, CAST(reason AS BLOB), CAST(detail AS BLOB), chain,'
    " printf('%s %s %s %s %s %s', typeof(action), typeof(a.actor), typeof(reason),"
    ' typeof(detail), typeof(note), typeof(chain)), a.writer_id,'
    ' w.face, w.client, w.principal, w.actor, w.authority'
    ' FROM audit AS a LEFT JOIN writers AS w ON w.id = a.writer_id'
    ' WHERE a.id > ? ORDER BY a.id LIMIT ?'
)


@dataclass(frozen=True)
class Verified:
    """
    Say what a verification found.

    `first` and `last` are the lines that were read; `problem` names the first that does not fit,
    empty where all do. `losses` tell which lines salvages lost: where there are any, the chain is
    not whole, whatever else fits.
    """

    first: int
    last: int
    head: Head
    problem: str
    losses: tuple[Loss, ...] = ()

    @property
    def loss(self) -> str:
        """Say what salvages lost, '' where they lost nothing."""
        return '; '.join(map(str, self.losses))

    @property
    def is_accepted(self) -> bool:
        """Say whether somebody accepted each loss."""
        return all(loss.accepted for loss in self.losses)


def verify(db: Database, *, all_lines: bool = False, expected: Head | None = None) -> Verified:
    """
    Verify the audit from its last checkpoint, or all lines of it and what they say of the rows.

    `expected` is a head that was kept elsewhere: the audit must still have that line. Where all
    is well, the checkpoint is moved to the last line.
    """
    with db.read() as connection:
        found = check(connection, all_lines=all_lines, expected=expected)
    if not found.problem and found.head.id and not db.read_only_reason:
        with db.write() as connection:
            if audit.has_line(connection, found.head.id):  # else it was folded meanwhile
                save_head(connection, audit.CHECKPOINT, found.head)
    return found


def check(
    connection: apsw.Connection, *, all_lines: bool = False, expected: Head | None = None
) -> Verified:
    """Verify the audit as `verify` does, and write nothing."""
    checkpoint = _read_head(connection, audit.CHECKPOINT)
    start = Head(0, '') if all_lines or checkpoint is None else checkpoint
    head, problem = start, ''
    losses = audit_losses.read_losses(connection)
    if all_lines or not (problem := _find_missing(connection, checkpoint, losses)):
        head, problem = _verify_lines(connection, start, losses)
    for kept in (checkpoint, _read_head(connection, audit.BACKUP), expected):
        problem = problem or _find_missing(connection, kept, losses)
    problem = problem or _verify_end(connection)
    if not problem and all_lines:
        problem = _verify_rows(connection, losses)
    return Verified(min(start.id + 1, head.id), head.id, head, problem, tuple(losses))


def give_head(db: Database) -> Head:
    """Return the head to keep elsewhere; its line stays when its memory is folded."""
    with db.read() as connection:
        head = audit.get_head(connection)
    if db.read_only_reason:
        return head
    with db.write() as connection:
        head = audit.get_head(connection)
        audit.keep_line(connection, head.id)
    return head


def save_head(connection: apsw.Connection, key: str, head: Head) -> None:
    """Note a head among the facts about the store."""
    meta.put(connection, key, json.dumps({'id': head.id, 'chain': head.chain}))


def _read_head(connection: apsw.Connection, key: str) -> Head | None:
    text = meta.get(connection, key)
    if text is None:
        return None
    try:
        return Head(**json.loads(text))
    except (TypeError, ValueError):
        return Head(-1, 'unreadable')


def _find_missing(connection: apsw.Connection, head: Head | None, losses: Sequence[Loss]) -> str:
    """Say what is wrong with the line of a head that was kept, '' where it is there."""
    if head is None or head == Head(0, ''):
        return ''
    for loss in losses:
        if loss.has(head.id):
            return (
                f'line {head.id}, whose head was kept, cannot be compared any more: {loss}; '
                'compare a head of before these lines, or one that was kept since'
            )
    row: Any = connection.execute('SELECT chain FROM audit WHERE id = ?', (head.id,)).fetchone()
    gap = audit.find_gap(connection, head.id)
    if row is None and gap is not None and gap.last == head.id:
        row = (gap.chain,)
    if row is None and gap is not None:
        return (
            f'line {head.id} went when its memory was folded: compare a head that '
            '`robot-memory audit head` gave since the store was upgraded'
        )
    if row is None:
        return f'line {head.id} is missing: the audit was cut off after an earlier head was kept'
    if not isinstance(row[0], bytes) or row[0].hex() != head.chain:
        return f'line {head.id} is another one than when its head was kept'
    return ''


def _verify_lines(
    connection: apsw.Connection, start: Head, losses: Sequence[Loss]
) -> tuple[Head, str]:
    """Return the head that the lines after one lead to, and the first line that does not fit."""
    before, last, gone = bytes.fromhex(start.chain), start.id, Gone(connection, losses)
    seals = {line: seal for loss in losses for line, seal in loss.seals.items()}
    while rows := list(connection.execute(_SELECT, (last, _BATCH))):
        row: Any
        for row in rows:
            line, chain = row[0], row[12]
            if line != last + 1:
                before, last = _pass_gap(connection, gone, Head(last, before.hex()), line)
            problem = _check(row, before, seals.get(line)) or _check_salt(row, gone)
            if problem:
                gap = f' (line {last + 1} is missing)' if line != last + 1 else ''
                return Head(last, before.hex()), f'line {line}: {problem}{gap}'
            before, last = chain, line
    return Head(last, before.hex()), ''


def _pass_gap(connection: apsw.Connection, gone: Gone, head: Head, line: int) -> tuple[bytes, int]:
    """
    Return chain and number of the line before one, where lines after a head were removed.

    As they are, where no later line tells of all that are missing. Behind lines that a salvage
    lost the chain goes on with what it sealed, or from the last line that was there.
    """
    if not gone.has_lines(head.id + 1, line - 1):
        return bytes.fromhex(head.chain), head.id
    gap = audit.find_gap(connection, line - 1)
    if gap is not None and gap.last == line - 1:
        return gap.chain, line - 1
    return bytes.fromhex(head.chain), head.id


def _check(row: tuple[Any, ...], before: bytes, seal: str | None = None) -> str:
    """Say what of a line does not fit, '' where all does; a salvage may have sealed it."""
    note, salt, reason, detail, chain, types = row[8:14]
    if types != _TYPES:
        return 'a column has another type'
    if salt is not None and (
        not isinstance(salt, bytes) or audit.digest_note(salt, reason, detail) != note
    ):
        return 'reason, detail or salt were changed'
    try:
        columns = _list_columns(row)
        if (
            audit.extend_chain(before, columns) != chain
            and audit_losses.seal_line(columns, chain) != seal
        ):
            return 'it does not follow from the line before'
    except (UnicodeDecodeError, TypeError, ValueError):
        return 'it cannot be read'
    return ''


def _list_columns(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what the chain covers of a line."""
    line, memory_id, highest, action, actor, at, epoch, digest, note = row[:9]
    who = None if row[14] is None else list(row[15:])
    return line, memory_id, highest, action.decode(), actor.decode(), who, at, epoch, digest, note


def seal_lines(connection: apsw.Connection, lines: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Give lines as far as they are there, each with the seal of what it says now."""
    for line in lines:
        row: Any
        for row in connection.execute(_SELECT, (line - 1, 1)):
            if row[0] == line:
                with suppress(AttributeError, UnicodeDecodeError, TypeError, ValueError):
                    yield line, audit_losses.seal_line(_list_columns(row), row[12])


def _check_salt(row: tuple[Any, ...], gone: Gone) -> str:
    """Say what is wrong with a line that has no salt: what is gone has none, and no words."""
    line, memory_id, *_ = row
    salt, reason, detail = row[9:12]
    if salt is not None or (
        reason == b''
        and detail in (b'', b'{}')
        and (gone.has(memory_id, line) or gone.is_unsalted(line))
    ):
        return ''
    return 'it has no salt'


class Gone:
    """Know which memories later lines tell of as erased or folded, and what salvages lost."""

    def __init__(self, connection: apsw.Connection, losses: Sequence[Loss]) -> None:
        """Read nothing yet."""
        self._connection = connection
        self._losses = losses

    def has(self, memory_id: int | None, line: int) -> bool:
        """Say whether a line after another tells that a memory was erased or folded."""
        row = self._connection.execute(
            "SELECT 1 FROM audit WHERE memory_id = ? AND id > ? AND action = 'erased'",
            (memory_id, line),
        ).fetchone()
        return row is not None or self._is_folded(memory_id, line)

    def is_unsalted(self, line: int) -> bool:
        """Say whether a salvage found a line without a salt, and lost what would tell why."""
        return any(low <= line <= high for loss in self._losses for low, high in loss.unsalted)

    def _is_folded(self, memory_id: int | None, line: int) -> bool:
        if memory_id is None:
            return False
        place = bisect.bisect_right(self._folded, (memory_id, math.inf, 0)) - 1
        if place < 0:
            return False
        _, last, until = self._folded[place]
        return memory_id <= last and until > line

    def has_lines(self, first: int, last: int) -> bool:
        """Say whether later lines tell that each of some lines was removed or lost."""
        place = bisect.bisect_right(self.missing, (first, math.inf)) - 1
        return place >= 0 and last <= self.missing[place][1]

    @cached_property
    def missing(self) -> list[tuple[int, int]]:
        """Return the ranges of lines that later ones tell of as removed or lost."""
        lost = [one for loss in self._losses for one in loss.missing]
        return join_ranges([*self._removed, *lost])

    @cached_property
    def _removed(self) -> list[tuple[int, int]]:
        """Return the ranges of lines that later ones tell of as removed."""
        return join_ranges(
            (low, high)
            for line, detail in self._lines
            for low, high in read_steps(detail.get('lines', ''))
            if high < line
        )

    @cached_property
    def _lines(self) -> list[tuple[int, dict[str, Any]]]:
        """Return the lines that tell of what was folded, with their details."""
        rows = self._connection.execute(
            'SELECT id, detail FROM audit WHERE memory_id IS NULL AND action = ?', (FOLDED,)
        )
        return [(line, json.loads(detail)) for line, detail in rows]

    @cached_property
    def _folded(self) -> list[tuple[int, float, int]]:
        """Return the ranges of ids that were folded, each with the line that tells it."""
        return sorted(
            (low, high, line)
            for line, detail in self._lines
            for low, high in read_ranges(detail['ids'])
        )


def _verify_end(connection: apsw.Connection) -> str:
    """Say what lies before the first line, or tells of lines after the last one."""
    head = audit.get_head(connection)
    row = connection.execute('SELECT id FROM audit WHERE id < 1 ORDER BY id LIMIT 1').fetchone()
    if row is not None:
        return f'line {row[0]}: the first line is line 1'
    ((revision, memory, highest),) = connection.execute(
        'SELECT (SELECT coalesce(max(audit_id), 0) FROM revisions),'
        ' (SELECT coalesce(max(id), 0) FROM memories),'
        ' (SELECT last_memory_id FROM audit ORDER BY id DESC LIMIT 1)'
    )
    if revision > head.id:
        return f'line {head.id + 1} is missing: a revision of line {revision} is there'
    if highest is not None and memory > highest:
        return f'line {head.id + 1} is missing: memory {memory} is there, which no line tells of'
    return ''


def _verify_rows(connection: apsw.Connection, losses: Sequence[Loss]) -> str:
    """Name the first state of a memory that is not what its audit line digested."""
    sealed = {state: digest for loss in losses for state, digest in loss.states.items()}
    for one in find_unlike(connection, Gone(connection, losses)):
        if sealed.get((one.memory_id, one.ended_by), '') != one.digest:
            return f'memory {one.memory_id} is not what line {one.line} wrote'
    return ''


@dataclass(frozen=True)
class Unlike:
    """
    Name a state of a memory that is not what its line wrote, and the line that ended it.

    `digest` is that of the state as it is, None where it has no salt.
    """

    memory_id: int
    line: int
    ended_by: int
    digest: str | None


def find_unlike(connection: apsw.Connection, gone: Gone) -> Iterator[Unlike]:
    """Give the states of memories that are not what their audit lines digested."""
    names = ', '.join(DIGESTED)
    marks = ', '.join('?' * len(CREATIONS))
    lines: dict[int, list[tuple[int, bytes]]] = {}
    for memory_id, line, digest in connection.execute(
        'SELECT memory_id, id, digest FROM audit WHERE digest IS NOT NULL AND memory_id IS NOT'
        f' NULL AND (memory_id = last_memory_id OR action NOT IN ({marks}) OR action = ?)'
        ' ORDER BY id',
        (*CREATIONS, 'imported'),
    ):
        lines.setdefault(memory_id, []).append((line, digest))
    states = connection.execute(
        f'SELECT memory_id, audit_id, salt, {names} FROM revisions UNION ALL'
        f' SELECT id, {NOW}, salt, {names} FROM memories ORDER BY 1, 2'
    )
    elsewhere = _find_imported_changes(connection)
    for memory_id, ended_by, salt, *values in states:
        made = [pair for pair in lines.get(memory_id, ()) if pair[0] < ended_by]
        if not made or (salt is None and gone.has(memory_id, made[-1][0])):
            continue
        if salt is None and ended_by in elsewhere:
            continue
        digest = None if salt is None else digest_state(salt, values)
        if digest != made[-1][1]:
            yield Unlike(memory_id, made[-1][0], ended_by, digest.hex() if digest else None)


def _find_imported_changes(connection: apsw.Connection) -> set[int]:
    """Return the lines of changes that another store made: no line here digested those states."""
    return {
        row[0]
        for row in connection.execute(
            'SELECT audit_id FROM revisions AS r JOIN audit AS a ON a.id = r.audit_id'
            ' WHERE a.digest IS NULL AND a.epoch IS NULL AND r.salt IS NULL'
        )
    }
