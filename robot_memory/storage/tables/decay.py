"""
Confidence as a cached column: the base, decayed from the last access to the last end of a session.

It can always be computed anew from the base, up and down. All times are corrected by their clock
epochs; an age that is negative is 0, and a base at or below 0.05 does not decay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import apsw

from robot_memory.core.clock import DAY
from robot_memory.storage import epochs

LEAST = 0.05
"""A base at or below this does not decay."""
_LAST_USE = (
    f'iif(last_accessed IS NULL, {epochs.correct("created_at", "created_epoch")},'
    f' {epochs.correct("last_accessed", "accessed_epoch")})'
)
_AT = epochs.correct('at', 'epoch')


@dataclass(frozen=True)
class Rates:
    """
    What fraction of its confidence a memory loses a day, and from when on.

    `changes` are (microseconds since 1970 UTC, fraction), in order; the first holds before, too.
    """

    changes: tuple[tuple[int, float], ...]

    def decay(self, base: float, last_use: int, until: int) -> float:
        """Return the confidence at an instant of what was last used at another."""
        if base <= LEAST or until - last_use <= DAY:
            return base
        for rate, starts, ends in self._list_stretches():
            days = (min(until, ends) - max(last_use, starts)) / DAY
            base *= (1.0 - rate) ** max(0.0, days)
        return base

    def compile(self) -> str:
        """Return as SQL the confidence at the instant :until."""
        factors = ''.join(
            f' * pow({1.0 - rate!r}, max(0.0, (min(:until, {ends}) - max(used, {starts}))'
            f' / {float(DAY)!r}))'
            for rate, starts, ends in self._list_stretches()
        )
        return (
            f'(SELECT iif(confidence_base > {LEAST} AND :until - used > {DAY},'
            f' confidence_base{factors}, confidence_base) FROM (SELECT {_LAST_USE} AS used))'
        )

    def _list_stretches(self) -> list[tuple[float, int, int]]:
        """Return each rate with the instants that it holds between."""
        starts = [-(2**62), *(at for at, _ in self.changes[1:]), 2**62]
        return [
            (rate, begin, end)
            for (_, rate), (begin, end) in zip(self.changes, pairwise(starts), strict=True)
        ]


def note_rate(connection: apsw.Connection, rate: float, now: int) -> None:
    """Note the rate that holds from now on, where it is another; the first holds before, too."""
    row = connection.execute('SELECT rate FROM decay_rates ORDER BY id DESC LIMIT 1').fetchone()
    if row is None or not math.isclose(row[0], rate):
        connection.execute(
            f'INSERT INTO decay_rates (epoch, at, rate) VALUES ({epochs.NEWEST}, ?, ?)',
            (now, rate),
        )


def read_rates(connection: apsw.Connection) -> Rates:
    """Return the rates that held, those of suspect clocks left out."""
    rows = connection.execute(
        f'SELECT {_AT}, rate FROM decay_rates WHERE {epochs.is_known("epoch")} ORDER BY 1, id'
    )
    return Rates(tuple(rows) or ((0, 0.0),))


def note_end(connection: apsw.Connection, collection: str, now: int) -> None:
    """Note that a session of a collection ended."""
    connection.execute(
        f'INSERT INTO decays (collection, epoch, at) VALUES (?, {epochs.NEWEST}, ?)',
        (collection, now),
    )


def list_ends(connection: apsw.Connection, collection: str) -> list[int]:
    """Return when sessions of a collection ended, in order, by clocks that are known."""
    rows = connection.execute(
        f'SELECT {_AT} FROM decays WHERE collection = ? AND {epochs.is_known("epoch")} ORDER BY 1',
        (collection,),
    )
    return [row[0] for row in rows]


def recompute(
    connection: apsw.Connection, collection: str, protected: Sequence[str], *, falls_only: bool
) -> int:
    """
    Bring the confidence of a collection up to the last end of a session; return how many fell.

    With `falls_only`, only what loses confidence is looked for: nothing was judged anew.
    """
    until = max(list_ends(connection, collection), default=-(2**62))
    value = read_rates(connection).compile()
    named = {f'p{number}': category for number, category in enumerate(protected)}
    marks = ', '.join(f':{name}' for name in named)
    for sign in ('<',) if falls_only else ('>', '<'):
        connection.execute(
            f'UPDATE memories SET confidence = {value}'
            " WHERE status = 'active' AND collection = :collection"
            f' AND category NOT IN ({marks}) AND {value} {sign} confidence',
            {'until': until, 'collection': collection, **named},
        )
    return connection.changes()


def list_decayed(connection: apsw.Connection) -> list[str]:
    """Return the collections in which a session ever ended."""
    return [row[0] for row in connection.execute('SELECT DISTINCT collection FROM decays')]
