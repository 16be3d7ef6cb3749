"""Let the side-by-side harness drive this package: learn, recall, perceive, sessions, forget."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_memory.api import RobotMemory
from robot_memory.embedding import BackgroundEmbedder, Calibration
from robot_memory.fields import plain
from robot_memory.memory import Memory
from robot_memory.settings import Settings


class HashEmbedder:
    """Make vectors from words alone, in microseconds: it leaves the model's time out."""

    name = 'hash'
    dimension = 384
    calibration = Calibration(unrelated=0.0, paraphrase=1.0)

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape (n, 384)."""
        return np.stack([self.query(text) for text in texts])

    def query(self, text: str) -> NDArray[np.float32]:
        """Return a unit vector, shape (384,)."""
        vector = np.zeros(384, np.float32)
        for word in text.lower().split():
            digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
            vector[int.from_bytes(digest[:4], 'little') % 384] += 1 if digest[4] & 1 else -1
        vector /= math.sqrt(float(vector @ vector)) or 1.0
        return vector


class HashLoader(BackgroundEmbedder):
    """Have the hash embedder ready from the start."""

    def start(self) -> None:
        """Set the embedder in place of a model."""
        self._embedder = HashEmbedder()
        self.state, self.reason = 'ready', ''


class Adapter:
    """Offer what the harness calls; `embed` is none, hash or default."""

    def __init__(self, path: str, embed: str = 'none') -> None:
        """Open a store."""
        model = '' if embed == 'default' else 'none'
        self.m = RobotMemory.__new__(RobotMemory)
        settings = Settings(db_path=str(Path(path)), model=model)
        loader = HashLoader(model) if embed == 'hash' else None
        self.m.memory = Memory(settings, embedder=loader)
        if embed == 'hash':
            list(self.m.memory.index(0))
        elif embed == 'default':
            self.m.wait_for_model(30)
            list(self.m.memory.index(0))

    def learn(self, text: str, ctx: Any, session: str | None = None) -> Any:
        """Return the id of the new memory, or None for a duplicate."""
        return self.m.learn(text, ctx, session_id=session).memory_id

    def recall(self, query: str, n: int = 5, flt: Any = None, near: Any = None) -> list[Any]:
        """Return the memories as plain dicts."""
        found = self.m.recall(query, n=n, context_filter=flt, spatial_sort=near)
        return [plain(item) for item in found.memories]

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
