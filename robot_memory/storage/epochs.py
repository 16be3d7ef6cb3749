"""
Rows of clock epochs: which clock a time was written by, and what corrects it.

Times are stored as the clock told them and never rewritten. `correct` is the SQL of a time as it
is known now; docs/schema.md describes the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import apsw

from robot_memory.core.clock import RELEASED, ClockReading
from robot_memory.core.epochs import Epoch, Judgement, judge

NEWEST = '(SELECT max(id) FROM clock_epochs)'
"""SQL of the epoch of what is written now: each write transaction begins by entering it."""
_EXTEND_AFTER = 1_000_000
"""How old the last reading of an epoch may be before a write notes a newer one."""
_COLUMNS = (
    'boot_id, time_namespace, segment, wall, boot, last_wall, last_boot, evidence, trusted,'
    ' reason, offset, uncertain'
)
_SELECT = f'SELECT id, {_COLUMNS} FROM clock_epochs'


@dataclass(frozen=True)
class EpochRow:
    """An epoch of the store and its judgement."""

    id: int
    epoch: Epoch
    judgement: Judgement


def read_offset(epoch: str) -> str:
    """Return as SQL what corrects the times of an `epoch`, in microseconds."""
    return _read('offset', epoch, 0)


def correct(time: str, epoch: str) -> str:
    """Return as SQL a time of a column `time`, corrected by the offset of its `epoch`."""
    return f'({time} + {read_offset(epoch)})'


def is_uncertain(epoch: str) -> str:
    """Return as SQL whether no trusted clock tells the times of an `epoch`."""
    return _read('uncertain', epoch, 0)


def is_known(epoch: str) -> str:
    """Return as SQL whether the times of an `epoch` are right, or exactly corrected."""
    return _read('NOT uncertain', epoch, 1)


def _read(what: str, epoch: str, missing: int) -> str:
    """Return as SQL what is known of an `epoch`; `missing`: of a time that has none."""
    return f'coalesce((SELECT {what} FROM clock_epochs WHERE id = {epoch}), {missing})'


CORRECTED = 'SELECT id FROM clock_epochs WHERE offset <> 0'
"""SQL of the epochs whose times are corrected."""


def correct_instant(connection: apsw.Connection, at: int, epoch: int | None) -> int:
    """Return a time that the clock of an epoch told, corrected."""
    ((corrected,),) = connection.execute(f'SELECT {correct("?1", "?2")}', (at, epoch))
    return int(corrected)


def list_corrected(connection: apsw.Connection) -> list[EpochRow]:
    """Return the epochs whose times are corrected, in the order in which they were opened."""
    return [_make(row) for row in connection.execute(f'{_SELECT} WHERE offset <> 0 ORDER BY id')]


def has_corrected(connection: apsw.Connection) -> bool:
    """Say whether the times of some epoch are corrected."""
    row = connection.execute('SELECT 1 FROM clock_epochs WHERE offset <> 0 LIMIT 1').fetchone()
    return row is not None


def list_all(connection: apsw.Connection) -> list[EpochRow]:
    """Return all epochs in the order in which they were opened."""
    return [_make(row) for row in connection.execute(f'{_SELECT} ORDER BY id')]


def get_newest(connection: apsw.Connection) -> EpochRow | None:
    """Return the newest epoch; None where nothing was ever written."""
    row = connection.execute(f'{_SELECT} ORDER BY id DESC LIMIT 1').fetchone()
    return None if row is None else _make(row)


def judge_now(connection: apsw.Connection, reading: ClockReading, max_gap: int) -> Judgement:
    """Return what is known of the clock that gives a reading, whether its epoch is open or not."""
    newest = get_newest(connection)
    if newest is not None and newest.epoch.goes_on(reading):
        return newest.judgement
    return _open(list_all(connection), reading, max_gap)[1][-1]


def enter(connection: apsw.Connection, reading: ClockReading, max_gap: int) -> EpochRow:
    """
    Note a reading of the clocks, in the caller's transaction; return the epoch it belongs to.

    A new epoch is opened where the clock was set, the machine booted anew, or a suspect clock has
    become a right one; then all are judged anew.
    """
    newest = get_newest(connection)
    if newest is not None and newest.epoch.covers(reading):
        if reading.boot - newest.epoch.last.boot < _EXTEND_AFTER:
            return newest
        # A clock that was behind may have caught up: an epoch that began now would be trusted.
        rows = [] if newest.judgement.trusted else list_all(connection)
        if not (rows and _open(rows, reading, max_gap)[1][-1].trusted):
            _note_reading(connection, newest.id, newest.epoch.extend(reading))
            return newest
    elif newest is not None and newest.epoch.goes_on(reading):
        _note_reading(connection, newest.id, newest.epoch.extend(reading))
        _judge_all(connection, max_gap)
        return _get(connection, newest.id)
    rows = list_all(connection)
    opened, (*found, judgement) = _open(rows, reading, max_gap)
    _write_judgements(connection, rows, found)
    return _get(connection, _insert(connection, opened, judgement))


def trust_newest(connection: apsw.Connection, max_gap: int) -> EpochRow:
    """Take an operator's word that the present clock is right, and judge all anew."""
    connection.execute(
        f"UPDATE clock_epochs SET evidence = 'operator' WHERE id = {NEWEST} AND evidence = ''"
    )
    _judge_all(connection, max_gap)
    newest = get_newest(connection)
    assert newest is not None
    return newest


def list_unsettled(connection: apsw.Connection) -> list[int]:
    """
    Return the epochs that decay and retention have not taken up since they were judged anew.

    A suspect one that still goes on waits.
    """
    rows = connection.execute(
        f'SELECT id FROM clock_epochs WHERE settled = 0 AND (trusted OR id < {NEWEST}) ORDER BY id'
    )
    return [row[0] for row in rows]


def unsettle_newest(connection: apsw.Connection) -> None:
    """Note that decay has to take up what the newest epoch, a suspect one, stored."""
    connection.execute(f'UPDATE clock_epochs SET settled = 0 WHERE id = {NEWEST}')


def mark_settled(connection: apsw.Connection, ids: Sequence[int]) -> None:
    """Note that decay and retention follow the present judgement of epochs."""
    connection.executemany(
        'UPDATE clock_epochs SET settled = 1 WHERE id = ?', [(epoch,) for epoch in ids]
    )


def _open(
    rows: Sequence[EpochRow], reading: ClockReading, max_gap: int
) -> tuple[Epoch, list[Judgement]]:
    """Return the epoch that a reading opens, and the judgement of all with it as the last."""
    epochs = [row.epoch for row in rows]
    opened = Epoch.begin(reading, epochs[-1] if epochs else None)
    return opened, judge([*epochs, opened], max_gap, RELEASED)


def _judge_all(connection: apsw.Connection, max_gap: int) -> None:
    rows = list_all(connection)
    found = judge([row.epoch for row in rows], max_gap, RELEASED)
    _write_judgements(connection, rows, found)


def _write_judgements(
    connection: apsw.Connection, rows: Sequence[EpochRow], found: Sequence[Judgement]
) -> None:
    """Write the judgements that changed; what follows from them is not settled yet."""
    connection.executemany(
        'UPDATE clock_epochs SET trusted = ?, reason = ?, offset = ?, uncertain = ?,'
        ' settled = settled AND ? WHERE id = ?',
        [
            (now.trusted, now.reason, now.offset, now.uncertain, now.says(row.judgement), row.id)
            for row, now in zip(rows, found, strict=True)
            if now != row.judgement
        ],
    )


def _insert(connection: apsw.Connection, epoch: Epoch, judgement: Judgement) -> int:
    """Insert a new epoch; nothing was written in it yet, so nothing has to be settled."""
    first, last = epoch.first, epoch.last
    connection.execute(
        'INSERT INTO clock_epochs (boot_id, time_namespace, segment, wall, boot, last_wall,'
        ' last_boot, evidence, trusted, reason, offset, uncertain)'
        ' VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
        (
            first.boot_id,
            first.time_namespace,
            epoch.segment,
            first.wall,
            first.boot,
            last.wall,
            last.boot,
            epoch.evidence,
            judgement.trusted,
            judgement.reason,
            judgement.offset,
            judgement.uncertain,
        ),
    )
    return connection.last_insert_rowid()


def _note_reading(connection: apsw.Connection, epoch_id: int, epoch: Epoch) -> None:
    connection.execute(
        'UPDATE clock_epochs SET last_wall = ?, last_boot = ?, evidence = ? WHERE id = ?',
        (epoch.last.wall, epoch.last.boot, epoch.evidence, epoch_id),
    )


def _get(connection: apsw.Connection, epoch_id: int) -> EpochRow:
    (row,) = connection.execute(f'{_SELECT} WHERE id = ?', (epoch_id,))
    return _make(row)


@lru_cache(maxsize=8)  # each write reads the newest one, which seldom changes
def _make(row: tuple[Any, ...]) -> EpochRow:
    number, boot_id, namespace, segment, wall, boot, last_wall, last_boot, evidence, *rest = row
    trusted, reason, offset, uncertain = rest
    first = ClockReading(int(wall), int(boot), str(boot_id), str(namespace))
    last = ClockReading(int(last_wall), int(last_boot), str(boot_id), str(namespace))
    return EpochRow(
        int(number),
        Epoch(first, last, int(segment), str(evidence)),
        Judgement(bool(trusted), str(reason), int(offset), bool(uncertain)),
    )
