"""What stands before every page: Host, Origin, visitor, CSRF token, and the headers of answers."""

from __future__ import annotations

import hmac
from collections.abc import MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from robot_memory.core.errors import Conflict, InvalidArgument
from robot_memory.http.access_control import AccessControl, make_refusal
from robot_memory.viewer.visitors import COOKIE, Sessions, Visitor, make_visitor

VISITOR = 'robot_memory.visitor'
OPEN_PATHS = ('/sign-in', '/static/')
"""What is answered to whom has not signed in; none of it tells what is remembered."""
MAX_FORM = 100_000
"""Bytes of a form."""
HEADERS = {
    'Content-Security-Policy': (
        "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
}


class SecurityMiddleware:
    """ASGI middleware: let visitors in, and add to every answer what browsers must enforce."""

    def __init__(self, app: ASGIApp, access: AccessControl, sessions: Sessions) -> None:
        """Stand before an application."""
        self._app = app
        self._access = access
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it in words."""
        if scope['type'] != 'http':
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message['type'] == 'http.response.start':
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault('Cache-Control', 'no-store')
            await send(message)

        answer = self._check(scope)
        await (answer or self._app)(scope, receive, send_with_headers)

    def _check(self, scope: Scope) -> Response | None:
        """Return the answer to a request that is not passed on."""
        headers = Headers(scope=scope)
        refusal = self._access.check_source(headers)
        if refusal is not None:
            return refusal
        changes = scope['method'] not in ('GET', 'HEAD')
        if changes and 'origin' not in headers:
            return make_refusal(
                403,
                'forbidden',
                'a form must be sent by a page of this viewer, with the header Origin; for '
                'programs there are MCP, ROS services and the command line',
            )
        visitor = self._find_visitor(headers)
        if visitor is None and not scope['path'].startswith(OPEN_PATHS):
            return _ask_to_sign_in(scope, headers)
        scope[VISITOR] = visitor
        return None

    def _find_visitor(self, headers: Headers) -> Visitor | None:
        if self._access.principals is None:
            return make_visitor(None)
        principal = self._access.find_principal(headers)
        if principal is not None:
            return make_visitor(principal)
        return self._sessions.find(read_cookie(headers, COOKIE))


def read_cookie(headers: MutableMapping[str, str] | Headers, name: str) -> str:
    """Return the value of a cookie; empty: there is none."""
    try:
        found = SimpleCookie(headers.get('cookie', '')).get(name)
    except CookieError:
        return ''
    return '' if found is None else found.value


def _ask_to_sign_in(scope: Scope, headers: Headers) -> Response:
    if 'text/html' in headers.get('accept', '') and scope['method'] == 'GET':
        wanted = scope['path']
        if scope['query_string']:
            wanted += '?' + scope['query_string'].decode('latin-1')
        return RedirectResponse(f'/sign-in?next={quote(wanted, safe="")}', 303)
    return make_refusal(
        401,
        'unauthorized',
        'sign in at /sign-in, or send the header "Authorization: Bearer TOKEN"',
        {'WWW-Authenticate': 'Bearer'},
    )


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form; raise InvalidArgument for one that is too long or none."""
    kind = request.headers.get('content-type', '').partition(';')[0].strip().lower()
    if kind != 'application/x-www-form-urlencoded':
        raise InvalidArgument(
            f'a form must be application/x-www-form-urlencoded, not {kind or "untyped"}'
        )
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_FORM:
            raise InvalidArgument(f'a form must have at most {MAX_FORM} bytes')
    return dict(parse_qsl(body.decode('utf-8', 'replace'), keep_blank_values=True))


def require_operator(visitor: Visitor, form: dict[str, Any]) -> None:
    """Raise Conflict where a form was not sent by an operator from a page of this session."""
    if not visitor.may_change:
        raise Conflict(
            "changes require the role operator: sign in with an operator's token; nothing was "
            'changed'
        )
    if not hmac.compare_digest(form.get('csrf', '').encode(), visitor.csrf.encode()):
        raise Conflict(
            'the form is of another session, or its CSRF token is missing: open the page anew; '
            'nothing was changed'
        )
