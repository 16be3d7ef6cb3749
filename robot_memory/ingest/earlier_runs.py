"""What earlier runs of a robot left, for the detectors of a run that begins."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from robot_memory.detectors.earlier_view import EarlierView
from robot_memory.detectors.effort import LearnedEffort
from robot_memory.ingest.sessions import SessionFinder
from robot_memory.lifecycle.usual_efforts import find_effort
from robot_memory.storage.tables import event_keys, parts

PICTURE = 'picture'


def _do_nothing() -> None:
    pass


class EarlierRuns:
    """Know of no earlier run."""

    def find_last_end(self, stamp_ns: int) -> int:
        """Return when the last session before a stamp ended, in nanoseconds; 0: none did."""
        return 0

    def find_last_view(self, topic: str, collection: str, stamp_ns: int) -> EarlierView | None:
        """Return the last view of a topic that was stored in a collection before a stamp."""
        return None

    def find_learned(
        self,
        topic: str,
        names: tuple[str, ...],
        conditions: tuple[float | str, ...],
        stamp_ns: int,
    ) -> LearnedEffort | None:
        """Return what was learned of a topic's joints before a stamp."""
        return None


NOTHING_EARLIER = EarlierRuns()


@dataclass(frozen=True)
class StoredRuns(EarlierRuns):
    """
    Look earlier runs of a source up in the store.

    Only what is dated before the stamp counts, so that a recording that is imported again, or
    after its import was interrupted, finds what it found at first. `settle` has what this run
    stores written before it is looked up.
    """

    finder: SessionFinder
    settle: Callable[[], object] = _do_nothing

    def find_last_end(self, stamp_ns: int) -> int:
        """Return when the last session before a stamp ended, in nanoseconds; 0: none did."""
        return self.finder.find_last_end(stamp_ns)

    def find_last_view(self, topic: str, collection: str, stamp_ns: int) -> EarlierView | None:
        """Return the last view of a topic that was stored in a collection before a stamp."""
        self.settle()
        with self.finder.memory.db.read() as connection:
            found = event_keys.find_last_look(
                connection, self.finder.source, topic, collection, stamp_ns
            )
            if found is None:
                return None
            memory_id, peak_ns, look = found
            stored = parts.of(connection, [memory_id], with_content=True).get(memory_id, [])
        jpeg = next((part.content for part in stored if part.name == PICTURE), None)
        return EarlierView(peak_ns, look, jpeg)

    def find_learned(
        self,
        topic: str,
        names: tuple[str, ...],
        conditions: tuple[float | str, ...],
        stamp_ns: int,
    ) -> LearnedEffort | None:
        """Return what was learned of a topic's joints before a stamp."""
        source = self.finder.source
        return find_effort(self.finder.memory, source, topic, names, conditions, stamp_ns)


class OwnRun:
    """Know what this run has learned of joints by the time a detector is wiped."""

    def __init__(self, earlier: EarlierRuns) -> None:
        """Begin with nothing; what this run has not learned is looked up in `earlier` ones."""
        self._earlier = earlier
        self._learned: dict[tuple[object, ...], LearnedEffort] = {}

    def note_learned(self, topic: str, learned: Iterable[LearnedEffort]) -> None:
        """Take what was learned of a topic's joints."""
        for one in learned:
            self._learned[topic, one.names, one.conditions] = one

    def find_learned(
        self,
        topic: str,
        names: tuple[str, ...],
        conditions: tuple[float | str, ...],
        stamp_ns: int,
    ) -> LearnedEffort | None:
        """Return what was learned of a topic's joints before a stamp."""
        own = self._learned.get((topic, names, conditions))
        return own or self._earlier.find_learned(topic, names, conditions, stamp_ns)
