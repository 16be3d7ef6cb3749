"""What every page has at hand."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from robot_memory.http.access_control import AccessControl
from robot_memory.memory import Memory
from robot_memory.viewer.calls import Calls
from robot_memory.viewer.middleware import VISITOR
from robot_memory.viewer.streams import Streams
from robot_memory.viewer.visitors import Sessions, Visitor


@dataclass(frozen=True)
class Site:
    """Hold the memory, how it is asked, who has signed in, and the streams of open pages."""

    memory: Memory
    calls: Calls
    access: AccessControl
    sessions: Sessions
    streams: Streams
    is_secure: bool = False
    """Whether pages are served over TLS, so that cookies are sent over nothing else."""


def get_site(request: Request) -> Site:
    """Return the site that a request is for."""
    site: Site = request.app.state.site
    return site


def get_visitor(request: Request) -> Visitor:
    """Return who has sent a request that the guard let in."""
    visitor: Visitor = request.scope[VISITOR]
    return visitor
