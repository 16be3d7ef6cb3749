"""Forget a memory softly."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import arg
from robot_memory.core.json_text import format_value
from robot_memory.lifecycle.soft_delete import soft_delete
from robot_memory.memory import Memory
from robot_memory.tool import tool


@dataclass(frozen=True)
class ForgetRequest:
    """Request of forget."""

    memory_id: int = arg('Memory to soft-delete.', minimum=1)
    reason: str = arg('Reason, stored in the audit trail.', max_length=2000)


@dataclass(frozen=True)
class ForgetResponse:
    """Response of clear_session."""

    status: str = arg('Always forgotten.')
    memory_id: int = arg('Memory id.')
    content: str = arg('Text of the memory.')
    reason: str = arg('Reason, as stored.')


@tool(destructive=True, core=True, planner=False)
def forget(memory: Memory, request: ForgetRequest) -> ForgetResponse:
    """
    Soft-delete a memory; the row and its audit trail are kept.

    Call it if a memory is wrong and nothing replaces it; else call update.

    The trail records actor, time and reason; query_records with {"status": "invalidated"}
    returns it.
    """
    reason = request.reason.strip()
    if not reason:
        raise InvalidArgument(
            f'reason is empty ({format_value(request.reason)}); it is required for the audit trail'
        )
    record = soft_delete(memory, request.memory_id, reason)
    return ForgetResponse('forgotten', record.id, record.content, reason)
