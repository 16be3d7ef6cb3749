"""Begin an episode."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.core.fields import Json, arg, collection_arg
from robot_memory.lifecycle import sessions
from robot_memory.memory import Memory
from robot_memory.tool import tool


@dataclass(frozen=True)
class StartSessionRequest:
    """Request of start_session."""

    collection: str = collection_arg('Collection.')
    context: Json | None = arg(
        'Context that its memories inherit: robot, env, task.',
        default=None,
        shape='object',
    )
    title: str = arg('Title of the session.', default='', max_length=200)
    tags: tuple[str, ...] = arg('Tags to find it by.', default=(), max_length=100)


@dataclass(frozen=True)
class StartSessionResponse:
    """Response of start_session."""

    session_id: str = arg('Session id for learn, save_perception, recall and end_session.')
    collection: str = arg('Collection of the session.')
    active_memories_count: int = arg('Number of active memories in the collection.')


@tool(core=True)
def start_session(memory: Memory, request: StartSessionRequest) -> StartSessionResponse:
    """
    Start a new session.

    Call it before a task, and pass session_id to the calls in between.
    """
    session, active = sessions.start_session(
        memory, request.collection, request.context or {}, request.title, request.tags
    )
    return StartSessionResponse(session.id, session.collection, active)
