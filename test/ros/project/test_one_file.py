"""The node, the command line and the stdio server work on one file at the same time."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import prepared
from amounts import few_or_many
from mcp import Client, StdioServerParameters
from robots import check_file
from waiting import HANG_SECONDS

EACH = few_or_many(3, 12)


def test_three_processes_write_one_file_without_an_error_or_a_lost_write(
    start: Callable[..., Any], robot: Any
) -> None:
    node = start()
    robot.client('learn')
    command = ['-m', 'robot_memory', '--db', str(node.db), '--model', 'none']
    served = threading.Event()  # a server takes seconds to start, and all are to write at once

    def by_command_line() -> None:
        assert served.wait(HANG_SECONDS)
        for i in range(EACH):
            text = f'Drawer {i} holds bolts'
            ran = prepared.run(
                [sys.executable, *command, 'learn', text], capture_output=True, text=True
            )
            assert (ran.returncode, ran.stderr) == (0, '')

    async def by_stdio() -> None:
        server = StdioServerParameters(command=sys.executable, args=[*command, 'mcp'])
        async with Client(server) as client:
            served.set()
            for i in range(10 * EACH):
                result = await client.call_tool('learn', {'insight': f'Shelf {i} holds cups'})
                assert not result.is_error, result.content

    with ThreadPoolExecutor() as pool:
        others = [pool.submit(by_command_line), pool.submit(asyncio.run, by_stdio())]
        assert served.wait(HANG_SECONDS)
        written = 0
        while written < 10 * EACH or not all(future.done() for future in others):
            assert robot.call('learn', insight=f'Bin {written} holds nuts').status == 'created'
            assert robot.call('recall', query='holds').success
            written += 1
        for future in others:
            future.result()
    expected = written + EACH + 10 * EACH
    assert robot.call('query_records').total_count == expected
    assert node.stop() == 0
    assert len(check_file(node.db)) == expected
