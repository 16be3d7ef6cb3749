"""
Notifications of what is stored, for clients that listen.

A client of the protocol 2026-07-28 opens a stream (`subscriptions/listen`) and names resources:
`robot-memory://events` of all events, `robot-memory://events/contact` of one kind (sessions that
begin or end are events, too), `robot-memory://memories/7` of one memory. It is told that one has
changed, and reads it. Earlier revisions have no such streams here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)

from robot_memory.mcp_server.resources import EVENTS
from robot_memory.memory import Memory
from robot_memory.retrieval.payloads import make_memory_uri
from robot_memory.storage.tables.news import News, read_news

MAX_STREAMS = 8
_SECONDS = 0.25


class Notifier:
    """
    Serve streams of notifications, at most `MAX_STREAMS` at a time.

    For each, the store is looked at four times a second, in a thread of the readers and for some
    microseconds: a stream holds no reader in between.
    """

    def __init__(self, memory: Memory, limiter: anyio.CapacityLimiter) -> None:
        """Begin without streams; `limiter` is that of calls that read."""
        self._memory = memory
        self._limiter = limiter
        self._open = 0

    async def listen(
        self, context: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serve a stream until its client has gone; raise MCPError where there are too many."""
        if self._open == MAX_STREAMS:
            raise MCPError(
                INTERNAL_ERROR, f'{MAX_STREAMS} streams are open, which is the limit; close one'
            )
        bus = InMemorySubscriptionBus()
        self._open += 1
        try:
            news = await self._read(None)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._watch, bus, news)
                result = await ListenHandler(bus)(context, params)
                tasks.cancel_scope.cancel()
        finally:
            self._open -= 1
        return result

    async def _watch(self, bus: InMemorySubscriptionBus, news: News) -> None:
        """Publish what comes after some news, each piece once."""
        while True:
            await anyio.sleep(_SECONDS)
            news = await self._read(news)
            for uri in _list_uris(news):
                await bus.publish(ResourceUpdated(uri))

    async def _read(self, since: News | None) -> News:
        return await anyio.to_thread.run_sync(self._read_now, since, limiter=self._limiter)

    def _read_now(self, since: News | None) -> News:
        with self._memory.db.read() as connection:
            return read_news(connection, since)


def _list_uris(news: News) -> Iterator[str]:
    """Yield the resources that have changed."""
    if news.kinds:
        yield EVENTS
    for kind in sorted(news.kinds):
        yield f'{EVENTS}/{kind}'
    for memory_id in sorted(news.changed):
        yield make_memory_uri(memory_id)
