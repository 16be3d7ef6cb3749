"""List, count and aggregate events."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import Json, arg
from robot_memory.core.truncation import compute_field_limit
from robot_memory.memory import Memory
from robot_memory.retrieval.empty_answers import why_empty_arg
from robot_memory.retrieval.empty_events import explain_no_events
from robot_memory.retrieval.event_views import (
    LINKED,
    LINKED_TOTAL,
    EventView,
    FigureView,
    LinkedEventView,
    view_event,
)
from robot_memory.retrieval.events import (
    SINCE,
    UNTIL,
    EventQuestion,
    aggregate_events,
    choose_zone,
    list_events,
)
from robot_memory.retrieval.linked_events import describe_linked
from robot_memory.retrieval.near_question import parse_area
from robot_memory.retrieval.place_views import near_answer_arg, near_arg
from robot_memory.storage.events.aggregates import MAX_GROUPS, NAMES, TIMES, Group
from robot_memory.tool import tool


@dataclass(frozen=True)
class QueryEventsRequest:
    """Request of query_events."""

    where: Json | None = arg(
        'Conditions as JSON, combined with AND: {"kind": "contact", "peak_force": {"$gt": '
        '"5 N"}}; $eq $ne $gt $gte $lt $lte $in $nin on kind, label, topic, frame_id, robot, '
        'session_id, task, recording, collection, source, memory_id, onset, peak, end, duration, '
        'broken_off and every figure.',
        default=None,
        shape='object',
    )
    since: str = arg(SINCE, default='', max_length=64, typed='instant')
    until: str = arg(UNTIL, default='', max_length=64, typed='instant')
    order_by: str = arg(
        'onset, peak, end, duration or a figure such as peak_force.',
        default='onset',
        max_length=128,
    )
    descending: bool = arg('Newest, longest or greatest first.', default=False)
    limit: int = arg('Maximum number of events.', default=20, minimum=1, maximum=1000)
    cursor: str = arg(
        'next_cursor of the page before.',
        default='',
        max_length=512,
    )
    aggregate: tuple[str, ...] = arg(
        'Instead of events: count, min, max, mean, sum, std, median, quantiles, a percentile '
        'such as p99, histogram.',
        default=(),
    )
    figure: str = arg(
        'What is aggregated: duration or a figure, e.g. peak_force.',
        default='',
        max_length=128,
    )
    group_by: str = arg(
        'Groups of an aggregate; at most 1,000.',
        default='',
        choices=('', *TIMES, *NAMES),
    )
    bins: int = arg('Bins of a histogram.', default=10, minimum=1, maximum=1000)
    time_zone: str = arg('IANA name; default: the parameter time_zone.', default='', max_length=64)
    near: Json | None = near_arg('As in recall; needs within or in.')


@dataclass(frozen=True)
class HistogramBinView:
    """One bin of a histogram."""

    low: float = arg('Lower edge, included.')
    high: float = arg('Upper edge; included in the last bin.')
    count: int = arg('Number of events.')


@dataclass(frozen=True)
class EventGroupView:
    """One group of events."""

    key: str = arg(
        'Name, weekday, date, or beginning of the hour with its offset; empty without group_by.'
    )
    count: int = arg('Number of events; with a figure, of those that have it.')
    values: tuple[FigureView, ...] = arg('Aggregates.')
    bins: tuple[HistogramBinView, ...] = arg('Histogram; the groups have the same bins.')


@dataclass(frozen=True)
class QueryEventsResponse:
    """Response of query_events."""

    events: tuple[EventView, ...] = arg('Page of events; none with an aggregate.')
    next_cursor: str = arg('Cursor of the next page; empty on the last one.')
    groups: tuple[EventGroupView, ...] = arg('Groups of an aggregate; one without group_by.')
    total: int | None = arg(
        'Number of events aggregated or, where they fit on one page, listed; else ask for the '
        'aggregate count.'
    )
    groups_total: int = arg('Number of groups that there are.')
    time_zone: str = arg('IANA name of the zone of all times.')
    linked: tuple[LinkedEventView, ...] | None = arg(
        f'{LINKED} Of an answer that is one event.', default=None, omitted=True
    )
    linked_total: int | None = arg(LINKED_TOTAL, default=None, omitted=True)
    near: Json | None = near_answer_arg()
    why_empty: str | None = why_empty_arg()


@tool(read_only=True, idempotent=True, planner=True)
def query_events(memory: Memory, request: QueryEventsRequest) -> QueryEventsResponse:
    """
    List or aggregate events by time and figures: contacts, motions, scenes, sessions.

    Call it for when, how often, how hard or how long: order by a figure for the hardest,
    aggregate with group_by for counts an hour or means by task.

    An event belongs to a window that it overlaps, and to the hour or day of its onset. Bounds may
    have a unit: "5 N", "300 ms".
    """
    order_by, descending = _read_order(request.order_by, request.descending)
    question = EventQuestion(
        request.where or {},
        request.since,
        request.until,
        order_by,
        descending,
        request.limit,
        request.cursor,
        choose_zone(memory, request.time_zone),
        parse_area(request.near),
    )
    if request.aggregate:
        return _aggregate(memory, request, question)
    for name, given in (('figure', request.figure), ('group_by', request.group_by)):
        if given:
            raise InvalidArgument(f'{name} requires aggregate, e.g. count')
    page = list_events(memory, question)
    room = compute_field_limit(len(page.events))
    views = tuple(view_event(event, question.zone, room, page.around) for event in page.events)
    total = None if page.cursor or request.cursor else len(views)
    linked = {} if request.cursor else describe_linked(memory, page.events)
    why = None
    if not views and not request.cursor:
        why = explain_no_events(memory, question)
        if page.around is not None:
            why = page.around.explain(page.near)
    return QueryEventsResponse(
        views,
        page.cursor,
        (),
        total,
        0,
        question.zone.key,
        **linked,
        near=page.near,
        why_empty=why,
    )


def _read_order(order_by: str, descending: bool) -> tuple[str, bool]:
    """Return a field and its direction, also of an order as SQL or a web API writes it."""
    name, _, direction = order_by.strip().partition(' ')
    if direction.strip().lower() in ('asc', 'desc'):
        return name, direction.strip().lower() == 'desc'
    return (name[1:], True) if name.startswith('-') and not direction else (order_by, descending)


def _aggregate(
    memory: Memory, request: QueryEventsRequest, question: EventQuestion
) -> QueryEventsResponse:
    if request.cursor:
        raise InvalidArgument('cursor belongs to a list of events; an aggregate has no pages')
    found = aggregate_events(
        memory, question, request.aggregate, request.figure, request.group_by, request.bins
    )
    groups = [*found.groups]
    counted = sum(group.count for group in groups)
    if request.descending:
        groups.reverse()
    return QueryEventsResponse(
        (),
        '',
        tuple(_view_group(group, found.unit) for group in groups[:MAX_GROUPS]),
        counted,
        len(groups),
        question.zone.key,
        near=found.near,
        why_empty=None if counted else explain_no_events(memory, question),
    )


def _view_group(group: Group, unit: str) -> EventGroupView:
    return EventGroupView(
        group.key,
        group.count,
        tuple(FigureView(name, value, unit) for name, value in group.values.items()),
        tuple(HistogramBinView(*edges) for edges in group.bins),
    )
