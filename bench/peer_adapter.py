"""Let the bench drive the peer by size; run by the peer's own Python."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

import facts


class _Hash:
    """Be the peer's embedder, with vectors made from words alone."""

    available, unavailable_reason, model, dim = True, '', 'hash', facts.DIMENSION

    def embed_one_sync(self, text: str) -> list[float]:
        """Return a unit vector."""
        made: list[float] = facts.make_vector(text).tolist()
        return made


class Adapter:
    """Offer what the measures by size call."""

    def __init__(self, path: str, embed: str = 'none', *, resident: bool = True) -> None:
        """Open a store; this peer knows no difference between long and short processes."""
        sdk = importlib.import_module('robotmem.sdk')
        self._robot = sdk.RobotMemory(db_path=path, embed_backend='none')
        self._none = self._robot._embedder
        self.use_vectors(embed == 'hash')

    def fill(self, pairs: Iterable[tuple[str, dict[str, Any]]]) -> None:
        """Learn facts one by one: there is no other way."""
        for text, context in pairs:
            self.learn(text, context)

    def use_vectors(self, on: bool) -> None:
        """Answer by words and vectors, or by words alone."""
        self._robot._embedder = _Hash() if on else self._none
        self.mode = 'hybrid' if on and self._robot._db.vec_loaded else 'words'

    def learn(self, text: str, ctx: Any) -> Any:
        """Return the id of the new memory, or None for a duplicate."""
        return self._robot.learn(text, ctx).get('memory_id')

    def recall(self, query: str, n: int = 5, flt: Any = None, near: Any = None) -> list[Any]:
        """Return the memories as plain dicts."""
        found: list[Any] = self._robot.recall(query, n=n, context_filter=flt, spatial_sort=near)
        return found

    def close(self) -> None:
        """Close the store."""
        self._robot.close()
