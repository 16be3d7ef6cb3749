"""
The three layers of the duplicate check: same text, same words, same meaning.

Texts that differ in a number, a unit or a negation have different guards and are no duplicates,
so the guard is the key of the index that the check asks: it never scans.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import apsw

from robot_memory import texts
from robot_memory.guards import guard
from robot_memory.store import words

_FEW = 64
"""Rows of one guard and length that are cheaper to compare than to search by words."""


@dataclass(frozen=True)
class Duplicate:
    """Say which memory is the same, by which layer, and how similar it is (0 to 1)."""

    method: str
    existing_id: int
    similarity: float


Nearest = Callable[[int], list[tuple[int, float]]]
"""Return the k nearest (id, calibrated similarity) of the collection, best first."""


def find(
    connection: apsw.Connection,
    collection: str,
    text: str,
    jaccard_bar: float,
    cosine_bar: float,
    nearest: Nearest | None,
) -> Duplicate | None:
    """
    Return the active fact of the collection that a text repeats, if there is one.

    Every memory that can pass a bar is looked at, not only the first few.
    """
    return (
        _same_text(connection, collection, text)
        or _same_words(connection, collection, text, jaccard_bar)
        or (_same_meaning(connection, text, cosine_bar, nearest) if nearest else None)
    )


def _same_text(connection: apsw.Connection, collection: str, text: str) -> Duplicate | None:
    row = connection.execute(
        'SELECT id FROM memories INDEXED BY memories_by_hash WHERE content_hash = ?'
        " AND collection = ? AND status = 'active' AND type = 'fact' ORDER BY id LIMIT 1",
        (texts.content_hash(text), collection),
    ).fetchone()
    return Duplicate('exact', row[0], 1.0) if row else None


def _same_words(
    connection: apsw.Connection, collection: str, text: str, bar: float
) -> Duplicate | None:
    """Compare token sets; a set of another size than |A| x bar .. |A| / bar cannot pass."""
    wanted = texts.tokens(text)
    size = len(wanted)
    if not size:
        return None
    lowest = math.ceil(size * bar - 1e-9)
    highest = math.floor(size / bar + 1e-9) if bar > 0 else 10**9
    key = (collection, guard(text), lowest, highest)
    rows = list(connection.execute(f'{_BY_GUARD} LIMIT {_FEW + 1}', key))
    if len(rows) > _FEW:
        rows = _with_a_rare_word(connection, wanted, size - lowest + 1, key)
    best = Duplicate('jaccard', 0, bar)
    for memory_id, content in rows:
        similarity = texts.jaccard(wanted, texts.tokens(content))
        if similarity > best.similarity:
            best = Duplicate('jaccard', memory_id, similarity)
    return best if best.existing_id else None


_BY_GUARD = (
    'SELECT m.id, m.content FROM memories AS m INDEXED BY memories_by_guard'
    ' WHERE m.collection = ? AND m.guard = ? AND m.token_count BETWEEN ? AND ?'
    " AND m.status = 'active' AND m.type = 'fact'"
)


def _with_a_rare_word(
    connection: apsw.Connection,
    wanted: Iterable[str],
    enough: int,
    key: tuple[object, ...],
) -> list[tuple[int, str]]:
    """
    Return the rows that can pass, by the prefix filter of set similarity joins.

    A set that passes lacks at most |A| - |A| x bar of the tokens, so it holds one of any
    (that many + 1); the rarest are asked for. Source: Chaudhuri et al., ICDE 2006.
    """
    terms = {token: texts.indexed_as(token) for token in wanted}
    counts = words.frequencies(connection, sorted(set(terms.values())))
    rarest = sorted(wanted, key=lambda token: (counts[terms[token]], token))[:enough]
    rows = connection.execute(
        'SELECT m.id, m.content FROM memories_fts AS f CROSS JOIN memories AS m ON m.id = f.rowid'
        ' WHERE f.memories_fts MATCH ? AND m.collection = ? AND m.guard = ?'
        ' AND m.token_count BETWEEN ? AND ?'
        " AND m.status = 'active' AND m.type = 'fact'",
        (words.any_of({terms[token] for token in rarest}), *key),
    )
    return list(rows)


def _same_meaning(
    connection: apsw.Connection, text: str, bar: float, nearest: Nearest
) -> Duplicate | None:
    """Go down the nearest until one may be the same, or none is near enough."""
    key = guard(text)
    seen, asked = 0, 16
    while True:
        found = nearest(asked)
        for memory_id, similarity in found[seen:]:
            if similarity <= bar:
                return None
            row = connection.execute(
                "SELECT 1 FROM memories WHERE id = ? AND guard = ? AND type = 'fact'"
                " AND status = 'active'",
                (memory_id, key),
            ).fetchone()
            if row:
                return Duplicate('cosine', memory_id, min(similarity, 1.0))
        if len(found) < asked:
            return None
        seen, asked = len(found), asked * 4
