"""Who visits: signed in by a cookie or a bearer token, and what the visitor may do."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from robot_memory.core.authority import Writer
from robot_memory.http.principals import Principal

COOKIE = 'robot_memory_session'
SESSION_SECONDS = 12 * 3600.0
MOST_SESSIONS = 256


@dataclass(frozen=True)
class Visitor:
    """
    Hold a visitor: the writer that tools are called as, and the CSRF token of the session.

    `principal` is None where no token is required; such a visitor reads only. `csrf` is empty
    where there is no session, and then nothing can be changed either.
    """

    writer: Writer
    principal: Principal | None
    csrf: str

    @property
    def may_change(self) -> bool:
        """Say whether the visitor may change memories: an operator who has signed in."""
        return bool(self.csrf) and self.writer.authority == 'operator' and self.writer.may_write


@dataclass(frozen=True)
class _Session:
    principal: Principal
    csrf: str
    ends_at: float


class Sessions:
    """Hold who has signed in, for 12 hours each, and forget the oldest beyond 256."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Hold none; the clock tells seconds."""
        self._clock = clock
        self._held: dict[str, _Session] = {}

    def begin(self, principal: Principal) -> str:
        """Begin a session of a principal; return the secret that its cookie holds."""
        now = self._clock()
        self._held = {key: one for key, one in self._held.items() if one.ends_at > now}
        while len(self._held) >= MOST_SESSIONS:
            del self._held[next(iter(self._held))]
        secret = secrets.token_urlsafe(32)
        session = _Session(principal, secrets.token_urlsafe(32), now + SESSION_SECONDS)
        self._held[_hash(secret)] = session
        return secret

    def end(self, secret: str) -> None:
        """End a session, if there is one."""
        self._held.pop(_hash(secret), None)

    def find(self, secret: str) -> Visitor | None:
        """Return who has signed in with a cookie; None: nobody, or too long ago."""
        session = self._held.get(_hash(secret)) if secret else None
        if session is None or session.ends_at <= self._clock():
            return None
        return make_visitor(session.principal, session.csrf)


def make_visitor(principal: Principal | None, csrf: str = '') -> Visitor:
    """Return a visitor: of a principal, or, where no token is required, one who reads only."""
    if principal is None:
        return Visitor(Writer.of_role('viewer', 'browser', 'viewer'), None, '')
    writer = Writer.of_role(
        'viewer', 'browser', principal.role, principal.name, principal.may_speak_for
    )
    return Visitor(writer, principal, csrf)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode('utf-8', 'surrogateescape')).hexdigest()
