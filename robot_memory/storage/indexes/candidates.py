"""Candidate queries: ids that an index gives for a condition, which it is then checked on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import apsw

from robot_memory.storage.indexes.set_aside import CONTEXTS, WORDS, is_avoided

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LONGER = 8
_FIRST = 500
"""Ids that are counted of each query before the next bound is tried."""


@dataclass(frozen=True)
class CandidateQuery:
    """
    Hold SQL that selects, by an index alone, at least all ids that a condition holds of.

    What one that `is_followed` gives changes for no memory that `changes` does not name.
    """

    sql: str
    values: tuple[Any, ...] = ()
    is_followed: bool = False


def choose(
    connection: apsw.Connection, queries: Sequence[CandidateQuery], most: int
) -> CandidateQuery | None:
    """
    Return the query that gives the fewest ids, intersected with others that give few more.

    Return None where each gives more than `most`, or their indexes are damaged.
    """
    if not can_list():
        return None
    bound = min(_FIRST, most)
    while queries:
        numbers = [_count(connection, query, bound) for query in queries]
        least = min(numbers)
        if least <= bound:
            best = queries[numbers.index(least)]
            others = [query for query in queries if query is not best]
            return _intersect(connection, best, others, least * _LONGER)
        if bound == most:
            break
        bound = min(8 * bound, most)
    return None


def _intersect(
    connection: apsw.Connection, best: CandidateQuery, others: list[CandidateQuery], most: int
) -> CandidateQuery:
    """Intersect a query with those of the others that give at most so many ids."""
    for other in others:
        if _count(connection, other, most) <= most:
            sql = f'SELECT id FROM ({best.sql}) WHERE id IN ({other.sql})'
            best = CandidateQuery(sql, best.values + other.values)
    return best


def _count(connection: apsw.Connection, query: CandidateQuery, bound: int) -> int:
    """Return how many ids a query gives, or more than the bound where they are more."""
    ((number,),) = connection.execute(
        f'SELECT count(*) FROM (SELECT 1 FROM ({query.sql}) LIMIT ?)', (*query.values, bound + 1)
    )
    return int(number)


def list_ids(
    connection: apsw.Connection, query: CandidateQuery, most: int
) -> NDArray[np.int64] | None:
    """
    Return the ids that a query gives, with some twice perhaps; None where they are more.

    They come as one text: a hundred thousand rows take more than twice as long.
    """
    import numpy as np

    ((text,),) = connection.execute(
        f'SELECT group_concat(id) FROM (SELECT id FROM ({query.sql}) LIMIT ?)',
        (*query.values, most + 1),
    )
    found = np.fromstring(text, np.int64, sep=',') if text else np.empty(0, np.int64)
    return found if len(found) <= most else None


def can_list() -> bool:
    """Say whether the indexes that queries select by are whole."""
    return not (is_avoided(CONTEXTS) or is_avoided(WORDS))


def restrict_to(query: CandidateQuery) -> str:
    """Return as SQL the memories `m` that a query gives, to be joined with AND to a condition."""
    return f'memories AS m NOT INDEXED WHERE m.id IN ({query.sql})'
