"""Short calls go before long ones: all threads of a process share one interpreter."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar('Item')
Answer = TypeVar('Answer')

_PATIENCE_SECONDS = 0.1
"""How long a long call waits for short ones that never cease, before it goes on for a step."""
_NAP_SECONDS = 0.0005
_EVERY = 20


class CallOrder:
    """
    Let one long call run at a time, and let it wait between its steps while a short one runs.

    A long call that never waited would delay each of the some thirty reads of a recall by the
    interpreter's switch interval.
    """

    def __init__(self) -> None:
        """Know of no calls."""
        self.short: list[int] = []
        """The threads of the short calls that run: whoever runs one appends and pops his own."""
        self._turn = threading.RLock()

    def run_long(self, call: Callable[[], Answer]) -> Answer:
        """Return the answer of a long call, once those before it have ended."""
        with self._turn:
            return call()

    def share(self, items: Iterable[Item], every: int = _EVERY) -> Iterator[Item]:
        """Yield the items of a long call; after so many at a time, short calls go first."""
        for number, item in enumerate(items, 1):
            yield item
            if number % every == 0:
                self.give_way()

    def give_way(self) -> None:
        """Wait until no other thread runs a short call, a tenth of a second at most."""
        own = threading.get_ident()
        end = time.monotonic() + _PATIENCE_SECONDS
        while any(thread != own for thread in tuple(self.short)) and time.monotonic() < end:
            time.sleep(_NAP_SECONDS)
