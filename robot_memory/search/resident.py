"""A long-running process's copy of what is indexed: it follows the file, and answers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_memory.core.errors import CopyFailed
from robot_memory.core.heap import trim_heap
from robot_memory.embedding.calibration import (
    NO_VECTOR,
    Calibration,
    Cosines,
    compute_relevance,
    share_relevance,
)
from robot_memory.search import ranking
from robot_memory.search.query import MARGIN, WORTH_WAITING, Hit, Query, Search
from robot_memory.search.ranking import Floats, Rows
from robot_memory.search.shard import Shard
from robot_memory.storage import Connection
from robot_memory.storage.indexes import forms, indexed, other_vectors, vectors
from robot_memory.storage.indexes.other_vectors import SecondModel
from robot_memory.storage.tables import erasures
from robot_memory.text.tokenizer import ENOUGH

AT_ONCE = 20_000
"""Largest store that the first call loads, in some tenths of a second; a larger one is loaded in
the background."""
_BATCH = 10_000


@dataclass(frozen=True)
class Snapshot:
    """Hold partitions as they are at one time, and the names of their vectors' models."""

    shards: list[Shard]
    model: str | None
    second: SecondModel | None


_EMPTY = Shard()
"""Of a partition without memories; nothing is ever put into it."""


class ResidentIndex:
    """
    Follow the file's index, and answer from memory.

    Losing it costs time, never results: it is made anew from the file. It follows the writes of
    every process through `changes`.
    """

    def __init__(self) -> None:
        """Hold nothing; `shard` and `load` load."""
        self._lock = threading.Lock()
        self._loading = threading.Lock()  # taken before _lock by whoever reads all of the file
        self._answered_without = False
        self._shards: dict[str, Shard] | None = None
        self._is_wasteful = False
        self._model: str | None = None
        self._second: SecondModel | None = None
        self._models: tuple[str | None, str | None] = (None, None)
        self._seq = 0
        self._erasures = 0

    def shard(self, connection: Connection, partition: str) -> Shard | None:
        """Return one partition as `snapshot` does."""
        found = self.snapshot(connection, [partition])
        return None if found is None else found.shards[0]

    def snapshot(self, connection: Connection, partitions: Sequence[str]) -> Snapshot | None:
        """
        Return some partitions as they are now; None where the file has to answer.

        A store of up to AT_ONCE memories is loaded at once. One of up to WORTH_WAITING is answered
        from the file once, so that whoever asks once waits for nothing, and waited for by later
        calls. Raise CopyFailed where it cannot be loaded; the next call begins anew.
        """
        try:
            found = self._take_snapshot(connection, partitions)
            if found is None and self._should_wait(connection):
                with self._loading:
                    found = self._take_snapshot(connection, partitions)
                    if found is None:
                        self._adopt(connection, self._read(connection, lambda: False) or {})
                        found = self._take_snapshot(connection, partitions)
            return found
        except (ArithmeticError, LookupError, MemoryError, TypeError, ValueError) as error:
            with self._lock:
                self._shards = None
            raise CopyFailed(
                f'cannot load the index of collection {partitions[0]!r} into memory: {error!r}'
            ) from error

    def _take_snapshot(self, connection: Connection, partitions: Sequence[str]) -> Snapshot | None:
        """Return some partitions as they are now, None while nothing is loaded."""
        with self._lock:
            self._follow(connection)
            if self._shards is None:
                return None
            known = [self._shards.get(partition) for partition in partitions]
            shards = [_EMPTY if shard is None else shard.snapshot() for shard in known]
            return Snapshot(shards, self._model, self._second)

    def _should_wait(self, connection: Connection) -> bool:
        size = sum(indexed.sizes(connection).values())
        first, self._answered_without = not self._answered_without, size > AT_ONCE
        return size <= (AT_ONCE if first else WORTH_WAITING)

    def is_loading(self, connection: Connection) -> bool:
        """Say whether the store is large and not yet loaded."""
        with self._lock:
            loaded = self._shards is not None
        return not loaded and sum(indexed.sizes(connection).values()) > AT_ONCE

    def load(self, connection: Connection, stop: Callable[[], bool]) -> bool:
        """
        Load all, if it is not loaded, and tidy up; return False where `stop` broke it off.

        Questions are answered meanwhile.
        """
        with self._loading:
            last = erasures.get_last(connection)
            with self._lock:
                self._follow(connection)
                # What was erased must not stay behind in arrays of before.
                self._is_wasteful |= last != self._erasures
                loaded = None if self._is_wasteful else self._shards
            if loaded is None:
                made = self._read(connection, stop)
                if made is None:
                    return False
                self._adopt(connection, made)
                self._erasures = last
        if loaded is None:
            trim_heap()
            return True
        for shard in list(loaded.values()):
            with self._lock:
                snapshot = shard.snapshot() if shard.needs_merge else None
            if snapshot is not None:
                merged = snapshot.merge()
                with self._lock:
                    shard.adopt(snapshot, merged)
                del snapshot, merged
                trim_heap()
        return True

    def _read(self, connection: Connection, stop: Callable[[], bool]) -> dict[str, Shard] | None:
        """Read the file's index as the connection sees it."""
        made = {name: Shard(size) for name, size in indexed.sizes(connection).items()}
        for form in forms.read(connection):
            made[form.collection].put_form(form)
        for rows in indexed.read_all(connection, _BATCH):
            if stop():
                return None
            rows_of: dict[str, list[indexed.Row]] = {}
            for row in rows:
                rows_of.setdefault(row.collection, []).append(row)
            for collection, found in rows_of.items():
                made[collection].extend(found)
        for shard in made.values():
            shard.sort_terms()
        return made

    def _adopt(self, connection: Connection, made: dict[str, Shard]) -> None:
        first, second = vectors.model_of(connection), other_vectors.find_second(connection)
        known = indexed.read_changes(connection, indexed.last_change(connection))
        with self._lock:
            self._shards = made if known is not None else None
            self._is_wasteful = False
            self._model, self._second = None if first is None else first[0], second
            if known is not None:
                self._models, self._seq, _ = known

    def _follow(self, connection: Connection) -> None:
        """Take over what was written since the last look; forget all where that is too much."""
        if self._shards is None:
            return
        read = indexed.read_changes(connection, self._seq)
        if read is None or read.models != self._models:
            self._shards = None
            return
        _, latest, changed = read
        if not changed:
            return
        found = {row.memory_id: row for row in indexed.fetch(connection, list(changed))}
        for name in set(changed.values()) - self._shards.keys():
            self._shards[name] = Shard()
        self._follow_forms(connection, changed, found.values())
        for memory_id in sorted(one for one in changed if one > 0):
            shard = self._shards[changed[memory_id]]
            if memory_id in found:
                shard.put(found[memory_id])
            else:
                shard.drop(memory_id)
                self._is_wasteful |= shard.is_wasteful
        self._seq = latest

    def _follow_forms(
        self, connection: Connection, changed: Iterable[int], rows: Iterable[indexed.Row]
    ) -> None:
        """Take over the forms that rows have, and those that have got vectors."""
        assert self._shards is not None
        shards = self._shards
        new = {row.form for row in rows if row.form and not shards[row.collection].knows(row.form)}
        for form in forms.read(connection, [*new, *(-one for one in changed if one < 0)]):
            shards[form.collection].put_form(form)


class ResidentSearch(Search):
    """Answer one question from a shard."""

    def __init__(
        self,
        connection: Connection,
        shard: Shard,
        query: Query,
        real_weight: float,
        *,
        trusts_words: bool = False,
    ) -> None:
        """Ask for the words; with `trusts_words` they count however few a memory covers."""
        self._connection = connection
        self._shard = shard
        self._cosines: Cosines | None = None
        self._vector = query.vector if shard.has_vectors else None
        second = query.second if self._vector is not None and shard.has_second else None
        self._second_model = None if second is None else query.second_model
        self._second_vector = None if second is None else second.vector
        self._second_plane = None if second is None else second.coarse
        self._second_scale = None if second is None else second.calibration
        terms, holding = query.terms, shard.find_holding(query.terms.hashes)
        if terms.fallback and _count_any(holding, terms.terms) < ENOUGH:
            terms = terms.add_fallback()
        counts = {term: sum(map(len, parts)) for term, parts in holding.items()}
        self.size = shard.count - shard.dead
        worth = ranking.weigh(terms, self.size, counts)
        self._rows, self._coverage = ranking.cover(holding, worth, shard.count)
        self.mode = ranking.name_mode(len(self._rows) > 0, self._vector is not None)
        trust = 1.0
        if self._vector is not None and not trusts_words:
            trust = ranking.trust_words(float(self._coverage.max(initial=0)))
        self._scorer = ranking.Scorer(real_weight, trust)
        self.models = ranking.name_models(self._vector, second)

    def rank(self, limit: int) -> list[int]:
        """Return the ids of the best of the partition, by the coarse planes."""
        if self._vector is not None and limit >= self.size:
            return self._list_found()
        rows, coverage, relevance = self._rows, self._coverage, None
        if self._vector is not None:
            if self._cosines is None:
                self._cosines = self._shard.compare(self._vector.coarse, self._second_plane, None)
            scale = self._vector.calibration
            near = self._find_nearest(scale, self._cosines, limit)
            near = near[~np.isin(near, rows)]
            rows = np.concatenate([rows, near])
            coverage = np.concatenate([coverage, np.zeros(len(near), np.float32)])
            relevance = compute_relevance(self._cosines.take(rows), scale, self._second_scale)
        ids = self._shard.ids[rows]
        scores = self._scorer.score(coverage, relevance, self._shard.real[rows])
        found: list[int] = ids[ranking.select_best(scores, ids, limit)].tolist()
        return found

    def _list_found(self) -> list[int]:
        """Return the ids of all that words or meaning find, in any order."""
        rows = np.union1d(self._rows, self._shard.find_embedded())
        found: list[int] = self._shard.ids[rows].tolist()
        return found

    def score(self, ids: Sequence[int], limit: int) -> list[Hit]:
        """Return the best of some memories; those near the top are scored by both planes."""
        shard = self._shard
        rows = shard.rows_of(ids)
        places = self._rows.searchsorted(rows)
        known = places < len(self._rows)
        known[known] = self._rows[places[known]] == rows[known]
        coverage: Floats = np.zeros(len(rows), np.float32)
        coverage[known] = self._coverage[places[known]]
        meanings: Sequence[Floats] = ()
        if self._vector is None:
            rows, coverage = rows[known], coverage[known]
        else:
            scale = self._vector.calibration
            cosines = (
                shard.compare(self._vector.coarse, self._second_plane, rows)
                if self._cosines is None
                else self._cosines.take(rows)
            )
            if len(rows) > limit + MARGIN:
                relevance = compute_relevance(cosines, scale, self._second_scale)
                scores = self._scorer.score(coverage, relevance, shard.real[rows])
                top = ranking.select_best(scores, shard.ids[rows], limit + MARGIN)
                rows, coverage, cosines = rows[top], coverage[top], cosines.take(top)
            ids = shard.ids[rows].tolist()
            first, second = vectors.fetch_both(self._connection, self._second_model, ids)
            cosines.refine(ids, (first, self._vector.vector), (second, self._second_vector))
            meanings = share_relevance(cosines, scale, self._second_scale)
        return self._scorer.list_best(shard.ids[rows], coverage, meanings, shard.real[rows], limit)

    def _find_nearest(self, scale: Calibration, known: Cosines, limit: int) -> Rows:
        """
        Return the rows nearest in meaning: of the real world, and of the rest, so many each.

        Thousands may equal the last of them, as events of one form do: the newest will do.
        """
        cosines = known.first
        if known.second is not None:
            relevance = compute_relevance(known, scale, self._second_scale)
            cosines = np.where(cosines > NO_VECTOR, relevance, np.float32(NO_VECTOR))
        found = []
        real = self._shard.real[: self._shard.count]
        for group in (np.flatnonzero(real), None) if real.any() else (None,):
            some = cosines if group is None else cosines[group]
            top = ranking.select_top(some, limit)
            top = top[some[top] > NO_VECTOR]
            if len(top) > limit:
                ties = some[top] == some[top].min()
                top = np.concatenate([top[~ties], top[ties][-limit:]])
            found.append(top if group is None else group[top])
        nearest: Rows = np.unique(np.concatenate(found))
        return nearest


def _count_any(holding: Mapping[int, Sequence[NDArray[np.int32]]], terms: Iterable[int]) -> int:
    """Return how many rows hold any of some terms."""
    found = [rows for term in terms for rows in holding[term]]
    return len(np.unique(np.concatenate(found))) if found else 0
