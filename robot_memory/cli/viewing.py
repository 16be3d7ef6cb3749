"""The view command: serve the web viewer."""

from __future__ import annotations

import signal
import threading
from dataclasses import dataclass, replace

from robot_memory.cli.common import print_note, require_store
from robot_memory.cli.options import Options
from robot_memory.core.errors import NotFound
from robot_memory.core.fields import arg
from robot_memory.core.heap import use_one_heap
from robot_memory.core.settings import Settings
from robot_memory.core.starter import watch_starter
from robot_memory.memory import Memory
from robot_memory.storage.read_only import ROOM_SECONDS, RoomWatch

_WAIT_SECONDS = 1.0


@dataclass(frozen=True)
class ViewRequest:
    """Arguments of the view command."""

    view_host: str = arg(
        'Bind address; a non-loopback address requires a token and TLS.', default='127.0.0.1'
    )
    view_port: int = arg(
        'Port of the viewer; 0 selects a free port.', default=17880, minimum=0, maximum=65535
    )
    mcp_token_file: str = arg(
        'File with principals, roles and hashes of tokens, mode 0600, as of MCP. Empty: '
        '$ROBOT_MEMORY_TOKEN; if that is unset, visitors need no token and change nothing.',
        default='',
    )
    view_allowed_hosts: tuple[str, ...] = arg(
        'Additional host names, without port, accepted in Host and Origin headers.', default=()
    )
    tls_certificate: str = arg('PEM file of the TLS certificate.', default='')
    tls_key: str = arg('PEM file of its key.', default='')
    view_behind_proxy: bool = arg(
        'A proxy on this machine ends TLS; its name is one of view_allowed_hosts.', default=False
    )
    view_wait: bool = arg(
        'Where there is no store yet, wait until there is one: beside a node that makes it.',
        default=False,
    )


def view(request: ViewRequest, settings: Settings, _: Options) -> None:
    """Serve the web viewer until it is interrupted; a process of its own stops no taps."""
    if not request.view_wait:
        require_store(settings)
    use_one_heap()
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    watch_starter(ended.set)
    _wait_for_store(settings, ended)
    watch = RoomWatch()
    while not ended.is_set():  # again where it was opened on a full disk that has room now
        request = _serve(request, settings, ended, watch)


def _wait_for_store(settings: Settings, ended: threading.Event) -> None:
    """Wait until there is a store, or until the end; tell once what is missing."""
    told = False
    while not ended.is_set():
        try:
            require_store(settings)
            return
        except NotFound as error:
            if not told:
                print_note(f'waiting: {error}')
            told = True
            ended.wait(_WAIT_SECONDS)


def _serve(
    request: ViewRequest, settings: Settings, ended: threading.Event, watch: RoomWatch
) -> ViewRequest:
    """Serve until the end, or until the store is to be opened anew; return the port with it."""
    from robot_memory.viewer.server import Viewer, ViewerSettings

    with Memory(settings) as memory:
        viewer = Viewer(
            memory,
            ViewerSettings(
                request.view_host,
                request.view_port,
                request.mcp_token_file,
                request.view_allowed_hosts,
                request.tls_certificate,
                request.tls_key,
                request.view_behind_proxy,
            ),
        )
        viewer.start()
        try:
            who = 'sign in with a token' if viewer.asks_for_token else 'read only: no token is set'
            print(f'viewer: {viewer.url} ({who})', flush=True)
            source = memory.db.source
            while not ended.wait(ROOM_SECONDS if source.waits_for_room else None):
                if watch.has_room(memory.db.path, source):
                    watch.try_once()
                    break
        finally:
            viewer.stop()
    return replace(request, view_port=viewer.port)
