"""How a place of a frame, and of a revision of a map, is brought into an asked frame."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

from robot_memory.core.maps import NO_MAP, MapRevision, describe_revision
from robot_memory.core.records import CALENDAR_FROM
from robot_memory.detectors import Pose
from robot_memory.detectors.poses import IDENTITY
from robot_memory.storage import Connection
from robot_memory.storage.indexes.placements import PlaceFrame
from robot_memory.storage.tables import maps
from robot_memory.storage.tables.transforms import StoredTree


class AskedFrame(NamedTuple):
    """Name a frame that is asked for, and the revision of the map that it is meant of."""

    name: str
    of: MapRevision


@dataclass(frozen=True)
class ResolvedFrame:
    """
    Hold the pose of a frame in the asked one, or the reason why there is none.

    `moves`: it changes in time. `is_anchored`: it leads from the map `of` through a re-anchoring,
    which is off by the `residual` in metres.
    """

    pose: Pose | None
    name: str
    of: MapRevision
    reason: str = ''
    moves: bool = False
    is_anchored: bool = False
    residual: float = 0.0

    @property
    def variance(self) -> float:
        """Return by how much the residual widens each axis, in square metres."""
        return self.residual**2 / 3


class Crossing(NamedTuple):
    """
    Hold the pose of one revision in another.

    `residual` is that of the re-anchorings between them, added in square.
    """

    pose: Pose
    residual: float


class FrameResolver:
    """Resolve frames through the tree of tf at an instant, and between the revisions of maps."""

    def __init__(
        self, tree: StoredTree, connection: Connection, instant_ns: int | None, *, is_now: bool
    ) -> None:
        """
        Take a tree of an instant, and the maps that held then.

        What is asked is of these, too, or of those that hold now.
        """
        self._tree = tree
        at = None if instant_ns is None else instant_ns // 1000
        if at is not None and at < CALENDAR_FROM:  # of simulated time, which maps do not know
            at = None
        self._of_tree = _list_maps(connection, at)
        self._holds = _list_maps(connection, None) if is_now else self._of_tree
        self._steps: dict[MapRevision, dict[MapRevision, Crossing]] = {}
        for anchor in maps.list_anchors(connection):
            ahead = Crossing(anchor.pose, anchor.residual)
            back = Crossing(anchor.pose.invert(), anchor.residual)
            # The newest comes first, in whichever direction it was given.
            if anchor.new not in self._steps.setdefault(anchor.old, {}):
                self._steps[anchor.old][anchor.new] = ahead
                self._steps.setdefault(anchor.new, {})[anchor.old] = back

    def get_asked(self, frame: str) -> AskedFrame:
        """Return a frame as it is asked for: of the map that holds in it."""
        return AskedFrame(frame, self._holds.get(frame, NO_MAP))

    def name_now(self, frame: str) -> PlaceFrame:
        """Return a frame as that of a place that is stored now."""
        return PlaceFrame(0, frame, *self._holds.get(frame, NO_MAP))

    def resolve(self, asked: AskedFrame, own: PlaceFrame) -> ResolvedFrame:
        """Return the frame of a place as seen from the asked one."""
        of = MapRevision(own.map, own.revision)
        if not own.name:
            return ResolvedFrame(None, own.name, of, 'position without a frame')
        if own.name == asked.name:
            crossing = self._cross(of, asked.of)
            if crossing is None:
                return _refuse(own.name, of, asked.of)
            return ResolvedFrame(
                crossing.pose, own.name, of, '', False, of != asked.of, crossing.residual
            )
        found = self._tree.look_up(asked.name, own.name)
        if found.pose is None:
            return ResolvedFrame(None, own.name, of, f'{own.name}: {found.reason}')
        begin, end = (self._of_tree.get(name, NO_MAP) for name in (own.name, asked.name))
        first, last = self._cross(of, begin), self._cross(end, asked.of)
        if first is None:
            return _refuse(own.name, of, begin)
        if last is None:
            return _refuse(asked.name, end, asked.of)
        residual = (first.residual**2 + last.residual**2) ** 0.5
        is_anchored = of != begin or asked.of != end
        pose = last.pose @ found.pose @ first.pose
        older = of if of != begin else end  # the place's, else that of the transforms
        return ResolvedFrame(pose, own.name, older, '', found.moves, is_anchored, residual)

    def _cross(self, old: MapRevision, new: MapRevision) -> Crossing | None:
        """Return the pose of a revision in another, over the fewest re-anchorings."""
        reached = {old: Crossing(IDENTITY, 0.0)}
        waiting = deque([old])
        while waiting and new not in reached:
            at = waiting.popleft()
            pose, residual = reached[at]
            for following, step in self._steps.get(at, {}).items():
                if following not in reached:
                    both = (residual**2 + step.residual**2) ** 0.5
                    reached[following] = Crossing(step.pose @ pose, both)
                    waiting.append(following)
        return reached.get(new)


def _list_maps(connection: Connection, at: int | None) -> dict[str, MapRevision]:
    return {frame: one.of for frame, one in maps.list_current(connection, at).items()}


def _refuse(name: str, of: MapRevision, wanted: MapRevision) -> ResolvedFrame:
    own = describe_revision(of)
    other = f'map {wanted.label}' if wanted.name else 'no named map'
    return ResolvedFrame(
        None, name, of, f'{name}: {own}, and asked is {other}; set_map takes the transform'
    )
