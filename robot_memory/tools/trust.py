"""List and confirm memories from before authorities were recorded."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.core.authority import AUTHORITIES
from robot_memory.core.clock import format_instant
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import arg
from robot_memory.core.json_text import format_value
from robot_memory.core.memory_ids import read_memory_id
from robot_memory.lifecycle.review import confirm_standing
from robot_memory.memory import Memory
from robot_memory.storage.tables import standing
from robot_memory.tool import tool


@dataclass(frozen=True)
class TrustRequest:
    """Request of trust."""

    action: str = arg('Action.', choices=('review',))
    confirm: str | None = arg('Memory id to confirm, or all.', default=None, max_length=20)
    authority: str = arg(
        'Authority that the confirmed memories get.', default='planner', choices=AUTHORITIES
    )
    limit: int = arg('Maximum number of memories listed.', default=20, minimum=1, maximum=1000)


@dataclass(frozen=True)
class StandingMemoryView:
    """A memory from before authorities were recorded."""

    memory_id: int = arg('Memory id.')
    content: str = arg('Text of the memory.')
    type: str = arg('fact, perception or turn.')
    category: str = arg('One of the 11 categories.')
    collection: str = arg('Collection of the memory.')
    created_at: str = arg('Creation time, UTC, ISO 8601.', typed='instant')


@dataclass(frozen=True)
class TrustResponse:
    """Response of trust."""

    confirmed: int = arg('Number of memories confirmed by this call.')
    total: int = arg('Number of memories that are not confirmed.')
    memories: tuple[StandingMemoryView, ...] = arg('Memories not confirmed, facts first.')


@tool(operator=True)
def trust(memory: Memory, request: TrustRequest) -> TrustResponse:
    """
    List memories from before authorities were recorded, or confirm one or all of them.

    Until then they count as a planner's. Only an operator can call this.
    """
    confirmed = 0
    if request.confirm is not None:
        one = read_memory_id(request.confirm)
        if one is None and request.confirm.lower() != 'all':
            raise InvalidArgument(
                f'confirm must be a memory id or all, not {format_value(request.confirm)}'
            )
        confirmed = confirm_standing(memory, one, request.authority)
    with memory.db.read() as connection:
        total, listed = standing.list_standing(connection, request.limit)
    return TrustResponse(
        confirmed,
        total,
        tuple(
            StandingMemoryView(
                record.id,
                record.content,
                record.type,
                record.category,
                record.collection,
                format_instant(record.created_at),
            )
            for record in listed
        ),
    )
