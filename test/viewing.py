"""A viewer over a robot's memory, and requests as a browser without JavaScript sends them."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from robots import Robot
from waiting import HANG_SECONDS

from robot_memory.http.principals import Principal, format_principals
from robot_memory.viewer.server import Viewer, ViewerSettings

TOKENS = {role: f'token-of-the-{role}-in-this-test' for role in ('operator', 'planner', 'viewer')}


@dataclass(frozen=True)
class Answer:
    """What a page answered."""

    status: int
    headers: dict[str, str]
    text: str


@dataclass
class Visit:
    """Visit a viewer, with the cookies that it sets."""

    port: int
    cookies: dict[str, str] = field(default_factory=dict)

    def send(self, path: str, form: dict[str, Any] | None = None, **headers: str) -> Answer:
        """Get a page, or send a form; a header that is given empty is left out."""
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=HANG_SECONDS)
        own = f'http://127.0.0.1:{self.port}'
        given = {'accept': 'text/html'}
        body = None
        if form is not None:
            body = urlencode(form)
            given |= {'content-type': 'application/x-www-form-urlencoded', 'origin': own}
        if self.cookies:
            given['cookie'] = '; '.join(f'{name}={value}' for name, value in self.cookies.items())
        given |= {name.replace('_', '-'): value for name, value in headers.items()}
        sent = {name: value for name, value in given.items() if value}
        try:
            connection.request('GET' if form is None else 'POST', path, body, sent)
            response = connection.getresponse()
            for cookie in response.headers.get_all('set-cookie') or ():
                name, _, value = cookie.partition(';')[0].partition('=')
                self.cookies[name] = value
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read().decode())
        finally:
            connection.close()

    def sign_in(self, role: str) -> Answer:
        """Sign in with the token of a role."""
        return self.send('/sign-in', {'token': TOKENS[role]})


def write_tokens(folder: Path) -> Path:
    """Write a file with a principal of each role."""
    import hashlib

    file = folder / 'principals.json'
    file.write_text(
        format_principals(
            Principal(f'{role}-1', role, hashlib.sha256(token.encode()).hexdigest())
            for role, token in TOKENS.items()
        )
    )
    file.chmod(0o600)
    return file


@contextmanager
def serve_viewer(robot: Robot, **settings: Any) -> Iterator[Viewer]:
    """Serve the pages of a robot's memory on any free port."""
    viewer = Viewer(robot.memory, ViewerSettings(port=0, **settings))
    viewer.start()
    try:
        yield viewer
    finally:
        viewer.stop()
