"""
Finding what may be the same as a new text, without a scan of the collection.

What lacks at most k of n terms holds j of any k + j of them, so few and rare ones lead to all
that can pass: the prefix filter of set similarity joins (Chaudhuri et al., ICDE 2006), made
longer where that leaves less to compare (Wang et al., SIGMOD 2012).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robot_memory.embedding import Embedder, quantisation
from robot_memory.embedding.calibration import Calibration
from robot_memory.embedding.quantisation import Vector
from robot_memory.search import ranking
from robot_memory.search.matrix import NearRows
from robot_memory.search.resident import ResidentIndex
from robot_memory.search.shard import Shard
from robot_memory.storage import Connection
from robot_memory.storage.indexes import fulltext, vectors
from robot_memory.storage.indexes.duplicates import Neighbours

_SLACK = 0.01
"""How much the coarse plane may understate a cosine; some six times what was measured."""


@dataclass(frozen=True)
class Meaning:
    """Hold the vector of a new text and the scale of its model."""

    vector: Vector
    calibration: Calibration

    def find_similar(
        self, connection: Connection, ids: Sequence[int], bar: float
    ) -> list[tuple[int, float]]:
        """Return (id, similarity) of those of the ids that lie above a bar, best first."""
        found = [
            (memory_id, self.calibration.to_similarity(float(vector @ self.vector)))
            for memory_id, vector in vectors.fetch(connection, ids).items()
        ]
        above = [pair for pair in found if pair[1] > bar]
        return sorted(above, key=lambda pair: (-pair[1], pair[0]))


def open_neighbours(
    connection: Connection,
    collection: str,
    vector: Vector | None,
    embedder: Embedder | None,
    resident_index: ResidentIndex | None,
) -> Neighbours:
    """Return what finds near duplicates; `vector` is None where vectors are of no use."""
    shard = None if resident_index is None else resident_index.shard(connection, collection)
    meaning = None
    if vector is not None and embedder is not None:
        meaning = Meaning(vector, embedder.calibration)
    if shard is None:
        return FileNeighbours(connection, collection, meaning)
    return ResidentNeighbours(connection, shard, meaning)


class ResidentNeighbours:
    """Find them in a shard."""

    def __init__(self, connection: Connection, shard: Shard, meaning: Meaning | None) -> None:
        """Take what is known of the new text's meaning."""
        self._connection = connection
        self._shard = shard
        self._meaning = meaning

    @property
    def has_meaning(self) -> bool:
        """Say whether `find_similar` may be asked."""
        return self._meaning is not None

    def find_sharing(self, terms: Sequence[str], lacking: int) -> list[int]:
        """Return the ids of memories that hold enough of the rarest terms."""
        hashes = [stem.hash for stem in fulltext.list_stems(self._connection, terms)]
        return self._shard.find_sharing(hashes, lacking)

    def find_similar(self, among: Sequence[int] | None, bar: float) -> list[tuple[int, float]]:
        """Return those above the bar: by the coarse plane, then exactly."""
        assert self._meaning is not None
        shard, least = self._shard, self._find_least(bar)
        if among is None:
            rows, cosines = self._near.find_above(least)
        else:
            rows = shard.rows_of(among)
            cosines = shard.cosines(quantisation.split(self._meaning.vector)[0], rows)
        near = rows[cosines > least]
        return self._meaning.find_similar(self._connection, shard.ids[near].tolist(), bar)

    def find_nearest(self, limit: int, bar: float) -> list[tuple[int, float]]:
        """Return the nearest above the bar: by the coarse plane, then exactly."""
        assert self._meaning is not None
        rows, cosines = self._near.find_above(self._find_least(bar), limit)
        top = ranking.select_top(cosines, limit)
        nearest = rows[top[np.argsort(-cosines[top], kind='stable')[:limit]]]
        ids = self._shard.ids[nearest].tolist()
        return self._meaning.find_similar(self._connection, ids, bar)

    def _find_least(self, bar: float) -> float:
        assert self._meaning is not None
        return self._meaning.calibration.to_cosine(bar) - _SLACK

    @cached_property
    def _near(self) -> NearRows:
        """What is compared once, for one text is asked about with more than one bar."""
        assert self._meaning is not None
        return self._shard.compare_near(self._meaning.vector)


class FileNeighbours:
    """Find them in the file."""

    def __init__(self, connection: Connection, collection: str, meaning: Meaning | None) -> None:
        """Take what is known of the new text's meaning."""
        self._connection = connection
        self._collection = collection
        self._meaning = meaning

    @property
    def has_meaning(self) -> bool:
        """Say whether `find_similar` may be asked."""
        return self._meaning is not None

    def find_sharing(self, terms: Sequence[str], lacking: int) -> list[int]:
        """Return the ids of memories that hold any of the rarest terms."""
        chosen = sorted(terms, key=lambda term: fulltext.frequency(self._connection, [term]))
        return fulltext.find_any(self._connection, chosen[: lacking + 1], self._collection)

    def find_similar(self, among: Sequence[int] | None, bar: float) -> list[tuple[int, float]]:
        """Return those above the bar: a longer list is asked for until it ends below it."""
        assert self._meaning is not None
        asked = 64
        coarse, _ = quantisation.split(self._meaning.vector)
        while True:
            ids = vectors.find_nearest(self._connection, self._collection, coarse, asked, among)
            found = self._meaning.find_similar(self._connection, ids, bar)
            if len(found) < len(ids) or len(ids) < asked:
                return found
            asked *= 8

    def find_nearest(self, limit: int, bar: float) -> list[tuple[int, float]]:
        """Return the nearest above the bar."""
        assert self._meaning is not None
        coarse, _ = quantisation.split(self._meaning.vector)
        ids = vectors.find_nearest(self._connection, self._collection, coarse, limit)
        return self._meaning.find_similar(self._connection, ids, bar)
