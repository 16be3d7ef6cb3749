"""Forget a memory softly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import arg, collection_arg
from robot_memory.core.json_text import format_value
from robot_memory.core.records import Record
from robot_memory.lifecycle import described
from robot_memory.lifecycle.soft_delete import soft_delete
from robot_memory.memory import Memory
from robot_memory.retrieval.described import find_described
from robot_memory.tool import tool


@dataclass(frozen=True)
class ForgetRequest:
    """Request of forget."""

    memory_id: int = arg('Memory to soft-delete; 0: by description.', minimum=0)
    reason: str = arg('Reason, stored in the audit trail.', max_length=2000)
    description: str = arg(
        'What the memory says; only previewed: a token confirms it.', default='', max_length=1000
    )
    token: str = arg('Token of a preview, whose reason is repeated.', default='', max_length=100)
    collection: str = collection_arg('Collection to look in for a description.')


@dataclass(frozen=True)
class MeantView:
    """One memory that a description may mean."""

    memory_id: int = arg('Memory id.')
    content: str = arg('Text of the memory.')


@dataclass(frozen=True)
class ForgetResponse:
    """Response of forget."""

    status: str = arg('forgotten, or preview where a description was given.')
    memory_id: int = arg('Memory id.')
    content: str = arg('Text of the memory.')
    reason: str = arg('Reason, as stored.')
    token: str | None = arg(
        'Confirms this preview, once, for 10 minutes.', default=None, omitted=True
    )
    others: tuple[MeantView, ...] | None = arg(
        'Other memories that the description may mean: pass the id of one.',
        default=None,
        omitted=True,
    )


def require_reason(given: str) -> str:
    """Return a reason without spaces around it; raise InvalidArgument where it is empty."""
    reason = given.strip()
    if not reason:
        raise InvalidArgument(
            f'reason is empty ({format_value(given)}); it is required for the audit trail'
        )
    return reason


def is_preview(action: str, memory_id: int, description: str, token: str) -> bool:
    """Say whether a memory is described, not named; raise InvalidArgument where neither is."""
    if description.strip() and (memory_id or token):
        raise InvalidArgument(
            f'description stands alone: with memory_id {memory_id} or a token, {action} needs none'
        )
    if not (memory_id or description.strip() or token):
        raise InvalidArgument(
            f'memory_id must be at least 1, not {memory_id}; or pass a description of the memory'
        )
    return bool(description.strip())


def view_meant(records: Sequence[Record]) -> tuple[MeantView, ...] | None:
    """Return the other memories that a description may mean."""
    return tuple(MeantView(one.id, one.content) for one in records) or None


@tool(destructive=True, core=True, planner=False, frees_space=True)
def forget(memory: Memory, request: ForgetRequest) -> ForgetResponse:
    """
    Soft-delete a memory; the row and its audit trail are kept.

    Call it if a memory is wrong and nothing replaces it; else call update.

    The trail records actor, time and reason; query_records with {"status": "invalidated"}
    returns it. With a description in place of memory_id (0), the answer is a preview with the
    likeliest memory, and nothing is changed until its token is passed.
    """
    reason = require_reason(request.reason)
    if is_preview('forget', request.memory_id, request.description, request.token):
        meant, *others = find_described(memory, request.description, request.collection)
        token = described.preview(memory, 'forget', meant.id, reason)
        return ForgetResponse(
            'preview', meant.id, meant.content, reason, token, view_meant(others)
        )
    record = soft_delete(memory, request.memory_id, reason, request.token)
    return ForgetResponse('forgotten', record.id, record.content, reason)
