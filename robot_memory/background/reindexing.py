"""Vectors of memories that were stored without one, or with another model's."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from robot_memory.core.settings import Settings
from robot_memory.embedding import BackgroundEmbedder, Embedder
from robot_memory.embedding.protocol import RoundedAnew, SecondEmbedder
from robot_memory.embedding.vectorizer import Vectorizer
from robot_memory.storage import Connection, Database
from robot_memory.storage.indexes import forms, other_vectors, vectors

logger = logging.getLogger(__name__)
_SCANNED = 2000
"""Memories that are looked at in one transaction."""


def match_embedder(connection: Connection, embedder: BackgroundEmbedder) -> Embedder | None:
    """Return the embedder if it is loaded and the file holds vectors of its model."""
    loaded = embedder.get_if_loaded()
    if loaded is None:
        return None
    known = vectors.model_of(connection)
    return loaded if known is not None and known[0] == loaded.name else None


class Reindexer:
    """Give vectors to memories that have none, by whichever process they were stored."""

    def __init__(
        self,
        db: Database,
        embedder: BackgroundEmbedder,
        vectorizer: Vectorizer,
        settings: Callable[[], Settings],
        is_stopping: Callable[[], bool],
    ) -> None:
        """Begin with nothing done."""
        self._db = db
        self._embedder = embedder
        self._vectorizer = vectorizer
        self._settings = settings
        self._is_stopping = is_stopping
        self._has_run = self._second_has_run = False

    def adopt_model(self) -> None:
        """Record the loaded models in a file that has none, or their like; leave any other."""
        embedder, second = self._embedder.get_if_loaded(), self._vectorizer.get_second()
        with self._db.read() as connection:
            lacks_first = embedder is not None and _may_adopt(connection, embedder)
            lacks_second = second is not None and other_vectors.find_second(connection) is None
        if not lacks_first and not lacks_second:
            return
        with self._db.write() as connection:
            if embedder is not None and _may_adopt(connection, embedder):
                _use_first(connection, embedder)
            if second is not None and other_vectors.find_second(connection) is None:
                _use_second(connection, second)

    def run(self, limit: int | None = None) -> Iterator[tuple[int, int]]:
        """
        Give vectors to memories that have none; yield (done, waiting) after each batch.

        If the file's vectors are of another model, they are kept aside and those of the loaded
        one are computed. Yields nothing while no model is loaded.
        """
        done = 0
        for done, waiting in self._run_first(limit):
            yield done, waiting
        before = done
        for done, waiting in self._run_second(None if limit is None else limit - before):
            yield before + done, waiting

    def _run_first(self, limit: int | None) -> Iterator[tuple[int, int]]:
        embedder = self._embedder.get_if_loaded()
        if embedder is None:
            return
        with self._db.read() as connection:
            known = vectors.model_of(connection)
        if known is None or known[0] != embedder.name:
            if known is not None and known[0] not in _list_same(embedder):
                logger.warning(
                    'vectors of %s are replaced by those of %s', known[0], embedder.name
                )
            with self._db.write() as connection:
                _use_first(connection, embedder)
        done = 0
        while limit is None or done < limit:
            with self._db.read() as connection:
                batch = vectors.find_missing(connection, self._settings().batch_size)
            if not batch or self._is_stopping():
                return
            texts = [content for _, content, _ in batch]
            made = self._vectorizer.embed_with(embedder, texts)
            with self._db.write() as connection:
                if not self._is_first(connection, embedder):
                    return
                for (memory_id, _, updated_at), vector in zip(batch, made, strict=True):
                    vectors.set_vector(connection, memory_id, updated_at, vector)
                waiting = vectors.count_missing(connection)
            done += len(batch)
            yield done, waiting

    def _is_first(self, connection: Connection, embedder: Embedder) -> bool:
        """Say whether the file's vectors are still of a model; warn where they are not."""
        if match_embedder(connection, self._embedder) is embedder:
            return True
        logger.warning('another process gave the store another model; keyword search only')
        return False

    def _run_second(self, limit: int | None) -> Iterator[tuple[int, int]]:
        second = self._vectorizer.get_second()
        if second is None:
            return
        with self._db.read() as connection:
            known = other_vectors.find_second(connection)
        if known is None or known.name != second.name:
            with self._db.write() as connection:
                _use_second(connection, second)
        self._find_waiting(second.name)
        done = 0
        while limit is None or done < limit:
            with self._db.read() as connection:
                known = other_vectors.find_second(connection)
                if known is None or known.name != second.name:
                    logger.warning('another process gave the store another second model')
                    return
                batch = other_vectors.find_missing(connection, known, self._settings().batch_size)
            if not batch or self._is_stopping():
                return
            made = self._vectorizer.embed_with(second, [content for _, content, _ in batch])
            with self._db.write() as connection:
                for (memory_id, _, updated_at), vector in zip(batch, made, strict=True):
                    other_vectors.set_vector(connection, known, memory_id, updated_at, vector)
                waiting = other_vectors.count_missing(connection)
            done += len(batch)
            yield done, waiting

    def list_waiting(self) -> tuple[bool, bool]:
        """
        Say whether forms wait for a vector of the first model, and of the second one.

        A file without a second model waits for one to be named.
        """
        with self._db.read() as connection:
            second = other_vectors.find_second(connection)
            first_waits = bool(forms.count(connection, forms.FIRST, 'NULL', 1))
        if second is None:
            return first_waits, True
        self._find_waiting(second.name)
        with self._db.read() as connection:
            return first_waits, bool(forms.count(connection, second.id, 'NULL', 1))

    def embed_forms(self) -> None:
        """
        Give forms that wait the vectors of the loaded models, where the file's are theirs.

        Raise Unavailable where a model cannot, or the file cannot be written.
        """
        with self._db.read() as connection:
            first = match_embedder(connection, self._embedder)
            known = other_vectors.find_second(connection)
        if first is not None:
            self._embed_forms(first, forms.FIRST)
        second = self._vectorizer.get_second()
        if second is not None and known is not None and known.name == second.name:
            self._find_waiting(second.name)
            self._embed_forms(second, known.id)

    def _embed_forms(self, embedder: Embedder, model: int) -> None:
        """Give forms their vectors, each as if it were embedded alone."""
        while not self._is_stopping():
            with self._db.read() as connection:
                batch = forms.find_missing(connection, model, self._settings().batch_size)
            if not batch:
                return
            made = [self._vectorizer.embed_with(embedder, [text])[0] for _, text, _ in batch]
            with self._db.write() as connection:
                # The id of a second model is its own; FIRST is whichever is the first now.
                if model == forms.FIRST and not self._is_first(connection, embedder):
                    return
                for (form, _, _), vector in zip(batch, made, strict=True):
                    forms.set_vector(connection, -form, model, vector)

    def _find_waiting(self, name: str) -> None:
        """Note which memories wait for a vector of the second model, if that is not known yet."""
        while not self._is_stopping():
            with self._db.read() as connection:
                known = other_vectors.find_second(connection)
                if known is None or other_vectors.is_scanned(connection, known):
                    return
            with self._db.write() as connection:
                known = other_vectors.find_second(connection)
                if known is None or known.name != name:
                    return
                if not other_vectors.scan(connection, known, _SCANNED):
                    return

    def run_in_background(self) -> None:
        """
        Give vectors to all memories that have none; the worker's job.

        Another model's vectors are replaced once: two processes with different models must not
        take turns at it.
        """
        if self._embedder.get_if_loaded() is None or not self._vectorizer.background.lets_through:
            return
        jobs = []
        with self._db.read() as connection:
            first, second = vectors.model_of(connection), other_vectors.find_second(connection)
        name = _name(self._embedder.get_if_loaded())
        if not self._has_run or first is None or first[0] == name:
            jobs.append(self._run_first(None))
        loaded = self._vectorizer.get_second()
        if not self._second_has_run or second is None or second.name == _name(loaded):
            jobs.append(self._run_second(None))
        for job in jobs:
            for done, waiting in job:
                logger.info('vectors computed: %d, waiting: %d', done, waiting)
        self._has_run = True
        self._second_has_run |= loaded is not None


def _name(embedder: Embedder | None) -> str | None:
    return None if embedder is None else embedder.name


def _may_adopt(connection: Connection, embedder: Embedder) -> bool:
    """Say whether a file has no model, or one whose vectors are as good as an embedder's."""
    known = vectors.model_of(connection)
    return known is None or known[0] in _list_same(embedder)


def _list_same(embedder: Embedder) -> tuple[str, ...]:
    return embedder.same_as if isinstance(embedder, RoundedAnew) else ()


def _use_first(connection: Connection, embedder: Embedder) -> None:
    vectors.use_model(connection, embedder.name, embedder.dimension, _list_same(embedder))


def _use_second(connection: Connection, second: SecondEmbedder) -> None:
    other_vectors.use_second(
        connection, second.name, second.dimension, second.languages, second.turns
    )
