"""Streamable HTTP: a web server in a thread of its own, on the loopback only."""

from __future__ import annotations

import errno
import ipaddress
import socket
import threading

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.routing import Route

from robot_memory.errors import InvalidArgument, Unavailable
from robot_memory.json_text import MAX_JSON_CHARACTERS, shown
from robot_memory.mcp_server.server import build_server
from robot_memory.memory import Memory

_MAX_BODY = MAX_JSON_CHARACTERS + 4_000_000
_PATIENCE = 1
"""Seconds that open calls have to end in when the bridge stops."""


class HttpBridge:
    """
    Serve a memory's tools at `http://host:port/path`.

    No client has a session: each POST is answered with one JSON object, so that both revisions
    of the protocol work and a restart strands nobody. Requests that name a host or an origin
    other than the loopback are refused, as a web page could have sent them.
    """

    def __init__(
        self, memory: Memory, host: str = '127.0.0.1', port: int = 17800, path: str = '/mcp'
    ) -> None:
        """Refuse a host that others could reach; raise InvalidArgument."""
        self._address = _loopback(host)
        self._port = port
        self._path = path
        self._memory = memory
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """Return the port; where 0 was asked for, the one that `start` got."""
        return self._port

    @property
    def url(self) -> str:
        """Return what to give to a client."""
        return f'http://{_bracketed(self._address)}:{self._port}{self._path}'

    def start(self) -> None:
        """Take the port and serve from now on; raise Unavailable where it cannot be had."""
        listening = _listen(self._address, self._port)
        self._port = listening.getsockname()[1]
        manager = StreamableHTTPSessionManager(
            build_server(self._memory),
            json_response=True,
            stateless=True,
            security_settings=_security(self._address),
            max_request_body_size=_MAX_BODY,
        )
        route = Route(self._path, StreamableHTTPASGIApp(manager), methods=['POST'])
        self._server = uvicorn.Server(
            uvicorn.Config(
                Starlette(routes=[route], lifespan=lambda _: manager.run()),
                log_config=None,
                log_level='warning',
                access_log=False,
                ws='none',
                timeout_graceful_shutdown=_PATIENCE,
            )
        )
        self._thread = threading.Thread(
            target=self._server.run, args=([listening],), name='mcp-http', daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Let open calls end for a second, break the others off, and free the port."""
        if self._server is None or self._thread is None:
            return
        self._server.should_exit = True
        self._thread.join()
        self._server = self._thread = None


def _loopback(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        address = ipaddress.ip_address('127.0.0.1' if host == 'localhost' else host)
    except ValueError:
        address = None
    if address is None or not address.is_loopback:
        raise InvalidArgument(
            f'mcp_host must be an address of this machine alone (127.0.0.1, ::1 or localhost), '
            f'not {shown(host)}'
        )
    return address


def _bracketed(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    return f'[{address}]' if address.version == 6 else str(address)


def _listen(address: ipaddress.IPv4Address | ipaddress.IPv6Address, port: int) -> socket.socket:
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    # asyncio sets TCP_NODELAY only where it sees this protocol; without it a call waits 40 ms
    # for a delayed acknowledgement.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((str(address), port))
        listening.listen(128)
    except (OSError, OverflowError) as error:
        listening.close()
        where = f'port {port} of {address}'
        taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
        reason = (
            f'{where} is taken, perhaps by another memory node'
            if taken
            else f'{where} cannot be had ({error})'
        )
        raise Unavailable(
            f'MCP cannot be served: {reason}; end that program, or set mcp_port to another port '
            '(0: any free one), or mcp_enabled to false'
        ) from None
    return listening


def _security(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> TransportSecuritySettings:
    names = dict.fromkeys(['127.0.0.1', 'localhost', '[::1]', _bracketed(address)])
    return TransportSecuritySettings(
        allowed_hosts=[f'{name}:*' for name in names],
        allowed_origins=[f'http://{name}:*' for name in names],
    )
