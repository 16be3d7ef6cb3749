"""A long-running process's copy of the vectors: one matrix product instead of a file scan."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from robot_memory.store import vectors
from robot_memory.store.vectors import Vector


@dataclass
class _Shard:
    """Hold one collection: rows are appended and marked dead, never moved, while readers look."""

    ids: NDArray[np.int64]
    matrix: Vector
    alive: NDArray[np.bool_]
    rows: dict[int, int]
    count: int = 0

    @classmethod
    def sized(cls, capacity: int, dimension: int) -> _Shard:
        return cls(
            ids=np.zeros(capacity, np.int64),
            matrix=np.zeros((capacity, dimension), np.float32),
            alive=np.zeros(capacity, np.bool_),
            rows={},
        )

    def append(self, memory_id: int, vector: Vector) -> _Shard:
        """Add a row; return the shard to use from now on, a larger one where it was full."""
        shard = self
        if self.count == len(self.ids):
            keep = np.flatnonzero(self.alive[: self.count])
            shard = _Shard.sized(max(256, 2 * len(keep)), len(vector))
            shard.count = len(keep)
            shard.ids[: shard.count] = self.ids[keep]
            shard.matrix[: shard.count] = self.matrix[keep]
            shard.alive[: shard.count] = True
            shard.rows = {int(known): row for row, known in enumerate(self.ids[keep])}
        row = shard.count
        shard.ids[row] = memory_id
        shard.matrix[row] = vector
        shard.alive[row] = True
        shard.rows[memory_id] = row
        shard.count = row + 1
        return shard

    def drop(self, memory_id: int) -> None:
        """Mark a row dead."""
        row = self.rows.pop(memory_id, None)
        if row is not None:
            self.alive[row] = False


class VectorCopy:
    """
    Follow the file's vectors and answer nearest-neighbour questions from memory.

    Losing it costs time, never results: it is made anew from the file. It follows the writes of
    every process through `vector_log`.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shards: dict[str, _Shard] = {}
        self._homes: dict[int, str] = {}
        self._epoch = 0
        self._seq = 0

    def nearest(
        self,
        connection: apsw.Connection,
        collection: str,
        query: Vector,
        limit: int,
        among: Sequence[int] | None = None,
    ) -> list[tuple[int, float]]:
        """Return ids and cosines of the nearest in a collection, exactly."""
        with self._lock:
            self._follow(connection)
            shard = self._shards.get(collection)
            if shard is None:
                return []
            ids, matrix, alive, count = shard.ids, shard.matrix, shard.alive, shard.count
            if among is not None:
                known = shard.rows
                chosen = np.array([known[i] for i in among if i in known], np.int64)
        if among is None:
            cosines = matrix[:count] @ query
            cosines[~alive[:count]] = -2.0
            candidates = ids[:count]
        else:
            cosines = matrix[chosen] @ query
            candidates = ids[chosen]
        if limit < len(cosines):
            top = np.argpartition(-cosines, limit)[:limit]
        else:
            top = np.arange(len(cosines))
        top = top[np.lexsort((candidates[top], -cosines[top]))]
        return [(int(candidates[row]), float(cosines[row])) for row in top if cosines[row] > -1.5]

    def _follow(self, connection: apsw.Connection) -> None:
        """Take over what was written since the last look."""
        known = vectors.model_of(connection)
        epoch = known[1] if known else 0
        if epoch != self._epoch:
            self._shards, self._homes, self._seq = {}, {}, 0
            self._epoch = epoch
        rows = list(
            connection.execute(
                'SELECT seq, memory_id FROM vector_log WHERE seq > ? ORDER BY seq', (self._seq,)
            )
        )
        if not rows:
            return
        changed = list(dict.fromkeys(row[1] for row in rows))
        found = vectors.fetch(connection, changed)
        for memory_id in changed:
            home = self._homes.pop(memory_id, None)
            if home is not None:
                self._shards[home].drop(memory_id)
            if memory_id in found:
                collection, vector = found[memory_id]
                shard = self._shards.get(collection) or _Shard.sized(256, len(vector))
                self._shards[collection] = shard.append(memory_id, vector)
                self._homes[memory_id] = collection
        self._seq = rows[-1][0]
