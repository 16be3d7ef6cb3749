"""Vectors of memories that were stored without one, or with another model's."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from robot_memory.core.settings import Settings
from robot_memory.embedding import BackgroundEmbedder, Embedder
from robot_memory.embedding.vectorizer import Vectorizer
from robot_memory.storage import Connection, Database
from robot_memory.storage.indexes import vectors

logger = logging.getLogger(__name__)


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
        self._has_run = False

    def adopt_model(self) -> None:
        """Record the loaded model in a file that has none; leave any other."""
        embedder = self._embedder.get_if_loaded()
        if embedder is None:
            return
        with self._db.read() as connection:
            if vectors.model_of(connection) is not None:
                return
        with self._db.write() as connection:
            if vectors.model_of(connection) is None:
                vectors.use_model(connection, embedder.name, embedder.dimension)

    def run(self, limit: int | None = None) -> Iterator[tuple[int, int]]:
        """
        Give vectors to memories that have none; yield (done, waiting) after each batch.

        If the file's vectors are of another model, they are removed first and all computed anew.
        Yields nothing while no model is loaded.
        """
        embedder = self._embedder.get_if_loaded()
        if embedder is None:
            return
        with self._db.read() as connection:
            known = vectors.model_of(connection)
        if known is None or known[0] != embedder.name:
            if known is not None:
                logger.warning(
                    'vectors of %s are replaced by those of %s', known[0], embedder.name
                )
            with self._db.write() as connection:
                vectors.use_model(connection, embedder.name, embedder.dimension)
        done = 0
        while limit is None or done < limit:
            with self._db.read() as connection:
                batch = vectors.find_missing(connection, self._settings().batch_size)
            if not batch or self._is_stopping():
                return
            texts = [content for _, content, _ in batch]
            made = self._vectorizer.embed_with(embedder, texts)
            with self._db.write() as connection:
                if match_embedder(connection, self._embedder) is not embedder:
                    logger.warning(
                        'another process gave the store another model; keyword search only'
                    )
                    return
                for (memory_id, _, updated_at), vector in zip(batch, made, strict=True):
                    if vectors.is_missing(connection, memory_id, updated_at):
                        vectors.put(connection, memory_id, vector)
                waiting = vectors.count_missing(connection)
            done += len(batch)
            yield done, waiting

    def run_in_background(self) -> None:
        """
        Give vectors to all memories that have none; the worker's job.

        Another model's vectors are replaced once: two processes with different models must not
        take turns at it.
        """
        embedder = self._embedder.get_if_loaded()
        if embedder is None or not self._vectorizer.background.lets_through:
            return
        with self._db.read() as connection:
            known = vectors.model_of(connection)
        if self._has_run and known is not None and known[0] != embedder.name:
            return
        for done, waiting in self.run():
            logger.info('vectors computed: %d, waiting: %d', done, waiting)
        self._has_run = True
