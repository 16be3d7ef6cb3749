"""A long-running process's copy of what is indexed: it follows the file, and answers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from robot_memory.core.errors import CopyFailed
from robot_memory.core.heap import trim_heap
from robot_memory.search.query import WORTH_WAITING
from robot_memory.search.shard import Shard
from robot_memory.storage import Connection
from robot_memory.storage.indexes import forms, indexed, other_vectors, vectors
from robot_memory.storage.indexes.other_vectors import SecondModel
from robot_memory.storage.tables import erasures

AT_ONCE = 20_000
"""Largest store that the first call loads, in some tenths of a second; a larger one is loaded in
the background."""
_BATCH = 2_000
"""Rows that are read at once: their vectors stay in the processor's cache."""


@dataclass(frozen=True)
class Snapshot:
    """Hold partitions as they are at one time, and the names of their vectors' models."""

    shards: list[Shard]
    model: str | None
    second: SecondModel | None


_EMPTY = Shard()
"""Of a partition without memories; nothing is ever put into it."""


class ResidentIndex:
    """
    Follow the file's index, and answer from memory.

    Losing it costs time, never results: it is made anew from the file. It follows the writes of
    every process through `changes`.
    """

    def __init__(self) -> None:
        """Hold nothing; `shard` and `load` load."""
        self._lock = threading.Lock()
        self._loading = threading.Lock()  # taken before _lock by whoever reads all of the file
        self._answered_without = False
        self._shards: dict[str, Shard] | None = None
        self._is_wasteful = False
        self._model: str | None = None
        self._second: SecondModel | None = None
        self._models: tuple[str | None, str | None] = (None, None)
        self._seq = 0
        self._erasures = 0

    def shard(self, connection: Connection, partition: str) -> Shard | None:
        """Return one partition as `snapshot` does."""
        found = self.snapshot(connection, [partition])
        return None if found is None else found.shards[0]

    def snapshot(self, connection: Connection, partitions: Sequence[str]) -> Snapshot | None:
        """
        Return some partitions as they are now; None where the file has to answer.

        A store of up to AT_ONCE memories is loaded at once. One of up to WORTH_WAITING is answered
        from the file once, so that whoever asks once waits for nothing, and waited for by later
        calls. Raise CopyFailed where it cannot be loaded; the next call begins anew.
        """
        try:
            found = self._take_snapshot(connection, partitions)
            if found is None and self._should_wait(connection):
                with self._loading:
                    found = self._take_snapshot(connection, partitions)
                    if found is None:
                        self._adopt(connection, self._read(connection, lambda: False) or {})
                        found = self._take_snapshot(connection, partitions)
            return found
        except (ArithmeticError, LookupError, MemoryError, TypeError, ValueError) as error:
            with self._lock:
                self._shards = None
            raise CopyFailed(
                f'cannot load the index of collection {partitions[0]!r} into memory: {error!r}'
            ) from error

    def _take_snapshot(self, connection: Connection, partitions: Sequence[str]) -> Snapshot | None:
        """Return some partitions as they are now, None while nothing is loaded."""
        with self._lock:
            self._follow(connection)
            if self._shards is None:
                return None
            known = [self._shards.get(partition) for partition in partitions]
            shards = [_EMPTY if shard is None else shard.snapshot(self._seq) for shard in known]
            return Snapshot(shards, self._model, self._second)

    def _should_wait(self, connection: Connection) -> bool:
        size = sum(indexed.sizes(connection).values())
        first, self._answered_without = not self._answered_without, size > AT_ONCE
        return size <= (AT_ONCE if first else WORTH_WAITING)

    def is_loading(self, connection: Connection) -> bool:
        """Say whether the store is large and not yet loaded."""
        with self._lock:
            loaded = self._shards is not None
        return not loaded and sum(indexed.sizes(connection).values()) > AT_ONCE

    def load(self, connection: Connection, stop: Callable[[], bool]) -> bool:
        """
        Load all, if it is not loaded, and tidy up; return False where `stop` broke it off.

        Questions are answered meanwhile.
        """
        with self._loading:
            last = erasures.get_last(connection)
            with self._lock:
                self._follow(connection)
                # What was erased must not stay behind in arrays of before.
                self._is_wasteful |= last != self._erasures
                loaded = None if self._is_wasteful else self._shards
            if loaded is None:
                made = self._read(connection, stop)
                if made is None:
                    return False
                self._adopt(connection, made)
                self._erasures = last
        if loaded is None:
            trim_heap()
            return True
        for shard in list(loaded.values()):
            with self._lock:
                snapshot = shard.snapshot() if shard.needs_merge else None
            if snapshot is not None:
                merged = snapshot.merge()
                with self._lock:
                    shard.adopt(snapshot, merged)
                del snapshot, merged
                trim_heap()
        return True

    def _read(self, connection: Connection, stop: Callable[[], bool]) -> dict[str, Shard] | None:
        """Read the file's index as the connection sees it."""
        made = {name: Shard(size) for name, size in indexed.sizes(connection).items()}
        for form in forms.read(connection):
            made[form.collection].put_form(form)
        for rows in indexed.read_all(connection, _BATCH):
            if stop():
                return None
            rows_of: dict[str, list[indexed.PlainRow]] = {}
            for row in rows:
                rows_of.setdefault(row[1], []).append(row)
            for collection, found in rows_of.items():
                made[collection].extend(found)
        for shard in made.values():
            shard.sort_terms()
            shard.take_signs()
        return made

    def _adopt(self, connection: Connection, made: dict[str, Shard]) -> None:
        first, second = vectors.model_of(connection), other_vectors.find_second(connection)
        known = indexed.read_changes(connection, indexed.last_change(connection))
        with self._lock:
            self._shards = made if known is not None else None
            self._is_wasteful = False
            self._model, self._second = None if first is None else first[0], second
            if known is not None:
                self._models, self._seq, _ = known

    def forget_masks(self) -> None:
        """Forget what passes conditions: the indexes of contexts turned out to be damaged."""
        with self._lock:
            for shard in (self._shards or {}).values():
                shard.masks.clear()

    def _follow(self, connection: Connection) -> None:
        """Take over what was written since the last look; forget all where that is too much."""
        if self._shards is None:
            return
        read = indexed.read_changes(connection, self._seq)
        if read is None or read.models != self._models:
            self._shards = None
            return
        _, latest, changed = read
        if not changed:
            return
        found = {row.memory_id: row for row in indexed.fetch(connection, list(changed))}
        for name in set(changed.values()) - self._shards.keys():
            self._shards[name] = Shard()
        self._follow_forms(connection, changed, found.values())
        for memory_id in sorted(one for one in changed if one > 0):
            shard = self._shards[changed[memory_id]]
            if memory_id in found:
                shard.put(found[memory_id])
            else:
                shard.drop(memory_id)
                self._is_wasteful |= shard.is_wasteful
        self._seq = latest

    def _follow_forms(
        self, connection: Connection, changed: Iterable[int], rows: Iterable[indexed.Row]
    ) -> None:
        """Take over the forms that rows have, and those that have got vectors."""
        assert self._shards is not None
        shards = self._shards
        new = {row.form for row in rows if row.form and not shards[row.collection].knows(row.form)}
        for form in forms.read(connection, [*new, *(-one for one in changed if one < 0)]):
            shards[form.collection].put_form(form)
