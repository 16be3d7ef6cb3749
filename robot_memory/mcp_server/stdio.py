"""Standard input and output: the server of one client, which started this process."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import TextIO, cast

import anyio
from mcp.server.stdio import stdio_server

from robot_memory.mcp_server.server import build_server
from robot_memory.memory import Memory

_CHUNK = 1 << 16
_LAST_SECONDS = 1.5


def serve_stdio(memory: Memory, tools: str = 'core') -> None:
    """
    Serve a memory's tools on stdin and stdout until the client closes stdin.

    From now on what else is printed goes to stderr, until the process ends. SIGINT and SIGTERM end
    it, too, and after 1.5 s the process with it, for a client that reads no more or a call that
    takes long can hold it; what was acknowledged is on disk.
    """
    with _claimed_stdout() as stdout:
        anyio.run(_serve, memory, tools, stdout)


@contextmanager
def _claimed_stdout() -> Iterator[TextIO]:
    # The SDK gives stdout back when the session ends; what a memory prints while it closes
    # would then follow the last message.
    sys.stdout.flush()
    kept = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with open(kept, 'w', encoding='utf-8', newline='\n') as stdout:
        yield stdout


async def _serve(memory: Memory, tools: str, stdout: TextIO) -> None:
    server = build_server(memory, tools)
    lines = cast('anyio.AsyncFile[str]', _Lines(sys.stdin.fileno()))
    async with anyio.create_task_group() as group:
        group.start_soon(_end_on_signal, group.cancel_scope)
        async with stdio_server(lines, anyio.wrap_file(stdout)) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
        group.cancel_scope.cancel()


async def _end_on_signal(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for number in signals:
            last = threading.Timer(_LAST_SECONDS, os._exit, (128 + number,))
            last.daemon = True
            last.start()
            scope.cancel()


class _Lines:
    """
    Read lines of UTF-8 from a file descriptor.

    Unlike a read in a thread, which the SDK's own reader does, this can be cancelled.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def __aiter__(self) -> AsyncIterator[str]:
        parts: list[bytes] = []
        while chunk := await self._chunk():
            *ends, rest = chunk.split(b'\n')
            for end in ends:
                yield b''.join([*parts, end]).decode(errors='replace')
                parts.clear()
            parts.append(rest)
        if any(parts):
            yield b''.join(parts).decode(errors='replace')

    async def _chunk(self) -> bytes:
        try:
            await anyio.wait_readable(self._descriptor)
        except PermissionError:
            await anyio.lowlevel.checkpoint()  # a regular file is always readable
        return os.read(self._descriptor, _CHUNK)
