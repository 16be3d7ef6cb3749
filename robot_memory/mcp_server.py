"""The MCP face: the tools over stdio, and over streamable HTTP from a thread of its own."""

from __future__ import annotations

import contextlib
import functools
import ipaddress
import json
import logging
import os
import signal
import socket
import threading
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from robot_memory.errors import InvalidArgument, RobotMemoryError, Unavailable
from robot_memory.fields import Field, fields_of, plain
from robot_memory.memory import Memory, caller
from robot_memory.tool import Tool
from robot_memory.tools import TOOLS

PATH = '/mcp'
MAX_BODY_BYTES = 32_000_000
INSTRUCTIONS = (
    'The memory of this robot. Before acting, recall what is known about the task, the object and '
    'the place; respect constraints and gotchas. After acting, learn what was found out, one fact '
    'of at most 300 characters at a time, with numbers and units, and put where it holds into '
    'context. Begin an episode with start_session and end it with end_session and its score.'
)
_CALLS_AT_ONCE = 16
_SCALARS = {'text': 'string', 'integer': 'integer', 'number': 'number', 'flag': 'boolean'}
_SHAPES = {'any': [], 'object': ['object'], 'container': ['object', 'array']}
logger = logging.getLogger(__name__)


def tool_list() -> list[types.Tool]:
    """Return the tools as MCP describes them."""
    return [
        types.Tool(
            name=tool.name,
            title=tool.name.replace('_', ' ').capitalize(),
            description=tool.help,
            input_schema=input_schema(tool.request),
            output_schema=output_schema(tool.response),
            annotations=types.ToolAnnotations(
                title=tool.name.replace('_', ' ').capitalize(),
                read_only_hint=tool.read_only,
                destructive_hint=tool.destructive,
                idempotent_hint=tool.idempotent,
                open_world_hint=False,
            ),
        )
        for tool in TOOLS
    ]


def input_schema(declaration: type) -> dict[str, Any]:
    """Return the JSON Schema of a request: what `fields.parse` takes."""
    fields = fields_of(declaration)
    return {
        'type': 'object',
        'properties': {field.name: _input(field) for field in fields},
        'required': [field.name for field in fields if field.required],
        'additionalProperties': False,
    }


def _input(field: Field) -> dict[str, Any]:
    schema: dict[str, Any] = {'description': field.help}
    if field.kind == 'json':
        kinds = ['string', *(_SHAPES[field.shape] or ['object', 'array', 'number', 'boolean'])]
    elif field.kind == 'stamp':
        kinds = ['object', 'integer', 'string']
    elif field.kind == 'texts':
        kinds, schema['items'] = ['array'], {'type': 'string'}
    else:
        kinds = [_SCALARS[field.kind]]
    if not field.required:
        kinds.append('null')
    schema['type'] = kinds[0] if len(kinds) == 1 else kinds
    if field.choices:
        schema['enum'] = [*field.choices, *([] if field.required else [None])]
    for key, value in (
        ('minimum', field.minimum),
        ('maximum', field.maximum),
        ('minLength', field.min_length or None),
        ('maxLength', field.max_length or None),
    ):
        if value is not None:
            schema[key] = value
    if not field.required:
        schema['default'] = field.default
    return schema


def output_schema(declaration: type) -> dict[str, Any]:
    """Return the JSON Schema of a response, as `fields.plain` writes it."""
    fields = fields_of(declaration)
    return {
        'type': 'object',
        'properties': {field.name: _output(field) for field in fields},
        'required': [field.name for field in fields if not field.omitted],
    }


def _output(field: Field) -> dict[str, Any]:
    if field.record is not None:
        inner = output_schema(field.record)
        schema = {'type': 'array', 'items': inner} if field.kind == 'records' else inner
    elif field.kind == 'texts':
        schema = {'type': 'array', 'items': {'type': 'string'}}
    elif field.kind == 'stamp':
        whole = {'type': 'integer'}
        schema = {'type': 'object', 'properties': {'sec': whole, 'nanosec': whole}}
    elif field.kind == 'json':
        schema = {}
    else:
        kind = _SCALARS[field.kind]
        schema = {'type': [kind, 'null'] if field.nullable and not field.omitted else kind}
    return {**schema, 'description': field.help}


def make_server(memory: Memory) -> Server[Any]:
    """Return an MCP server of the tools of a memory."""
    by_name = {tool.name: tool for tool in TOOLS}
    listed = types.ListToolsResult(tools=tool_list())
    limiter = anyio.CapacityLimiter(_CALLS_AT_ONCE)

    async def list_tools(context: ServerRequestContext[Any], params: Any) -> types.ListToolsResult:
        return listed

    async def call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = by_name.get(params.name)
        if tool is None:
            raise MCPError(
                types.INVALID_PARAMS,
                f'there is no tool {params.name!r}; there are {", ".join(by_name)}',
            )
        known = context.session.client_params
        who = f'mcp:{known.client_info.name}' if known else 'mcp'
        work = functools.partial(answer, memory, tool, params.arguments or {}, who)
        # Abandoned where the server stops: a call that waits for another process ends with it.
        return await anyio.to_thread.run_sync(work, limiter=limiter, abandon_on_cancel=True)

    return Server(
        'robot_memory',
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def answer(
    memory: Memory, tool: Tool[Any, Any], arguments: dict[str, Any], who: str
) -> types.CallToolResult:
    """Run a tool; a failure is a result that says what to do, for the model that reads it."""
    caller.set(who)
    try:
        found = plain(tool.run(memory, arguments))
    except RobotMemoryError as error:
        return types.CallToolResult(
            content=[types.TextContent(text=f'[{error.code}] {error}')],
            structured_content={'error': {'code': error.code, 'message': str(error)}},
            is_error=True,
        )
    text = json.dumps(found, ensure_ascii=False)
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=found)


def serve_stdio(memory: Memory) -> None:
    """Serve over standard input and output until the input ends; an interrupt ends it at once."""

    def leave(number: int, frame: object) -> None:
        # The reader's thread sits in a read that nothing interrupts.
        closing = threading.Thread(target=memory.close, daemon=True)
        closing.start()
        closing.join(1.0)
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)
    server = make_server(memory)

    async def serve() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(serve)


class HttpBridge:
    """
    Serve over streamable HTTP from a thread of its own, on this machine only.

    Every request stands for itself (no sessions), so clients of either revision of the protocol
    outlive a restart of the node.
    """

    def __init__(self, memory: Memory, host: str = '127.0.0.1', port: int = 17800) -> None:
        """Refuse an address that other machines reach, with InvalidArgument."""
        try:
            loopback = host == 'localhost' or ipaddress.ip_address(host).is_loopback
        except ValueError:
            loopback = False
        if not loopback:
            raise InvalidArgument(
                f'mcp_host must be a loopback address, as 127.0.0.1, not {host!r}: '
                'there is no access control yet'
            )
        self._memory = memory
        self._host = host
        self._wanted = port
        self.port = 0
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Return where clients find it."""
        host = f'[{self._host}]' if ':' in self._host else self._host
        return f'http://{host}:{self.port}{PATH}'

    def start(self) -> None:
        """Take the port and begin to serve; raise Unavailable where the port is taken."""
        family = socket.AF_INET6 if ':' in self._host else socket.AF_INET
        # The protocol is named, or asyncio leaves TCP_NODELAY off and every call waits 40 ms.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((self._host, self._wanted))
            listener.listen(128)
        except OSError as error:
            listener.close()
            raise Unavailable(
                f'MCP cannot be served on {self._host}:{self._wanted} ({error.strerror}); end '
                'what holds the port, name another in mcp_port, or set mcp_enabled to false'
            ) from error
        self.port = listener.getsockname()[1]
        app = make_server(self._memory).streamable_http_app(
            streamable_http_path=PATH,
            json_response=True,
            stateless_http=True,
            max_request_body_size=MAX_BODY_BYTES,
        )
        config = uvicorn.Config(
            app, log_config=None, access_log=False, timeout_graceful_shutdown=1, lifespan='on'
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._serve, args=(listener,), name='mcp-bridge', daemon=True
        )
        self._thread.start()

    def _serve(self, listener: socket.socket) -> None:
        assert self._server is not None
        try:
            with contextlib.suppress(KeyboardInterrupt):
                self._server.run(sockets=[listener])
        except Exception:
            logger.exception('the MCP bridge ended')
        finally:
            listener.close()

    def stop(self) -> None:
        """End within two seconds; calls that are still open are not waited for."""
        if self._server is None or self._thread is None:
            return
        self._server.should_exit = True
        self._thread.join(1.5)
        if self._thread.is_alive():
            self._server.force_exit = True
            self._thread.join(0.5)
