"""The application: addresses, pages, and how a failure is told."""

from __future__ import annotations

import logging
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from robot_memory.core.errors import (
    Conflict,
    InvalidArgument,
    NotFound,
    RobotMemoryError,
    Unavailable,
)
from robot_memory.viewer.middleware import SecurityMiddleware
from robot_memory.viewer.pages import (
    changes,
    health,
    lists,
    memory,
    search,
    sign_in,
    taps,
    timeline,
)
from robot_memory.viewer.rendering import render
from robot_memory.viewer.site import Site, get_site

_STATUS: tuple[tuple[type[RobotMemoryError], HTTPStatus], ...] = (
    (memory.Gone, HTTPStatus.GONE),
    (NotFound, HTTPStatus.NOT_FOUND),
    (InvalidArgument, HTTPStatus.BAD_REQUEST),
    (Conflict, HTTPStatus.CONFLICT),
    (Unavailable, HTTPStatus.SERVICE_UNAVAILABLE),
)
_CHANGES = ('POST',)
logger = logging.getLogger(__name__)


def build_app(site: Site) -> Starlette:
    """Return the application of a site."""
    app = Starlette(
        routes=[
            Route('/', timeline.show_timeline),
            Route('/search', search.show_search),
            Route('/memories/{memory_id:int}', memory.show_memory),
            Route('/memories/{memory_id:int}/text', memory.send_text),
            Route('/memories/{memory_id:int}/parts/{name}', memory.send_part),
            Route('/memories/{memory_id:int}/{action}', changes.ask_change),
            Route('/memories/{memory_id:int}/{action}', changes.make_change, methods=_CHANGES),
            Route('/rules', lists.show_rules),
            Route('/rules', changes.decide, methods=_CHANGES),
            Route('/skills', lists.list_skills),
            Route('/skills/{skill:path}', lists.show_skill),
            Route('/sessions', lists.list_sessions),
            Route('/people', lists.list_people),
            Route('/taps', taps.show_taps),
            Route('/health', health.show_health),
            Route('/sign-in', sign_in.show_sign_in),
            Route('/sign-in', sign_in.sign_in, methods=_CHANGES),
            Route('/sign-out', sign_in.sign_out, methods=_CHANGES),
            Route('/news', send_news),
            # A build that links to its sources has links here.
            Mount(
                '/static',
                StaticFiles(packages=[('robot_memory.viewer', 'static')], follow_symlink=True),
            ),
        ],
        middleware=[Middleware(SecurityMiddleware, site.access, site.sessions)],
        exception_handlers={
            RobotMemoryError: _tell_failure,
            HTTPException: _tell_missing,
            Exception: _tell_fault,
        },
    )
    app.state.site = site
    return app


async def send_news(request: Request) -> Response:
    """Stream what is kept, changed or erased from now on, as Server-Sent Events."""
    try:
        stream = await get_site(request).streams.begin(request.headers.get('last-event-id', ''))
    except Unavailable as error:
        return PlainTextResponse(str(error), 503, {'Retry-After': '60'})
    return StreamingResponse(stream, media_type='text/event-stream')


async def _tell_failure(request: Request, error: Exception) -> Response:
    """Return a page that says what was wrong."""
    status = next(
        (status for kind, status in _STATUS if isinstance(error, kind)),
        HTTPStatus.INTERNAL_SERVER_ERROR,
    )
    return render(request, 'failure.html', status, failure=status, message=str(error))


async def _tell_fault(request: Request, error: Exception) -> Response:
    """Return a page for a fault of our own, and log where it is."""
    logger.error('%s failed', request.url.path, exc_info=error)
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    message = 'The viewer failed at this page; its log says where.'
    return render(request, 'failure.html', status, failure=status, message=message)


async def _tell_missing(request: Request, error: Exception) -> Response:
    status = HTTPStatus(error.status_code if isinstance(error, HTTPException) else 500)
    return render(request, 'failure.html', status, failure=status, message=status.description)
