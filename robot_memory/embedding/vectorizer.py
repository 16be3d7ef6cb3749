"""Texts into vectors at run time: timed, with a breaker around the model, questions kept."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import cachetools

from robot_memory.core.clock import SteadyClock
from robot_memory.core.errors import ModelFailed, Unavailable
from robot_memory.embedding import BackgroundEmbedder, Embedder, quantisation
from robot_memory.embedding.calibration import Calibration
from robot_memory.embedding.quantisation import Plane, Vector
from robot_memory.metrics.circuit_breaker import CircuitBreaker
from robot_memory.metrics.registry import Registry

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class QueryVector:
    """Hold a question's vector, its coarse plane, and the name and the scale of its model."""

    vector: Vector
    coarse: Plane
    model: str
    calibration: Calibration

    @staticmethod
    def of(vector: Vector, embedder: Embedder) -> QueryVector:
        """Return what compares a vector that an embedder made."""
        coarse, _ = quantisation.split(vector)
        return QueryVector(vector, coarse, embedder.name, embedder.calibration)


class Vectorizer:
    """
    Ask the model for vectors, as long as there is one and it answers.

    A failure is logged and counted, and the caller goes on by words; `breaker` leaves a model
    that keeps failing alone. What is made in the background has a breaker of its own, so that
    stored texts that the model cannot take do not keep it from questions. The vectors of the
    latest `cache_size` questions are kept for `cache_ttl` seconds, 0: until newer ones take their
    place.
    """

    def __init__(
        self,
        embedder: BackgroundEmbedder,
        registry: Registry,
        steady: SteadyClock,
        cache_ttl: int,
        cache_size: int = 1000,
    ) -> None:
        self.breaker, self.background = (
            CircuitBreaker('the embedding model', clock=steady) for _ in range(2)
        )
        self._embedder = embedder
        self._registry = registry
        self._lock = threading.Lock()
        self._questions: cachetools.Cache[tuple[str, str], QueryVector] = (
            cachetools.TTLCache(cache_size, cache_ttl, steady)
            if cache_ttl
            else cachetools.LRUCache(cache_size)
        )

    def embed_passages(self, texts: Sequence[str]) -> Vector | None:
        """Return the vectors of texts to keep, or None while there is no model that can."""
        embedder = self._embedder.get_if_loaded()
        if embedder is None:
            return None
        return self._try_embed('embed_passages', partial(embedder.embed_passages, texts))

    def embed_query(self, text: str) -> QueryVector | None:
        """Return the vector of a question, or None while there is no model that can."""
        embedder = self._embedder.get_if_loaded()
        if embedder is None:
            return None
        with self._lock:
            known = self._questions.get((embedder.name, text))
        self._registry.count('query_cache_misses' if known is None else 'query_cache_hits')
        if known is not None:
            return known
        vector = self._try_embed('embed_query', partial(embedder.embed_query, text))
        if vector is None:
            return None
        made = QueryVector.of(vector, embedder)
        with self._lock, suppress(ValueError):  # where none are kept, there is no room
            self._questions[embedder.name, text] = made
        return made

    def embed_with(self, embedder: Embedder, texts: Sequence[str]) -> Vector:
        """Return the vectors of stored texts; raise Unavailable where the model cannot."""
        embed = partial(embedder.embed_passages, texts)
        return self._call_model(self.background, 'embed_background', embed)

    def _try_embed(self, operation: str, embed: Callable[[], Vector]) -> Vector | None:
        try:
            return self._call_model(self.breaker, operation, embed)
        except Unavailable:
            return None

    def _call_model(
        self, breaker: CircuitBreaker, operation: str, embed: Callable[[], Vector]
    ) -> Vector:
        """Return what the model makes; raise Unavailable where it fails or is left alone."""
        with breaker.attempt():
            start = time.perf_counter()
            try:
                return embed()
            except Exception as error:
                message = f'the embedding model failed: {error!r}'
                logger.warning('%s; using keyword search only', message)
                self._registry.record_error(operation, ModelFailed.code, message)
                raise ModelFailed(message) from error
            finally:
                self._registry.record_duration(operation, time.perf_counter() - start)
