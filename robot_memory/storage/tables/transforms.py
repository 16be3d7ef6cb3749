"""
The tree of tf at instants: what lay where in what, when an event was kept.

At an instant only what changed since the one before is written, so that a fixed cell costs a row
a frame. Nothing is extrapolated: at a time that is not near a kept instant only static transforms
are known.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import apsw

from robot_memory.core.json_text import format_value
from robot_memory.detectors import Pose, PoseLookup
from robot_memory.detectors.poses import IDENTITY, strip_slash

NEAREST_NS = 1_000_000_000
"""How far from a kept instant a question may be."""
_NUMBERS = struct.Struct('<7d')
_LAST = (
    'SELECT parent, static, numbers FROM transforms WHERE source = ? AND child = ? AND stamp <= ?'
    ' ORDER BY stamp DESC LIMIT 1'
)
_Value = tuple[str, int, bytes | None]
_UNKNOWN: _Value = ('', 0, None)


@dataclass(frozen=True)
class Edge:
    """Hold the pose of `child` in `parent`, in metres; `is_static`: it never changes."""

    child: str
    parent: str
    pose: Pose
    is_static: bool = False


@dataclass(frozen=True)
class Resolved:
    """Hold a pose or the reason why there is none, and whether it changes in time."""

    pose: Pose | None
    reason: str = ''
    moves: bool = False


def put_tree(
    connection: apsw.Connection, source: str, stamp_ns: int, edges: Iterable[Edge]
) -> None:
    """Keep the tree at an instant; frames that it has not are unknown there."""
    values: dict[str, _Value] = {
        strip_slash(edge.child): (
            strip_slash(edge.parent),
            int(edge.is_static),
            _NUMBERS.pack(*edge.pose.position, *edge.pose.orientation),
        )
        for edge in edges
    }
    ((following,),) = connection.execute(
        'SELECT min(stamp) FROM transform_instants WHERE source = ? AND stamp > ?',
        (source, stamp_ns),
    )
    for child in {*values, *_list_children(connection, source)}:
        value = values.get(child, _UNKNOWN)
        before = _find_last(connection, source, child, stamp_ns)
        if before == value or (child not in values and before[1]):  # static ones hold on
            continue
        if following is not None:
            # The next instant was written as what differs from before this one.
            _insert(connection, source, child, following, before, 'IGNORE')
        _insert(connection, source, child, stamp_ns, value, 'REPLACE')
    connection.execute(
        'INSERT OR IGNORE INTO transform_instants (source, stamp) VALUES (?, ?)',
        (source, stamp_ns),
    )


def remove_instant(connection: apsw.Connection, source: str, stamp_ns: int) -> None:
    """Remove the tree at an instant, where one was kept; what later ones know of it stays."""
    connection.execute(
        'INSERT OR IGNORE INTO transforms (source, child, stamp, parent, static, numbers)'
        ' SELECT source, child, following, parent, static, numbers FROM transforms,'
        ' (SELECT min(stamp) AS following FROM transform_instants'
        ' WHERE source = ?1 AND stamp > ?2)'
        ' WHERE source = ?1 AND stamp = ?2 AND following IS NOT NULL',
        (source, stamp_ns),
    )
    for table in ('transforms', 'transform_instants'):
        connection.execute(
            f'DELETE FROM {table} WHERE source = ? AND stamp = ?', (source, stamp_ns)
        )


def _insert(
    connection: apsw.Connection,
    source: str,
    child: str,
    stamp_ns: int,
    value: _Value,
    otherwise: str,
) -> None:
    connection.execute(
        f'INSERT OR {otherwise} INTO transforms (source, child, stamp, parent, static, numbers)'
        ' VALUES (?, ?, ?, ?, ?, ?)',
        (source, child, stamp_ns, *value),
    )


def _find_last(connection: apsw.Connection, source: str, child: str, stamp_ns: int) -> _Value:
    row: Any = connection.execute(_LAST, (source, child, stamp_ns)).fetchone()
    return row or _UNKNOWN


def _list_children(connection: apsw.Connection, source: str) -> list[str]:
    """Return the frames that there ever were, each found by one step in the index."""
    rows = connection.execute(
        'WITH RECURSIVE c(name) AS (SELECT min(child) FROM transforms WHERE source = ?1'
        ' UNION ALL SELECT (SELECT min(child) FROM transforms WHERE source = ?1'
        ' AND child > c.name) FROM c WHERE c.name IS NOT NULL)'
        ' SELECT name FROM c WHERE name IS NOT NULL',
        (source,),
    )
    return [row[0] for row in rows]


def list_sources(connection: apsw.Connection) -> list[str]:
    """Return the sources that transforms were kept of."""
    rows = connection.execute('SELECT DISTINCT source FROM transform_instants ORDER BY 1')
    return [row[0] for row in rows]


def find_instant(connection: apsw.Connection, source: str, stamp_ns: int | None) -> int | None:
    """Return the kept instant nearest to a stamp, or the newest (None)."""
    if stamp_ns is None:
        ((found,),) = connection.execute(
            'SELECT max(stamp) FROM transform_instants WHERE source = ?', (source,)
        )
        return None if found is None else int(found)
    rows = connection.execute(
        'SELECT max(stamp) FROM transform_instants WHERE source = ?1 AND stamp <= ?2 UNION ALL'
        ' SELECT min(stamp) FROM transform_instants WHERE source = ?1 AND stamp > ?2',
        (source, stamp_ns),
    )
    near = [int(row[0]) for row in rows if row[0] is not None]
    return min(near, key=lambda stamp: abs(stamp - stamp_ns)) if near else None


class StoredTree:
    """Look up the pose of a frame in another at a kept instant of a source."""

    def __init__(
        self, connection: apsw.Connection, source: str, stamp_ns: int | None, stale: str
    ) -> None:
        """Take the tree at an instant; with a reason `stale` only what is static is known."""
        self._connection = connection
        self._source = source
        self._stamp_ns = 2**63 - 1 if stamp_ns is None else stamp_ns
        self.stale = stale

    def has_frame(self, frame: str) -> bool:
        """Say whether a frame was ever heard of."""
        ((known,),) = self._connection.execute(
            'SELECT EXISTS (SELECT 1 FROM transforms WHERE source = ?1 AND child = ?2)'
            ' OR EXISTS (SELECT 1 FROM transforms WHERE source = ?1 AND parent = ?2)',
            (self._source, frame),
        )
        return bool(known)

    def look_up(self, fixed: str, frame: str) -> Resolved:
        """Return the pose of `frame` in `fixed`, or why it is not known."""
        if fixed == frame:
            return Resolved(IDENTITY)
        for name in (frame, fixed):
            if not self.has_frame(name):
                return Resolved(None, f'unknown tf frame {format_value(name)}')
        below = self._climb(frame)
        above = self._climb(fixed)
        common = next((name for name in above.passed if name in below.passed), None)
        if common is None:
            apart = f'tf frames {format_value(frame)} and {format_value(fixed)} are not connected'
            return Resolved(None, below.broken or above.broken or apart)
        (one, moves), (other, moves_too) = below.passed[common], above.passed[common]
        return Resolved(other.invert() @ one, moves=moves or moves_too)

    def _climb(self, start: str) -> _Path:
        name, pose, moves = start, IDENTITY, False
        passed = {start: (IDENTITY, False)}
        while True:
            edge, broken = self._find_edge(name)
            if edge is None or edge.pose is None:
                return _Path(passed, broken)
            moves = moves or not edge.reason
            name, pose = edge.frame_id, edge.pose @ pose
            if name in passed:
                return _Path(passed, f'tf has a cycle at {format_value(name)}')
            passed[name] = (pose, moves)

    def _find_edge(self, child: str) -> tuple[PoseLookup | None, str]:
        """Return a frame's pose in its parent (`reason` is set of a static one), or why not."""
        value = _find_last(self._connection, self._source, child, self._stamp_ns)
        if not value[1]:
            static: Any = self._connection.execute(
                'SELECT parent, static, numbers FROM transforms WHERE source = ? AND child = ?'
                ' AND static AND NOT EXISTS (SELECT 1 FROM transforms AS o WHERE'
                ' o.source = transforms.source AND o.child = transforms.child AND NOT o.static)'
                ' ORDER BY stamp LIMIT 1',
                (self._source, child),
            ).fetchone()
            value = static or value
        parent, is_static, numbers = value
        if not parent or numbers is None:
            known = self._connection.execute(
                'SELECT 1 FROM transforms WHERE source = ? AND child = ? LIMIT 1',
                (self._source, child),
            ).fetchone()
            gone = f'no transform of {format_value(child)} was kept at that instant'
            return None, gone if known else ''
        if not is_static and self.stale:
            return None, f'{format_value(child)} moves, and {self.stale}'
        x, y, z, *turn = _NUMBERS.unpack(numbers)
        pose = Pose((x, y, z), (turn[0], turn[1], turn[2], turn[3]))
        return PoseLookup(pose, parent, 'static' if is_static else ''), ''


@dataclass(frozen=True)
class _Path:
    """Hold the frames from one to the root, each with its pose there, and what broke the way."""

    passed: dict[str, tuple[Pose, bool]]
    broken: str
