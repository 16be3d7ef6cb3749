"""The query-events command: events as lines of text, as JSON, or as CSV of any length."""

from __future__ import annotations

import csv
import dataclasses
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from robot_memory.cli.common import open_memory, require_store, show_answer
from robot_memory.cli.options import Options
from robot_memory.cli.retrieved import render_figure
from robot_memory.cli.text import (
    Paint,
    explain_nothing,
    format_count,
    render_linked,
)
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import arg, get_fields, to_plain
from robot_memory.core.settings import Settings
from robot_memory.memory import Memory
from robot_memory.retrieval.event_views import EventView
from robot_memory.storage.tables import figures
from robot_memory.text.controls import blank_controls, escape_controls
from robot_memory.tools.query_events import QueryEventsRequest
from robot_memory.tools.query_events import query_events as query_events_tool

_PAGE = 1000


@dataclass(frozen=True)
class QueryEventsCommand(QueryEventsRequest):
    """Arguments of the query-events command."""

    csv: bool = arg('Print CSV with a column for every figure.', default=False)
    all: bool = arg('With --csv: print all pages.', default=False)


def query_events(request: QueryEventsCommand, settings: Settings, options: Options) -> None:
    """List or aggregate events."""
    given = {field.name: getattr(request, field.name) for field in get_fields(QueryEventsRequest)}
    if request.all and not request.csv:
        raise InvalidArgument('all requires csv')
    if request.all:
        given['limit'] = _PAGE
    require_store(settings)
    with open_memory(settings, with_model=False) as memory:
        answer = query_events_tool.run(memory, given)
        if not request.csv:
            text = _render(answer, Paint(sys.stdout))
            show_answer(to_plain(answer), text, options, painted=True)
        elif request.aggregate:
            _write(_list_groups(answer.groups))
        else:
            _write(_list_pages(memory, given, answer, request.all))


def _write(rows: Iterator[Sequence[Any]]) -> None:
    written = (
        [escape_controls(one) if isinstance(one, str) else one for one in row] for row in rows
    )
    csv.writer(sys.stdout, lineterminator='\n').writerows(written)


def _list_pages(
    memory: Memory, given: dict[str, Any], answer: Any, to_the_end: bool
) -> Iterator[Sequence[Any]]:
    """Give a header and a row an event, of all pages if that is asked for."""
    names = [field.name for field in get_fields(EventView) if field.name != 'figures']
    with memory.db.read() as connection:
        known = [(one.name, one.unit) for one in figures.list_all(connection)]
    columns = list(dict.fromkeys(known))
    yield [*names, *(_name(*column) for column in columns)]
    while True:
        for event in answer.events:
            values = {(one.name, one.unit): one.value for one in event.figures}
            row = [getattr(event, name) for name in names]
            yield [*row, *(values.get(column) for column in columns)]
        if not (to_the_end and answer.next_cursor):
            return
        answer = query_events_tool.run(memory, {**given, 'cursor': answer.next_cursor})


def _list_groups(groups: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Give a header and a row a group, or a row a bin of a histogram."""
    if any(group.bins for group in groups):
        yield ['key', 'low', 'high', 'count']
        for group in groups:
            yield from ((group.key, *dataclasses.astuple(one)) for one in group.bins)
        return
    columns = [(one.name, one.unit) for group in groups[:1] for one in group.values]
    yield ['key', 'count', *(_name(*column) for column in columns)]
    for group in groups:
        yield [group.key, group.count, *(one.value for one in group.values)]


def _name(name: str, unit: str) -> str:
    return f'{name} [{unit}]' if unit else name


def _render(answer: Any, paint: Paint) -> str:
    """Return events or groups as lines of text."""
    if answer.groups:
        lines = [_render_group(group) for group in answer.groups]
        count = format_count(answer.total, 'event')
        if answer.groups_total > 1:
            count += f' in {format_count(answer.groups_total, "group")}'
        return '\n'.join([*lines, paint.dim(count)])
    if not answer.events:
        return explain_nothing('No events.', answer)
    lines = []
    for event in answer.events:
        values = [render_figure(one) for one in event.figures]
        lasted = '' if event.duration is None else f'{event.duration:.3g} s'
        about = [event.label, lasted, event.topic, event.robot, event.task, *values]
        text = blank_controls(f'{event.kind}  {" · ".join(one for one in about if one)}')
        lines.append(f'{event.event_id:>8}  {event.start}  {text}')
    note = f'more: --cursor {answer.next_cursor}' if answer.next_cursor else ''
    count = paint.dim(note or format_count(len(lines), 'event'))
    return '\n'.join([*lines, count, *render_linked(answer, paint)])


def _render_group(group: Any) -> str:
    values = [format_count(group.count, 'event'), *map(render_figure, group.values)]
    values += [f'{one.low:.4g} to {one.high:.4g}: {one.count}' for one in group.bins]
    return f'{blank_controls(group.key) or "all"}: {", ".join(values)}'
