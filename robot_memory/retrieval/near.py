"""What lies near a place, whatever frame it was stored in: `near` of the tools that search."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from robot_memory.core.clock import format_instant
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value
from robot_memory.core.maps import describe_revision
from robot_memory.core.records import Record
from robot_memory.core.regions import Region, find_region
from robot_memory.core.zones import get_zone, parse_local
from robot_memory.detectors import Pose
from robot_memory.memory import Memory
from robot_memory.retrieval.frame_resolver import AskedFrame, FrameResolver, ResolvedFrame
from robot_memory.retrieval.near_question import NearQuestion
from robot_memory.retrieval.place_views import PlaceView
from robot_memory.retrieval.within import (
    Array,
    bound_within,
    compute_all_within,
    compute_inside,
    compute_within,
)
from robot_memory.storage import Connection
from robot_memory.storage.indexes import placements
from robot_memory.storage.indexes.filters import Where
from robot_memory.storage.indexes.placements import PlaceFrame, Placement
from robot_memory.storage.tables import regions, transforms
from robot_memory.storage.tables.transforms import StoredTree

NOW_NS = 10_000_000_000
"""How old the newest transforms may be to tell where moving frames are now."""
_NOW = ('', 'now')
_UNTURNED = (0.0, 0.0, 0.0, 1.0)
_SQUARE = (0, 1, 2, 1, 3, 4, 2, 4, 5)
"""Where the numbers of a matrix of 3 x 3 are in its upper triangle."""
_UNSURE = 64
"""Places that a first look is after where a probability is asked for, which few may have."""
_INEXACT = 0.01
"""How far a probability that is integrated may be from its bound."""


@dataclass
class NearSearch:
    """
    Hold what a question came to in one snapshot: the place asked for, and resolved frames.

    `resolved` is by the ids of frames of places.
    """

    question: NearQuestion
    asked: AskedFrame
    target: tuple[float, float, float]
    instant_ns: int | None
    resolved: dict[int, ResolvedFrame]
    unreachable: list[tuple[PlaceFrame, str]]
    region: Region | None = None
    seen: dict[int, Placement] = field(default_factory=dict)
    chances: dict[int, float] = field(default_factory=dict)
    uncertain: set[int] = field(default_factory=set)

    @property
    def poses(self) -> dict[int, Pose]:
        """Return the pose in the asked frame of each frame that can be brought there."""
        return {one: frame.pose for one, frame in self.resolved.items() if frame.pose is not None}

    @property
    def bound(self) -> float:
        """Return how far away something can be and still pass, in metres."""
        probability, within = self.question.probability, self.question.within
        if probability is not None and probability < 0.5:
            return sys.float_info.max
        if self.region is not None:
            # What is in it with more than a half lies in its convex hull, so in the circle.
            return min(self.region.radius, sys.float_info.max)
        return sys.float_info.max if within is None else within

    def select(self, pairs: list[tuple[int, float]]) -> list[tuple[int, float]]:
        """Return those of (id, distance) that lie within what was asked for, as probably so."""
        question, region = self.question, self.region
        if question.probability is not None:
            least = question.probability
            self._compute_likely([memory_id for memory_id, _ in pairs], least)
            return [pair for pair in pairs if self.chances.get(pair[0], -1.0) >= least]
        if region is not None:
            return [pair for pair in pairs if region.contains(self.seen[pair[0]].position)]
        within = question.within
        return [pair for pair in pairs if within is None or pair[1] <= within]

    def _compute_likely(self, ids: Sequence[int], least: float) -> None:
        """Compute the chances that may be so much, and note what has no covariance."""
        self.uncertain.update(one for one in ids if self.seen[one].spread is None)
        known = [one for one in ids if self.seen[one].spread is not None]
        if self.region is not None:
            for memory_id in known:
                self._find_chance(memory_id)
            return
        if not known:
            return
        offsets, covariances = self._turn_spreads(known)
        within = self.question.within or 0.0
        likely = bound_within(offsets, covariances, within) >= least - _INEXACT
        chances = compute_all_within(offsets[likely], covariances[likely], within)
        chosen = (one for one, is_likely in zip(known, likely, strict=True) if is_likely)
        self.chances.update(zip(chosen, chances.tolist(), strict=True))

    def _turn_spreads(self, ids: Sequence[int]) -> tuple[Array, Array]:
        """Return the offsets from the target and the covariances in the asked frame."""
        places = [self.seen[one] for one in ids]
        frames = [self.resolved[one.frame_id] for one in places]
        turns = np.array([frame.pose.axes for frame in frames if frame.pose is not None])
        spreads = np.array([one.spread for one in places])[:, _SQUARE].reshape(-1, 3, 3)
        errors = np.array([frame.variance for frame in frames])[:, None, None] * np.eye(3)
        offsets = np.array([one.position for one in places]) - np.array(self.target)
        return offsets, turns @ spreads @ turns.transpose(0, 2, 1) + errors

    def _find_chance(self, memory_id: int) -> float | None:
        """Return how likely something lies within the radius, or in the region, where known."""
        placed = self.seen[memory_id]
        if placed.spread is None or (self.question.within is None and self.region is None):
            return None
        if memory_id not in self.chances:
            offsets, covariances = self._turn_spreads([memory_id])
            if self.region is not None:
                found = compute_inside(placed.position, covariances[0], self.region)
            else:
                found = compute_within(offsets[0], covariances[0], self.question.within or 0.0)
            self.chances[memory_id] = found
        return self.chances[memory_id]

    def view(self, record: Record) -> PlaceView | None:
        """Return where a memory is in the asked frame; None of one that was not compared."""
        found = self.view_id(record.id)
        if found is None:
            return None
        return replace(found, orientation=self._turn(record, self.seen[record.id]))

    def view_id(self, memory_id: int | None) -> PlaceView | None:
        """Return the same by the id of a memory, without an orientation."""
        placed = None if memory_id is None else self.seen.get(memory_id)
        if memory_id is None or placed is None:
            return None
        chance, own_frame = self._find_chance(memory_id), self.resolved[placed.frame_id]
        return PlaceView(
            list(placed.position),
            placed.distance,
            self.asked.name,
            None,
            None if chance is None else round(chance, 6),
            describe_revision(own_frame.of) if own_frame.is_anchored else None,
        )

    def explain(self, described: Mapping[str, Any] | None) -> str:
        """Return why nothing was found, in words."""
        within = self.question.within
        radius = ' near' if within is None else f' within {within:g} m of'
        chance = self.question.probability
        likely = '' if chance is None else f' with a probability of at least {chance:g}'
        place = ' ' + ', '.join(f'{x:g}' for x in self.target)
        if self.region is not None:
            radius, place = ' in the region', f' {self.region.name}'
        left = (described or {}).get('not_compared') or []
        counted = '; '.join(f'{one["count"]} not compared ({one["reason"]})' for one in left)
        found = f'No memory that passes the rest lies{radius}{place} in {self.asked.name}{likely}'
        return f'{found}; {counted}.' if counted else f'{found}.'

    def _turn(self, record: Record, placed: Placement) -> list[float] | None:
        spatial = record.context.get('spatial')
        of_object = isinstance(spatial, Mapping) and 'object_position' in spatial
        turn = None if of_object or record.pose is None else record.pose.get('orientation')
        if not turn:
            return None
        own = Pose((0.0, 0.0, 0.0), (turn[0], turn[1], turn[2], turn[3]))
        own_frame = self.resolved[placed.frame_id]
        return None if own_frame.pose is None else list((own_frame.pose @ own).orientation)

    def list_within(self, connection: Connection, where: Where) -> list[int]:
        """Return all that pass and lie within the radius."""
        return [memory_id for pairs in self.walk(connection, where) for memory_id, _ in pairs]

    def walk(self, connection: Connection, where: Where) -> Iterator[list[tuple[int, float]]]:
        """Yield (id, distance) of what passes and lies within the radius, nearest first."""
        wanted = placements.FIRST if self.question.probability is None else _UNSURE
        for pairs in placements.find_nearest(
            connection, where, self.target, self.poses, self.bound, self.seen, wanted
        ):
            yield self.select(pairs)

    def describe(self, connection: Connection, where: Where, ids: list[int]) -> dict[str, Any]:
        """Return what an answer says of the search: frame, place, instant, what is left out."""
        return self.describe_counted(
            lambda frame: placements.count_in_frame(connection, where, frame), ids
        )

    def describe_counted(
        self, count_in: Callable[[PlaceFrame], int], ids: list[int]
    ) -> dict[str, Any]:
        """Return the same with the numbers that `count_in` tells of a frame."""
        left = [
            {'reason': reason, 'count': count}
            for frame, reason in self.unreachable
            if (count := count_in(frame))
        ]
        if self.uncertain:
            left.append({'reason': 'no covariance', 'count': len(self.uncertain)})
        found: dict[str, Any] = {
            'frame': self.asked.name,
            'position': list(self.target),
            'at': None if self.instant_ns is None else format_instant(self.instant_ns // 1000),
            'not_compared': left,
        }
        used = {self.seen[one].frame_id for one in ids if one in self.seen}
        resolved = [one for frame, one in self.resolved.items() if frame in used]
        if moving := sorted({one.name for one in resolved if one.moves}):
            found['moving'] = moving
        if self.asked.of.name:
            found['map'] = self.asked.of.label
        if anchored := {one.of.label: one.residual for one in resolved if one.is_anchored}:
            found['anchored'] = [
                {'map': label, 'residual': round(residual, 9)}
                for label, residual in sorted(anchored.items())
            ]
        return found


def prepare(
    memory: Memory, connection: Connection, question: NearQuestion, collection: str | None
) -> NearSearch:
    """Resolve a question in a snapshot; raise InvalidArgument where its place is not known."""
    tree, instant = _open_tree(memory, connection, question)
    resolver = FrameResolver(tree, connection, instant, is_now=question.at in _NOW)
    frame, target = question.frame, question.position
    region = None
    if question.region:
        named = [one.region for one in regions.list_all(connection)]
        known_regions = (*memory.no_record.regions, *named)
        region = find_region(known_regions, question.region, 'near.in')
        frame, target = region.frame, region.middle
    elif target is None:
        frame, target = _find_of(connection, tree, resolver, question)
    frames = placements.list_frames(connection, collection)
    names = {one.name for one in frames}
    if frame not in names and not tree.has_frame(frame):
        known = ', '.join(sorted(filter(None, names))[:10]) or 'none'
        raise InvalidArgument(
            f'{_name_frame(question, frame)} is unknown: no transform of it was kept, and no '
            f'memory is in it; frames of memories: {known}'
        )
    asked = resolver.get_asked(frame)
    if region is not None and region.of is not None:
        asked = AskedFrame(frame, region.of)
    search = NearSearch(question, asked, target, instant, {}, [], region)
    for one in frames:
        found = resolver.resolve(asked, one)
        if found.pose is None:
            search.unreachable.append((one, found.reason))
        else:
            search.resolved[one.id] = found
    _refuse_unknown_instant(question, tree.stale, search.unreachable)
    return search


def _name_frame(question: NearQuestion, frame: str) -> str:
    if question.region:
        return f'near.in {format_value(question.region)}: the frame {format_value(frame)}'
    return f'near.frame {format_value(frame)}'


def _refuse_unknown_instant(
    question: NearQuestion, stale: str, unreachable: Sequence[tuple[PlaceFrame, str]]
) -> None:
    """Raise InvalidArgument where an instant was named, and moving transforms of it are needed."""
    if stale and question.at not in ('', 'now') and any(stale in why for _, why in unreachable):
        raise InvalidArgument(
            f'near.at {format_value(question.at)}: {stale}, and frames of memories move; name an '
            'instant at most 1 s from one at which an event was kept'
        )


def _open_tree(
    memory: Memory, connection: Connection, question: NearQuestion
) -> tuple[StoredTree, int | None]:
    """Return the tree at the asked instant, and that instant."""
    source = _choose_source(connection, question.source)
    if question.at in _NOW:
        instant = transforms.find_instant(connection, source, None)
        if instant is None:
            return StoredTree(connection, source, None, ''), None
        away = memory.timekeeper.read_now(connection) * 1000 - instant
        asked = 'now'
        near_enough = abs(away) <= NOW_NS
    else:
        asked = question.at
        at_ns = parse_local('near.at', asked, get_zone(memory.settings.time_zone)) * 1000
        instant = transforms.find_instant(connection, source, at_ns)
        if instant is None:
            raise InvalidArgument(
                f'near.at {format_value(asked)}: the store kept no transforms; leave near.at out'
            )
        away = abs(at_ns - instant)
        near_enough = away <= transforms.NEAREST_NS
    kept = format_instant(instant // 1000)
    stale = '' if near_enough else f'the transforms kept nearest to {asked} are of {kept}'
    return StoredTree(connection, source, instant, stale), instant


def _choose_source(connection: Connection, given: str | None) -> str:
    known = transforms.list_sources(connection)
    if given is not None:
        if given not in known:
            raise InvalidArgument(
                f'near.source {format_value(given)}: no transforms were kept of it; kept of: '
                f'{", ".join(map(repr, known)) or "none"}'
            )
        return given
    if len(known) > 1 and '' not in known:
        raise InvalidArgument(
            f'near.source is needed: transforms of {", ".join(map(repr, known))} were kept'
        )
    return '' if '' in known or not known else known[0]


def _find_of(
    connection: Connection, tree: StoredTree, resolver: FrameResolver, question: NearQuestion
) -> tuple[str, tuple[float, float, float]]:
    """Return the frame asked for, and the place in it of what `of` names."""
    of = question.of
    memory_id = placements.find_object(connection, of)
    if of.startswith('mem_') and of[4:].isdecimal():
        memory_id = int(of[4:])
    elif memory_id is None:
        name = of.lstrip('/')
        if not tree.has_frame(name):
            raise InvalidArgument(
                f'near.of {format_value(of)} is no memory (mem_12), no frame whose transforms '
                'were kept, and no spatial.object of a memory with a place'
            )
        frame = question.frame or name
        return frame, _bring(resolver, question, frame, resolver.name_now(name), (0.0, 0.0, 0.0))
    found = placements.get_place(connection, memory_id)
    if found is None or not found[0].name:
        raise InvalidArgument(
            f'near.of {format_value(of)}: mem_{memory_id} has no place in a frame, or is not '
            'active; give position and frame'
        )
    own, placed = found
    frame = question.frame or own.name
    return frame, _bring(resolver, question, frame, own, placed.position)


def _bring(
    resolver: FrameResolver,
    question: NearQuestion,
    frame: str,
    own: PlaceFrame,
    position: tuple[float, float, float],
) -> tuple[float, float, float]:
    found = resolver.resolve(resolver.get_asked(frame), own)
    if found.pose is None:
        raise InvalidArgument(
            f'near.of {format_value(question.of)} cannot be brought into '
            f'{format_value(frame)}: {found.reason}'
        )
    return (found.pose @ Pose(position, _UNTURNED)).position
