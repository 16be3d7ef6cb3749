"""
Accesses to memories: each fixes the confidence that a memory has, which decays anew from there.

The log has a row where an access set a base, or was the first after the end of a session, with
what was before, so that the accesses of a clock that proves wrong can be taken back, and those of
a suspect one be applied once it is corrected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import apsw

from robot_memory.core.json_text import MAX_INTEGER
from robot_memory.storage import epochs
from robot_memory.storage.tables import decay

_LAST_END = (
    'coalesce((SELECT max(id) FROM decays WHERE collection ='
    ' (SELECT collection FROM memories WHERE id = ?1)), 0)'
)


def record(
    connection: apsw.Connection, accesses: Mapping[int, tuple[int, int]], *, trusted: bool
) -> None:
    """
    Record accesses, id to (count, microseconds).

    By a `trusted` clock they fix the confidence. By a suspect one they are counted, and wait.
    """
    connection.executemany(
        f'UPDATE memories SET access_count = min(access_count + ?, {MAX_INTEGER})'
        " WHERE id = ? AND status = 'active'",
        [(times, memory_id) for memory_id, (times, _) in accesses.items()],
    )
    rows = [(memory_id, at) for memory_id, (_, at) in accesses.items()]
    if not trusted:
        connection.executemany(_WAIT_LONGER, rows)
        connection.executemany(_WAIT, rows)
        return
    connection.executemany(_LOG, rows)
    connection.executemany(
        'UPDATE memories SET confidence_base = confidence, last_accessed = ?2,'
        f" accessed_epoch = {epochs.NEWEST} WHERE id = ?1 AND status = 'active'",
        rows,
    )


_LOG = (
    'INSERT INTO accesses (memory_id, epoch, at, decay_id, applied, base, last_accessed,'
    f' last_epoch) SELECT ?1, {epochs.NEWEST}, ?2, {_LAST_END}, 1, confidence_base,'
    ' last_accessed, accessed_epoch FROM memories'
    " WHERE id = ?1 AND status = 'active'"
    f' AND (confidence <> confidence_base OR accessed_epoch IS NOT {epochs.NEWEST}'
    ' OR NOT EXISTS (SELECT 1 FROM accesses WHERE memory_id = ?1'
    f' AND epoch = {epochs.NEWEST} AND decay_id = {_LAST_END}))'
)
_WAITING = f'memory_id = ?1 AND epoch = {epochs.NEWEST} AND decay_id = {_LAST_END} AND applied = 0'
_WAIT_LONGER = f'UPDATE accesses SET at = ?2 WHERE {_WAITING}'
_WAIT = (
    'INSERT INTO accesses (memory_id, epoch, at, decay_id, applied)'
    f' SELECT ?1, {epochs.NEWEST}, ?2, {_LAST_END}, 0 FROM memories'
    " WHERE id = ?1 AND status = 'active'"
    f' AND NOT EXISTS (SELECT 1 FROM accesses WHERE {_WAITING})'
)
_KEPT_EPOCHS = 64
"""Epochs whose accesses can be taken back."""


def forget(connection: apsw.Connection, memory_id: int) -> None:
    """Delete the log of a memory: it says something else now."""
    connection.execute('DELETE FROM accesses WHERE memory_id = ?', (memory_id,))


@dataclass(frozen=True)
class _Access:
    id: int
    epoch: int
    at: int
    corrected: int
    known: bool
    applied: bool
    base: float | None
    last_accessed: int | None
    last_epoch: int | None


@dataclass(frozen=True)
class _State:
    base: float
    last_accessed: int | None
    accessed_epoch: int | None


def list_waiting(connection: apsw.Connection) -> list[int]:
    """Return the earlier epochs with accesses that wait, and can be applied by now."""
    rows = connection.execute(
        f'SELECT DISTINCT epoch FROM accesses WHERE applied = 0 AND epoch < {epochs.NEWEST}'
        f' AND {epochs.is_known("epoch")}'
    )
    return [row[0] for row in rows]


def replay(connection: apsw.Connection, changed: Sequence[int], protected: Sequence[str]) -> int:
    """
    Have the accesses of epochs that were judged anew count, or no longer; return of how many.

    Confidence is recomputed from the new bases by `decay.recompute`.
    """
    connection.execute(f'DELETE FROM accesses WHERE epoch < {epochs.NEWEST} - {_KEPT_EPOCHS}')
    marks = ', '.join('?' * len(changed))
    ids = [
        row[0]
        for row in connection.execute(
            f'SELECT DISTINCT memory_id FROM accesses WHERE epoch IN ({marks})', tuple(changed)
        )
    ]
    rates = decay.read_rates(connection)
    for memory_id in ids:
        _replay_one(connection, memory_id, rates, protected)
    return len(ids)


def _replay_one(
    connection: apsw.Connection, memory_id: int, rates: decay.Rates, protected: Sequence[str]
) -> None:
    ((base, last, epoch, created, collection, category),) = connection.execute(
        'SELECT confidence_base, last_accessed, accessed_epoch,'
        f' {epochs.correct("created_at", "created_epoch")}, collection, category'
        ' FROM memories WHERE id = ?',
        (memory_id,),
    )
    accesses = _close(_list(connection, memory_id), last, epoch)
    applied = [access for access in accesses if access.applied]
    first = applied[0] if applied else None
    state = _State(base, last, epoch)
    if first is not None:
        state = _State(first.base or 0.0, first.last_accessed, first.last_epoch)
    ends = decay.list_ends(connection, collection)
    for access in accesses:
        if not access.known:
            _note(connection, access, None)
            continue
        _note(connection, access, state)
        used = created
        if state.last_accessed is not None:
            used = epochs.correct_instant(connection, state.last_accessed, state.accessed_epoch)
        until = max((end for end in ends if end <= access.corrected), default=used)
        reached = state.base
        if category not in protected:
            reached = rates.decay(state.base, used, until)
        state = _State(reached, access.at, access.epoch)
    connection.execute(
        'UPDATE memories SET confidence_base = ?, confidence = ?, last_accessed = ?,'
        ' accessed_epoch = ? WHERE id = ?',
        (state.base, state.base, state.last_accessed, state.accessed_epoch, memory_id),
    )


def _list(connection: apsw.Connection, memory_id: int) -> list[_Access]:
    rows = connection.execute(
        f'SELECT id, epoch, at, {epochs.correct("at", "epoch")}, {epochs.is_known("epoch")},'
        ' applied, base, last_accessed, last_epoch FROM accesses WHERE memory_id = ? ORDER BY id',
        (memory_id,),
    )
    return [
        _Access(number, epoch, at, corrected, bool(known), bool(applied), base, last, last_epoch)
        for number, epoch, at, corrected, known, applied, base, last, last_epoch in rows
    ]


def _close(
    accesses: Sequence[_Access], last_accessed: int | None, accessed_epoch: int | None
) -> list[_Access]:
    """Give each applied access the time of the last one that followed it in its epoch."""
    closed: list[_Access] = []
    for access in reversed(accesses):
        if access.applied:
            if accessed_epoch == access.epoch and last_accessed is not None:
                later = last_accessed - access.at
                access = replace(access, at=last_accessed, corrected=access.corrected + later)
            last_accessed, accessed_epoch = access.last_accessed, access.last_epoch
        closed.append(access)
    return closed[::-1]


def _note(connection: apsw.Connection, access: _Access, before: _State | None) -> None:
    """Write whether an access counts, and what was before it."""
    known = (before.base, before.last_accessed, before.accessed_epoch) if before else (None,) * 3
    connection.execute(
        'UPDATE accesses SET at = ?, applied = ?, base = ?, last_accessed = ?, last_epoch = ?'
        ' WHERE id = ?',
        (access.at, before is not None, *known, access.id),
    )
