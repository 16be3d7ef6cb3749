"""Let the bench drive this package: the side-by-side harness, and the measures by size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import facts
import numpy as np
from numpy.typing import NDArray

from robot_memory.api import RobotMemory
from robot_memory.catalog import get_tool
from robot_memory.core.fields import to_plain
from robot_memory.core.records import make_record
from robot_memory.core.settings import Settings
from robot_memory.embedding import BackgroundEmbedder, Calibration, Embedder
from robot_memory.memory import Memory
from robot_memory.storage.tables import memories
from robot_memory.text.categories import Classification

get_tool('learn')  # their code is no part of what a store takes
get_tool('recall')
_AT_ONCE = 20_000
_SAME = Classification('observation', 0.9, ('observation',), ())


class HashEmbedder:
    """Make vectors from words alone, in microseconds."""

    name = 'hash'
    dimension = facts.DIMENSION
    calibration = Calibration(unrelated=0.0, paraphrase=1.0)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape (n, 384)."""
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return a unit vector, shape (384,)."""
        return facts.make_vector(text)


class HashLoader(BackgroundEmbedder):
    """Have the hash embedder ready from the start, while it is switched on."""

    on = True

    def start(self) -> None:
        """Set the embedder in place of a model."""
        self._embedder = HashEmbedder()
        self.state, self.reason = 'ready', ''

    def get_if_loaded(self) -> Embedder | None:
        """Give the embedder, or None while it is switched off."""
        return self._embedder if self.on else None


class Adapter:
    """Offer what the bench calls; `embed` is none, hash or default."""

    def __init__(self, path: str, embed: str = 'none', *, resident: bool = True) -> None:
        """Open a store; `resident` as a long-running process does."""
        model = '' if embed == 'default' else 'none'
        self.m = RobotMemory.__new__(RobotMemory)
        settings = Settings(db_path=str(path), model=model)
        self._loader = HashLoader(model) if embed == 'hash' else None
        self.m.memory = Memory(settings, resident=resident, embedder=self._loader)
        self.mode = ''
        if embed == 'default':
            self.m.wait_for_model(30)
        if resident and embed != 'none':
            list(self.m.memory.reindexer.run(0))

    def fill(self, pairs: Iterable[tuple[str, dict[str, Any]]]) -> None:
        """Keep facts in large transactions, below the tool `learn`: none counts as known."""
        memory = self.m.memory
        memory.reindexer.adopt_model()
        left = iter(pairs)
        while batch := list(islice(left, _AT_ONCE)):
            with memory.db.write() as connection:
                for text, context in batch:
                    record = make_record(
                        'fact', text, _SAME, context, memory.clock(), memory.caller
                    )
                    record = replace(record, collection='default')
                    memories.insert(connection, record, memory.embed_passage(text))

    def use_vectors(self, on: bool) -> None:
        """Answer by words and vectors, or by words alone."""
        assert self._loader is not None
        self._loader.on = on

    def learn(self, text: str, ctx: Any, session: str | None = None) -> Any:
        """Return the id of the new memory, or None for a duplicate."""
        return self.m.learn(text, ctx, session_id=session).memory_id

    def recall(
        self, query: str, n: int = 5, flt: Any = None, near: Any = None, least: float = 0.3
    ) -> list[Any]:
        """Return the memories as plain dicts; `mode` then says what ran."""
        found = self.m.recall(
            query, n=n, min_confidence=least, context_filter=flt, spatial_sort=near
        )
        self.mode = found.mode
        return [to_plain(item) for item in found.memories]

    def perceive(self, text: str, data: str) -> Any:
        """Return the id of the perception."""
        return self.m.save_perception(text, 'tactile', data).memory_id

    def start(self) -> Any:
        """Begin an episode."""
        return self.m.start_session().session_id

    def end(self, session: str) -> Any:
        """End an episode."""
        return self.m.end_session(session)

    def forget(self, memory_id: int) -> Any:
        """Forget a memory."""
        return self.m.forget(memory_id, 'bench')

    def count(self) -> Any:
        """Return how many memories are active."""
        return self.m.query_records(limit=1).total_count

    def close(self) -> None:
        """Close the store."""
        self.m.close()
