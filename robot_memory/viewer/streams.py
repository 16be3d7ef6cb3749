"""What open pages are told: that something was kept, changed or erased, soon after it was."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator

import anyio

from robot_memory.core.errors import Unavailable
from robot_memory.storage.tables.news import News, read_news
from robot_memory.viewer.calls import Calls

MAX_STREAMS = 8
LOOK_SECONDS = 0.25
HEARTBEAT_SECONDS = 15.0


class Streams:
    """
    Serve streams of Server-Sent Events, at most `MAX_STREAMS` at a time.

    Each looks at the audit trail four times a second, for some microseconds; without a stream
    nothing looks. An event's id is an audit line, from which a browser that lost its connection
    resumes; one that does not resume is told nothing of before.
    """

    def __init__(self, calls: Calls) -> None:
        """Begin without streams."""
        self._calls = calls
        self._ending: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self._lock = threading.Lock()
        self._closed = False

    def close(self) -> None:
        """End all streams now; may be called from any thread."""
        with self._lock:
            self._closed = True
            ending, self._ending = self._ending, []
        for loop, event in ending:
            loop.call_soon_threadsafe(event.set)

    async def begin(self, last_seen: str) -> AsyncIterator[str]:
        """Return a stream after an event's id; raise Unavailable where there are too many."""
        if self._is_full:
            raise Unavailable(
                f'{MAX_STREAMS} pages are open and told of news, which is the limit; close one, '
                'or load the page anew to see what is new'
            )
        now = await self._look(None)
        since = now
        if last_seen.isascii() and last_seen.isdigit() and int(last_seen) < now.line:
            since = News(int(last_seen), now.highest, frozenset(), frozenset())
        return self._serve(since)

    @property
    def _is_full(self) -> bool:
        return len(self._ending) >= MAX_STREAMS

    async def _serve(self, news: News) -> AsyncIterator[str]:
        end = asyncio.Event()
        with self._lock:
            if self._closed or self._is_full:
                return
            self._ending.append(own := (asyncio.get_running_loop(), end))
        try:
            yield f'retry: 1000\nid: {news.line}\nevent: open\ndata: {{}}\n\n'
            silent = 0.0
            while not end.is_set():
                with anyio.move_on_after(LOOK_SECONDS):
                    await end.wait()
                    return
                before, news = news, await self._look(news)
                silent += LOOK_SECONDS
                if news.line > before.line:
                    silent = 0.0
                    yield _format(news)
                elif silent >= HEARTBEAT_SECONDS:
                    silent = 0.0
                    yield ': heartbeat\n\n'
        finally:
            with self._lock:
                if own in self._ending:
                    self._ending.remove(own)

    async def _look(self, since: News | None) -> News:
        return await self._calls.read(lambda connection: read_news(connection, since))


def _format(news: News) -> str:
    data = json.dumps({'changed': sorted(news.changed), 'kinds': sorted(news.kinds)})
    return f'id: {news.line}\nevent: news\ndata: {data}\n\n'
