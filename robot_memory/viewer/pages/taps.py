"""Taps of the running node: rates, what is kept, and what is dropped and why."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from robot_memory.core.errors import Unavailable
from robot_memory.ingest.tap_problems import CURES
from robot_memory.status.node_state import NodeState, TapState, ask_node
from robot_memory.viewer.rendering import render
from robot_memory.viewer.site import get_site

KEPT = ('events', 'learned', 'known', 'witnesses')
"""Counts of what was kept of messages; all others but `received` are of what was not."""
LATE_SECONDS = 5.0
"""Age of what a node tells from which on the page says so: it is renewed once a second."""


@dataclass(frozen=True)
class ShownTap:
    """Hold a tap as the page shows it: what was kept, and what was not, with the cure."""

    state: TapState
    received: int
    kept: tuple[tuple[str, int], ...]
    dropped: tuple[tuple[str, int, str], ...]


async def show_taps(request: Request) -> Response:
    """Return how the taps are this second, or that no node is running."""
    site = get_site(request)
    node: NodeState | None = None
    missing = ''
    try:
        node = await site.calls.run(partial(ask_node, site.memory.db.path))
    except Unavailable as error:
        missing = str(error)
    taps = [] if node is None else [split_counts(one) for one in node.taps]
    return render(
        request,
        'taps.html',
        node=node,
        taps=taps,
        missing=missing,
        is_late=node is not None and node.age > LATE_SECONDS,
    )


def split_counts(tap: TapState) -> ShownTap:
    """Return the counts of a tap by what became of the messages, the largest loss first."""
    dropped = [
        (name, number, CURES.get(name, ''))
        for name, number in tap.counts.items()
        if number and name not in (*KEPT, 'received')
    ]
    return ShownTap(
        tap,
        tap.counts.get('received', 0),
        tuple((name, tap.counts[name]) for name in KEPT if tap.counts.get(name)),
        tuple(sorted(dropped, key=lambda one: -one[1])),
    )
