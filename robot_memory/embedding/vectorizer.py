"""Texts into vectors at run time: timed, with a breaker around each model, questions kept."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import cachetools

from robot_memory.core.clock import SteadyClock
from robot_memory.core.errors import ModelFailed, Unavailable
from robot_memory.embedding import BackgroundEmbedder, Embedder, quantisation
from robot_memory.embedding.protocol import SecondEmbedder
from robot_memory.embedding.quantisation import Plane, Vector
from robot_memory.embedding.text_vectors import TextVectors
from robot_memory.metrics.circuit_breaker import CircuitBreaker
from robot_memory.metrics.registry import Registry
from robot_memory.text.caching import LONGEST
from robot_memory.text.forms import make_form
from robot_memory.text.language import find_language

if TYPE_CHECKING:
    from robot_memory.embedding.calibration import Calibration

logger = logging.getLogger(__name__)

_FORMS = 500
"""Forms of sentences whose vectors are kept: a tap has some ten, with each topic and joint."""
_PASSAGES = 256
"""Texts to store whose vectors are kept."""
_SITUATIONS = 256
"""Situations of trials whose vectors are kept: one asks before a trial, and reports after it."""


@dataclass(frozen=True)
class QueryVector:
    """
    Hold a question's vector, its coarse plane, and the name and the scale of its model.

    `second` is what the second model made of the question, where it is asked.
    """

    vector: Vector
    coarse: Plane
    model: str
    calibration: Calibration
    second: QueryVector | None = None

    @staticmethod
    def of(vector: Vector, embedder: Embedder) -> QueryVector:
        """Return what compares a vector that an embedder made."""
        coarse, _ = quantisation.split(vector)
        return QueryVector(vector, coarse, embedder.name, embedder.calibration)


@dataclass(frozen=True)
class _Made:
    """Hold vectors of texts; they are not whole where the second model failed."""

    vectors: list[TextVectors]
    is_whole: bool = True


class Vectorizer:
    """
    Ask the models for vectors, as long as there is a first one and it answers.

    A failure is logged and counted, and the caller goes on by words, or without the second model;
    `breaker` leaves a model that keeps failing alone, `second_breaker` the second one. What is
    made in the background has a breaker of its own, so that stored texts that the model cannot
    take do not keep it from questions. The vectors of the latest `cache_size` questions are kept
    for `cache_ttl` seconds, 0: until newer ones take their place.
    """

    def __init__(
        self,
        embedder: BackgroundEmbedder,
        second: BackgroundEmbedder,
        registry: Registry,
        steady: SteadyClock,
        cache_ttl: int,
        cache_size: int = 1000,
    ) -> None:
        self.breaker, self.second_breaker, self.background = (
            CircuitBreaker(name, clock=steady)
            for name in ('the embedding model', 'the second model', 'the embedding model')
        )
        self._embedder = embedder
        self._second = second
        self._known_second: SecondEmbedder | None = None
        self._registry = registry
        self._lock = threading.Lock()
        self._forms: cachetools.Cache[tuple[str, str, str], TextVectors] = cachetools.LRUCache(
            _FORMS
        )
        self._passages: cachetools.Cache[tuple[str, str, str], TextVectors] = cachetools.LRUCache(
            _PASSAGES
        )
        self._situations: cachetools.Cache[tuple[str, str], Vector] = cachetools.LRUCache(
            _SITUATIONS
        )
        self._questions: cachetools.Cache[tuple[str, str, str], QueryVector] = (
            cachetools.TTLCache(cache_size, cache_ttl, steady)
            if cache_ttl
            else cachetools.LRUCache(cache_size)
        )

    def get_second(self) -> SecondEmbedder | None:
        """Return the second model if it is loaded and says what it is asked about."""
        found = self._second.get_if_loaded()
        if found is None:
            self._known_second = None
            return None
        if found is not self._known_second:  # what a protocol asks takes 50 us
            self._known_second = found if isinstance(found, SecondEmbedder) else None
        return self._known_second

    def embed_first(self, texts: Sequence[str]) -> Vector | None:
        """Return the first model's vectors of texts, or None while there is none that can."""
        embedder = self._embedder.get_if_loaded()
        if embedder is None:
            return None
        embed = partial(embedder.embed_passages, texts)
        return self._try_embed(self.breaker, 'embed_passages', embed)

    def embed_passages(
        self, texts: Sequence[str], *, by_first: bool = False
    ) -> list[TextVectors] | None:
        """
        Return the vectors of texts to keep, or None while there is no first model that can.

        Those of the latest short texts are kept: answers and known facts are said again and again.
        With `by_first` the second model makes none; what it made before is taken.
        """
        names = self._name_models()
        if names is None:
            return None
        with self._lock:
            known = {text: self._passages.get((*names, text)) for text in texts}
            if by_first:
                names = (names[0], '')
                for text, found in known.items():
                    known[text] = found or self._passages.get((*names, text))
        missing = [text for text, found in known.items() if found is None]
        if missing:
            made = self._embed_passages(missing, by_first=by_first)
            if made is None:
                return None
            known.update(zip(missing, made.vectors, strict=True))
            if made.is_whole:
                self._keep_passages(names, zip(missing, made.vectors, strict=True))
        return [found for text in texts if (found := known[text]) is not None]

    def _keep_passages(
        self, names: tuple[str, str], made: Iterable[tuple[str, TextVectors]]
    ) -> None:
        with self._lock:
            for text, found in made:
                if len(text) <= LONGEST:
                    second = None if found.second is None else found.second.copy()
                    kept = replace(found, first=found.first.copy(), second=second)  # not its batch
                    self._passages[names[0], names[1], text] = kept

    def _embed_passages(self, texts: Sequence[str], *, by_first: bool = False) -> _Made | None:
        made = self.embed_first(texts)
        if made is None:
            return None
        found = list(map(TextVectors, made))
        second = None if by_first else self.get_second()
        if second is None:
            return _Made(found)
        places = [
            place for place, text in enumerate(texts) if find_language(text) in second.languages
        ]
        if not places:
            return _Made(found)
        embed = partial(second.embed_passages, [texts[place] for place in places])
        others = self._try_embed(self.second_breaker, 'embed_passages_second', embed)
        if others is None:
            return _Made(found, is_whole=False)
        for place, vector in zip(places, others, strict=False):
            found[place] = TextVectors(made[place], vector, second.name)
        return _Made(found)

    def embed_form(self, text: str) -> TextVectors | None:
        """
        Return the vectors of a sentence's form: of the sentence with its numbers put as 1.

        A detector says the same of each event but for the figures, which vectors tell badly: each
        form is embedded once.
        """
        key = self._make_form_key(text)
        if key is None:
            return None
        known = self._find_form(key)
        if known is not None:
            return known
        made = self._embed_passages([key[-1]])
        if made is None:
            return None
        found = replace(made.vectors[0], form=key[-1])
        if made.is_whole:
            with self._lock:
                self._forms[key] = found
        return found

    def find_form(self, text: str) -> TextVectors | None:
        """Return the vectors of a sentence's form, or None where they would have to be made."""
        key = self._make_form_key(text)
        return None if key is None else self._find_form(key)

    def _make_form_key(self, text: str) -> tuple[str, str, str] | None:
        """Return the names of the models and the form; None while there is no first model."""
        names = self._name_models()
        return None if names is None else (*names, make_form(text))

    def _name_models(self) -> tuple[str, str] | None:
        """Return the names of both models, '' for none; None while there is no first one."""
        first, second = self._embedder.get_if_loaded(), self._second.get_if_loaded()
        if first is None:
            return None
        return first.name, '' if second is None else second.name

    def _find_form(self, key: tuple[str, str, str]) -> TextVectors | None:
        with self._lock:
            return self._forms.get(key)

    def embed_situation(self, text: str) -> Vector | None:
        """Return the first model's vector of a situation, or None while there is none that can."""
        first = self._embedder.get_if_loaded()
        if first is None:
            return None
        with self._lock:
            known = self._situations.get((first.name, text))
        if known is not None:
            return known
        made = self.embed_first([text])
        if made is None:
            return None
        vector: Vector = made[0]
        with self._lock:
            self._situations[first.name, text] = vector
        return vector

    def embed_query(self, text: str) -> QueryVector | None:
        """Return the vectors of a question, or None while there is no first model that can."""
        embedder, second = self._embedder.get_if_loaded(), self._second.get_if_loaded()
        if embedder is None:
            return None
        key = (embedder.name, '' if second is None else second.name, text)
        with self._lock:
            known = self._questions.get(key)
        self._registry.count('query_cache_misses' if known is None else 'query_cache_hits')
        return known or self._embed_question(key, embedder, second)

    def embed_with(self, embedder: Embedder, texts: Sequence[str]) -> Vector:
        """Return the vectors of stored texts; raise Unavailable where the model cannot."""
        embed = partial(embedder.embed_passages, texts)
        return self._call_model(self.background, 'embed_background', embed)

    def _embed_question(
        self, key: tuple[str, str, str], embedder: Embedder, second: Embedder | None
    ) -> QueryVector | None:
        """Return the vectors of a question; where a model fails, it is asked again next time."""
        name, _, text = key
        made = self._find_known((name, '', text))
        if made is None:
            embed = partial(embedder.embed_query, text)
            vector = self._try_embed(self.breaker, 'embed_query', embed)
            if vector is None:
                return None
            made = QueryVector.of(vector, embedder)
            self._keep((name, '', text), made)
        if second is None:
            return made
        if isinstance(second, SecondEmbedder) and find_language(text) in second.languages:
            embed = partial(second.embed_query, text)
            vector = self._try_embed(self.second_breaker, 'embed_query_second', embed)
            if vector is None:
                return made
            made = replace(made, second=QueryVector.of(vector, second))
        self._keep(key, made)
        return made

    def _find_known(self, key: tuple[str, str, str]) -> QueryVector | None:
        with self._lock:
            return self._questions.get(key)

    def _keep(self, key: tuple[str, str, str], made: QueryVector) -> None:
        with self._lock, suppress(ValueError):  # where none are kept, there is no room
            self._questions[key] = made

    def _try_embed(
        self, breaker: CircuitBreaker, operation: str, embed: Callable[[], Vector]
    ) -> Vector | None:
        try:
            return self._call_model(breaker, operation, embed)
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
                message = f'{breaker.name} failed: {error!r}'
                logger.warning('%s; searching without it', message)
                self._registry.record_error(operation, ModelFailed.code, message)
                raise ModelFailed(message) from error
            finally:
                self._registry.record_duration(operation, time.perf_counter() - start)
