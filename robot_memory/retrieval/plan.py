"""What a request asks of memory, checked and compiled: below it nothing of a request is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from robot_memory.core.coercion import read_point
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value, parse_finite
from robot_memory.retrieval.near_question import NearQuestion
from robot_memory.storage.indexes import frames, partitions
from robot_memory.storage.indexes.filters import (
    Where,
    active_before_decay,
    active_in,
    json_path,
)
from robot_memory.storage.indexes.occasions import Occasion, compile_occasions
from robot_memory.storage.indexes.positions import MAX_DIMENSIONS
from robot_memory.text import tokenizer
from robot_memory.text.rules.people import find_named

TURN_WEIGHT = 0.7
"""The weight of a turn beside a fact: it was said, and nobody judged it worth learning."""
_NEAR_KEYS = ('field', 'target', 'max_distance', 'frame_id')


@dataclass(frozen=True)
class Near:
    """
    Say where to look: a path to a position, a target in its unit and frame.

    `path` is the JSON path of the dotted `field`. With a `frame_id`, only positions in that frame
    are meant.
    """

    path: str
    field: str
    target: tuple[float, ...]
    max_distance: float | None
    frame_id: str = ''

    @staticmethod
    def parse(spatial_sort: Any) -> Near | None:
        """Check a spatial_sort; raise InvalidArgument for what is none. Empty is None."""
        if not spatial_sort:
            return None
        unknown = sorted(set(spatial_sort) - set(_NEAR_KEYS))
        if unknown:
            raise InvalidArgument(
                f'spatial_sort has no key {format_value(unknown[0])}; accepted: field, target, '
                'max_distance and frame_id'
            )
        field = spatial_sort.get('field')
        if not isinstance(field, str) or not field:
            raise InvalidArgument(
                'spatial_sort.field must be the path of a position, e.g. '
                f'spatial.object_position, not {format_value(field)}'
            )
        target = _parse_target(spatial_sort.get('target'))
        max_distance = _parse_max_distance(spatial_sort.get('max_distance'))
        frame_id = _parse_frame(spatial_sort.get('frame_id'))
        path = json_path('spatial_sort.field', field)
        return Near(path, field, target, max_distance, frame_id)


@dataclass(frozen=True)
class RecallPlan:
    """
    Hold one search: what is asked, which memories may answer, and how they are ranked.

    - `partitions` are those of the collection: facts and perceptions, then turns.
    - `query` is the text, `terms` what the full-text index is asked for; None: nothing is asked.
    - `named` are the keys of the persons whom the query names.
    - `where` holds of all that may answer; `narrow` says that these may be few.
    - With a place, `near`, the distance orders the answer.
    - `real_weight` is the factor on memories of the real world, None: that of the settings;
      `turn_weight` is that on turns. At 1, scores stay on their scale from 0 to 1.
    - What scores less than `least` is left out.
    - `unfaded` is `where` with the confidence before decay, which is to be at least
      `min_confidence`; None: none is asked for.
    - `fills`: what passes but does not match fills a narrow answer up to `limit`.
    - `marks_newer`: of two memories that contradict each other the newer one comes first;
      `has_payloads`: the digests of perceptions are read, too.
    - `as_of` is the audit line whose state is searched, by keyword; None: the present.
    - `around` asks for what is near a place in any frame; its distance orders the answer.
    - `occasion` is what one occasion of a memory must pass; None: nothing is asked of it.
    """

    collection: str
    partitions: tuple[partitions.Partition, ...]
    query: str
    terms: tokenizer.TermQuery | None
    named: frozenset[str]
    where: Where
    min_confidence: float
    unfaded: Where | None
    near: Near | None
    limit: int
    narrow: bool
    real_weight: float | None
    turn_weight: float
    least: float
    fills: bool
    marks_newer: bool
    has_payloads: bool
    as_of: int | None = None
    occasion: Occasion | None = None
    around: NearQuestion | None = None

    @classmethod
    def of(
        cls,
        *,
        collection: str,
        limit: int,
        query: str = '',
        min_confidence: float = 0.0,
        session_id: str | None = None,
        actor_id: str | None = None,
        context_filter: Any = None,
        spatial_sort: Any = None,
        around: Any = None,
        where: Where | None = None,
        narrow: bool | None = None,
        real_weight: float | None = None,
        turn_weight: float = TURN_WEIGHT,
        least: float = 0.0,
        fills: bool = False,
        marks_newer: bool = False,
        has_payloads: bool = False,
        as_of: int | None = None,
    ) -> RecallPlan:
        """
        Make a plan of a request's fields; raise InvalidArgument for what cannot be searched.

        `where` is a further condition. Unless `narrow` says otherwise, a session, an actor and a
        filter narrow the search.
        """
        near = Near.parse(spatial_sort)
        place = NearQuestion.parse(around) if around else None
        _refuse_together(near, place, as_of)
        asks = bool(query.strip())
        if not asks and not context_filter and near is None and place is None:
            raise InvalidArgument(
                'query, context_filter and spatial_sort are all empty; at least one is required '
                '(or near)'
            )
        passing, occasion = Where(), None
        is_restricted = bool(session_id or context_filter or actor_id is not None)
        if is_restricted:
            passing, occasion = compile_occasions(
                'context_filter',
                context_filter or {},
                session_id=session_id or None,
                actor_id=actor_id,
            )
        if near is not None and near.frame_id:
            passing &= frames.restrict_to_frame(near.field, near.frame_id)
        if where is not None:
            passing &= where
        where = active_in(collection, min_confidence) & passing
        unfaded = None
        if min_confidence:
            unfaded = active_before_decay(collection, min_confidence) & passing
        return cls(
            collection,
            partitions.split(collection),
            query,
            tokenizer.parse_query(query) if asks else None,
            find_named(query) if asks and near is None and place is None else frozenset(),
            where,
            min_confidence,
            unfaded,
            near,
            limit,
            is_restricted if narrow is None else narrow,
            real_weight,
            turn_weight,
            least,
            fills,
            marks_newer,
            has_payloads,
            as_of,
            occasion,
            place,
        )


def _refuse_together(near: Near | None, place: NearQuestion | None, as_of: int | None) -> None:
    if place is not None and near is not None:
        raise InvalidArgument(
            'near and spatial_sort both order by distance; give one: spatial_sort compares '
            'coordinates as they are stored, near brings them into one frame'
        )
    if place is not None and as_of is not None:
        raise InvalidArgument(
            'near with as_of is not supported; near.at names the instant of the transforms'
        )


def require_text(name: str, text: str, wanted: str) -> None:
    """Raise InvalidArgument for a text that is empty; `wanted` says what to give."""
    if not text.strip():
        raise InvalidArgument(f'{name} is empty ({format_value(text)}); {wanted}')


def _parse_target(given: Any) -> tuple[float, ...]:
    target = read_point(given)
    good = isinstance(target, list) and 1 <= len(target) <= MAX_DIMENSIONS
    numbers = [parse_finite(x) for x in target] if good else [None]
    position = tuple(x for x in numbers if x is not None)
    if len(position) != len(numbers):
        raise InvalidArgument(
            f'spatial_sort.target must be 1 to {MAX_DIMENSIONS} finite numbers, '
            f'not {format_value(given)}'
        )
    return position


def _parse_max_distance(given: Any) -> float | None:
    limit = parse_finite(given)
    if given is not None and (limit is None or limit < 0):
        raise InvalidArgument(
            f'spatial_sort.max_distance must be a number of at least 0, not {format_value(given)}'
        )
    return limit


def _parse_frame(frame_id: Any) -> str:
    if frame_id is None:
        return ''
    if not isinstance(frame_id, str) or not frames.strip_slash(frame_id):
        raise InvalidArgument(
            'spatial_sort.frame_id must be the name of a coordinate frame, e.g. map, not '
            f'{format_value(frame_id)}'
        )
    return frames.strip_slash(frame_id)
