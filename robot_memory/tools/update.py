"""Give a memory new text."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.core.fields import Json, arg
from robot_memory.lifecycle import facts
from robot_memory.memory import Memory
from robot_memory.tool import tool
from robot_memory.tools.learn import Inferred, view_inferred


@dataclass(frozen=True)
class UpdateRequest:
    """Request of update."""

    memory_id: int = arg('Memory to change.', minimum=1)
    new_content: str = arg('New text, 1 to 300 characters.')
    context: Json | None = arg(
        'New context as JSON; empty keeps the stored one.', default=None, shape='object'
    )


@dataclass(frozen=True)
class UpdateResponse:
    """Response of update."""

    status: str = arg('Always updated.')
    memory_id: int = arg('Memory id.')
    old_content: str = arg('Text of the memory.')
    new_content: str = arg('New text.')
    auto_inferred: Inferred = arg('Attributes inferred from the new text.')
    truncated: bool | None = arg(
        'True if the text was truncated to 300 characters.', default=None, omitted=True
    )
    truncated_characters: int | None = arg(
        'Number of characters removed.', default=None, omitted=True
    )


@tool(destructive=True, idempotent=True, core=True, planner=False)
def update(memory: Memory, request: UpdateRequest) -> UpdateResponse:
    """
    Replace the text of a memory; category, tags and vector are recomputed.

    Call it if a memory is wrong or out of date.

    The old text is kept in the audit trail, and decay restarts.
    """
    updated = facts.update(memory, request.memory_id, request.new_content, request.context or {})
    return UpdateResponse(
        'updated',
        updated.old.id,
        updated.old.content,
        updated.new.content,
        view_inferred(updated.inferred),
        truncated=True if updated.truncated else None,
        truncated_characters=updated.truncated or None,
    )
