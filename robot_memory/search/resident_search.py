"""Answering a question from the copy in memory: by words, by meaning, or by both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from robot_memory.embedding.calibration import (
    NO_VECTOR,
    Calibration,
    Cosines,
    compute_relevance,
    share_relevance,
)
from robot_memory.embedding.vectorizer import QueryVector
from robot_memory.search import ranking, scoring
from robot_memory.search.masks import Mask
from robot_memory.search.query import MARGIN, Hit, Query, Search
from robot_memory.search.ranking import Floats, Rows
from robot_memory.search.shard import Shard
from robot_memory.storage import Connection
from robot_memory.storage.indexes import indexed, vectors
from robot_memory.storage.indexes.candidates import CandidateQuery, can_list, list_ids
from robot_memory.storage.indexes.filters import Where
from robot_memory.text.tokenizer import ENOUGH

_FRACTION = 64
"""One of so many vectors is compared, those whose signs differ least from the question's."""
_LEAST, _LIKELY = 4096, 32
"""At least so many are, and so many for each that is asked for."""
_WIDE = 4
"""Conditions are kept that one of so many rows may pass, or fewer."""
_ROUNDING = 1e-5
"""How much less than a bound counts as that, for numbers of 32 bits."""


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
        is_exact: bool = False,
    ) -> None:
        """
        Ask for the words; with `trusts_words` they count however few a memory covers.

        Unless it `is_exact`, of many vectors only those are compared whose signs are alike.
        """
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
        worth = scoring.weigh(terms, self.size, counts)
        self._sums, self._asked = ranking.cover(holding, worth, shard.count), worth.asked
        best = ranking.cover_each(self._sums.max(keepdims=True, initial=0), self._asked)[0]
        self.mode = scoring.name_mode(best > 0, self._vector is not None)
        trust = 1.0
        if self._vector is not None and not trusts_words:
            trust = scoring.trust_words(float(best))
        self._scorer = ranking.Scorer(real_weight, trust)
        self.models = scoring.name_models(self._vector, second)
        self._is_exact = is_exact
        self._among: Mask | None = None
        self._restricted = 0
        self._likely: tuple[int, Rows, Cosines] | None = None
        real = shard.real[: shard.count]
        # Of each group so many may be the best: what is of the real world counts more.
        self._groups: tuple[bool, ...] = (True, False)
        if real.all() or not real.any():
            self._groups = (bool(real.any()),)

    def restrict(self, where: Where, *, reads: bool) -> bool:
        """Rank only rows that may pass: of conditions that are known, or are read and kept."""
        masks = [
            mask
            for query in where.candidates
            if query.is_followed and (mask := self._find_mask(query, reads)) is not None
        ]
        if not can_list() or len(masks) <= self._restricted:
            return False
        count = self._shard.count
        among = self._shard.alive[:count].copy()
        for mask in masks:
            among[: len(mask)] &= mask[:count]
        self._restricted = len(masks)
        self._among, self._likely, self._cosines = among, None, None
        self.size = int(np.count_nonzero(among))
        self._sums = np.where(among, self._sums, np.float32(0))
        return True

    def _find_mask(self, query: CandidateQuery, reads: bool) -> Mask | None:
        """Return the rows that a query may give; None where that is not known, or too many."""
        shard, masks = self._shard, self._shard.masks
        is_known, mask = masks.find(query)
        if is_known or not reads or not can_list():
            return mask
        ids = list_ids(self._connection, query, shard.count // _WIDE)
        if ids is not None:
            mask = np.zeros(shard.count, np.bool_)
            mask[shard.rows_of(ids)] = True
        if indexed.last_change(self._connection) == shard.followed:
            masks.put(query, mask, shard.version)
        return mask

    def rank(self, limit: int) -> list[int]:
        """Return the ids of the best of the partition, by the coarse planes."""
        shard = self._shard
        if self._vector is not None and limit >= self.size:
            return self._list_found()
        rows = self._find_worded(limit)
        relevance = None
        if self._vector is not None:
            rows, cosines = self._find_hybrid(self._vector, rows, limit)
            relevance = compute_relevance(cosines, self._vector.calibration, self._second_scale)
        ids = shard.ids[rows]
        scores = self._scorer.score(
            ranking.cover_each(self._sums[rows], self._asked), relevance, shard.real[rows]
        )
        found: list[int] = ids[ranking.select_best(scores, ids, limit)].tolist()
        return found

    def _find_worded(self, limit: int) -> Rows:
        """Return the rows that are the best by words: of the real world, and of all, so many."""
        real, is_split = self._shard.real[: self._shard.count], len(self._groups) > 1
        found = [
            ranking.select_newest(self._sums * real if is_split and is_real else self._sums, limit)
            for is_real in self._groups
        ]
        return ranking.join_rows(*found)

    def _find_hybrid(self, vector: QueryVector, worded: Rows, limit: int) -> tuple[Rows, Cosines]:
        """
        Return rows among which the best are, and their cosines.

        These are the nearest, those that hold the most words, and of the others that hold words
        those that may score as much as the last of so many that are known: they are no nearer
        than the last of the nearest.
        """
        near, limits = self._find_nearest(vector.calibration, limit)
        rows = ranking.join_rows(worded, near)
        compare = partial(self._shard.compare, vector.coarse, self._second_plane)
        cosines = compare(rows, self._cosines)
        relevance = compute_relevance(cosines, vector.calibration, self._second_scale)
        real = self._shard.real
        scores = self._scorer.score(
            ranking.cover_each(self._sums[rows], self._asked), relevance, real[rows]
        )
        least = 0.0
        if len(scores) >= limit:
            least = float(np.partition(scores, len(scores) - limit)[len(scores) - limit])
        more = []
        for is_real, farthest in limits:
            weight = self._scorer.weight if is_real else 1.0
            needed = scoring.find_least_coverage(least / weight, farthest, self._scorer.trust)
            if needed <= 1:
                needed = max(needed * (1 - _ROUNDING) * self._asked, np.finfo(np.float32).tiny)
                held = np.flatnonzero(self._sums >= np.float32(needed))
                more.append(held[real[held] == is_real])
        joined = ranking.join_rows(rows, *more)
        if len(joined) == len(rows):
            return rows, cosines
        return joined, compare(joined, self._cosines)

    def _list_found(self) -> list[int]:
        """Return the ids of all that words or meaning find, in any order."""
        is_found = self._sums > 0
        is_found[self._shard.find_embedded()] = True
        if self._among is not None:
            is_found &= self._among
        found: list[int] = self._shard.ids[np.flatnonzero(is_found)].tolist()
        return found

    def score(self, ids: Sequence[int], limit: int) -> list[Hit]:
        """Return the best of some memories; those near the top are scored by both planes."""
        shard = self._shard
        rows = shard.rows_of(ids)
        if self._vector is None:
            rows = rows[self._sums[rows] > 0]
        meanings: Sequence[Floats] = ()
        if self._vector is not None:
            scale = self._vector.calibration
            planes = (self._vector.coarse, self._second_plane)
            cosines = shard.compare(*planes, rows, self._cosines)
            if len(rows) > limit + MARGIN:
                relevance = compute_relevance(cosines, scale, self._second_scale)
                coverage = ranking.cover_each(self._sums[rows], self._asked)
                scores = self._scorer.score(coverage, relevance, shard.real[rows])
                top = ranking.select_best(scores, shard.ids[rows], limit + MARGIN)
                rows, cosines = rows[top], cosines.take(top)
            ids = shard.ids[rows].tolist()
            first, second = vectors.fetch_both(self._connection, self._second_model, ids)
            cosines.refine(ids, (first, self._vector.vector), (second, self._second_vector))
            meanings = share_relevance(cosines, scale, self._second_scale)
        coverage = ranking.cover_each(self._sums[rows], self._asked)
        return self._scorer.list_best(shard.ids[rows], coverage, meanings, shard.real[rows], limit)

    def _find_nearest(
        self, scale: Calibration, limit: int
    ) -> tuple[Rows, list[tuple[bool, float]]]:
        """
        Return the rows nearest in meaning: of the real world, and of all, so many each.

        With them, for what is of the real world and what is not, how relevant the others are at
        most. Thousands may equal the last of them, as events of one form do: the newest will do.
        """
        rows, known = self._compare_likely(limit)
        cosines = known.first
        if known.second is not None:
            relevance = compute_relevance(known, scale, self._second_scale)
            cosines = np.where(cosines > NO_VECTOR, relevance, np.float32(NO_VECTOR))
        found, farthest = [], []
        real = self._shard.real[: self._shard.count]
        for is_real in self._groups:
            group = None
            if is_real and len(self._groups) > 1:
                group = np.flatnonzero(real if rows is None else real[rows])
            some = cosines if group is None else cosines[group]
            top = ranking.select_top(some, limit)
            top = top[some[top] > NO_VECTOR]
            last = top[some[top].argmin()] if len(top) >= limit else None
            if len(top) > limit:
                ties = some[top] == some[top].min()
                top = np.concatenate([top[~ties], top[ties][-limit:]])
            places = top if group is None else group[top]
            place = None if last is None else last if group is None else group[last]
            found.append(places)
            farthest.append(
                0.0
                if place is None
                else float(
                    compute_relevance(known.take(np.array([place])), scale, self._second_scale)[0]
                )
            )
        nearest = ranking.join_rows(*found)
        if rows is not None:
            nearest = rows[nearest]
        return nearest, list(zip(self._groups, farthest, strict=True))

    def _compare_likely(self, limit: int) -> tuple[Rows | None, Cosines]:
        """Return the rows that are likely near, None: all, and their cosines."""
        assert self._vector is not None
        if self._cosines is not None:
            return None, self._cosines
        shard, among = self._shard, self._among
        many = max(_LEAST, _LIKELY * limit, self.size // _FRACTION)
        if self._likely is not None and self._likely[0] >= many:
            return self._likely[1:]
        first, second = self._vector.coarse, self._second_plane
        rows = None
        if among is not None and self.size <= 2 * many:
            many, rows = shard.count, np.flatnonzero(among)
        elif not self._is_exact:
            rows = shard.find_likely(first, second, many, among)
        if rows is None and among is not None:
            many, rows = shard.count, np.flatnonzero(among)
        known = shard.compare(first, second, rows)
        if rows is None:
            self._cosines = known
            return None, known
        self._likely = many, rows, known
        return rows, known


def _count_any(holding: Mapping[int, Sequence[NDArray[np.int32]]], terms: Iterable[int]) -> int:
    """Return how many rows hold any of some terms."""
    found = [rows for term in terms for rows in holding[term]]
    return len(np.unique(np.concatenate(found))) if found else 0
