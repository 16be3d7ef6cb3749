"""
Lines of the audit that a salvage could not bring back: what it noted of them, and who accepted it.

A salvage appends one line, with the action `audit_salvaged`, for what it lost. It is chained like
any other, so that nothing that it says can be changed unnoticed; a gap of which no such line tells
is a sign that somebody removed lines.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.core.clock import format_instant
from robot_memory.core.ranges import read_steps
from robot_memory.storage import epochs
from robot_memory.storage.admin.row_reading import Table, list_columns, read_rows
from robot_memory.storage.tables import audit, meta

SALVAGED = 'audit_salvaged'
"""The action of the line that tells what of the audit a salvage lost."""
ACCEPTED = 'loss_accepted'
"""The action of the line that tells who put a store with such a loss into use."""
ACCEPT = '`robot-memory restore --accept-loss FILE` puts such a store into use and notes who did'
_SHOWN = 8
_DIGITS = 16
_BYTES = 16
Ranges = Sequence[tuple[int, int]]
"""First and last line of each run of lines."""


@dataclass(frozen=True)
class Loss:
    """
    Hold what the line of a salvage says.

    Attributes:
        line: The line itself.
        at: When, in microseconds.
        file: SHA-256 of the damaged file.
        lines: Those that lay where nothing could be read.
        open_from: The first of lines at the end, of which it is not known how many there were.
        named: The last line that something else in the file still named.
        untold: Those that are missing though the pages where they belong could be read.
        seals: Of lines that the chain does not prove any more, what `seal_line` gave.
        states: Of earlier states whose line is lost, by memory and line that ended them, the
            digest; None where there was no salt.
        unsalted: Lines without a salt, for which the line that would tell why is lost.
        accepted: Who accepted the loss and when; None: nobody.

    """

    line: int
    at: int
    file: str
    lines: Ranges
    open_from: int | None
    named: int
    untold: Ranges
    seals: dict[int, str]
    states: dict[tuple[int, int], str | None]
    unsalted: Ranges
    accepted: tuple[str, int] | None = None

    @property
    def missing(self) -> Ranges:
        """Return all lines that are missing."""
        return sorted((*self.lines, *self.untold))

    def has(self, line: int) -> bool:
        """Say whether a line is among those that are missing."""
        return any(low <= line <= high for low, high in self.missing)

    def __str__(self) -> str:
        """Return in words which lines are missing, since when, and why."""
        since = f'the salvage of {format_instant(self.at)} (line {self.line})'
        parts: list[str] = []
        known = [one for one in self.lines if one[0] != self.open_from]
        if known:
            parts.append(
                f'{describe_lines(known)} missing since {since}, which could not read them'
            )
        if self.open_from is not None:
            named = f', line {self.named} was one' if self.named >= self.open_from else ''
            parts.append(
                f'the lines from {self.open_from} on are missing since {since}, which could not '
                f'read them: how many there were is not known{named}'
            )
        if self.untold:
            parts.append(
                f'{describe_lines(self.untold)} missing, too, but not for a page that {since} '
                'could not read: somebody removed them before, or the line that told why is lost'
            )
        if self.seals or self.states:
            parts.append(
                f'{len(self.seals)} lines and {len(self.states)} earlier states of memories, '
                f'which lost lines proved, are known only as {since} found them'
            )
        if self.file:
            parts.append(f'the damaged file has the SHA-256 {self.file[:_DIGITS]}...')
        if self.accepted:
            parts.append(f'accepted by {self.accepted[0]} on {format_instant(self.accepted[1])}')
        return '; '.join(parts)


def describe_lines(ranges: Ranges) -> str:
    """Return which lines are meant, with the verb behind them."""
    shown = [f'{low} to {high}' if high > low else str(low) for low, high in ranges[:_SHOWN]]
    rest = len(ranges) - _SHOWN
    count = sum(high - low + 1 for low, high in ranges)
    more = f' and {rest} further ranges' if rest > 0 else ''
    if count == 1:
        return f'line {shown[0]} is'
    return f'{count} lines, {", ".join(shown)}{more}, are'


def seal_line(columns: Sequence[Any], chain: bytes) -> str:
    """Return the digest of a line as a salvage found it, where the chain does not prove it."""
    return audit.extend_chain(chain, columns)[:_BYTES].hex()


def read_losses(connection: apsw.Connection) -> list[Loss]:
    """Return what each salvage lost; one whose line cannot be understood explains nothing."""
    if not has_chain(connection):
        return []
    rows: list[Any] = connection.execute(
        f'SELECT id, action, actor, detail, {epochs.correct("at", "epoch")} FROM audit'
        ' WHERE memory_id IS NULL AND action IN (?, ?) ORDER BY id',
        (SALVAGED, ACCEPTED),
    ).fetchall()
    found: dict[int, Loss] = {}
    for line, action, actor, text, at in rows:
        try:
            detail = json.loads(text)
            if action == SALVAGED:
                found[line] = _make(line, at, detail)
            elif (known := found.get(detail['line'])) and not known.accepted:
                found[known.line] = replace(known, accepted=(str(actor), at))
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
    return list(found.values())


def has_chain(connection: apsw.Connection) -> bool:
    """Say whether a store is of a release whose audit is chained."""
    return 'chain' in list_columns(connection, 'audit')


def find_unlost(
    held: apsw.Connection, salvaged: apsw.Connection, losses: Sequence[Loss]
) -> list[int]:
    """
    Return lines that a salvaged store says are lost and that another store of its history has.

    It is one of its history where both have one identity, or the same line beside the lost ones.
    """
    found: list[int] = []
    is_of_one = _read_identity(held) == _read_identity(salvaged) is not None
    for low, high in (one for loss in losses for one in loss.missing):
        if is_of_one or any(_is_same(held, salvaged, line) for line in (low - 1, high + 1)):
            found += _list_readable(held, low, high)
    return sorted(set(found))


def _read_identity(connection: apsw.Connection) -> Any:
    try:
        return meta.get(connection, 'store_id')
    except apsw.Error:
        return None


def _is_same(held: apsw.Connection, salvaged: apsw.Connection, line: int) -> bool:
    sql = 'SELECT chain FROM audit NOT INDEXED WHERE id = ?'
    try:
        mine, other = (one.execute(sql, (line,)).fetchall() for one in (held, salvaged))
    except apsw.Error:
        return False
    return bool(mine) and mine == other


def _list_readable(held: apsw.Connection, first: int, last: int) -> list[int]:
    """Return the lines of a range that can be read whole, damaged pages aside."""
    try:
        table = Table('audit', list_columns(held, 'audit'))
        rows = read_rows(held, table, lambda lost: None, first=first)
        return [row[0] for row in itertools.takewhile(lambda row: row[0] <= last, rows)]
    except apsw.Error:
        return []


def _make(line: int, at: int, detail: dict[str, Any]) -> Loss:
    open_from = detail.get('open_from')
    return Loss(
        line,
        at,
        str(detail.get('file', '')),
        [one for one in read_steps(detail.get('lines', '')) if one[1] < line],
        None if open_from is None else int(open_from),
        int(detail.get('named', 0)),
        [one for one in read_steps(detail.get('untold', '')) if one[1] < line],
        {int(number): str(seal) for number, seal in detail.get('seals', {}).items()},
        {(memory, ended_by): seal for memory, ended_by, seal in detail.get('states', [])},
        read_steps(detail.get('unsalted', '')),
    )


def accept(connection: apsw.Connection, losses: Sequence[Loss], writer: Writer, at: int) -> None:
    """Append a line for each loss that nobody accepted yet, in a transaction of the caller."""
    for loss in losses:
        if not loss.accepted:
            reason = f'restored though lines of the audit are missing (line {loss.line})'
            audit.record(connection, None, ACCEPTED, writer, reason, {'line': loss.line}, at)
