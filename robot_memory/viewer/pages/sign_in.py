"""Signing in: a token becomes a cookie that no script reads."""

from __future__ import annotations

import logging

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from robot_memory.http.log_limits import RepeatCount
from robot_memory.http.principals import find_principal
from robot_memory.viewer.middleware import read_cookie, read_form
from robot_memory.viewer.rendering import render
from robot_memory.viewer.site import get_site
from robot_memory.viewer.visitors import COOKIE

logger = logging.getLogger(__name__)
_rejected = RepeatCount()


async def show_sign_in(request: Request) -> Response:
    """Return the form that takes a token."""
    return render(request, 'sign_in.html', wanted=_check_next(request), failed=False)


async def sign_in(request: Request) -> Response:
    """Begin a session for a token that is known, and go on to the page that was asked for."""
    site = get_site(request)
    form = await read_form(request)
    token = form.get('token', '').strip().encode('utf-8', 'replace')
    principal = find_principal(site.access.principals or (), token)
    if principal is None:
        if _rejected.add():
            logger.warning('rejected a token at /sign-in; %d rejected so far', _rejected.number)
        return render(request, 'sign_in.html', 401, wanted=_check_next(request), failed=True)
    answer = RedirectResponse(_check_next(request), 303)
    answer.set_cookie(
        COOKIE,
        site.sessions.begin(principal),
        httponly=True,
        samesite='strict',
        secure=site.is_secure,
    )
    return answer


async def sign_out(request: Request) -> Response:
    """End the session."""
    get_site(request).sessions.end(read_cookie(request.headers, COOKIE))
    answer = RedirectResponse('/sign-in', 303)
    answer.delete_cookie(COOKIE, httponly=True, samesite='strict')
    return answer


def _check_next(request: Request) -> str:
    """Return the page to go on to: one of this site, whatever the address says."""
    wanted = request.query_params.get('next', '/')
    is_own = wanted.startswith('/') and not wanted.startswith(('//', '/\\'))
    return wanted if is_own and wanted.isprintable() else '/'
