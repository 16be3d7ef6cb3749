"""What a running node tells other processes of its taps: through a socket beside its store."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from robot_memory.core.errors import Unavailable
from robot_memory.storage.store_files import name_file

SUFFIX = '-node'
"""What stands behind the name of a store in the name of the socket."""
_SECONDS = 2.0
"""How long either side waits for the other."""
_MOST = 4_000_000
"""Bytes of an answer that are read."""
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class TapState:
    """
    Hold how a tap is: its level (0 OK, 1 WARN), and the words, as on /diagnostics.

    `fault` says why nothing comes, and what to do; empty: something does, or nobody has published.
    `counts` are messages since the node became active, by what became of them; `rate` is how many
    came a second.
    """

    title: str
    topic: str
    level: int
    words: str
    counts: dict[str, int] = field(default_factory=dict)
    rate: int = 0
    fault: str = ''


@dataclass(frozen=True)
class NodeState:
    """Hold what a node tells of itself: its name, what state it is in, and its taps."""

    node: str
    state: str
    words: str = ''
    taps: tuple[TapState, ...] = ()
    age: float = 0.0
    """Seconds since it was looked at, which it is once a second."""


class StateTeller:
    """
    Tell whoever connects to the socket beside a store how the node is; nothing is written.

    Only the user of the node can connect. Where another node tells of the same store, or no
    socket can be made, the log says so and nothing is told.
    """

    def __init__(self, store: Path, describe: Callable[[], NodeState]) -> None:
        """Tell from now on what `describe` returns."""
        self._path = name_file(store.resolve(), SUFFIX)
        self._describe = describe
        self._made: os.stat_result | None = None
        try:
            self._socket = self._listen()
        except OSError as error:
            self._socket = None
            logger.warning('the viewer cannot show the taps: %s: %s', self._path, error)
        if self._socket is not None:
            self._thread = threading.Thread(
                target=self._serve, args=(self._socket,), name='node-state', daemon=True
            )
            self._thread.start()

    def _listen(self) -> socket.socket | None:
        with contextlib.suppress(Unavailable):
            ask_node_at(self._path)
            logger.warning(
                'another node serves this store (%s): the viewer shows its taps', self._path
            )
            return None
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        part = f'.{secrets.token_hex(8)}{SUFFIX}'
        try:
            with _open_folder(self._path) as folder:
                listening.bind(f'{folder}/{part}')
                try:
                    os.chmod(f'{folder}/{part}', 0o600)
                    listening.listen(8)
                    os.rename(f'{folder}/{part}', f'{folder}/{self._path.name}')
                except BaseException:
                    os.unlink(f'{folder}/{part}')
                    raise
            self._made = os.stat(self._path)
        except BaseException:
            listening.close()
            raise
        return listening

    def _serve(self, listening: socket.socket) -> None:
        while True:
            try:
                asking, _ = listening.accept()
            except OSError:  # it was shut down
                return
            with asking, contextlib.suppress(OSError):
                asking.settimeout(_SECONDS)
                asking.sendall(json.dumps(asdict(self._describe())).encode())

    def close(self) -> None:
        """Tell no more, and remove the socket, unless it is another node's by now."""
        if self._socket is None:
            return
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # closing alone would not wake accept
        self._thread.join()
        self._socket.close()
        self._socket = None
        with contextlib.suppress(OSError):
            if self._made is not None and os.path.samestat(os.stat(self._path), self._made):
                os.unlink(self._path)


def ask_node(store: Path) -> NodeState:
    """Return how the node of a store is; raise Unavailable where none answers, with the reason."""
    return ask_node_at(name_file(store.resolve(), SUFFIX))


def ask_node_at(path: Path) -> NodeState:
    """Return what is told at a socket; raise Unavailable where nothing is."""
    started = time.monotonic()
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
            asking.settimeout(_SECONDS)
            with _open_folder(path) as folder:
                asking.connect(f'{folder}/{path.name}')
            received = b''
            while part := asking.recv(1 << 16):
                received += part
                if len(received) > _MOST or time.monotonic() - started > _SECONDS:
                    raise TimeoutError('its answer does not end')
        return _parse_state(json.loads(received))
    except (FileNotFoundError, ConnectionRefusedError):
        raise Unavailable('no node is running on this store') from None
    except PermissionError:
        raise Unavailable(
            f'{path} belongs to another user: run the viewer as the user of the node'
        ) from None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise Unavailable(f'the node at {path} does not tell how it is: {error}') from None


def _parse_state(fields: dict[str, Any]) -> NodeState:
    taps = tuple(TapState(**one) for one in fields.pop('taps'))
    return NodeState(**fields, taps=taps)


@contextlib.contextmanager
def _open_folder(path: Path) -> Iterator[str]:
    """Give a short name of a file's folder: that of a socket may have 107 bytes."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f'/proc/self/fd/{folder}'
    finally:
        os.close(folder)
