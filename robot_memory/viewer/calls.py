"""How pages ask: the tools of the catalog, in threads, as the visitor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from robot_memory.catalog import get_tool
from robot_memory.core.authority import Writer
from robot_memory.memory import Memory, caller
from robot_memory.storage import Connection

Answer = TypeVar('Answer')
_READERS = 4
_WRITERS = 1


class Calls:
    """Call tools and read the store off the event loop: so many at a time, the rest wait."""

    def __init__(self, memory: Memory) -> None:
        """Call the tools of a memory."""
        self.memory = memory
        self._readers = anyio.CapacityLimiter(_READERS)
        self._writers = anyio.CapacityLimiter(_WRITERS)
        self._long = anyio.CapacityLimiter(1)

    async def ask(self, who: Writer, name: str, **arguments: Any) -> Any:
        """Return the answer of a tool; raise its errors."""
        tool = get_tool(name)

        def run() -> Any:
            caller.set(who)
            return tool.run(self.memory, arguments)

        limiter = self._readers if tool.read_only else self._writers
        return await anyio.to_thread.run_sync(run, limiter=limiter)

    async def run(self, work: Callable[[], Answer]) -> Answer:
        """Run what reads, in a thread of the readers."""
        return await anyio.to_thread.run_sync(work, limiter=self._readers)

    async def run_long(self, work: Callable[[], Answer]) -> Answer:
        """Run what may take a minute: one at a time, and no page waits for it."""
        return await anyio.to_thread.run_sync(work, limiter=self._long)

    async def read(self, look: Callable[[Connection], Answer]) -> Answer:
        """Return what a look into one snapshot of the store finds."""

        def run() -> Answer:
            with self.memory.db.read() as connection:
                return look(connection)

        return await self.run(run)
