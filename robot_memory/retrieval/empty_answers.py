"""Why an answer has no memory: which condition excludes all, and what is near to it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from robot_memory.core.clock import format_instant
from robot_memory.core.fields import arg
from robot_memory.core.json_text import dump_json
from robot_memory.core.suggestions import find_near
from robot_memory.memory import Memory
from robot_memory.retrieval.plan import RecallPlan
from robot_memory.retrieval.retriever import Found, Retriever
from robot_memory.storage import Connection
from robot_memory.storage.indexes import confidences, surveys
from robot_memory.storage.indexes.amounts import COLUMNS_OF_NUMBERS
from robot_memory.storage.indexes.conditions import COMPARISONS, OPERATORS, read_operators
from robot_memory.storage.indexes.filters import (
    ACTIVE,
    COLUMNS,
    TIMES,
    Where,
    active_in,
    flatten_filter,
)
from robot_memory.storage.indexes.occasions import compile_occasions
from robot_memory.storage.tables import sessions
from robot_memory.text.quoting import quote

if TYPE_CHECKING:
    from robot_memory.retrieval.past import Past

SHOWN = 4
"""Names that are listed."""
LONGEST = 40
"""Characters of a name."""
_RECENT = 1000
_CONTEXT = 'context.'
_SIGNS = ('<', '>', '=', '!', '≤', '≥', '~')


@dataclass(frozen=True)
class Asked:
    """
    Hold what restricted an answer that is empty.

    `collection` None is all of them; `conditions` are those of the argument `name`; `position` is
    the field of a spatial_sort; `as_of` names a past state in words.
    """

    collection: str | None = None
    name: str = 'context_filter'
    conditions: Mapping[str, Any] = field(default_factory=dict)
    session_id: str | None = None
    actor_id: str | None = None
    min_confidence: float = 0.0
    position: str = ''
    max_distance: float | None = None
    query: str = ''
    as_of: str = ''


def why_empty_arg() -> Any:
    """Declare the field of an answer that says why it is empty."""
    return arg(
        'Why the answer is empty: the condition that excludes all, and what is near to it.',
        default=None,
        omitted=True,
    )


def explain_nothing_found(
    memory: Memory,
    plan: RecallPlan,
    *,
    session_id: str | None = None,
    actor_id: str | None = None,
    conditions: Mapping[str, Any] | None = None,
    past: Past | None = None,
) -> str:
    """
    Return why a search brought nothing, whose plan was made of these restrictions.

    Of a plan with a least score, that is the best one below it, if there is any.
    """
    if plan.least and plan.as_of is None:
        best = Retriever(memory).find(replace(plan, least=0.0, limit=1))
        if why := explain_score(best, plan.least):
            return why
    near = plan.near
    asked = Asked(
        plan.collection,
        conditions=conditions or {},
        session_id=session_id,
        actor_id=actor_id,
        min_confidence=plan.min_confidence,
        position='' if near is None else near.field,
        max_distance=None if near is None else near.max_distance,
        query=plan.query,
        as_of='' if past is None else past.name(),
    )
    with memory.db.read() as connection:
        return explain_empty(connection, asked)


def list_near(wanted: Any, found: Mapping[str, int]) -> str:
    """Return the names near to one with their counts, else the first names that there are."""
    near = find_near(wanted, found) or list(found)[:SHOWN]
    return ', '.join(f'{quote(name, LONGEST)} ({found[name]})' for name in near)


def explain_score(found: Found, least: float) -> str:
    """Return how far the best of what was found is below a minimum score; '' of nothing."""
    for hit in found.hits:
        scored = f'The best match, mem_{hit.id}, scores {hit.score:.2f}'
        return f'{scored}; the minimum score is {least:g}.'
    return ''


def explain_empty(connection: Connection, asked: Asked) -> str:
    """
    Return why nothing passes: the first restriction that explains it.

    Of a past state no more is known than that nothing of it passes.
    """
    if asked.as_of:
        return f'Nothing that was stored by {asked.as_of} passes.'
    collection = asked.collection
    if collection is not None and (why := _explain_collection(connection, collection)):
        return why
    scope = ACTIVE if collection is None else active_in(collection)
    if 'status' in asked.conditions:
        scope = Where()
    for explain in (_explain_session, _explain_actor, _explain_conditions, _explain_position):
        if why := explain(connection, asked, scope):
            return why
    restricted = _restrict(asked, scope)
    highest = None
    if asked.min_confidence and restricted is scope and collection is not None:
        known = confidences.find_range(connection, collection)
        highest = None if known is None else known[1]
    elif asked.min_confidence:
        highest = surveys.find_highest_confidence(connection, restricted)
    if highest is not None and highest < asked.min_confidence:
        return (
            f'The highest confidence of what passes the other conditions is {highest:.2f}; '
            f'min_confidence is {asked.min_confidence:g}.'
        )
    if asked.max_distance is not None:
        return f'Nothing lies within max_distance {asked.max_distance:g} of the target.'
    about = quote(asked.query, 80)
    if asked.query and (some := surveys.count_some(connection, restricted)):
        passing = '' if restricted is scope else ' that pass the other conditions'
        named = f'None of the {_format_count(some)} memories' if some > 1 else 'The only memory'
        return f'{named}{passing} {"matches" if some > 1 else "does not match"} {about}.'
    if restricted is scope:
        return 'There are no active memories.'
    return 'Each condition is passed by some memory, but no memory passes all of them.'


def _explain_collection(connection: Connection, collection: str) -> str:
    found = dict(surveys.count_collections(connection).most_common())
    if found.get(collection):
        return ''
    named = quote(collection, LONGEST)
    if not found:
        return f'Collection {named} has no memories; the store is empty.'
    return f'Collection {named} has no memories; others have: {list_near(collection, found)}.'


def _explain_session(connection: Connection, asked: Asked, scope: Where) -> str:
    if not asked.session_id:
        return ''
    named = quote(asked.session_id, LONGEST)
    if sessions.exists(connection, asked.session_id):
        if surveys.count_some(connection, scope & _said(asked.name, session_id=asked.session_id)):
            return ''
        return f'Session {named} has no memories here.'
    recent = [one.id for one in sessions.list_recent(connection, _RECENT)]
    near = find_near(asked.session_id, recent, SHOWN)
    if near:
        return f'There is no session {named}; near: {_list(near)}.'
    newest = f'; the newest: {_list(recent[:SHOWN])}' if recent else '; there is none at all'
    return f'There is no session {named}{newest}.'


def _explain_actor(connection: Connection, asked: Asked, scope: Where) -> str:
    actor = asked.actor_id
    if actor is None or surveys.count_some(connection, scope & _said(asked.name, actor_id=actor)):
        return ''
    return _explain_column(connection, 'actor_id', actor, scope)


def _explain_conditions(connection: Connection, asked: Asked, scope: Where) -> str:
    """Return why one condition alone excludes all."""
    for path, condition in flatten_filter(asked.name, asked.conditions).items():
        where, _ = compile_occasions(asked.name, {path: condition})
        if surveys.count_some(connection, scope & where):
            continue
        operators = read_operators(asked.name, path, condition)
        if path in TIMES:
            return _explain_time(connection, path, scope)
        wanted = next(iter(operators.values()))
        if (
            path == 'confidence'
            and asked.collection is not None
            and 'status' not in asked.conditions
        ):
            known = confidences.find_range(connection, asked.collection)
            return (
                'No memory has a confidence.'
                if known is None
                else _tell_range(path, known, wanted)
            )
        if path in COLUMNS:
            why = _explain_column(connection, path, wanted, scope)
            return why if path in COLUMNS_OF_NUMBERS else why + _tell_letters(operators)
        return _explain_path(connection, path, operators, scope)
    return ''


def _explain_time(connection: Connection, name: str, scope: Where) -> str:
    span = surveys.find_span(connection, name, scope)
    if span is None:
        return f'No memory has {name}.'
    first, last = (format_instant(one) for one in span)
    return f'No memory passes the condition on {name}; it runs from {first} to {last}.'


def _explain_column(connection: Connection, column: str, wanted: Any, scope: Where) -> str:
    if column in ('content', 'record_content'):
        return f'No memory has that {column}: it compares as a whole; query searches in it.'
    found = surveys.count_column(connection, column, scope)
    if not found:
        return f'No memory has a {column}.'
    if isinstance(found[0][0], (int, float)):
        return _tell_range(column, surveys.find_column_range(connection, column, scope), wanted)
    near = find_near(wanted, [value for value, _ in found if isinstance(value, str)])
    shown = [pair for pair in found if pair[0] in near] or found[:SHOWN]
    return f'No memory passes the condition on {column}; there are {_list_counts(shown)}.'


def _tell_range(column: str, found: tuple[float, float], wanted: Any) -> str:
    other = '' if isinstance(wanted, (int, float)) else f' (number), not {_name(wanted)}'
    return (
        f'No memory passes the condition on {column}; it runs from {found[0]:g} to {found[1]:g}'
        f'{other}.'
    )


def _explain_path(
    connection: Connection, path: str, operators: Mapping[str, Any], scope: Where
) -> str:
    """Return what is at a path of contexts, and of which type, or at paths near to it."""
    number, values = surveys.count_values(connection, path, scope)
    if not number:
        return _suggest_paths(connection, path, scope) + _name_operators(operators)
    have = f'{_format_count(number)} have {path}: {_list_counts(values[:SHOWN])}'
    span = surveys.find_range(connection, path)
    if span is not None and len(values) > 1:
        have = f'{_format_count(number)} have {path}, from {span[0]:g} to {span[1]:g}'
    wanted = [
        value
        for operator, given in operators.items()
        for value in (given if operator in ('$in', '$nin') else [given])
    ]
    types = {_name_type(value) for value, _ in values}
    letters = _tell_letters(operators)
    if letters and 'text' not in types and surveys.count_texts(connection, path, scope):
        types.add('text')
    other = {_name_type(value) for value in wanted} - types
    if other and len(types) == 1:
        asked_type, held = other.pop(), types.pop()
        return (
            f'No memory has {_name(wanted[0])} ({asked_type}) at {path}; {have} ({held}). Values '
            f'compare within their own type.{_name_operators(operators)}'
        )
    texts = 0
    if any(_name_type(value) == 'number' for value in wanted):
        texts = surveys.count_texts(connection, path, scope)
    apart = f'; {_format_count(texts)} of them as text, which no number meets' if texts else ''
    return f'No memory passes the condition on {path}; {have}{apart}.{letters}'


def _tell_letters(operators: Mapping[str, Any]) -> str:
    """Say how texts are ordered where one is asked for by its place in an order."""
    ordered = any(key in COMPARISONS and isinstance(operators[key], str) for key in operators)
    return ' Texts are ordered letter by letter.' if ordered else ''


def _name_operators(operators: Mapping[str, Any]) -> str:
    """Name the operators where an object or a text is compared that may be meant as one."""
    meant = any(
        isinstance(value, dict) or (isinstance(value, str) and value.lstrip()[:1] in _SIGNS)
        for value in operators.values()
    )
    return f' Operators begin with $: {" ".join(OPERATORS)}.' if meant else ''


def _suggest_paths(connection: Connection, path: str, scope: Where) -> str:
    paths = surveys.list_paths(connection)
    shown = []
    bare = path.removeprefix(_CONTEXT)
    inside = [one for one in paths if one == bare or one.startswith(f'{bare}.')]
    names = [*inside, *(name for name in COLUMNS if name == bare)]
    for near in dict.fromkeys([*names, *find_near(path, paths, SHOWN)]):
        number = (
            surveys.count_values(connection, near, scope)[0]
            if near not in COLUMNS
            else surveys.count_some(connection, scope)
        )
        if number:
            shown.append(f'{near}: {_format_count(number)} have')
        if len(shown) == SHOWN:
            break
    near_to_it = f'; {", ".join(shown)}' if shown else ''
    if surveys.has_path(connection, path, scope):
        return f'Memories have objects or lists at {path}, which compare as a whole{near_to_it}.'
    return f'No memory has {path}{near_to_it}.'


def _explain_position(connection: Connection, asked: Asked, _: Where) -> str:
    if not asked.position or asked.collection is None:
        return ''
    found = surveys.count_positions(connection, asked.collection)
    if found[asked.position]:
        return ''
    near = find_near(asked.position, found) or [one for one, _ in found.most_common(SHOWN)]
    shown = ', '.join(f'{one}: {_format_count(found[one])} have' for one in near)
    return f'No memory has a position at {asked.position}{"; " if shown else ""}{shown}.'


def _said(name: str, **who: str | None) -> Where:
    return compile_occasions(name, {}, **who)[0]


def _restrict(asked: Asked, scope: Where) -> Where:
    if not (asked.conditions or asked.session_id or asked.actor_id is not None):
        return scope
    where, _ = compile_occasions(
        asked.name,
        asked.conditions,
        session_id=asked.session_id or None,
        actor_id=asked.actor_id,
    )
    return scope & where


def _name_type(value: Any) -> str:
    if isinstance(value, bool):
        return 'truth value'
    if isinstance(value, (int, float)):
        return 'number'
    return 'text' if isinstance(value, str) else 'object' if isinstance(value, dict) else 'list'


def _name(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return 'a number that is out of range'  # an integer of over 308 digits is kept as such
    return quote(value, LONGEST) if isinstance(value, str) else dump_json(value)[:LONGEST]


def _list(names: Sequence[str]) -> str:
    return ', '.join(quote(name, LONGEST) for name in names)


def _list_counts(found: Sequence[tuple[Any, int]]) -> str:
    return ', '.join(f'{_name(value)} ({count})' for value, count in found)


def _format_count(count: int) -> str:
    return f'{surveys.MOST:,} or more' if count >= surveys.MOST else f'{count:,}'
