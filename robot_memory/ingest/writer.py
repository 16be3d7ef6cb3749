"""Writes perceptions and learned texts into the store, and counts the outcomes."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from robot_memory.core.authority import Writer
from robot_memory.core.errors import (
    Conflict,
    InvalidArgument,
    NotFound,
    RobotMemoryError,
    Unavailable,
)
from robot_memory.core.records import Session
from robot_memory.ingest.results import LearnedText, Result
from robot_memory.ingest.sessions import NONE, SessionFinder
from robot_memory.ingest.tap import Tap
from robot_memory.lifecycle import trials
from robot_memory.lifecycle.authority import calling
from robot_memory.lifecycle.erasure import was_erased
from robot_memory.lifecycle.facts import learn
from robot_memory.lifecycle.perceptions import (
    Perception,
    StoredPerception,
    store_perception,
    store_together,
)
from robot_memory.lifecycle.usual_efforts import TopicEffort, store_effort
from robot_memory.memory import Memory
from robot_memory.storage.indexes.duplicates import Duplicate
from robot_memory.storage.read_only import ReadOnlyStore

logger = logging.getLogger(__name__)

_Assigned = TypeVar('_Assigned', Perception, LearnedText)

_QUEUE_SIZE = 10_000
_PAUSE_SECONDS = 0.5
_AHEAD = 2
"""Transactions that may wait to be made while an import goes on."""
_TOGETHER, _TOGETHER_BYTES = 100, 4_000_000
"""Perceptions of one transaction, and the bytes of their parts beyond which it takes no more."""


class EventWriter:
    """
    Write perceptions and lessons into the memory; `counts` tells by tap what became of them.

    What belongs to a session inherits its robot, environment and task.
    """

    def __init__(self, memory: Memory, taps: Iterable[Tap], finder: SessionFinder) -> None:
        """Begin with nothing kept; raise NotFound for the session of a tap that does not exist."""
        self._memory = memory
        self._finder = finder
        self._sessions = {tap.name: tap.session for tap in taps}
        self.counts: dict[str, Counter[str]] = {}
        for wanted in self._sessions.values():
            finder.find(wanted, 0)

    def change_session(self, tap: str, wanted: str) -> None:
        """Have the next events of a tap in another session; raise NotFound where there is none."""
        self._finder.find(wanted, 0)
        self._sessions[tap] = wanted

    def count(self, tap: str, what: str) -> None:
        """Count an outcome of a tap."""
        self.counts.setdefault(tap, Counter())[what] += 1

    def write(self, tap: str, item: Result) -> None:
        """Keep one; raise Unavailable where the store cannot take it now: it is uncounted then."""
        if isinstance(item, TopicEffort):
            store_effort(self._memory, item)
            return
        with calling(_make_writer(tap)):
            self._write(tap, item)

    def write_together(self, those: Sequence[tuple[str, Perception]]) -> None:
        """
        Keep perceptions in one transaction, in their order; what is refused is counted.

        Where another error is raised, as Unavailable where the store cannot take them now, none of
        them is kept or counted.
        """
        assigned = list(self._assign_each(those))
        given = [
            (_make_writer(tap), one)
            for (tap, _), one in zip(those, assigned, strict=True)
            if isinstance(one, Perception)
        ]
        stored = iter(store_together(self._memory, given))
        for (tap, item), one in zip(those, assigned, strict=True):
            outcome = next(stored) if isinstance(one, Perception) else one
            if isinstance(outcome, StoredPerception):
                self._count_stored(tap, item, outcome)
            else:
                self._handle_refusal(tap, outcome)

    def _assign_each(
        self, those: Iterable[tuple[str, Perception]]
    ) -> Iterator[Perception | RobotMemoryError]:
        """Give each as one of its session, or why it cannot be; sessions are looked up once."""
        sessions: dict[tuple[str, int], Session | None] = {}
        for tap, item in those:
            key = self._sessions.get(tap, NONE), 0 if self._finder.live else item.stamp or 0
            try:
                if key not in sessions:
                    sessions[key] = self._finder.find(*key)
            except NotFound as error:
                yield error
            else:
                yield _assign(item, sessions[key])

    def _count_stored(self, tap: str, item: Perception, stored: StoredPerception) -> None:
        seen = 'witnesses' if stored.witness else 'known'
        self.count(tap, 'events' if stored.new else seen)
        if stored.new:
            logger.info('event: %s', item.description)

    def _handle_refusal(self, tap: str, error: RobotMemoryError) -> None:
        logger.error('%s: event rejected: %s', tap, error)
        self.count(tap, 'refused')

    def _write(self, tap: str, item: Perception | LearnedText | trials.Report) -> None:
        if not isinstance(item, Perception):
            sense = item.origin if isinstance(item, trials.Report) else item.context['sense']
            if was_erased(self._memory, sense, item.stamp):
                self.count(tap, 'known')
                return
        session = self._finder.find(self._sessions.get(tap, NONE), item.stamp or 0)
        if isinstance(item, trials.Report):
            self._record(tap, replace(item, session_id=session.id if session else None))
            return
        if isinstance(item, Perception):
            stored = store_perception(self._memory, _assign(item, session))
            self._count_stored(tap, item, stored)
            return
        item = _assign(item, session)
        learned = learn(
            self._memory,
            item.insight,
            item.context,
            item.collection,
            item.session_id,
            stamp=item.stamp,
            stamp_is_local=item.stamp_is_local,
            category=item.category,
            event=item.event,
        )
        created = not isinstance(learned.stored, Duplicate)
        self.count(tap, 'learned' if created else 'known')
        if created:
            logger.info('learned: %s', item.insight)

    def _record(self, tap: str, report: trials.Report) -> None:
        """Store a trial, unless its goal was recorded before; nothing that it says can raise."""
        try:
            recorded = trials.record(self._memory, report)
        except Conflict:  # the same goal, told with another session or by somebody else
            self.count(tap, 'known')
        except InvalidArgument as error:
            logger.error('%s: trial rejected: %s', tap, error)
            self.count(tap, 'refused')
        else:
            self.count(tap, 'known' if recorded.repeated else 'events')
            if not recorded.repeated:
                logger.info('trial: %s', report.trial.describe())


def _make_writer(tap: str) -> Writer:
    return Writer('tap', tap, authority='robot')


def _assign(item: _Assigned, session: Session | None) -> _Assigned:
    """Return what belongs to a session with its id and its task."""
    if session is None:
        return item
    context = _add_task(item.context, session.context.get('task'))
    return replace(item, session_id=session.id, context=context)


def _add_task(context: dict[str, Any], task: Any) -> dict[str, Any]:
    """Return a context whose task has what the session says of it, beside the instruction."""
    own = context.get('task')
    if not isinstance(own, dict) or not isinstance(task, dict):
        return context
    return {**context, 'task': {**task, **own}}


class EventWriterBeside(EventWriter):
    """
    Write in a thread of its own, in order, while the next messages are read.

    Perceptions are kept many together, in one transaction. Use it as a context manager. After a
    transaction in which an event could not be written none is made.
    """

    def __init__(self, memory: Memory, taps: Iterable[Tap], finder: SessionFinder) -> None:
        """Begin with nothing kept; raise NotFound for the session of a tap that does not exist."""
        super().__init__(memory, taps, finder)
        self._pool = ThreadPoolExecutor(1, 'event-writer')
        self._waiting: deque[Future[None]] = deque()
        self._together: list[tuple[str, Perception]] = []
        self._bytes = 0
        self._refusals: list[RobotMemoryError] = []
        self._has_failed = False

    def __enter__(self) -> EventWriterBeside:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop; what waits is not written, unless `wait` was called."""
        self._pool.shutdown(cancel_futures=True)

    def enqueue(self, tap: str, item: Result) -> None:
        """Have one written in its turn; raise what one before raised."""
        if isinstance(item, Perception):
            self._together.append((tap, item))
            self._bytes += _count_bytes(item)
            if _is_full(len(self._together), self._bytes):
                self._begin_together()
        else:
            self._begin_together()
            self._begin(partial(self.write, tap, item))

    def wait(self) -> None:
        """Wait until all are written; raise what one raised."""
        self._begin_together()
        while self._waiting:
            self._waiting.popleft().result()

    def _handle_refusal(self, tap: str, error: RobotMemoryError) -> None:
        self._refusals.append(error)

    def _begin_together(self) -> None:
        those, self._together, self._bytes = self._together, [], 0
        if those:
            self._begin(partial(self._write_all, those))

    def _write_all(self, those: Sequence[tuple[str, Perception]]) -> None:
        try:
            self.write_together(those)
        except Exception:  # none is stored; those before the one that is wrong are to be
            for tap, item in those:
                self.write(tap, item)
        if self._refusals:
            raise self._refusals[0]

    def _begin(self, act: Callable[[], None]) -> None:
        while self._waiting and (len(self._waiting) >= _AHEAD or self._waiting[0].done()):
            self._waiting.popleft().result()
        self._waiting.append(self._pool.submit(copy_context().run, self._act, act))

    def _act(self, act: Callable[[], None]) -> None:
        if self._has_failed:
            return
        try:
            act()
        except BaseException:
            self._has_failed = True
            raise


def _is_full(number: int, size: int) -> bool:
    """Say whether a transaction of so many perceptions and bytes takes no more."""
    return number == _TOGETHER or size > _TOGETHER_BYTES


def _count_bytes(perception: Perception) -> int:
    return sum(len(part.content or b'') for part in perception.parts)


class QueuedEventWriter(EventWriter):
    """
    Keep in a thread of its own, in order, so that a busy store holds up no tap.

    Perceptions that wait are kept together, in one transaction. What the store cannot take now
    waits; what the store refuses, what does not fit into the queue and what still waits at the
    end is counted.
    """

    def __init__(self, memory: Memory, taps: Iterable[Tap], finder: SessionFinder) -> None:
        """Begin to keep; raise NotFound for the session of a tap that does not exist."""
        super().__init__(memory, taps, finder)
        self._queue: queue.Queue[tuple[str, Result] | None] = queue.Queue(_QUEUE_SIZE)
        self._since: deque[float] = deque()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name='event-writer', daemon=True)
        self._thread.start()

    def enqueue(self, tap: str, item: Result) -> None:
        """Have one kept soon; the caller does not wait."""
        try:
            self._since.append(time.monotonic())
            self._queue.put_nowait((tap, item))
        except queue.Full:
            self._since.pop()
            self.count(tap, 'dropped: queue full')
            logger.error(
                '%s: event dropped, %d events are waiting for the store', tap, _QUEUE_SIZE
            )

    def _run(self) -> None:
        while (first := self._queue.get()) is not None:
            those = self._collect(first)
            self._write_or_wait(those)
            for _ in those:
                self._since.popleft()

    def _collect(self, first: tuple[str, Result]) -> list[tuple[str, Result]]:
        """Return an event, and behind a perception those that wait and are stored with it."""
        found, size = [first], 0
        while isinstance(found[-1][1], Perception) and self._queue.qsize():
            size += _count_bytes(found[-1][1])
            following = self._queue.queue[0]  # nobody else takes from it
            if following is None or not isinstance(following[1], Perception):
                break
            if _is_full(len(found), size):
                break
            self._queue.get()
            found.append(following)
        return found

    def measure_waiting(self) -> tuple[int, float]:
        """Return how many events wait to be stored, and the oldest for how many seconds."""
        waiting = list(self._since)
        return len(waiting), time.monotonic() - waiting[0] if waiting else 0.0

    def _write_or_wait(self, those: Sequence[tuple[str, Result]]) -> None:
        tap, first = those[0]
        perceptions = [(tap, item) for tap, item in those if isinstance(item, Perception)]
        while True:
            try:
                if len(those) > 1:
                    return self.write_together(perceptions)
                return self.write(tap, first)
            except ReadOnlyStore:
                return self._count_all(those, 'refused')
            except Unavailable as error:
                number = self._queue.qsize() + len(those)
                logger.warning('%s: %d events are waiting: %s', tap, number, error)
                if self._closing.wait(_PAUSE_SECONDS):
                    return self._count_all(those, 'deferred: store busy')
            except Exception as error:
                if len(those) > 1:  # none is stored; each tells for itself what is wrong
                    for one in those:
                        self._write_or_wait([one])
                    return None
                if isinstance(error, RobotMemoryError):
                    return self._handle_refusal(tap, error)
                logger.exception('%s: storing an event failed', tap)
                return self.count(tap, 'failed')

    def _count_all(self, those: Iterable[tuple[str, Result]], what: str) -> None:
        for tap, _ in those:
            self.count(tap, what)

    def close(self) -> None:
        """Keep what waits, as far as the store takes it, and stop."""
        self._closing.set()
        self._queue.put(None)
        self._thread.join()
