"""The scores of recall computed in numpy over a whole set: what a store must give, and RRF."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise
from typing import Any

import apsw
import numpy as np
from methods import Ranked
from numpy.typing import NDArray
from sets import Question, RetrievalSet, group_by_collection
from vectors import Models

from robot_memory.search import ranking, scoring
from robot_memory.text import tokenizer

RRF_K = 60
Scores = NDArray[np.float32]


@cache
def _load_tokenizer() -> apsw.FTS5Tokenizer:
    options = ['unicode61', 'remove_diacritics', '2', 'categories', 'L* N* Co Mn Mc']
    return apsw.Connection(':memory:').fts5_tokenizer('porter', options)


@cache
def stem(term: str) -> str:
    """Return an index term as FTS5 keeps it."""
    data = term.encode('utf-8', 'replace')
    found = _load_tokenizer()(data, apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False)
    return ' '.join(str(one[0]) for one in found)


_STOPPED = frozenset(map(stem, tokenizer.STOP_TERMS))


class Words:
    """Hold the terms of one collection's memories."""

    def __init__(self, contents: list[str]) -> None:
        """Index them."""
        self._size = len(contents)
        self._holders: dict[str, set[int]] = defaultdict(set)
        self._pairs: dict[tuple[str, str], set[int]] = defaultdict(set)
        for place, content in enumerate(contents):
            terms = [stem(term) for term in tokenizer.extract_terms(content)]
            for term in terms:
                self._holders[term].add(place)
            for pair in pairwise(term for term in terms if term not in _STOPPED):
                self._pairs[pair].add(place)
            for term, times in Counter(terms).items():
                if times > 1:
                    self._pairs[term, term].add(place)

    def compute_coverage(self, asked: tokenizer.TermQuery) -> Scores:
        """Return how much of a question each memory covers, shape (memories,)."""
        terms = list(dict.fromkeys(map(stem, asked.terms)))
        covered = self._compute_coverage(terms, asked)
        few = (covered > 0).sum() < tokenizer.ENOUGH
        return (
            self._compute_coverage([*terms, *map(stem, asked.fallback)], asked) if few else covered
        )

    def _compute_coverage(self, terms: list[str], asked: tokenizer.TermQuery) -> Scores:
        found, more = np.zeros((2, self._size), np.float32)
        most = 0.0
        for counted, added in ((terms, found), (asked.kinds, more)):
            for term in counted:
                most += self._compute_idf(term)
                added[list(self._holders.get(term, ()))] += self._compute_idf(term)
        for term in terms:
            more[list(self._pairs.get((term, term), ()))] += (
                scoring.TWICE_SHARE * self._compute_idf(term)
            )
        for first, second in dict.fromkeys((stem(a), stem(b)) for a, b in asked.pairs):
            worth = (
                scoring.PAIRS_SHARE * (self._compute_idf(first) + self._compute_idf(second)) / 2
            )
            most += worth
            held = self._pairs.get((first, second), set())
            more[list(held)] += worth
            turned = self._pairs.get((second, first), set()) - held
            more[list(turned)] += worth * scoring.TURNED_SHARE
        return ranking.cover_each(np.where(found > 0, found + more, 0), most)

    def _compute_idf(self, term: str) -> float:
        return scoring.term_worth(self._size, len(self._holders.get(term, ())))


class Offline:
    """Answer a set's questions by words, by meaning, by both, or by reciprocal ranks of both."""

    def __init__(self, chosen: RetrievalSet, known: Models | None, mode: str) -> None:
        """Index the memories; the mode is words, vectors, both or rrf."""
        self._mode = mode
        self._places = group_by_collection(chosen.memories)
        self._known = known
        contents = {
            name: [chosen.memories[place].text for place in places]
            for name, places in self._places.items()
        }
        self._words = {} if mode == 'vectors' else {n: Words(all_) for n, all_ in contents.items()}
        self._contents = contents

    def rank(self, question: Question, depth: int) -> Ranked:
        """Return the best."""
        home = question.collection
        covered: Scores = np.zeros(len(self._places[home]), np.float32)
        relevance: Scores = np.zeros(len(self._places[home]), np.float32)
        if self._mode != 'vectors':
            covered = self._words[home].compute_coverage(tokenizer.parse_query(question.text))
        if self._known is not None and self._mode != 'words':
            relevance = self._known.compute_relevance(question.text, self._contents[home])
        scores: NDArray[np.floating[Any]]
        if self._mode == 'rrf':
            halves = [
                1 / (RRF_K + 1 + _rank_scores(half)) * (half > 0) for half in (covered, relevance)
            ]
            scores = halves[0] + halves[1]
        else:
            best = float(covered.max(initial=0))
            scores = scoring.fuse(
                relevance, covered, scoring.trust_words(best) if relevance.any() else 1.0
            )
        order = np.lexsort((-np.arange(len(scores)), -scores))[:depth]
        found = [(self._places[home][place], float(scores[place])) for place in order]
        return [pair for pair in found if pair[1] > 0]


def _rank_scores(scores: Scores) -> NDArray[np.intp]:
    return np.argsort(np.argsort(-scores, kind='stable'), kind='stable')
