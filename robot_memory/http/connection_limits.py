"""How long the server waits for a client, and for how many of them at a time."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from robot_memory.http.log_limits import RepeatCount

CONNECTIONS = 128
"""Connections at a time: more would take the files that the store needs."""
HEAD_SECONDS = 10.0
"""Seconds that a connection has to ask in; one that asked and was answered has five."""
BODY_SECONDS = 60.0

logger = logging.getLogger(__name__)


class LimitedProtocol(H11Protocol):
    """
    Serve a connection that says what it wants, and let go of one that does not.

    Where there are too many, the one that has been silent longest makes room: whoever only holds
    connections open shuts nobody out. A new one is rejected where all others are being answered.
    """

    _waiting: asyncio.TimerHandle | None = None
    _heard_at = 0.0
    _crowded = RepeatCount()

    def connection_made(self, transport: Any) -> None:
        """Take a connection; where there are too many, close a silent one, or this one."""
        super().connection_made(transport)
        self._heard_at = self.loop.time()
        self._make_room()
        if not transport.is_closing():
            self._waiting = self.loop.call_later(HEAD_SECONDS, self._check_progress, BODY_SECONDS)

    def data_received(self, data: bytes) -> None:
        """Note when something was heard last."""
        self._heard_at = self.loop.time()
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        if self._waiting is not None:
            self._waiting.cancel()
        super().connection_lost(exc)

    @property
    def _is_answered(self) -> bool:
        """Say whether a request has come whole and is not answered yet."""
        cycle = self.cycle
        return cycle is not None and not (cycle.more_body or cycle.response_complete)

    def _make_room(self) -> None:
        """Close the connection that was silent longest where there are more than CONNECTIONS."""
        present = [
            one
            for one in self.connections
            if isinstance(one, LimitedProtocol) and not one.transport.is_closing()
        ]
        if len(present) <= CONNECTIONS:
            return
        if self._crowded.add():
            number = self._crowded.number
            logger.warning('more than %d connections; %d closed so far', CONNECTIONS, number)
        silent = [one for one in present if one is not self and not one._is_answered]
        leaving = min(silent, key=lambda one: one._heard_at, default=self)
        leaving.transport.abort()

    def _check_progress(self, more: float) -> None:
        """Close where nothing was asked; where the body is awaited, look again later, once."""
        if self.cycle is None or (self.cycle.more_body and not more):
            self.transport.abort()
        elif self.cycle.more_body:
            self._waiting = self.loop.call_later(more, self._check_progress, 0.0)
