"""Forget a session."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.core.fields import arg
from robot_memory.lifecycle.soft_delete import soft_delete_session
from robot_memory.memory import Memory
from robot_memory.tool import tool


@dataclass(frozen=True)
class ClearSessionRequest:
    """Request of clear_session."""

    session_id: str | None = arg('Session id; empty: the newest open session.', default=None)
    reason: str = arg('Reason, stored in the audit trail.', default='', max_length=2000)


@dataclass(frozen=True)
class ClearSessionResponse:
    """Response of clear_session."""

    cleared: bool = arg('Whether the session has no active memories left.')
    count: int = arg('Number of memories soft-deleted.')
    session_id: str = arg('Session id.')
    kept: int | None = arg(
        'Number of memories that were kept: they stand on a higher authority.',
        default=None,
        omitted=True,
    )


@tool(destructive=True, sage=True)
def clear_session(memory: Memory, request: ClearSessionRequest) -> ClearSessionResponse:
    """
    Soft-delete all memories of a session: turns, facts and perceptions.

    Rows and their audit trail are kept; list them with query_records and {"status":
    "invalidated"}.
    """
    session, count, kept = soft_delete_session(memory, request.session_id, request.reason.strip())
    return ClearSessionResponse(not kept, count, session.id, kept or None)
