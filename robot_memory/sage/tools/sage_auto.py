"""Hooks for an agent's loop: what to know before a turn, and whether to save after it."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import arg, collection_arg
from robot_memory.lifecycle import conversations
from robot_memory.memory import Memory
from robot_memory.storage.tables import sessions, turns
from robot_memory.tool import tool
from robot_memory.tools.get_context import get_context

ACTIONS = ('inject_context', 'check_save')


@dataclass(frozen=True)
class SageAutoRequest:
    """Request of sage_auto."""

    action: str = arg('Hook to run.', choices=ACTIONS)
    user_input: str = arg(
        'User input of the turn; required by inject_context.', default='', max_length=10_000
    )
    limit: int = arg('Maximum number of memories.', default=5, minimum=1, maximum=50)
    collection: str = collection_arg('Collection to read from.')


@dataclass(frozen=True)
class SageAutoResponse:
    """Response of sage_auto."""

    action: str = arg('Hook that was run.')
    context: str | None = arg(
        'Text to insert before the prompt; empty while automatic mode is off.',
        default=None,
        omitted=True,
    )
    num_results: int | None = arg('Number of memories in the context.', default=None, omitted=True)
    should_save: bool | None = arg(
        'Whether to call sage_memory with action save.', default=None, omitted=True
    )
    reason: str | None = arg('Reason for should_save.', default=None, omitted=True)
    turns: int | None = arg('Number of turns in the open session.', default=None, omitted=True)


@tool(read_only=True, idempotent=True, ros=False, sage=True)
def sage_auto(memory: Memory, request: SageAutoRequest) -> SageAutoResponse:
    """
    Run an agent hook: inject_context before a turn, check_save after it.

    `/mode off` disables both hooks, `/mode on` enables them.
    """
    with memory.db.read() as connection:
        is_on = conversations.is_auto_save_on(memory, connection)
        session = sessions.find_open(connection)
        said = 0 if session is None else turns.count(connection, session.id)
    off = 'automatic mode is off; enable it with /mode on'
    if request.action == 'check_save':
        if not is_on:
            answer = False, off
        elif session is None or not said:
            answer = False, 'the open session has no turns yet'
        elif session.saved_at is not None:
            answer = False, f'session {session.id} is already saved'
        else:
            answer = True, f'session {session.id} has {said} unsaved turns'
        return SageAutoResponse(
            request.action, should_save=answer[0], reason=answer[1], turns=said
        )
    if not request.user_input.strip():
        raise InvalidArgument("user_input is empty; inject_context requires the user's input")
    if not is_on:
        return SageAutoResponse(request.action, context='', num_results=0, reason=off)
    arguments = {
        'query': request.user_input,
        'max_results': request.limit,
        'collection': request.collection,
    }
    found = get_context.run(memory, arguments)
    return SageAutoResponse(request.action, context=found.context, num_results=found.num_results)
