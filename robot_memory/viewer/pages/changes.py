"""Changes by operators: update, forget, undo, erase; each is previewed before it is made."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from robot_memory.core.errors import Conflict, InvalidArgument
from robot_memory.viewer.middleware import read_form, require_operator
from robot_memory.viewer.pages.memory import find_memory
from robot_memory.viewer.rendering import render
from robot_memory.viewer.site import get_site, get_visitor

ACTIONS = ('update', 'forget', 'undo', 'erase')
DECISIONS = ('accept', 'reject', 'confirm')


async def ask_change(request: Request) -> Response:
    """Return the form of a change, beside the text that it changes."""
    visitor = get_visitor(request)
    memory_id, action = _read_path(request)
    if not visitor.may_change:
        raise Conflict("changes require the role operator: sign in with an operator's token")
    found = await find_memory(request, memory_id)
    return render(
        request,
        'change.html',
        action=action,
        memory_id=memory_id,
        content=found.memory.content,
        preview=None,
        reason='',
    )


async def make_change(request: Request) -> Response:
    """Make a change that an operator's form asks for, and go to the memory's page."""
    site, visitor = get_site(request), get_visitor(request)
    memory_id, action = _read_path(request)
    form = await read_form(request)
    require_operator(visitor, form)
    if action == 'erase':
        return await _erase(request, memory_id, form)
    arguments: dict[str, Any] = {'memory_id': memory_id, 'reason': form.get('reason', '')}
    if action == 'update':
        arguments = {'memory_id': memory_id, 'new_content': form.get('new_content', '')}
    await site.calls.ask(visitor.writer, action, **arguments)
    return RedirectResponse(f'/memories/{memory_id}', 303)


async def _erase(request: Request, memory_id: int, form: dict[str, str]) -> Response:
    """Return what an erasure would erase; with the token of that preview, erase it."""
    site, visitor = get_site(request), get_visitor(request)
    reason, token = form.get('reason', ''), form.get('token', '')
    if token:
        answer = await site.calls.ask(visitor.writer, 'erase', token=token, reason=reason)
        return render(request, 'erased.html', memory_id=memory_id, answer=answer)
    found = await find_memory(request, memory_id)
    preview = await site.calls.ask(visitor.writer, 'erase', memory_ids=[memory_id], reason=reason)
    return render(
        request,
        'change.html',
        action='erase',
        memory_id=memory_id,
        content=found.memory.content,
        preview=preview,
        reason=reason,
    )


async def decide(request: Request) -> Response:
    """Accept or reject a proposal, or confirm a change of a rule, as an operator's form says."""
    site, visitor = get_site(request), get_visitor(request)
    form = await read_form(request)
    require_operator(visitor, form)
    decision = form.get('decision', '')
    if decision not in DECISIONS:
        raise InvalidArgument(f'decision must be one of {", ".join(DECISIONS)}')
    await site.calls.ask(visitor.writer, 'review', **{decision: form.get('id', '')})
    return RedirectResponse('/rules', 303)


def _read_path(request: Request) -> tuple[int, str]:
    action = request.path_params['action']
    if action not in ACTIONS:
        raise InvalidArgument(f'action must be one of {", ".join(ACTIONS)}')
    return int(request.path_params['memory_id']), action
