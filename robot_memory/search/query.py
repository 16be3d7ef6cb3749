"""What a question is made of, and what answers one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from robot_memory import texts
from robot_memory.planes import Vector


@dataclass(frozen=True)
class Hit:
    """Name a memory that was found, its score, and its distance where that was asked for."""

    id: int
    score: float
    distance: float | None = None


@dataclass(frozen=True)
class Query:
    """
    Hold the terms of a question and its vector, None where there is no model.

    `spare` terms, single characters, are asked for too where the others find fewer than `enough`.
    """

    terms: tuple[str, ...]
    spare: tuple[str, ...]
    vector: Vector | None
    enough: int

    @staticmethod
    def of(text: str, vector: Vector | None, enough: int) -> Query:
        """Read a question."""
        terms, spare = texts.query_terms(text)
        return Query(tuple(terms), tuple(spare), vector, enough)


class Search(Protocol):
    """Answer one question in one collection; the real world counts more by a factor."""

    @property
    def mode(self) -> str:
        """Say what ran: hybrid, bm25_only or vec_only."""

    def best(self, limit: int) -> list[Hit]:
        """Return the best of the collection, best first, the newer of equals first."""

    def among(self, ids: Sequence[int], limit: int) -> list[Hit]:
        """Return the best of some memories of the collection, best first."""


def mode_of(by_words: bool, by_meaning: bool) -> str:
    """Name what found anything."""
    if by_meaning:
        return 'hybrid' if by_words else 'vec_only'
    return 'bm25_only'


def counted(hashes: Sequence[int]) -> Counter[int]:
    """Return how often a question asks for each term."""
    return Counter(hashes)
