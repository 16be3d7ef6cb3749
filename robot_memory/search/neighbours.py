"""Finding what may be the same as a new text, without a scan of the collection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from robot_memory.embedding.calibration import Calibration
from robot_memory.planes import Vector
from robot_memory.search.shard import Shard
from robot_memory.store import Connection, vectors, words

T = TypeVar('T')

_BUDGET = 200_000
"""Entries of postings that are counted, in half a millisecond, to leave few to compare."""
_TERMS = 255
"""Terms that are counted at most."""
_SLACK = 0.01
"""How much the coarse plane may understate a cosine; some six times what was measured."""


@dataclass(frozen=True)
class Meaning:
    """Hold the vector of a new text and the scale of its model."""

    vector: Vector
    calibration: Calibration

    def alike(
        self, connection: Connection, ids: Sequence[int], bar: float
    ) -> list[tuple[int, float]]:
        """Return (id, similarity) of those of the ids that lie above a bar, best first."""
        found = [
            (memory_id, self.calibration.similarity(float(vector @ self.vector)))
            for memory_id, vector in vectors.fetch(connection, ids).items()
        ]
        above = [pair for pair in found if pair[1] > bar]
        return sorted(above, key=lambda pair: (-pair[1], pair[0]))


def rarest(counts: dict[T, int], lacking: int, budget: int) -> tuple[list[T], int]:
    """
    Return terms such that whatever lacks a few of all terms holds enough of them, and how many.

    What lacks at most `lacking` of the terms holds j of any (lacking + j). The rarest are taken,
    one more than may lack, and others while all together are held no more than `budget` times.
    It is the prefix filter of set similarity joins (Chaudhuri et al., ICDE 2006) with a longer
    prefix (Wang et al., SIGMOD 2012).
    """
    terms = sorted(counts, key=lambda term: counts[term])
    total = 0
    for taken, term in enumerate(terms):
        total += counts[term]
        if taken > lacking and (total > budget or taken == _TERMS):
            terms = terms[:taken]
            break
    return terms, max(1, len(terms) - lacking)


class ResidentNeighbours:
    """Find them in a shard."""

    def __init__(self, connection: Connection, shard: Shard, meaning: Meaning | None) -> None:
        """Take what is known of the new text's meaning."""
        self._connection = connection
        self._shard = shard
        self._meaning = meaning

    @property
    def has_meaning(self) -> bool:
        """Say whether `alike` may be asked."""
        return self._meaning is not None

    def sharing(self, terms: Sequence[str], lacking: int) -> list[int]:
        """Return the ids of memories that hold enough of the rarest terms."""
        hashes = {
            words.hash_of(stem) for term in terms for stem in words.stems(self._connection, [term])
        }
        counts = {term: self._shard.holding(term) for term in hashes}
        chosen, enough = rarest(counts, lacking, _BUDGET)
        return self._shard.sharing(chosen, enough)

    def alike(self, among: Sequence[int] | None, bar: float) -> list[tuple[int, float]]:
        """Return those above the bar: by the coarse plane, then exactly."""
        assert self._meaning is not None
        least = self._meaning.calibration.cosine(bar) - _SLACK
        shard, vector = self._shard, self._meaning.vector
        rows = shard.near(vector, least) if among is None else shard.places(among)
        near = rows[shard.cosines(vector, rows) > least]
        return self._meaning.alike(self._connection, shard.ids[near].tolist(), bar)


class ColdNeighbours:
    """Find them in the file."""

    def __init__(self, connection: Connection, collection: str, meaning: Meaning | None) -> None:
        """Take what is known of the new text's meaning."""
        self._connection = connection
        self._collection = collection
        self._meaning = meaning

    @property
    def has_meaning(self) -> bool:
        """Say whether `alike` may be asked."""
        return self._meaning is not None

    def sharing(self, terms: Sequence[str], lacking: int) -> list[int]:
        """Return the ids of memories that hold any of the rarest terms."""
        counts = {term: words.frequency(self._connection, [term]) for term in terms}
        chosen, _ = rarest(counts, lacking, 0)
        return words.holding_any(self._connection, chosen, self._collection)

    def alike(self, among: Sequence[int] | None, bar: float) -> list[tuple[int, float]]:
        """Return those above the bar: a longer list is asked for until it ends below it."""
        assert self._meaning is not None
        asked = 64
        while True:
            ids = vectors.nearest(
                self._connection, self._collection, self._meaning.vector, asked, among
            )
            found = self._meaning.alike(self._connection, ids, bar)
            if len(found) < len(ids) or len(ids) < asked:
                return found
            asked *= 8
