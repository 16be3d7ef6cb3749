"""Whether calls are let in: of a node that is not active, none is."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from robot_memory.core.errors import Unavailable


class Admission:
    """Let calls in, or refuse them with a reason, and know how many are under way."""

    def __init__(self) -> None:
        """Let calls in."""
        self._changed = threading.Condition()
        self._reason = ''
        self._inside = 0
        self._ended = False

    @property
    def reason(self) -> str:
        """Return why calls are refused; empty: they are let in."""
        return self._reason

    def refuse(self, reason: str) -> None:
        """Refuse calls from now on; those under way go on."""
        with self._changed:
            self._reason = reason
            self._changed.notify_all()

    def admit(self) -> None:
        """Let calls in from now on."""
        self.refuse('')

    @contextmanager
    def enter(self) -> Iterator[None]:
        """Make one call; raise Unavailable where calls are refused."""
        with self._changed:
            if self._reason:
                raise Unavailable(self._reason)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    def wait_until_admitted(self) -> bool:
        """Wait until calls are let in; False: none will be."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or not self._reason)
            return not self._ended

    def end(self, reason: str) -> None:
        """Refuse calls from now on, for good."""
        self._ended = True
        self.refuse(reason)

    def wait_until_empty(self, seconds: float) -> bool:
        """Wait until no call is under way, at most so long; say whether that is so."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._inside, seconds)
