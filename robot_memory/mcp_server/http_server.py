"""Streamable HTTP: a web server in a thread of its own, behind access control."""

from __future__ import annotations

import socket
from collections.abc import Iterable

from robot_memory.http.access_control import AccessControl, parse_address
from robot_memory.http.port import listen
from robot_memory.http.token import read_principals
from robot_memory.http.web_server import WebServer, format_host
from robot_memory.mcp_server.routes import build_app
from robot_memory.mcp_server.server import build_server
from robot_memory.memory import Memory


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
        self._server: WebServer | None = None

    @property
    def port(self) -> int:
        """Return the port; where 0 was asked for, the one that `start` got."""
        return self._port

    @property
    def url(self) -> str:
        """Return what to give to a client."""
        return f'http://{format_host(self._address)}:{self._port}{self._path}'

    @property
    def asks_for_token(self) -> bool:
        """Say whether every request must give a token."""
        return self._access.principals is not None

    def start(self) -> None:
        """Take the port and serve from now on; raise Unavailable where it cannot be had."""
        listening = self._listening or listen(self._address, self._port)
        self._port = listening.getsockname()[1]
        tools = build_server(self._memory, self._tools, self._output_schemas)
        self._server = WebServer(
            build_app(self._memory, tools, self._access, self._path), listening, 'mcp-http'
        )

    def stop(self) -> None:
        """Let open calls end for a second, break the others off, and free the port."""
        if self._server is not None:
            self._server.stop()
            self._server = None
