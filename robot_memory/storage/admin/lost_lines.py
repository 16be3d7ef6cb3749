"""
Lines of the audit that a damaged store lost: the new store tells which they were.

Its chain goes on behind them: of the first line after a loss it cannot be told whether it follows,
of all others it can. A line `salvaged` names what is missing.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import apsw

from robot_memory.core.authority import THE_STORE
from robot_memory.core.ranges import write_steps
from robot_memory.storage import epochs, remembered
from robot_memory.storage.admin import audit_check
from robot_memory.storage.tables import audit, erasing

_REASON = 'lines of the audit that were lost with the damaged file'


def bridge(new: apsw.Connection) -> int:
    """
    Have the audit go on behind the lines that it lost; return how many are known to be lost.

    No new line takes the number of a lost one that something refers to.
    """
    new.execute('BEGIN')
    lines = [0, *(row[0] for row in new.execute('SELECT id FROM audit WHERE id > 0 ORDER BY id'))]
    told = {row[:2]: row[2] for row in new.execute('SELECT first, last, chain FROM audit_gaps')}
    missing = [(before + 1, line - 1) for before, line in pairwise(lines) if line > before + 1]
    head = audit.get_head(new)
    last = max(head.id, _find_last_named(new))
    if last == head.id and audit_check.has_unexplained(new):
        last += 1  # at least the line that told it
    highest, highest_told = _find_highest(new)
    lost = [one for one in missing if one not in told]
    tail = [(head.id + 1, last)] if last > head.id else []
    if lost or tail or highest > highest_told:
        for one in lost:
            _put_gap(new, *one, _find_chain(told, one[1]))
        for one in tail:
            _put_gap(new, *one, bytes.fromhex(head.chain))
        _drop_lost_heads(new)
        gone = [line for low, high in (*missing, *tail) for line in range(low, high + 1)]
        ((at, epoch),) = new.execute(f'SELECT coalesce(max(at), 0), {epochs.NEWEST} FROM audit')
        with remembered.remember():
            known = (last, bytes.fromhex(head.chain), max(highest, highest_told), epoch)
            remembered.note('audit', '', known)
            detail = {'lines': write_steps(gone)}
            audit.record(new, None, audit.SALVAGED, THE_STORE, _REASON, detail, at)
    new.execute('COMMIT')
    return sum(high - low + 1 for low, high in (*lost, *tail))


def seal_changed(new: apsw.Connection) -> None:
    """Have a line for each memory whose present state a lost line wrote."""
    new.execute('BEGIN')
    ((at,),) = new.execute('SELECT coalesce(max(at), 0) FROM audit')
    for one in [*audit_check.find_unlike(new)]:
        if one.is_now and one.by_lost:
            erasing.seal(new, one.memory_id, audit.SALVAGED, THE_STORE, _REASON, at)
    new.execute('COMMIT')


def _find_last_named(new: apsw.Connection) -> int:
    """Return the last line that anything names."""
    heads = (audit.CHECKPOINT, audit.BACKUP)
    ((revision, head),) = new.execute(
        'SELECT (SELECT coalesce(max(audit_id), 0) FROM revisions), (SELECT'
        " coalesce(max(value ->> '$.id'), 0) FROM meta WHERE key IN (?, ?) AND json_valid(value))",
        heads,
    )
    return max(int(revision), int(head))


def _find_highest(new: apsw.Connection) -> tuple[int, int]:
    """Return the highest id of a memory, and that of which the last line tells."""
    ((there, told),) = new.execute(
        'SELECT (SELECT coalesce(max(id), 0) FROM memories),'
        ' (SELECT last_memory_id FROM audit ORDER BY id DESC LIMIT 1)'
    )
    return int(there), int(there if told is None else told)


def _find_chain(told: dict[Any, Any], last: int) -> bytes:
    """Return the chain behind lines up to one, if lines up to it were removed; else none."""
    return next((bytes(chain) for (_, end), chain in told.items() if end == last), b'')


def _put_gap(new: apsw.Connection, first: int, last: int, chain: bytes) -> None:
    new.execute('DELETE FROM audit_gaps WHERE first BETWEEN ? AND ?', (first, last))
    new.execute('INSERT INTO audit_gaps VALUES (?, ?, ?)', (first, last, chain))


def _drop_lost_heads(new: apsw.Connection) -> None:
    """Have no head of this store be expected whose line is lost."""
    for key in (audit.CHECKPOINT, audit.BACKUP):
        for (text,) in new.execute('SELECT value FROM meta WHERE key = ?', (key,)).fetchall():
            try:
                is_there = audit.has_line(new, json.loads(str(text))['id'])
            except (TypeError, ValueError, KeyError):
                is_there = False
            if not is_there:
                new.execute('DELETE FROM meta WHERE key = ?', (key,))
