"""What may go by age: perceptions and turns that nothing protects, softly."""

from __future__ import annotations

from robot_memory.clock import DAY
from robot_memory.language.classify import PROTECTED
from robot_memory.memory import Memory
from robot_memory.store import maintenance, memories

REASON = 'retention'
_BATCH = 500
_MOST = 5000
"""Memories that one call retires; the next takes the rest, so that nobody waits for long."""


def retire_old(memory: Memory, collection: str | None = None) -> int:
    """
    Retire perceptions and turns older than `retention_days`; return how many were.

    Facts, demonstrations and the protected categories stay for ever, as does everything while
    the setting is 0. The oldest go first, of one collection or of all.
    """
    days = memory.settings.retention_days
    if not days:
        return 0
    now = memory.clock()
    gone = 0
    while gone < _MOST:
        with memory.db.write() as connection:
            batch = maintenance.older(
                connection, now - days * DAY, sorted(PROTECTED), collection, _BATCH
            )
            for memory_id in batch:
                memories.retire(connection, memory_id, 'invalidated', memory.caller, REASON, now)
        gone += len(batch)
        if len(batch) < _BATCH:
            break
    return gone
