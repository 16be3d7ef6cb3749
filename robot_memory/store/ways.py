"""Ways to the memories that a condition may hold of: ids by index, which it is then checked on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import apsw


@dataclass(frozen=True)
class Way:
    """Hold SQL that selects, by an index alone, at least all ids that a condition holds of."""

    sql: str
    values: tuple[Any, ...] = ()


def shortest(connection: apsw.Connection, ways: Iterable[Way], most: int) -> Way | None:
    """Return the way that gives the fewest ids, None where each gives more than `most`."""
    best = None
    for way in ways:
        ((number,),) = connection.execute(
            f'SELECT count(*) FROM (SELECT 1 FROM ({way.sql}) LIMIT ?)', (*way.values, most + 1)
        )
        if number <= most:
            best, most = way, number - 1
    return best


def along(way: Way) -> str:
    """Return as SQL the memories `m` on a way, to be joined with AND to a condition on them."""
    return f'memories AS m NOT INDEXED WHERE m.id IN ({way.sql})'
