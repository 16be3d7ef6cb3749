"""Search: as recall answers, with why each memory was found."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from robot_memory.core.errors import InvalidArgument
from robot_memory.viewer.rendering import render
from robot_memory.viewer.site import get_site, get_visitor

MOST = 20


async def show_search(request: Request) -> Response:
    """Return what recall answers to a question, and the parts of each score."""
    asked = request.query_params
    site, who = get_site(request), get_visitor(request).writer
    question = asked.get('q', '').strip()
    given = {
        'q': question,
        'collection': asked.get('collection', '').strip() or 'default',
        'session': asked.get('session', '').strip(),
    }
    refused, answer = '', None
    if question:
        arguments: dict[str, Any] = {
            'query': question,
            'collection': given['collection'],
            'n': MOST,
            **({'session_id': given['session']} if given['session'] else {}),
        }
        try:
            answer = await site.calls.ask(who, 'explain_recall', **arguments)
        except InvalidArgument as error:
            refused = str(error)
    return render(
        request,
        'search.html',
        400 if refused else 200,
        given=given,
        answer=answer,
        refused=refused,
    )
