"""What a question is made of, and what answers one in a partition."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from robot_memory.embedding.vectorizer import QueryVector
from robot_memory.storage import Connection
from robot_memory.storage.indexes import fulltext
from robot_memory.storage.indexes.filters import Where, find_few
from robot_memory.storage.indexes.other_vectors import SecondModel
from robot_memory.storage.tables import lookup
from robot_memory.text import tokenizer

MARGIN = 32
"""How many more than asked for are scored again: the coarse plane mixes up close neighbours."""
WORTH_WAITING = 200_000
"""Largest store whose loading calls wait for, the first one aside: it takes about as long as seven
answers from the file, each of which would slow it down. In a larger one keyword search answers."""
_FEW = 6.0
"""Times the root of the collection's size: so many that pass are ranked alone, in the time that
walking the ranking takes for more."""
_LARGE = 50_000
"""Memories of which a ranking takes longer than to read what conditions may let pass."""
_SCANT = 250
"""Where so few of many memories pass, no ranking is worth its time: they are looked for first."""
_SPARE = 8
"""So many more than n must pass, for close neighbours may be mixed in the ranking."""
_AHEAD, _LEAP = 2, 16
"""The ranking is walked twice as far as seems to be needed, and so many times farther at most."""
_FAR = 20_000
"""How far the ranking is walked; then all that pass are looked for."""


@dataclass(frozen=True)
class Parts:
    """
    Hold what a score is the sum of: factor x (weight x (sum of meanings + words) + around).

    `meanings` has one for each model that was asked, `words` is what the words add to what the
    meaning leaves open. `weight` is that of the real world, or 1; `around` is added for what was
    said around a turn; `factor` scales turns beside facts, and what one who is named said.
    """

    meanings: tuple[float, ...]
    words: float
    weight: float = 1.0
    around: float = 0.0
    factor: float = 1.0


@dataclass(frozen=True)
class Hit:
    """
    Name a memory that was found, its score, and its distance where that was asked for.

    `relevance` and `coverage` are what the score was made of, `parts` how; None where it was not
    found by relevance.
    """

    id: int
    score: float
    distance: float | None = None
    relevance: float = 0.0
    coverage: float = 0.0
    parts: Parts | None = None

    def scale(self, factor: float) -> Hit:
        """Return it with its score times a factor."""
        parts = self.parts and replace(self.parts, factor=self.parts.factor * factor)
        return replace(self, score=self.score * factor, parts=parts)

    def add(self, around: float) -> Hit:
        """Return it, which nothing has scaled yet, with so much more for what is around it."""
        parts = self.parts and replace(self.parts, around=around)
        return replace(self, score=self.score + around, parts=parts)


def sort_by_score(hits: Iterable[Hit]) -> list[Hit]:
    """Return hits by their scores, the newer of equals first."""
    return sorted(hits, key=lambda hit: (-hit.score, -hit.id))


Terms = Mapping[int, str]
"""Terms by what `indexed` holds of their stems."""


@dataclass(frozen=True)
class QueryTerms:
    """
    Hold the terms that a question asks for, by the hashes of `indexed`.

    What holds none of `terms` is not found; where they find little, `fallback` joins them. What
    is found counts more where it holds `kinds`, a term `twice` (the hash of two, that of one), or
    `pairs` (the hashes of two in their order and the other way round, and of each); `paired` are
    the terms of all pairs. `hashes` are all hashes.
    """

    terms: Terms
    fallback: Terms
    kinds: Terms
    paired: Terms
    twice: Mapping[int, int]
    pairs: Sequence[tuple[int, int, frozenset[int]]]
    hashes: frozenset[int]

    @property
    def counted(self) -> Terms:
        """Return the terms whose worth depends on how many memories hold them."""
        return {**self.terms, **self.kinds, **self.paired}

    def add_fallback(self) -> QueryTerms:
        """Return the terms with the fallback among them."""
        return replace(self, terms={**self.terms, **self.fallback}, fallback={})


def hash_terms(connection: Connection, asked: tokenizer.TermQuery) -> QueryTerms:
    """Return the terms that a parsed text asks for as the indexes hold them."""
    paired = [term for pair in asked.pairs for term in pair]
    stems = fulltext.stem_each(connection, (*asked.terms, *asked.fallback, *asked.kinds, *paired))
    single = [stem for found in stems.values() for stem in found]
    both = [(*stems[one], *stems[other]) for one, other in asked.pairs]
    groups = [*((stem, stem) for stem in single), *both, *(pair[::-1] for pair in both)]
    hashes = fulltext.hash_each([[stem.text for stem in group] for group in groups])
    twice, in_pairs = hashes[: len(single)], hashes[len(single) :]
    straight, turned = in_pairs[: len(both)], in_pairs[len(both) :]
    terms, fallback, kinds, of_pairs = (
        {stem.hash: term for term in group for stem in stems[term]}
        for group in (asked.terms, asked.fallback, asked.kinds, paired)
    )
    return QueryTerms(
        terms,
        fallback,
        kinds,
        of_pairs,
        twice={again: stem.hash for again, stem in zip(twice, single, strict=True)},
        pairs=[
            (one, other, frozenset(stem.hash for stem in pair))
            for pair, one, other in zip(both, straight, turned, strict=True)
        ],
        hashes=frozenset((*hashes, *(stem.hash for stem in single))),
    )


@dataclass(frozen=True)
class Query:
    """
    Hold what a question asks the words for, and its vector, None where there is no model.

    `second` is the vector of the second model where it is asked, too, `second_model` that model
    as the file has it.
    """

    terms: QueryTerms
    vector: QueryVector | None = None
    second: QueryVector | None = None
    second_model: SecondModel | None = None


class Search(ABC):
    """
    Answer one question in one partition; the real world counts more by a factor.

    `mode` says what runs: hybrid, bm25_only or vec_only, `models` which models are asked. `size`
    counts the partition's memories.
    """

    mode: str
    models: tuple[str, ...]
    size: int
    _connection: Connection

    def restrict(self, where: Where, *, reads: bool) -> bool:
        """
        Rank from now on only what may pass a condition; say whether that leaves more out.

        Unless it `reads`, only what is known of such conditions is used.
        """
        return False

    @abstractmethod
    def rank(self, limit: int) -> list[int]:
        """Return the ids of the best of the partition, but that close neighbours may be mixed."""

    @abstractmethod
    def score(self, ids: Sequence[int], limit: int) -> list[Hit]:
        """Return the best of some memories, best first, the newer of equals first, exactly."""

    def select_best(self, where: Where, n: int, *, narrow: bool) -> list[Hit]:
        """
        Return the best n that pass, best first; if fewer pass, all of those that were found.

        Where a restriction is `narrow`, the ids that pass are found first if they are few. Else
        the ranking is walked from its top until enough of it passes.
        """
        connection, few = self._connection, int(_FEW * math.sqrt(self.size))
        if narrow and not self.restrict(where, reads=False):
            passing = find_few(connection, where, few)
            if passing is not None:
                return self.score(passing, n)
            if self.size > _LARGE:
                self.restrict(where, reads=True)
        elif self.size > _LARGE:
            passing = find_few(connection, where, _SCANT)
            if passing is not None:
                return self.score(passing, n)
        first = asked = n + MARGIN
        while True:
            found = self.rank(asked)
            passed = fulltext.select_passing(connection, found, where)
            if len(passed) >= n + _SPARE or len(found) < asked:
                return self.score([one for one in found if one in passed], n)
            if asked > _FAR:
                return self.score(lookup.find_ids(connection, where), n)
            if asked == first and self.restrict(where, reads=True):
                continue
            if not narrow and (asked > first or not passed):  # not even the best of so many
                narrow, passing = True, find_few(connection, where, few)
                if passing is not None:
                    return self.score(passing, n)
            wanted = asked * (n + _SPARE) * _AHEAD // max(len(passed), 1)
            asked = min(max(wanted, 4 * asked), _LEAP * asked)
