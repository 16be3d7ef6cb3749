"""Undo a change of a memory."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.core.fields import arg
from robot_memory.lifecycle.undo import undo as undo_change
from robot_memory.memory import Memory
from robot_memory.tool import tool


@dataclass(frozen=True)
class UndoRequest:
    """Request of undo."""

    memory_id: int = arg('Memory whose newest change is undone.', minimum=1)
    reason: str = arg('Reason, stored in the audit trail.', default='', max_length=2000)
    line: int = arg(
        'Audit line of the change that is meant, from history; 0: the newest.',
        default=0,
        minimum=0,
    )


@dataclass(frozen=True)
class UndoResponse:
    """Response of undo."""

    status: str = arg('Always undone.')
    memory_id: int = arg('Memory id.')
    line: int = arg('Audit line that was undone.')
    action: str = arg('Action that was undone: update, invalidated, superseded or reclassify.')
    old_content: str = arg('Text of the memory before undo.')
    new_content: str = arg('Text of the memory now.')
    memory_status: str = arg('Status of the memory now: active, invalidated or superseded.')


@tool(destructive=True)
def undo(memory: Memory, request: UndoRequest) -> UndoResponse:
    """
    Undo the newest change of a memory: a forget, an update or a merge.

    Called again, it undoes the change before. Where something written later rests on the change,
    the call is a conflict that names it.
    """
    undone = undo_change(memory, request.memory_id, request.reason.strip(), request.line or None)
    return UndoResponse(
        'undone',
        undone.new.id,
        undone.line.id,
        undone.line.action,
        undone.old.content,
        undone.new.content,
        undone.new.status,
    )
