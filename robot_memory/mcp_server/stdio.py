"""Standard input and output: the server of one client, which started this process."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import INVALID_REQUEST, PARSE_ERROR, jsonrpc_message_adapter

from robot_memory.mcp_server.envelope import (
    MalformedMessage,
    make_error,
    parse_message,
    repair_call,
)
from robot_memory.mcp_server.server import build_server
from robot_memory.memory import Memory

_CHUNK = 1 << 16
_PATIENCE = 30
"""Seconds that open calls have to be answered in when the input has ended."""
_ANSWERED = re.compile(r'\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|-?\d+)')
_HALF = re.compile(r'\\u[dD][89a-fA-F]')
_LAST_SECONDS = 1.5


def serve_stdio(memory: Memory, tools: str = 'planner', output_schemas: bool = False) -> None:
    """
    Serve a memory's tools on stdin and stdout until the client closes stdin.

    From now on what else is printed goes to stderr, until the process ends. SIGINT and SIGTERM end
    it, too, and after 1.5 s the process with it, for a client that reads no more or a call that
    takes long can hold it; what was acknowledged is on disk.
    """
    with _claim_stdout() as stdout:
        anyio.run(_serve, build_server(memory, tools, output_schemas), stdout)


@contextmanager
def _claim_stdout() -> Iterator[TextIO]:
    # The SDK gives stdout back when the session ends; what a memory prints while it closes
    # would then follow the last message.
    sys.stdout.flush()
    kept = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with open(kept, 'w', encoding='utf-8', newline='\n') as stdout:
        yield stdout


async def _serve(server: Server[Any], stdout: TextIO) -> None:
    wire = _Wire(stdout)
    lines = cast('anyio.AsyncFile[str]', _Lines(sys.stdin.fileno(), wire))
    answers = cast('anyio.AsyncFile[str]', wire)
    async with anyio.create_task_group() as group:
        group.start_soon(_end_on_signal, group.cancel_scope)
        async with stdio_server(lines, answers) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
        group.cancel_scope.cancel()


async def _end_on_signal(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for number in signals:
            last = threading.Timer(_LAST_SECONDS, os._exit, (128 + number,))
            last.daemon = True
            last.start()
            scope.cancel()


class _Wire:
    """Write one message at a time, and know which requests are not answered yet."""

    def __init__(self, stdout: TextIO) -> None:
        self._file = anyio.wrap_file(stdout)
        self._lock = anyio.Lock()
        self._open: set[str] = set()
        self._fewer = anyio.Event()

    async def write(self, line: str) -> None:
        async with self._lock:
            await self._file.write(line)
            await self._file.flush()
        answered = _ANSWERED.match(line)
        if answered:
            self._mark_answered(answered[1])

    async def flush(self) -> None:
        """Do nothing: every line was flushed."""

    def note_request(self, message: dict[str, Any]) -> None:
        """Note a request that is to be answered, or one that its client took back."""
        method = message.get('method')
        if method == 'notifications/cancelled':
            self._mark_answered(_make_key(message.get('params', {}).get('requestId')))
        elif method is not None and 'id' in message:
            self._open.add(_make_key(message['id']))

    async def wait_until_answered(self) -> None:
        """Wait until every request has its answer, for some seconds at most."""
        with anyio.move_on_after(_PATIENCE):
            while self._open:
                await self._fewer.wait()

    def _mark_answered(self, key: str) -> None:
        self._open.discard(key)
        self._fewer.set()
        self._fewer = anyio.Event()


def _make_key(request_id: Any) -> str:
    return json.dumps(request_id, ensure_ascii=False)


class _Lines:
    """
    Read messages, a line each, from a file descriptor; answer what is none.

    Unlike a read in a thread, which the SDK's own reader does, this can be cancelled. At the end
    of the input it waits for the answers to what was asked: a call that is carried out must not
    be told to have failed.
    """

    def __init__(self, descriptor: int, wire: _Wire) -> None:
        self._descriptor = descriptor
        self._wire = wire

    async def __aiter__(self) -> AsyncIterator[str]:
        parts: list[bytes] = []
        while chunk := await self._read_chunk():
            *ends, rest = chunk.split(b'\n')
            for end in ends:
                async for message in self._parse_line(b''.join([*parts, end])):
                    yield message
                parts.clear()
            parts.append(rest)
        async for message in self._parse_line(b''.join(parts)):
            yield message
        await self._wire.wait_until_answered()

    async def _parse_line(self, line: bytes) -> AsyncIterator[str]:
        """Yield the message of a line, if it is one; answer what is none, and no blank line."""
        if not line.strip():
            return
        try:
            message = parse_message(line)
            called = repair_call(message)
            if called is not message:
                line = json.dumps(called).encode()
            text = _decode_line(line, message.get('id'))
        except MalformedMessage as error:
            await self._wire.write(f'{json.dumps(make_error(error))}\n')
            return
        self._wire.note_request(message)
        yield text

    async def _read_chunk(self) -> bytes:
        try:
            await anyio.wait_readable(self._descriptor)
        except PermissionError:
            await anyio.lowlevel.checkpoint()  # a regular file is always readable
        return os.read(self._descriptor, _CHUNK)


def _decode_line(line: bytes, request_id: Any) -> str:
    """Return a line as text; raise Malformed for what the SDK would drop without an answer."""
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise MalformedMessage(
            PARSE_ERROR, f'Parse error: the line is not UTF-8 ({error})'
        ) from None
    if _HALF.search(text):
        try:
            jsonrpc_message_adapter.validate_json(text, by_name=False)
        except ValueError:
            raise MalformedMessage(
                INVALID_REQUEST,
                'Invalid Request: unpaired surrogate; send valid Unicode text',
                request_id if isinstance(request_id, str | int) else None,
            ) from None
    return text
