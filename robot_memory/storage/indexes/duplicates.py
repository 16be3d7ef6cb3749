"""
The layers of the duplicate check: same text, same words, same meaning, same but reworded.

Texts that differ in a number, a unit or a negation have different duplicate keys and are no
duplicates, so the check asks an index over (collection, duplicate key, size). Where many share one
key, the rarer words lead to those that can pass, and the nearest vectors; it never scans. Last
come those that a cross-encoder says are the same; what it says is another thing is none by words.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import apsw

from robot_memory.text import token_sets
from robot_memory.text.categories import PROTECTED
from robot_memory.text.duplicate_keys import derive_keys
from robot_memory.text.relations import (
    Relation,
    compare_words,
    may_repeat,
    may_restate,
    relate,
    repeats,
)
from robot_memory.text.sameness import tells_of_another

_NO_FACTS: Mapping[tuple[int, str], bool] = MappingProxyType({})
CROSS_ENCODER = 'cross-encoder'
"""The method by which a text is found that says the same in other words."""
_FEW = 64
"""Rows of one duplicate key and length that are cheaper to compare than to search by words."""
_NEAREST = 8
"""Nearest memories that the judge of texts compares."""
_NEAR = 0.7
"""Share of the bar of meaning from which texts are compared by their words in figures."""
_FEW_VECTORS = 256
"""Rows of one duplicate key whose vectors are cheaper to compare than to search by vectors."""


@dataclass(frozen=True)
class Duplicate:
    """Say which memory is the same, by which layer, and how similar it is (0 to 1)."""

    method: str
    existing_id: int
    similarity: float


class Neighbours(Protocol):
    """Find what may be the same in one collection, by words and, with a model, by meaning."""

    @property
    def has_meaning(self) -> bool:
        """Say whether `find_similar` may be asked."""

    def find_sharing(self, terms: Sequence[str], lacking: int) -> list[int]:
        """Return ids, among them all of memories that hold the terms but for a few (`lacking`)."""

    def find_similar(self, among: Sequence[int] | None, bar: float) -> list[tuple[int, float]]:
        """
        Return (id, similarity) of the memories, of some or of all, that lie above a bar.

        Best first.
        """

    def find_nearest(self, limit: int, bar: float) -> list[tuple[int, float]]:
        """Return (id, similarity) of at most so many of the nearest above a bar, best first."""


class Reading(NamedTuple):
    """
    Hold what is known of a text beside its words.

    Whether it is a rule. And what was read beside it: id, text and log odds of the facts that it
    restates, likeliest first; id and text of those that are surely another thing, and whether it
    is that the text replaces them.
    """

    is_rule: bool = False
    restated: Sequence[tuple[int, str, float]] = ()
    distinct: Mapping[tuple[int, str], bool] = _NO_FACTS


NOTHING_READ = Reading()


def find(
    connection: apsw.Connection,
    collection: str,
    text: str,
    whose: str | None,
    is_quoted: bool,
    jaccard_bar: float,
    cosine_bar: float,
    neighbours: Neighbours,
    reading: Reading = NOTHING_READ,
) -> Duplicate | None:
    """
    Return the active fact of the collection that a text repeats, if there is one.

    Where it is the word of a person (`whose`), that of another is not the same. What a caller
    states is no duplicate of what a topic said; what a topic says (`is_quoted`) may be one of
    either. An outcome, a place or simulation parts no texts: they are of the occasion. What is
    surely another thing is the same by its text alone, or, where it is not replaced, if one of
    both has all words of the other. A rule is the same as a fact that is none by its words, or by
    a cross-encoder: then planners are told of it only if it takes the place of that fact.
    """
    kind = (whose, is_quoted)
    return (
        _match_text(connection, collection, text, kind)
        or _match_words(connection, collection, text, kind, jaccard_bar, neighbours, reading)
        or _match_meaning(connection, collection, text, kind, cosine_bar, neighbours, reading)
        or _match_rewording(
            connection, collection, text, kind, jaccard_bar, cosine_bar, neighbours, reading
        )
        or _match_restated(connection, collection, text, kind, cosine_bar, reading)
    )


_Kind = tuple[str | None, bool]
"""What `_OF_KIND` binds."""
_OF_KIND = (
    ' AND (m.actor_id IS NULL OR m.actor_id = coalesce(?, m.actor_id))'
    " AND (? OR m.context -> '$.sense' IS NULL)"
)


def _match_text(
    connection: apsw.Connection, collection: str, text: str, kind: _Kind
) -> Duplicate | None:
    row = connection.execute(
        'SELECT m.id FROM memories AS m INDEXED BY memories_by_hash'
        ' WHERE substr(m.content_hash, 1, 8) = substr(?1, 1, 8) AND m.content_hash = ?1'
        f" AND m.collection = ? AND m.status = 'active' AND m.type = 'fact'{_OF_KIND}"
        ' ORDER BY m.id LIMIT 1',
        (derive_keys(text).hash, collection, *kind),
    ).fetchone()
    return Duplicate('exact', row[0], 1.0) if row else None


def _match_words(
    connection: apsw.Connection,
    collection: str,
    text: str,
    kind: _Kind,
    bar: float,
    neighbours: Neighbours,
    reading: Reading,
) -> Duplicate | None:
    """Compare token sets; a set of another size than |A| x bar .. |A| / bar cannot pass."""
    keys = derive_keys(text)
    wanted = keys.tokens
    size = len(wanted)
    if not size:
        return None
    lowest = math.ceil(size * bar - 1e-9)
    highest = math.floor(size / bar + 1e-9) if bar > 0 else 10**9
    key = (collection, keys.duplicate_key, lowest, highest, *kind)
    rows = list(connection.execute(f'{_BY_KEY} LIMIT {_FEW + 1}', key))
    if len(rows) > _FEW:
        terms = sorted({token_sets.find_index_term(token) for token in wanted})
        ids = neighbours.find_sharing(terms, size - lowest)
        rows = list(connection.execute(_BY_ID, (json.dumps(ids), *key)))
    best = Duplicate('jaccard', 0, bar)
    for memory_id, content, count in rows:
        if not token_sets.may_exceed_jaccard(wanted, content, count, best.similarity):
            continue
        known = token_sets.make_token_set(content)
        is_replaced = reading.distinct.get((memory_id, content))
        if is_replaced or (is_replaced is False and not (known <= wanted or wanted <= known)):
            continue
        similarity = token_sets.compute_jaccard(wanted, known)
        if similarity > best.similarity and not _parts(content, text, similarity):
            best = Duplicate('jaccard', memory_id, similarity)
    return best if best.existing_id else None


_PASSES = (
    ' m.collection = ? AND m.guard = ? AND m.token_count BETWEEN ? AND ?'
    f" AND m.status = 'active' AND m.type = 'fact'{_OF_KIND}"
)
_BY_KEY = (
    'SELECT m.id, m.content, m.token_count FROM memories AS m INDEXED BY memories_by_guard'
    f' WHERE{_PASSES}'
)
_BY_ID = (
    'SELECT m.id, m.content, m.token_count FROM json_each(?) AS asked'
    f' CROSS JOIN memories AS m ON m.id = asked.value WHERE{_PASSES}'
)


def _match_meaning(
    connection: apsw.Connection,
    collection: str,
    text: str,
    kind: _Kind,
    bar: float,
    neighbours: Neighbours,
    reading: Reading,
) -> Duplicate | None:
    """Return the nearest above the bar that has the same duplicate key."""
    if not neighbours.has_meaning:
        return None
    key = derive_keys(text).duplicate_key
    rows = connection.execute(
        'SELECT id FROM memories INDEXED BY memories_by_guard WHERE collection = ? AND guard = ?'
        " AND status = 'active' AND type = 'fact' LIMIT ?",
        (collection, key, _FEW_VECTORS + 1),
    )
    same = [row[0] for row in rows]
    if not same:
        return None
    few = len(same) <= _FEW_VECTORS
    for memory_id, similarity in neighbours.find_similar(same if few else None, bar):
        row: Any = connection.execute(
            'SELECT content, category FROM memories AS m WHERE id = ? AND guard = ?'
            f" AND type = 'fact' AND status = 'active'{_OF_KIND}",
            (memory_id, key, *kind),
        ).fetchone()
        if row is None or not _may_be_same(memory_id, row[0], row[1], reading):
            continue
        if not _parts(row[0], text, similarity):
            return Duplicate('cosine', memory_id, min(similarity, 1.0))
    return None


def _may_be_same(memory_id: int, content: str, category: str, reading: Reading) -> bool:
    """Say whether what is known of a text lets it be the same as a fact by meaning."""
    is_distinct = (memory_id, content) in reading.distinct
    return not is_distinct and (category in PROTECTED or not reading.is_rule)


def _parts(known: str, text: str, similarity: float) -> bool:
    """Say whether two texts that look alike are of two things, or one corrects the other."""
    if tells_of_another(text, known):
        return True
    return relate(known, text, similarity) is Relation.CORRECTS


def _match_rewording(
    connection: apsw.Connection,
    collection: str,
    text: str,
    kind: _Kind,
    jaccard_bar: float,
    cosine_bar: float,
    neighbours: Neighbours,
    reading: Reading,
) -> Duplicate | None:
    """
    Return the nearest that the judge of texts calls the same, whatever its duplicate key.

    So '500 mg' is '0.5 g'. It lies above the bar of meaning, or above that of words where numbers
    are in figures and words that add nothing are left out.
    """
    if not neighbours.has_meaning or cosine_bar >= 1:
        return None
    nearest = neighbours.find_nearest(_NEAREST, _NEAR * cosine_bar)
    texts = _read_texts(connection, collection, [memory_id for memory_id, _ in nearest], kind)
    for memory_id, similarity in nearest:
        if memory_id not in texts or not _may_be_same(memory_id, *texts[memory_id], reading):
            continue
        known = texts[memory_id].content
        if not may_repeat(known, text, similarity):  # words cost more to compare
            continue
        by_meaning = similarity > cosine_bar
        overlap = 0.0 if by_meaning else compare_words(known, text)
        if (by_meaning or overlap > jaccard_bar) and repeats(known, text, similarity):
            return (
                Duplicate('cosine', memory_id, min(similarity, 1.0))
                if by_meaning
                else Duplicate('jaccard', memory_id, overlap)
            )
    return None


def _match_restated(
    connection: apsw.Connection,
    collection: str,
    text: str,
    kind: _Kind,
    cosine_bar: float,
    reading: Reading,
) -> Duplicate | None:
    """Return the likeliest of facts said to be restated that has that text still."""
    if cosine_bar >= 1:  # no likeness is enough
        return None
    texts = _read_texts(connection, collection, [one[0] for one in reading.restated], kind)
    for memory_id, content, odds in reading.restated:
        known = texts.get(memory_id)
        if known is None or known.content != content:
            continue
        if (memory_id, content) in reading.distinct:
            continue
        rules = reading.is_rule + (known.category in PROTECTED)
        if may_restate(content, text, odds, rules):
            return Duplicate(CROSS_ENCODER, memory_id, 1 / (1 + math.exp(-odds)))
    return None


class _Known(NamedTuple):
    content: str
    category: str


def _read_texts(
    connection: apsw.Connection, collection: str, ids: Sequence[int], kind: _Kind
) -> dict[int, _Known]:
    """Return those that are active facts of a collection and may be repeated, by their ids."""
    if not ids:
        return {}
    rows = connection.execute(
        'SELECT m.id, m.content, m.category FROM json_each(?) AS asked'
        ' CROSS JOIN memories AS m ON m.id = asked.value'
        f" WHERE m.collection = ? AND m.type = 'fact' AND m.status = 'active'{_OF_KIND}",
        (json.dumps(ids), collection, *kind),
    )
    return {row[0]: _Known(row[1], row[2]) for row in rows}
