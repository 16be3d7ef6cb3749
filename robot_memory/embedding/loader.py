"""Loads the model beside the work, so that a node or a command answers before it is there."""

from __future__ import annotations

import atexit
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from robot_memory.core.errors import InvalidArgument, RobotMemoryError
from robot_memory.core.heap import trim_heap
from robot_memory.embedding.locate import (
    ADVICE,
    NO_MODEL,
    find_model,
    find_second_model,
    make_default_model,
)
from robot_memory.embedding.protocol import Embedder

State = Literal['off', 'loading', 'ready', 'failed']
EXIT_GRACE = 10.0
"""Seconds that a leaving interpreter waits for a load, which native code cannot break off."""

logger = logging.getLogger(__name__)


class _Loads:
    """
    Hold the threads that load, for which a leaving interpreter waits.

    Native code that comes back to an interpreter that is gone ends the process by abort().
    """

    def __init__(self) -> None:
        self._threads: set[threading.Thread] = set()
        self._lock = threading.Lock()
        self._is_leaving = False

    def start(self, thread: threading.Thread) -> bool:
        """Start a thread, unless the interpreter leaves."""
        with self._lock:
            if self._is_leaving:
                return False
            self._threads.add(thread)
            thread.start()
            return True

    def discard(self, thread: threading.Thread) -> None:
        """Forget a thread that has nothing more to load."""
        with self._lock:
            self._threads.discard(thread)

    def wait(self) -> None:
        """Let no more threads start, and wait for those that load."""
        with self._lock:
            self._is_leaving = True
            threads = list(self._threads)
        for thread in threads:
            thread.join(EXIT_GRACE)


_loads = _Loads()
atexit.register(_loads.wait)


def open_second_model(named: str) -> Embedder:
    """Load the second model: that of a named folder, or the fetched one."""
    return _open(find_second_model(named))


def _open(directory: Path, threads: int = 1) -> Embedder:
    """Open a model; who asks for none does not wait until the code that runs one is imported."""
    from robot_memory.embedding.onnx import OnnxEmbedder

    return OnnxEmbedder(directory, threads)


class BackgroundEmbedder:
    """
    Load a model in a thread of its own.

    `model` is '' for the default model, 'none' for no model, else a directory. `make` makes
    another embedder in its place, unless it is 'none'. A model whose vectors have not `dimension`
    numbers has failed, where that is not 0. `on_ready` holds functions that the loading thread
    calls with the embedder once; append before `start`.
    """

    def __init__(
        self,
        model: str = '',
        threads: int = 1,
        dimension: int = 0,
        make: Callable[[], Embedder] | None = None,
    ) -> None:
        """Stay in state 'off' until `start`."""
        self._model = model
        self._dimension = dimension
        self._make = make
        self._threads = threads
        self._embedder: Embedder | None = None
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self.state: State = 'off'
        self.reason = (
            "embedding is disabled: model is 'none'" if model == NO_MODEL else 'not started'
        )
        self.on_ready: list[Callable[[Embedder], None]] = []
        if model == NO_MODEL:
            self._done.set()

    def start(self) -> None:
        """Begin to load; a second call, or one with no model, does nothing."""
        with self._starting:
            if self._thread or self._model == NO_MODEL:
                return
            thread = threading.Thread(target=self._run, name='embedding-loader', daemon=True)
            self.state, self.reason = 'loading', 'the embedding model is loading'
            self._thread = thread
            if not _loads.start(thread):
                self.state, self.reason = 'failed', 'the process ends'
                self._done.set()

    def unload(self) -> None:
        """Drop a loaded model, and give back what it took; `start` loads it again."""
        with self._starting:
            if self._embedder is None:
                return
            self._embedder = self._thread = None
            self._done.clear()
            self.state, self.reason = 'off', 'not started'
        trim_heap()

    def get_if_loaded(self) -> Embedder | None:
        """Give the embedder if it is loaded; never blocks."""
        return self._embedder

    def wait(self, timeout: float | None = None) -> Embedder | None:
        """Give the embedder once loading ends; None when it failed, is off, or time is up (s)."""
        if self._thread or self._model == NO_MODEL:
            self._done.wait(timeout)
        return self._embedder

    def _run(self) -> None:
        try:
            self._load()
            if self._embedder:
                self._report(self._embedder)
        finally:
            _loads.discard(threading.current_thread())

    def _load(self) -> None:
        try:
            if self._make is not None:
                made = self._make()
            else:
                made = self._open(find_model(self._model) or make_default_model())
            if self._dimension not in (0, made.dimension):
                raise InvalidArgument(
                    f'{made.name} has dimension {made.dimension}, but the setting dimension is '
                    f'{self._dimension}; 0 accepts any'
                )
            trim_heap()  # a second model's file takes some 25 MB to read
            self._embedder = made
            self.state, self.reason = 'ready', ''
        except RobotMemoryError as error:
            self._fail(str(error))
        except ImportError as error:
            self._fail(f'{error}: pip install onnxruntime tokenizers, or {ADVICE}')
        except Exception as error:
            logger.exception('loading the embedding model failed')
            self._fail(f'loading the embedding model failed: {error!r}; {ADVICE}')
        finally:
            self._done.set()

    def _open(self, directory: Path) -> Embedder:
        return _open(directory, self._threads)

    def _fail(self, reason: str) -> None:
        self.state, self.reason = 'failed', reason
        logger.warning('vector search is disabled: %s', reason)

    def _report(self, embedder: Embedder) -> None:
        for call in self.on_ready:
            try:
                call(embedder)
            except Exception:
                logger.exception('an on_ready callback failed')
