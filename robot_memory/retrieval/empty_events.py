"""Why a query for events has none: which condition excludes all, and what is near to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from robot_memory.core.zones import format_local
from robot_memory.memory import Memory
from robot_memory.retrieval.empty_answers import list_near
from robot_memory.retrieval.events import EventQuestion, list_events, read_window
from robot_memory.storage.events.fields import DURATION, OTHERS, TEXTS, TIMES
from robot_memory.storage.events.names import count_names
from robot_memory.storage.events.pages import EventRow


def explain_no_events(memory: Memory, question: EventQuestion) -> str:
    """Return why no event passes: the first condition that excludes all, or the window."""
    open_ended = replace(question, since='', until='', order_by='onset', limit=1)
    if not _find_first(memory, open_ended, {}):
        return 'No events are stored.'
    kinds = {'kind': question.where['kind']} if 'kind' in question.where else {}
    if kinds and not _find_first(memory, open_ended, kinds):
        return f'There are no events of that kind; there are {_list_near(memory, "kind", None)}.'
    for path, condition in question.where.items():
        if path != 'kind' and not _find_first(memory, open_ended, {**kinds, path: condition}):
            return _explain_condition(memory, open_ended, kinds, path, condition)
    if not _find_first(memory, open_ended, question.where):
        return 'Each condition is passed by some event, but no event passes all of them.'
    if not (question.since or question.until):
        return f'What passes has no {question.order_by}, by which it is ordered.'
    return _explain_window(memory, question)


def _explain_condition(
    memory: Memory, question: EventQuestion, kinds: Mapping[str, Any], path: str, condition: Any
) -> str:
    if path in TEXTS:
        shown = _list_near(memory, path, condition)
        if not shown:
            return f'No event has a {path}.'
        return f'No event passes the condition on {path}; there are {shown}.'
    if path in TIMES or (path in OTHERS and path != DURATION):
        return f'No event passes the condition on {path}.'
    ordered = replace(question, where=kinds, order_by=path, descending=True)
    greatest = _first(list_events(memory, ordered).events)
    least = _first(list_events(memory, replace(ordered, descending=False)).events)
    if greatest is None or least is None:
        return f'No event has {path}.'
    low, high = (_format_figure(one, path) for one in (least, greatest))
    return f'No event passes the condition on {path}; it runs from {low} to {high}.'


def _explain_window(memory: Memory, question: EventQuestion) -> str:
    """Return what passes right before a window, and right after it."""
    with memory.db.read() as connection:
        since, until = read_window(
            memory, connection, question.since, question.until, question.zone
        )
    near = []
    closest = replace(question, order_by='onset', limit=1, cursor='')
    if since is not None:
        before = replace(closest, since='', until=question.since, descending=True)
        if (one := _first(list_events(memory, before).events)) is not None:
            near.append(f'the last one before began at {_format_onset(one, question)}')
    if until is not None:
        after = replace(closest, since=question.until, until='', descending=False)
        if (one := _first(list_events(memory, after).events)) is not None:
            near.append(f'the first one after began at {_format_onset(one, question)}')
    return f'Nothing that passes lies in the window; {" and ".join(near)}.'


def _find_first(memory: Memory, question: EventQuestion, where: Mapping[str, Any]) -> bool:
    return bool(list_events(memory, replace(question, where=where)).events)


def _first(events: Sequence[EventRow]) -> EventRow | None:
    return events[0] if events else None


def _list_near(memory: Memory, path: str, wanted: Any) -> str:
    """Return values of a field of names among the newest events, near to one or the commonest."""
    with memory.db.read() as connection:
        return list_near(wanted, count_names(connection, TEXTS[path]))


def _format_onset(event: EventRow, question: EventQuestion) -> str:
    return f'{format_local(event.onset // 1000, question.zone)[:19]} (event {event.id})'


def _format_figure(event: EventRow, path: str) -> str:
    for name, value, unit in event.figures:
        if name == path.partition(' [')[0]:
            return f'{value:.4g} {unit}'.rstrip()
    end = event.end if event.end is not None else event.onset
    return f'{(end - event.onset) / 1e9:.4g} s'
