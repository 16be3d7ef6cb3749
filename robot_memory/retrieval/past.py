"""What was known at an earlier instant, and what was done to a memory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from robot_memory.core.clock import DAY, format_instant, parse_instant
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value
from robot_memory.memory import Memory
from robot_memory.storage.tables import audit, folding, history, memories, revisions
from robot_memory.storage.tables.audit import Line

_LINE = re.compile(r'#?(\d{1,18})')
_DATE = re.compile(r'\d{4}-(?:\d\d-\d\d|W\d\d(?:-\d)?)')
_UNKNOWN = ('access_count', 'last_accessed')
"""Columns that no revision has: accesses leave no audit line."""


@dataclass(frozen=True)
class Past:
    """
    Name the state of the store when an audit line had been written.

    `at` is the time of that line in microseconds, None where it has none of this store's clock;
    `gone` counts the memories of then that were erased or folded since. `instant` is what was
    asked for, None of a line; of a date alone (`is_date`) it is where the day begins in UTC.
    """

    line: int
    at: int | None
    gone: int
    instant: int | None = None
    is_date: bool = False

    def name(self) -> str:
        """Return in words which state it is."""
        if self.instant is None:
            return f'audit line {self.line}'
        day = ', where that day begins in UTC' if self.is_date else ''
        return f'{format_instant(self.instant)}{day} (audit line {self.line})'

    def describe(self) -> dict[str, Any]:
        """Return it as a response tells it."""
        at = None if self.at is None else format_instant(self.at)
        asked = {} if self.instant is None else {'instant': format_instant(self.instant)}
        return {'line': self.line, 'at': at, 'gone': self.gone, **asked}


@dataclass(frozen=True)
class Change:
    """
    Hold an audit line of a memory, with its text and status after it.

    `undone_by` is the line that undid it; text and status are None where no revision tells them.
    """

    line: Line
    content: str | None
    status: str | None
    undone_by: int | None


def find_past(memory: Memory, as_of: str, *filters: Any) -> Past | None:
    """
    Return the state that `as_of` names: an instant (ISO 8601), or an audit line (#120).

    None for an empty text. Raise InvalidArgument for another text, an instant in the future or
    before the history begins, and a filter on a column of which there is no history.
    """
    text = as_of.strip()
    if not text:
        return None
    for name in _UNKNOWN:
        if any(name in found for found in filters if found):
            raise InvalidArgument(
                f'{name} cannot be a condition beside as_of: accesses have no history'
            )
    with memory.db.read() as connection:
        horizon, instant = history.get_horizon(connection), None
        if matched := _LINE.fullmatch(text):
            line = int(matched[1])
            head = audit.get_head(connection).id
            if line > head:
                raise InvalidArgument(f'as_of names audit line {line}; the last one is {head}')
        else:
            now = memory.timekeeper.read_now(connection)
            instant = _read_instant(memory, text, now)
            line = history.find_line(connection, instant)
        if line < horizon.line:
            known = format_instant(horizon.at) if horizon.at is not None else 'the next write'
            raise InvalidArgument(
                f'as_of {format_value(as_of)} is before the history begins, {known}; earlier '
                'states were removed by history_days, or the store was upgraded then'
            )
        at = history.get_time(connection, line)
        gone = history.count_gone(connection, line, horizon.line)
        is_date = _DATE.fullmatch(text) is not None
        return Past(line, at, gone, instant, is_date and instant is not None)


def _read_instant(memory: Memory, text: str, now: int) -> int:
    try:
        instant = parse_instant(text)
    except (ValueError, OverflowError):
        raise InvalidArgument(
            'as_of must be an ISO 8601 time, e.g. 2026-03-09T10:30:00Z, or an audit line, e.g. '
            f'#120, not {format_value(text)}'
        ) from None
    if instant > now:
        raise InvalidArgument(
            f'as_of {format_value(text)} is in the future; it is {format_instant(now)}'
        )
    days = memory.settings.history_days
    if days and instant < now - days * DAY:
        raise InvalidArgument(
            f'as_of {format_value(text)} is before the history begins, '
            f'{format_instant(now - days * DAY)} (history_days {days})'
        )
    return instant


def read_history(memory: Memory, memory_id: int) -> list[Change]:
    """Return what was done to a memory, oldest first; raise NotFound where there is none."""
    with memory.db.read() as connection:
        record = memories.get(connection, [memory_id]).get(memory_id)
        lines = audit.read_lines(connection, memory_id)
        if record is None:
            digest = folding.find_digest(connection, memory_id)
            if digest is None:
                raise folding.explain_missing(connection, memory_id)
            folding_line = audit.find_folding(connection, digest)
            if folding_line is not None:
                lines.append(audit.read_line(connection, folding_line))
            return [Change(line, None, audit.FOLDED, None) for line in lines]
        states = revisions.read(connection, memory_id)
    undone = history.pair_undone(lines, {line for line, _ in states})
    now: dict[str, Any] = {'content': record.content, 'status': record.status}
    known = [*states, (lines[-1].id + 1 if lines else 0, now)]
    first = states[0][0] if states else 0
    found = []
    for line in lines:
        after = next(state for ended_by, state in known if ended_by > line.id)
        has_text = line.action in audit.CREATIONS or line.id >= first
        found.append(
            Change(
                line,
                after['content'] if has_text else None,
                after['status'] if has_text else None,
                undone.get(line.id),
            )
        )
    return found
