"""The runtime that every tool receives: it opens, joins and closes the parts."""

from __future__ import annotations

import contextvars
import functools
import getpass
import logging
from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING

from robot_memory.background.accesses import AccessLog
from robot_memory.background.index_mending import IndexMender
from robot_memory.background.reindexing import Reindexer, match_embedder
from robot_memory.background.scrubbing import Scrubber
from robot_memory.background.timekeeper import Timekeeper
from robot_memory.background.worker import BackgroundWorker
from robot_memory.core.admission import Admission
from robot_memory.core.authority import Writer
from robot_memory.core.call_order import CallOrder
from robot_memory.core.clock import (
    DAY,
    SYSTEM_CLOCKS,
    Clocks,
)
from robot_memory.core.errors import RobotMemoryError
from robot_memory.core.no_record import Locator, find_nothing, read_rules
from robot_memory.core.settings import Settings, find_store_path, refuse_unusable
from robot_memory.core.zones import get_zone
from robot_memory.embedding import BackgroundEmbedder, Embedder
from robot_memory.embedding.loader import open_second_model
from robot_memory.embedding.locate import NO_MODEL, has_named_model, has_second_model
from robot_memory.embedding.text_vectors import TextVectors
from robot_memory.embedding.vectorizer import QueryVector, Vectorizer
from robot_memory.embedding.vocabulary import Vocabulary
from robot_memory.metrics.registry import Registry
from robot_memory.storage import Connection, Database
from robot_memory.storage.tables import erasures

if TYPE_CHECKING:
    from robot_memory.background.backing_up import Backups
    from robot_memory.background.erasures import Eraser
    from robot_memory.background.folding import Folder
    from robot_memory.background.part_checking import PartChecker
    from robot_memory.background.skills import SkillCopies
    from robot_memory.plugins.registry import ExtensionRegistry
    from robot_memory.search.resident import ResidentIndex
    from robot_memory.storage.admin.disk_reserve import DiskReserve

logger = logging.getLogger(__name__)
SECOND_SECONDS = 0.4
"""How long a short command waits for the second model after the first one."""
caller: contextvars.ContextVar[Writer | None] = contextvars.ContextVar('caller', default=None)
"""Who calls, as far as the face knows; None: code of this process."""
trace: contextvars.ContextVar[str] = contextvars.ContextVar('trace')
"""The trace that a call belongs to, for the log: 32 hexadecimal digits, as W3C's trace-id."""
progress: contextvars.ContextVar[Callable[[int, int, str], None]] = contextvars.ContextVar(
    'progress', default=lambda done, total, step: None
)
"""
What a long call tells how many of its steps are done, of how many, and which comes next.

It may raise Cancelled, so a long call tells it only where it can stop.
"""


_ON_DEMAND = (
    'extensions',
    'folder',
    'skills',
    'backups',
    'eraser',
    'part_checker',
    'disk_reserve',
)
"""Parts that a process that is no server makes, and whose code it imports, when it needs them."""


class Memory:
    """
    Hold the parts that the tools work with, and a worker for what no caller waits for.

    `db` is the store, `embedder` the first model, `second` the one that is asked beside it about
    some languages, `vectorizer` their cache and breakers, `vocabulary` what questions are compared
    with, `clock` says when something was, `registry` counts, `extensions` are the plug-ins;
    `no_record` says where and when nothing is kept, `locate` where the robot's frames are now;
    `admission` says whether the faces of a node let calls in; `accesses`, `timekeeper`, `folder`,
    `eraser`, `reindexer`, `skills`, `backups`, `scrubber`, `mender`, `part_checker` and
    `disk_reserve` are what the worker runs, `call_order` lets short calls go before long ones. Of
    a `resident` memory, that of a long-running process, the worker runs, and keeps a copy of the
    indexes in memory.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        resident: bool = True,
        clocks: Clocks = SYSTEM_CLOCKS,
        embedder: BackgroundEmbedder | None = None,
        second: BackgroundEmbedder | None = None,
        upgrade: bool = False,
        read_only_fallback: bool = False,
        loads_models: bool = True,
    ) -> None:
        """
        Open the store and begin to load the models; raise Unavailable where it cannot be.

        Where it does not load the models, `lifecycle.deferred_vectors` does.
        A store of an earlier release is refused, or upgraded where `upgrade` says so. With
        `read_only_fallback`, one for whose upgrade the disk has no room is served read-only.
        """
        self.settings = settings or Settings()
        refuse_unusable(self.settings)
        get_zone(self.settings.time_zone)
        self.no_record = read_rules(self.settings, find_store_path(self.settings))
        self.locate: Locator = find_nothing
        self.admission = Admission()
        self.clock = clocks.wall
        self._clocks, self.is_resident = clocks, resident
        self._began = clocks.steady()
        self.call_order = CallOrder()
        self.registry = Registry(clocks.wall, clocks.steady)
        self.db = Database(
            find_store_path(self.settings),
            self.settings.durability,
            upgrade,
            read_only_fallback=read_only_fallback,
        )
        self.embedder = embedder or self._make_embedder()
        self.second = second or self._make_second(is_alone=embedder is not None)
        self.vectorizer = Vectorizer(
            self.embedder,
            self.second,
            self.registry,
            clocks.steady,
            self.settings.cache_ttl,
            self.settings.cache_size,
        )
        self.vocabulary = Vocabulary(self.vectorizer)
        self.resident_index = _make_resident_index() if resident else None
        self._worker = worker = BackgroundWorker()
        self.accesses = AccessLog(self.db, clocks, worker.wake)
        self.timekeeper = Timekeeper(
            self.db, clocks.read, self._max_clock_gap, self.accesses, worker
        )
        self.reindexer = Reindexer(
            self.db, self.embedder, self.vectorizer, self._settings, worker.is_stopping
        )
        self.scrubber = Scrubber(self.db, clocks.steady)
        self.mender = IndexMender(
            self.db, self.scrubber, clocks.wall, worker.wake, worker.is_stopping
        )
        if resident:  # what threads share is there before they begin
            for name in _ON_DEMAND:
                getattr(self, name)
        elif any(self.settings.strategies) or any(self.settings.plugin_dirs):
            _ = self.extensions  # what is wrong with them is told at once
        if resident and not self.db.read_only_reason:
            self.disk_reserve.begin()
        self.timekeeper.settle(patient=True)
        if not (resident or self.db.read_only_reason) and self._has_unfinished_erasure():
            self.eraser.run()
        for model in (self.embedder, self.second):
            model.on_ready.append(lambda _: worker.wake())
        if loads_models:  # the first answer waits for one only: the other is loaded behind it
            self.embedder.on_ready.append(lambda _: self._start_second())
            self.embedder.start()
        if resident:
            worker.start(self._list_jobs())

    def __enter__(self) -> Memory:
        """Return itself, to be closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the memory."""
        self.close()

    def stop_waiting(self) -> None:
        """Have calls that wait for another process's write give up: the memory will close."""
        self._worker.stop()
        self.db.stop_waiting()

    def close(self) -> None:
        """
        Write the recorded accesses and close the file.

        Hardly waits for other processes: calls that do give up, and accesses may be lost.
        """
        self.stop_waiting()
        self._worker.join()
        if 'eraser' in vars(self):
            self.eraser.close()
        try:
            self.accesses.flush()
        except RobotMemoryError as error:
            logger.warning('%d accesses are lost: %s', self.accesses.pending, error)
        self.db.close()

    @property
    def caller(self) -> Writer:
        """Return who calls, as far as the face knows."""
        return caller.get() or _make_own_caller(self.settings.python_role)

    def change_settings(self, settings: Settings) -> None:
        """Take other settings; a changed decay rate holds from now on, not before."""
        before, self.settings = self.settings, settings
        if settings.decay_rate != before.decay_rate:
            self.timekeeper.note_rates(before.decay_rate, settings.decay_rate)

    def _list_jobs(self) -> list[Callable[[], None]]:
        """Return what the worker runs; for a read-only store no job that writes."""
        if self.db.read_only_reason:
            return [self._load_resident_index, self._prepare_questions, self.skills.run]
        return [
            self.mender.run,  # others may need what it makes anew
            self.timekeeper.run,
            self._fold,
            self._load_resident_index,
            self.eraser.run,
            self.backups.run,
            self.reindexer.run_in_background,
            self._prepare_questions,
            self.skills.run,
            self.scrubber.run,
            self.part_checker.run,
            self.disk_reserve.run,
        ]

    def _fold(self) -> None:
        """Fold perceptions where they are over their limit."""
        self.folder.run()

    def _settings(self) -> Settings:
        return self.settings

    def _prepare_questions(self) -> None:
        """Prepare what questions are read by and compared with, so that none waits for it."""
        if self._worker.is_stopping():  # nobody will ask
            return
        from robot_memory.text.questions.glosses import list_glosses
        from robot_memory.text.questions.warm_up import warm_up

        warm_up()
        self.vocabulary.embed([one.text for one in list_glosses()])

    def _max_clock_gap(self) -> int:
        return round(self.settings.clock_gap_days * DAY)

    def _plugin_timeout(self) -> float:
        return self.settings.plugin_timeout

    def _make_embedder(self) -> BackgroundEmbedder:
        plugged = None
        if self.settings.embedder:
            from robot_memory.embedding.plugin import PluggedEmbedder

            plugged = partial(PluggedEmbedder, self.settings.embedder, self._plugin_timeout)
        return BackgroundEmbedder(
            self.settings.model, dimension=self.settings.dimension, make=plugged
        )

    def _make_second(self, *, is_alone: bool) -> BackgroundEmbedder:
        """Return what loads the second model, or nothing where there is none to be asked."""
        settings = self.settings
        is_default = not (is_alone or settings.model or settings.embedder or has_named_model())
        named = settings.second_model
        if is_alone or settings.model == NO_MODEL or not has_second_model(named, is_default):
            return BackgroundEmbedder(NO_MODEL)
        return BackgroundEmbedder(named, make=partial(open_second_model, named))

    def _start_second(self) -> None:
        if not self._worker.is_stopping():
            self.second.start()

    # Parts on demand

    @cached_property
    def extensions(self) -> ExtensionRegistry:
        """Return the plug-ins."""
        from robot_memory.plugins.registry import ExtensionRegistry

        settings = self.settings
        return ExtensionRegistry(
            settings.strategies, settings.plugin_dirs, self._plugin_timeout, self
        )

    @cached_property
    def folder(self) -> Folder:
        """Return what folds perceptions over their limit."""
        from robot_memory.background.folding import Folder

        stops = self._worker.is_stopping
        return Folder(self.db, self.clock, self._settings, stops, has_worker=self.is_resident)

    @cached_property
    def skills(self) -> SkillCopies:
        """Return the copies of what skills have learned."""
        from robot_memory.background.skills import SkillCopies

        worker = self._worker
        return SkillCopies(
            self.db, self.embedder, self.vectorizer, worker.is_stopping, worker.wake
        )

    @cached_property
    def backups(self) -> Backups:
        """Return what makes the backups."""
        from robot_memory.background.backing_up import Backups

        stops = self._worker.is_stopping
        return Backups(self.db, self.settings, self.clock, self._clocks.steady, stops, self._began)

    @cached_property
    def eraser(self) -> Eraser:
        """Return what completes erasures."""
        from robot_memory.background.erasures import Eraser

        return Eraser(self.db, self._settings, self.clock, self._clocks.steady)

    @cached_property
    def part_checker(self) -> PartChecker:
        """Return what compares payload parts with their digests."""
        from robot_memory.background.part_checking import PartChecker

        return PartChecker(self.db, self._clocks.steady)

    @cached_property
    def disk_reserve(self) -> DiskReserve:
        """Return what keeps room on the disk for what frees room."""
        from robot_memory.storage.admin.disk_reserve import DiskReserve

        return DiskReserve(self.db, self._settings, self._clocks.steady)

    def _has_unfinished_erasure(self) -> bool:
        with self.db.read() as connection:
            return erasures.find_unfinished(connection) is not None

    # Vectors

    def wait_for_models(self, seconds: float | None, more: float | None = SECOND_SECONDS) -> None:
        """Wait so long for the first model, and some seconds `more` for the second one."""
        if self.embedder.wait(seconds) is not None:
            self.second.start()
            self.second.wait(more)

    def embed_passage(self, text: str) -> TextVectors | None:
        """Return the vectors of a text to store, or None while there is no model."""
        made = self.vectorizer.embed_passages([text])
        return None if made is None else made[0]

    def embed_query(self, text: str) -> QueryVector | None:
        """Return the vector of a query, or None while there is no model that can."""
        return self.vectorizer.embed_query(text)

    def match_embedder(self, connection: Connection) -> Embedder | None:
        """Return the embedder if it is loaded and the file holds vectors of its model."""
        return match_embedder(connection, self.embedder)

    # Searching

    def cache_state(self, connection: Connection) -> str:
        """Say whether copies in memory answer: active, loading, or inactive."""
        if self.resident_index is not None and self.resident_index.is_loading(connection):
            return 'loading'
        return 'active' if self.resident_index or self.embedder.get_if_loaded() else 'inactive'

    def _load_resident_index(self) -> None:
        """Load the resident index, or bring it up to date."""
        if self.resident_index is not None:
            with self.db.read() as connection:
                self.resident_index.load(connection, self._worker.is_stopping)


def _make_resident_index() -> ResidentIndex:
    from robot_memory.search.resident import ResidentIndex

    return ResidentIndex()


@functools.cache
def _make_own_caller(role: str) -> Writer:
    """Return code of this process as a caller."""
    return Writer.of_role('python', find_os_user(), role)


@functools.cache
def find_os_user() -> str:
    """Return the name of the operating system's user, as far as it is known."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return 'unknown'
