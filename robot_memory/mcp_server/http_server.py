"""Streamable HTTP: a web server in a thread of its own, behind access control."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable

import uvicorn

from robot_memory.mcp_server.access_control import AccessControl, Address, parse_address
from robot_memory.mcp_server.connection_limits import LimitedProtocol
from robot_memory.mcp_server.log_limits import thin_foreign_logs
from robot_memory.mcp_server.port import listen
from robot_memory.mcp_server.routes import build_app
from robot_memory.mcp_server.server import build_server
from robot_memory.mcp_server.token import read_principals
from robot_memory.memory import Memory

_PATIENCE = 1
"""Seconds that open calls have to end in when the bridge stops."""


class HttpBridge:
    """
    Serve a memory's tools at `http://host:port/path`, its health and its metrics beside them.

    No client has a session: each POST is answered with one JSON object, so that both revisions
    of the protocol work and a restart strands nobody.
    """

    def __init__(
        self,
        memory: Memory,
        host: str = '127.0.0.1',
        port: int = 17800,
        path: str = '/mcp',
        *,
        token_file: str = '',
        allowed_hosts: Iterable[str] = (),
        tools: str = 'planner',
        output_schemas: bool = False,
        listening: socket.socket | None = None,
    ) -> None:
        """
        Read the token; the arguments are those of `McpSettings`.

        `listening` is the socket of that address and port, where it is taken already.

        Raise InvalidArgument for what is not safe: a host that others reach where there is no
        token, a token that others can read.
        """
        self._address = parse_address(host)
        self._access = AccessControl.create(
            self._address, read_principals(token_file), allowed_hosts
        )
        self._port = port
        self._path = path
        self._tools = tools
        self._output_schemas = output_schemas
        self._memory = memory
        self._listening = listening
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """Return the port; where 0 was asked for, the one that `start` got."""
        return self._port

    @property
    def url(self) -> str:
        """Return what to give to a client."""
        return f'http://{_format_host(self._address)}:{self._port}{self._path}'

    @property
    def asks_for_token(self) -> bool:
        """Say whether every request must give a token."""
        return self._access.principals is not None

    def start(self) -> None:
        """Take the port and serve from now on; raise Unavailable where it cannot be had."""
        listening = self._listening or listen(self._address, self._port)
        self._port = listening.getsockname()[1]
        thin_foreign_logs()
        server = build_server(self._memory, self._tools, self._output_schemas)
        self._server = uvicorn.Server(
            uvicorn.Config(
                build_app(self._memory, server, self._access, self._path),
                log_config=None,
                log_level='warning',
                access_log=False,
                ws='none',
                server_header=False,
                http=LimitedProtocol,
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


def _format_host(address: Address) -> str:
    return f'[{address}]' if address.version == 6 else str(address)
