"""Who may come in: token, Host and Origin of each request, before anything reads it."""

from __future__ import annotations

import ipaddress
import logging
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value
from robot_memory.http.faces import MCP, Face
from robot_memory.http.log_limits import RepeatCount
from robot_memory.http.principals import Principal, find_principal

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
PRINCIPAL = 'robot_memory.principal'
"""Key of a request's scope: whom its token authenticates, or None."""
OPEN_PATHS = ('/health',)
"""What is answered without the token: a watchdog need not hold a secret."""

_AUTHORITY = re.compile(r'(\[[0-9a-f:.%]+\]|[^\[\]:/@?#\s]+)(?::\d{0,5})?', re.IGNORECASE)
_NAME = re.compile(r'[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?', re.IGNORECASE)
_LOCAL = ('localhost', '127.0.0.1', '::1')
logger = logging.getLogger(__name__)


def parse_address(host: str, face: Face = MCP) -> Address:
    """Return the address that a host names; raise InvalidArgument for what is none."""
    try:
        return ipaddress.ip_address('127.0.0.1' if host == 'localhost' else host)
    except ValueError:
        raise InvalidArgument(
            f'{face.prefix}_host must be localhost or an address (127.0.0.1, ::1; with a token '
            f'also a network address, 0.0.0.0 or ::), not {format_value(host)}'
        ) from None


@dataclass(frozen=True)
class AccessControl:
    """
    Say whether a request may come in.

    A web page must not reach the memory through a name of its own that points here, so a Host is
    this machine's: a name that `names` has, or an address, which no one can point elsewhere. An
    Origin is one of those names, or the very Host that was asked.
    """

    address: Address
    principals: tuple[Principal, ...] | None
    names: frozenset[str]
    face: Face = MCP

    @classmethod
    def create(
        cls,
        address: Address,
        principals: tuple[Principal, ...] | None,
        allowed: Iterable[str],
        face: Face = MCP,
    ) -> AccessControl:
        """Create it; raise InvalidArgument for an address that is not safe with so little."""
        if not address.is_loopback and principals is None:
            raise InvalidArgument(
                f'{face.prefix}_host {address} is reachable from other machines and requires a '
                'token: set mcp_token_file or ROBOT_MEMORY_TOKEN, or use 127.0.0.1'
            )
        names = {*_LOCAL, str(address)}
        for name in filter(None, allowed):
            if not (_NAME.fullmatch(name) or _is_address(name)):
                raise InvalidArgument(
                    f'{face.prefix}_allowed_hosts must contain host names or addresses without '
                    f'port and scheme (robot7.local), not {format_value(name)}'
                )
            names.add(name.lower())
        if not address.is_loopback:
            own = socket.gethostname().lower()
            names |= {own, own.partition('.')[0]} - {''}
        return cls(address, principals, frozenset(names), face)

    def check_source(self, headers: Headers) -> Response | None:
        """Return the answer to a request of a foreign Host or Origin, None for any other."""
        host = _parse_host(_get_single(headers, 'host'))
        if host is None or not self._is_here(host):
            return make_refusal(
                421,
                'misdirected',
                f'Host {format_value(headers.get("host", ""))} is not accepted; use the '
                f"server's address, or add the name to {self.face.prefix}_allowed_hosts",
            )
        origin = headers.getlist('origin')
        if origin and not self._is_ours(_get_single(headers, 'origin'), host):
            return make_refusal(
                403,
                'forbidden',
                f'requests from web pages of {format_value(origin[0])} are rejected; add a '
                f'trusted host to {self.face.prefix}_allowed_hosts',
            )
        return None

    def check_request(self, path: str, headers: Headers) -> Response | None:
        """Return the answer to a request that may not come in, None for one that may."""
        refusal = self.check_source(headers)
        if refusal is not None:
            return refusal
        if self.principals is None or path in OPEN_PATHS or self.find_principal(headers):
            return None
        return make_refusal(
            401,
            'unauthorized',
            'send the header "Authorization: Bearer TOKEN" with the server\'s token '
            '(mcp_token_file or ROBOT_MEMORY_TOKEN)',
            {'WWW-Authenticate': 'Bearer'},
        )

    def find_principal(self, headers: Headers) -> Principal | None:
        """Return whom the token of a request authenticates."""
        scheme, _, given = (_get_single(headers, 'authorization') or '').partition(' ')
        if scheme.lower() != 'bearer':
            return None
        return find_principal(self.principals or (), given.strip().encode('latin-1'))

    def _is_here(self, host: str) -> bool:
        if host in self.names:
            return True
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        return address.is_loopback or not self.address.is_loopback

    def _is_ours(self, origin: str | None, host: str) -> bool:
        scheme, separator, authority = (origin or '').partition('://')
        name = _parse_host(authority)
        return (
            scheme.lower() in ('http', 'https')
            and bool(separator)
            and name is not None
            and (name in self.names or name == host)
        )


class AccessMiddleware:
    """ASGI middleware: pass on what access control allows, answer the rest unread."""

    def __init__(self, app: ASGIApp, access: AccessControl) -> None:
        """Stand before an application."""
        self._app = app
        self._access = access
        self._refused = RepeatCount()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope['type'] == 'http':
            refusal = self._access.check_request(scope['path'], Headers(scope=scope))
            if refusal is not None:
                self._note(scope, refusal.status_code)
                await refusal(scope, receive, send)
                return
            scope[PRINCIPAL] = self._access.find_principal(Headers(scope=scope))
        await self._app(scope, receive, send)

    def _note(self, scope: Scope, status: int) -> None:
        """Log the first refusal, the second, the fourth, ...: no one fills the disk by asking."""
        if self._refused.add():
            who = (scope.get('client') or ('unknown',))[0]
            logger.warning(
                'rejected with %d: %s from %s; %d rejected so far',
                status,
                format_value(scope['path']),
                who,
                self._refused.number,
            )


def make_refusal(
    status: int, code: str, message: str, headers: dict[str, str] | None = None
) -> Response:
    """Return an answer that says in JSON why a request is refused, and ends the connection."""
    body = {'error': {'code': code, 'message': message}}
    return JSONResponse(body, status, {**(headers or {}), 'Connection': 'close'})


def _get_single(headers: Headers, name: str) -> str | None:
    """Return the value of a header that is there once."""
    values = headers.getlist(name)
    return values[0] if len(values) == 1 else None


def _parse_host(authority: str | None) -> str | None:
    """Return the name or address of `host:port`, in small letters; None for what is neither."""
    match = _AUTHORITY.fullmatch(authority or '')
    return match[1].strip('[]').lower() if match else None


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
