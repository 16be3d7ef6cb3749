"""Serving the viewer: a web server of its own on the loopback, or beyond it over TLS."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.folders import expand_path
from robot_memory.core.json_text import format_value
from robot_memory.http.access_control import AccessControl, parse_address
from robot_memory.http.faces import VIEWER
from robot_memory.http.port import listen
from robot_memory.http.token import read_principals
from robot_memory.http.web_server import WebServer, format_host
from robot_memory.memory import Memory
from robot_memory.viewer.app import build_app
from robot_memory.viewer.calls import Calls
from robot_memory.viewer.site import Site
from robot_memory.viewer.streams import Streams
from robot_memory.viewer.visitors import Sessions


@dataclass(frozen=True)
class ViewerSettings:
    """
    Hold where the viewer listens, who may come in, and the files of its TLS.

    `behind_proxy` says that a proxy on this machine ends TLS; its name is in `allowed_hosts`.
    """

    host: str = '127.0.0.1'
    port: int = 17880
    token_file: str = ''
    allowed_hosts: tuple[str, ...] = ()
    tls_certificate: str = ''
    tls_key: str = ''
    behind_proxy: bool = False


class Viewer:
    """Serve the pages of a memory."""

    def __init__(self, memory: Memory, settings: ViewerSettings | None = None) -> None:
        """
        Take the port.

        Raise InvalidArgument for what is not safe: an address that others reach without a token
        or without TLS. Raise Unavailable where the port cannot be had.
        """
        settings = settings or ViewerSettings()
        self._address = parse_address(settings.host, VIEWER)
        principals = read_principals(settings.token_file)
        access = AccessControl.create(self._address, principals, settings.allowed_hosts, VIEWER)
        self._tls = _check_tls(settings, is_loopback=self._address.is_loopback)
        calls = Calls(memory)
        self._streams = Streams(calls)
        is_secure = bool(self._tls) or settings.behind_proxy
        self._site = Site(memory, calls, access, Sessions(), self._streams, is_secure)
        self._listening: socket.socket = listen(self._address, settings.port, VIEWER)
        self.port: int = self._listening.getsockname()[1]
        self._server: WebServer | None = None

    @property
    def url(self) -> str:
        """Return the address to open in a browser."""
        scheme = 'https' if self._tls else 'http'
        return f'{scheme}://{format_host(self._address)}:{self.port}/'

    @property
    def asks_for_token(self) -> bool:
        """Say whether visitors must sign in."""
        return self._site.access.principals is not None

    def start(self) -> None:
        """Serve from now on."""
        self._server = WebServer(build_app(self._site), self._listening, 'viewer', **self._tls)

    def stop(self) -> None:
        """End the streams, let open requests end for a second, and free the port."""
        self._streams.close()
        if self._server is not None:
            self._server.stop()
            self._server = None
        self._listening.close()


def _check_tls(settings: ViewerSettings, *, is_loopback: bool) -> dict[str, str]:
    """Return the options of the server for TLS; raise InvalidArgument where they cannot be."""
    if settings.behind_proxy and not any(settings.allowed_hosts):
        raise InvalidArgument(
            'view_behind_proxy requires view_allowed_hosts: the name that browsers ask for'
        )
    given = (settings.tls_certificate, settings.tls_key)
    if not any(given):
        if is_loopback or settings.behind_proxy:
            return {}
        raise InvalidArgument(
            f'view_host {settings.host} is reachable from other machines and requires TLS: set '
            'tls_certificate and tls_key, or view_behind_proxy where a proxy ends TLS'
        )
    if not all(given):
        raise InvalidArgument('tls_certificate and tls_key must be given together')
    certificate, key = (
        str(expand_path(path, name))
        for path, name in zip(given, ('tls_certificate', 'tls_key'), strict=True)
    )
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise InvalidArgument(
            f'tls_certificate {format_value(certificate)} and tls_key {format_value(key)} cannot '
            f'be used ({error}); accepted: PEM files of a certificate and its key'
        ) from None
    return {'ssl_certfile': certificate, 'ssl_keyfile': key}
