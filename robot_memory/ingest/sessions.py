"""The session that what a tap stores belongs to."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.core.records import Session
from robot_memory.memory import Memory
from robot_memory.storage.tables import sessions

AUTO, NONE = 'auto', 'none'
_HOUR = 3_600_000_000


@dataclass(frozen=True)
class SessionFinder:
    """
    Find the session of a tap's events: one that is named, or the one that was open then.

    `source` is the name of the robot, '' where there is one only; `hours` how long after its
    begin a session can get events. Live, stamps may be of other clocks, so that the present
    instant counts; of a recording (`live` False) the stamp does.
    """

    memory: Memory
    source: str = ''
    hours: float = 12.0
    live: bool = True

    def find(self, wanted: str, stamp_ns: int) -> Session | None:
        """Return the session of an event: 'auto', 'none' or an id; raise NotFound for the id."""
        if wanted == NONE:
            return None
        with self.memory.db.read() as connection:
            if wanted != AUTO:
                return sessions.get(connection, wanted)
            at = stamp_ns // 1000
            if self.live:
                at = self.memory.timekeeper.read_now(connection)
            since = at - round(self.hours * _HOUR)
            return sessions.find_running(connection, self.source, since, at, is_open=self.live)

    def find_last_end(self, stamp_ns: int) -> int:
        """Return when the last session before a stamp ended, in nanoseconds; 0 where none did."""
        with self.memory.db.read() as connection:
            return 1000 * sessions.find_last_end(connection, self.source, stamp_ns // 1000)
