"""A web server in a thread of its own: from taking the port to freeing it."""

from __future__ import annotations

import socket
import threading
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from robot_memory.http.access_control import Address
from robot_memory.http.connection_limits import LimitedProtocol
from robot_memory.http.log_limits import thin_foreign_logs

PATIENCE_SECONDS = 1
"""Seconds that open calls have to end in when the server stops."""


class WebServer:
    """Serve an application on a socket that listens, until it is stopped."""

    def __init__(self, app: ASGIApp, listening: socket.socket, name: str, **options: Any) -> None:
        """Serve from now on, in a thread of this name; the options are those of uvicorn."""
        thin_foreign_logs()
        self.server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_config=None,
                log_level='warning',
                access_log=False,
                ws='none',
                server_header=False,
                http=LimitedProtocol,
                timeout_graceful_shutdown=PATIENCE_SECONDS,
                **options,
            )
        )
        self._thread = threading.Thread(
            target=self.server.run, args=([listening],), name=name, daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Let open calls end for a second, break the others off, and free the port."""
        self.server.should_exit = True
        self._thread.join()


def format_host(address: Address) -> str:
    """Return an address as it stands in a URL."""
    return f'[{address}]' if address.version == 6 else str(address)
