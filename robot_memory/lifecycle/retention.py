"""What may go by age: perceptions and turns that nothing protects, softly."""

from __future__ import annotations

from robot_memory.core.clock import DAY
from robot_memory.memory import Memory
from robot_memory.storage.tables import retirement
from robot_memory.text.categories import PROTECTED

_BATCH = 500
_MOST = 5000
"""Memories that one call retires; the next takes the rest, so that nobody waits for long."""


def retire_expired(memory: Memory, collection: str | None = None) -> int:
    """
    Retire perceptions and turns older than `retention_days`; return how many were.

    Facts, demonstrations and the protected categories stay for ever, as does everything while
    the setting is 0 or the clock is suspect. The oldest go first, of one collection or of all.
    Where the clock proves to have been ahead, the memory brings back what went.
    """
    days = memory.settings.retention_days
    if not days:
        return 0
    gone = 0
    while gone < _MOST:
        with memory.db.write() as connection:
            if not memory.timekeeper.judge_now(connection).trusted:
                break
            now = memory.clock()
            batch = retirement.find_expired(
                connection, now - days * DAY, sorted(PROTECTED), collection, _BATCH
            )
            for memory_id in batch:
                retirement.retire(connection, memory_id, memory.caller, now)
        gone += len(batch)
        if len(batch) < _BATCH:
            break
    return gone
