"""A report that many may ask for, made at most once a second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import anyio
import anyio.to_thread

Report = TypeVar('Report')
_RECENT_SECONDS = 1.0


class RecentReport(Generic[Report]):
    """Make a report at most once a second: however many ask, the store is read once."""

    def __init__(
        self, make: Callable[[], Report], clock: Callable[[], float] = anyio.current_time
    ) -> None:
        """Report nothing before it is asked; the clock tells seconds."""
        self._make = make
        self._clock = clock
        self._limiter = anyio.CapacityLimiter(1)  # it takes no thread from the tools
        self._lock = anyio.Lock()
        self._made: tuple[float, Report] | None = None

    async def get(self) -> Report:
        """Return the report of this second."""
        async with self._lock:
            now = self._clock()
            if self._made is None or now - self._made[0] >= _RECENT_SECONDS:
                made = await anyio.to_thread.run_sync(self._make, limiter=self._limiter)
                self._made = now, made
            return self._made[1]
