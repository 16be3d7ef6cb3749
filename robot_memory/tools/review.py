"""Decide what others asked to change, and confirm what others changed."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.core.clock import format_instant
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import arg
from robot_memory.core.records import describe_writer
from robot_memory.lifecycle import review as lifecycle
from robot_memory.memory import Memory
from robot_memory.storage.tables import memories, proposals, protected_changes
from robot_memory.tool import tool

_LISTED = 100


@dataclass(frozen=True)
class ReviewRequest:
    """Request of review."""

    accept: int | None = arg('Proposal to carry out.', default=None, minimum=1)
    reject: int | None = arg('Proposal to reject.', default=None, minimum=1)
    confirm: int | None = arg(
        'Protected memory whose changes by others are right.', default=None, minimum=1
    )


@dataclass(frozen=True)
class ProposalView:
    """A change that a lower authority asked for."""

    proposal_id: int = arg('Proposal id.')
    memory_id: int = arg('Memory that would change.')
    action: str = arg('update, forget or replace.')
    content: str = arg('Text of the memory.')
    authority: str = arg('Authority that the memory stands on.')
    new_content: str | None = arg('New text, of replace that of replacing_id; null for forget.')
    reason: str = arg('Reason that was given.')
    proposed_by: str = arg('Who asked for it.')
    at: str = arg('When it was asked for, UTC, ISO 8601.', typed='instant')
    replacing_id: int | None = arg(
        'Memory that would replace it; both stay active.', default=None, omitted=True
    )


@dataclass(frozen=True)
class ProtectedChangeView:
    """A change of a protected memory that no operator has confirmed."""

    memory_id: int = arg('Memory that was changed.')
    action: str = arg('update, invalidated, superseded, reclassify or undo.')
    old_content: str = arg('Text of the memory before.')
    changed_by: str = arg('Who changed it.')
    at: str = arg('When it was changed, UTC, ISO 8601.', typed='instant')


@dataclass(frozen=True)
class ReviewResponse:
    """Response of review."""

    decided: str = arg('What was decided: accepted, rejected, confirmed or nothing.')
    proposals: tuple[ProposalView, ...] = arg('Open proposals, oldest first.')
    changes: tuple[ProtectedChangeView, ...] = arg('Unconfirmed changes, newest first.')


@tool(operator=True)
def review(memory: Memory, request: ReviewRequest) -> ReviewResponse:
    """
    List proposals and unconfirmed changes of rules; accept, reject or confirm one.

    A call of lower authority that would change a memory of higher authority is stored as a
    proposal. Only an operator can call this.
    """
    given = [request.accept, request.reject, request.confirm]
    if sum(value is not None for value in given) > 1:
        raise InvalidArgument('pass only one of accept, reject and confirm')
    decided = 'nothing'
    if request.accept is not None:
        lifecycle.accept_proposal(memory, request.accept)
        decided = 'accepted'
    elif request.reject is not None:
        lifecycle.reject_proposal(memory, request.reject)
        decided = 'rejected'
    elif request.confirm is not None:
        lifecycle.confirm_changes(memory, request.confirm)
        decided = 'confirmed'
    with memory.db.read() as connection:
        waiting = proposals.list_open(connection, _LISTED)
        records = memories.get(connection, {one.memory_id for one in waiting})
        changes = protected_changes.list_unconfirmed(connection, None, _LISTED)
    return ReviewResponse(
        decided,
        tuple(
            ProposalView(
                one.id,
                one.memory_id,
                one.action,
                records[one.memory_id].content,
                records[one.memory_id].authority,
                one.content,
                one.reason,
                describe_writer(one.writer),
                format_instant(one.at),
                one.replacing_id,
            )
            for one in waiting
        ),
        tuple(
            ProtectedChangeView(
                one.memory_id,
                one.action,
                one.content,
                describe_writer(one.writer),
                format_instant(one.at),
            )
            for one in changes
        ),
    )
