"""Say what to know before acting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from robot_memory.core.clock import format_instant
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import Json, actor_arg, arg, collection_arg
from robot_memory.core.json_text import format_value
from robot_memory.core.records import describe_writer
from robot_memory.core.truncation import fit
from robot_memory.core.zones import format_local
from robot_memory.memory import Memory
from robot_memory.retrieval.asked_events import AskedEvents
from robot_memory.retrieval.event_answers import add_events, describe_asked
from robot_memory.retrieval.event_views import (
    AGGREGATE,
    AGGREGATE_IDS,
    EVENTS,
    NO_MATCH,
    READ_AS,
    EventView,
    FigureView,
    read_arg,
)
from robot_memory.retrieval.events import choose_zone
from robot_memory.retrieval.evidence import complete, describe_observed
from robot_memory.retrieval.linked_events import LINKED, LINKED_TOTAL, LinkedEventView
from robot_memory.retrieval.links import describe_links, format_links
from robot_memory.retrieval.plan import RecallPlan, require_text
from robot_memory.retrieval.retriever import Retriever, join_found
from robot_memory.retrieval.views import describe_authority, describe_results
from robot_memory.storage.events.pages import EventRow
from robot_memory.storage.indexes.filters import at_least, compile_filter
from robot_memory.storage.tables import memories, protected_changes
from robot_memory.text.categories import PROTECTED
from robot_memory.text.quoting import format_label, format_line, quote
from robot_memory.tool import tool


@dataclass(frozen=True)
class Preset:
    """Say how good and how sure a memory must be to be told; safety needs half the score."""

    min_score: float
    min_confidence: float


STRATEGIES = {
    'HYBRID_ADVANCED': Preset(0.25, 0.3),
    'AGGRESSIVE': Preset(0.1, 0.0),
    'CONSERVATIVE': Preset(0.5, 0.6),
}


SAFETY, CHANGED, SAID, KNOWN, SEEN = (
    'Safety:',
    'Changed rules, not confirmed by an operator (the old text is quoted):',
    'Said by people (quoted):',
    'Known:',
    'Seen and read (quoted):',
)
"""The sections: only what operators and planners state stands outside of quotes."""
RULES = compile_filter(
    'rules', {'category': {'$in': sorted(PROTECTED)}, 'kind': 'fact', 'sense': None}
) & at_least('planner')
"""What may stand under Safety; see `records.is_rule_giver`."""
_LONGEST = 600
"""Characters of a memory on a line."""
_PAST = {'update': 'changed', 'invalidated': 'forgotten', 'reclassify': 'reclassified'}
_CHANGES = 3
"""Changed rules that are named; the others are counted."""


@dataclass(frozen=True)
class GetContextRequest:
    """Request of get_context."""

    query: str = arg('Planned action or topic.', max_length=10_000)
    max_results: int | None = arg(
        'Maximum number of memories; default: the setting default_results (5).',
        default=None,
        minimum=1,
        maximum=50,
    )
    strategy: str = arg(
        'Retrieval strategy: HYBRID_ADVANCED; AGGRESSIVE includes low-confidence memories; '
        'CONSERVATIVE only high-confidence ones; or a custom strategy. Empty: the setting '
        'default_strategy.',
        default='',
        max_length=64,
    )
    collection: str = collection_arg('Collection to read from.')
    actor_id: str | None = actor_arg('Restrict to what this actor said or did.')
    max_characters: int = arg(
        'Maximum length of the text, in characters.', default=2000, minimum=200, maximum=100_000
    )
    read: str = read_arg()


@dataclass(frozen=True)
class ContextItemView:
    """One memory of a context."""

    content: str = arg('Text of the memory.')
    score: float = arg('Relevance, 0 to 1.')
    metadata: Json = arg(
        'Same keys as in search_memory; newer: id of a later memory that contradicts it; '
        'contradicts: id of one of higher authority.'
    )
    shortened: tuple[str, ...] | None = arg(
        'Fields truncated in this response; show returns them in full.',
        default=None,
        omitted=True,
    )


@dataclass(frozen=True)
class GetContextResponse:
    """Response of get_context."""

    context: str = arg(
        'Prompt-ready text: safety rules of operators and planners first, then quotes of people, '
        'dated, with ids and sources.'
    )
    results: tuple[ContextItemView, ...] = arg('Memories in the text, in the same order.')
    strategy_used: str = arg('Strategy that was used.')
    num_results: int = arg('Number of memories in the context.')
    read_as: str | None = arg(READ_AS, default=None, omitted=True)
    no_match: bool | None = arg(NO_MATCH, default=None, omitted=True)
    events: tuple[EventView, ...] | None = arg(EVENTS, default=None, omitted=True)
    aggregate: FigureView | None = arg(AGGREGATE, default=None, omitted=True)
    aggregate_ids: tuple[int, ...] | None = arg(AGGREGATE_IDS, default=None, omitted=True)
    linked: tuple[LinkedEventView, ...] | None = arg(LINKED, default=None, omitted=True)
    linked_total: int | None = arg(LINKED_TOTAL, default=None, omitted=True)


@tool(read_only=True, idempotent=True, planner=True, sage=True)
def get_context(memory: Memory, request: GetContextRequest) -> GetContextResponse:
    """
    Return prompt-ready context for a planned action.

    Constraints, gotchas and postmortems of operators and planners come first, then what people
    said as quotes, then other facts, then quotes of what was seen and read; each line has the
    memory's id, kind, date and source. Rules that anyone but an operator changed are named with
    their old text. The text states how many memories did not fit into max_characters.
    """
    require_text('query', request.query, 'say what is planned')
    name = (request.strategy or memory.settings.default_strategy).upper()
    n = request.max_results or memory.settings.default_results
    own, asked = _results(memory, request, name, n)
    results = memory.extensions.run_retrieve_hooks(request.query, own)
    results = _marked(memory, results)
    changes = _describe_changes(memory, request.collection)
    context, told = _text(request, results, changes, _describe_read(memory, asked))
    memory.accesses.record(
        known for one in told if isinstance(known := _of(one, 'memory_id'), int)
    )
    items = (ContextItemView(one['content'], one['score'], one['metadata']) for one in told)
    items = (fit(item, ('content', 'metadata'), len(told)) for item in items)
    read = {} if asked is None else describe_asked(memory, asked)
    return GetContextResponse(context, tuple(items), name, len(told), **read)


def _results(
    memory: Memory, request: GetContextRequest, name: str, n: int
) -> tuple[list[dict[str, Any]], AskedEvents | None]:
    """Return what a strategy, one of ours or a site's own, brings: safety first; and events."""
    preset = STRATEGIES.get(name)
    if preset is None:
        own = memory.extensions.find_strategy(name)
        if own is None:
            raise InvalidArgument(
                f'strategy must be one of {", ".join((*STRATEGIES, *memory.extensions.names))}, '
                f'not {format_value(request.strategy or name)}'
            )
        return _permitted(memory, request, own.retrieve(request.query, n)), None
    plan = partial(
        RecallPlan.of,
        collection=request.collection,
        limit=n,
        query=request.query,
        min_confidence=preset.min_confidence,
        actor_id=request.actor_id,
        real_weight=1.0,
    )
    every = plan(least=preset.min_score)
    safety = plan(least=preset.min_score / 2, where=RULES, narrow=True)
    first, rest = Retriever(memory).find_each([safety, every])
    asked = None
    if request.read == 'auto' and request.actor_id is None:
        rest, asked = add_events(memory, rest, request.query, request.collection, None, n)
    return describe_results(join_found(first, rest, every), choose_zone(memory)), asked


def _permitted(
    memory: Memory, request: GetContextRequest, results: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """
    Return of what a site's own strategy found what the request may be told.

    What is no memory of ours (it has no memory_id) is told where no actor is asked for.
    """
    known = {id(one): _of(one, 'memory_id') for one in results}
    ids = [number for number in known.values() if isinstance(number, int)]
    plan = RecallPlan.of(
        collection=request.collection,
        limit=len(results),
        query=request.query,
        actor_id=request.actor_id,
    )
    passing = Retriever(memory).select_passing(plan, ids)
    return [
        one
        for one in results
        if known[id(one)] in passing or (known[id(one)] is None and request.actor_id is None)
    ]


def _marked(memory: Memory, results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """
    Return results with who stands behind each of ours and how often it was observed.

    Whatever a site's code said of it does not count.
    """
    ids = [number for one in results if isinstance(number := _of(one, 'memory_id'), int)]
    with memory.db.read() as connection:
        found = complete(connection, list(memories.get(connection, ids).values()))
        records = {record.id: record for record in found}
        now = memory.timekeeper.read_now(connection)
    zone = choose_zone(memory)
    return [
        {
            **one,
            'metadata': {
                **one['metadata'],
                **describe_authority(records[known]),
                **describe_observed(records[known], now, zone),
                **dict.fromkeys(('replaces', 'replaced_by', 'replacement', 'disagrees')),
                **describe_links(records[known]),
            },
        }
        if isinstance(known := _of(one, 'memory_id'), int) and known in records
        else one
        for one in results
    ]


def _text(
    request: GetContextRequest,
    results: Sequence[dict[str, Any]],
    changes: Sequence[str],
    read: str,
) -> tuple[str, list[dict[str, Any]]]:
    """Return the text within its length, and what it tells."""
    about = quote(request.query, 80)
    room = request.max_characters - len('\n(000 more omitted.)')
    changed = ''
    for place, line in enumerate(changes):
        line = f'\n- {line}' if place else f'\n{CHANGED}\n- {line}'
        if len(changed) + len(line) > room // 2:
            break
        changed += line
    if not results:
        return f'No memories about {about}.{read}{changed}', []
    groups: dict[str, list[dict[str, Any]]] = {SAFETY: [], SAID: [], KNOWN: [], SEEN: []}
    for one in results:
        groups[_heading(one)].append(one)
    text = f'Memories about {about}:{read}'
    room -= len(text) + len(changed)
    # What is quoted takes no room from what operators and planners state.
    lines: dict[str, list[str]] = {}
    for heading in (SAFETY, KNOWN, SAID, SEEN):
        lines[heading] = _fit_lines(heading, groups[heading], room, not any(lines.values()))
        room -= sum(map(len, lines[heading]))
    told = [one for heading, group in groups.items() for one in group[: len(lines[heading])]]
    text += ''.join([*lines[SAFETY], changed, *lines[SAID], *lines[KNOWN], *lines[SEEN]])
    left = len(results) - len(told)
    return f'{text}\n({left} more omitted.)' if left else text, told


def _describe_read(memory: Memory, asked: AskedEvents | None) -> str:
    """Return what was read in the query, the figure that it asks for, and events without text."""
    if asked is None or not asked.read_as:
        return ''
    lines = [f'Read as {quote(asked.read_as, 200)}.']
    if asked.no_match:
        lines = [f'{lines[0][:-1]}: no event matches; a plain search was done instead.']
    if asked.figure is not None:
        figure = asked.figure.view
        unit = f' {figure.unit}' if figure.unit else ''
        lines.append(f'Measured: {figure.name} {figure.value:.6g}{unit}.')
    zone = choose_zone(memory)
    for one in asked.events[:5]:
        if one.text is None:
            ended = format_local(one.end // 1000, zone)[:16] if one.end else 'now'
            lines.append(
                f'{format_label(one.names["kind"] or "event")} {abs(one.id)}: '
                f'{format_local(one.onset // 1000, zone)[:16]} to {ended}{_format_figures(one)}'
            )
    return ''.join(f'\n{line}' for line in lines)


def _format_figures(event: EventRow) -> str:
    """Return the first figures of an event: ', peak force 12 N'."""
    figures = event.figures[:3]
    return ''.join(
        f', {name.replace("_", " ")} {value:.3g} {unit}'.rstrip() for name, value, unit in figures
    )


def _fit_lines(
    heading: str, group: Sequence[dict[str, Any]], room: int, is_first: bool
) -> list[str]:
    """Return the lines of a section that fit; the very first one is shortened to fit."""
    lines: list[str] = []
    for one in group:
        start = '\n- ' if lines else f'\n{heading}\n- '
        line = f'{start}{_line(one)}'
        if len(line) > room and is_first and not lines:
            cuts = (f'{start}{_line(one, longest)}' for longest in (300, 150, 80, 40, 20, 1))
            line = next((cut for cut in cuts if len(cut) <= room), line)
        if len(line) > room:
            break
        lines.append(line)
        room -= len(line)
    return lines


def _heading(result: dict[str, Any]) -> str:
    """Return the section that a result belongs to."""
    if _of(result, 'quoted') is None:
        return KNOWN
    if _of(result, 'quoted'):
        return SAID if _of(result, 'authority') == 'person' else SEEN
    return SAFETY if _of(result, 'category') in PROTECTED else KNOWN


def _line(result: dict[str, Any], longest: int = _LONGEST) -> str:
    """Return a result on one line: nothing in it leaves its quotes or passes for a line."""
    is_turn = _of(result, 'type') == 'turn'
    source = [
        f'mem_{_of(result, "memory_id")}' if _of(result, 'memory_id') else '',
        f'turn {_of(result, "turn_id")}' if is_turn else _of(result, 'category'),
        _format_date(result),
        _of(result, 'stated_by'),
        _of(result, 'evidence'),
    ]
    named = ', '.join(format_label(str(word)) for word in source if word)
    put = quote if _heading(result) in (SAID, SEEN) else format_line
    said = put(result['content'], longest)
    newer = _of(result, 'newer')
    later = f' (mem_{newer} is newer and differs)' if newer else ''
    higher = _of(result, 'contradicts')
    stands = f' (contradicts mem_{higher}, which stands)' if higher else ''
    links = format_links(result['metadata']) if named else ''
    return f'[{named}] {said}{links}{later}{stands}' if named else said


def _format_date(result: dict[str, Any]) -> str:
    """Return when a result was measured, to the minute, or else the day on which it was stored."""
    measured = _of(result, 'measured_at')
    if isinstance(measured, str):
        return f'measured {measured[:16].replace("T", " ")}{measured[26:]}'
    return str(_of(result, 'timestamp') or '')[:10]


def _describe_changes(memory: Memory, collection: str) -> list[str]:
    """Return the changes of protected memories that no operator has confirmed, as lines."""
    with memory.db.read() as connection:
        changes = protected_changes.list_unconfirmed(connection, collection, _CHANGES)
        if not changes:
            return []
        total = protected_changes.count_unconfirmed(connection, collection)
    lines = [
        f'[mem_{one.memory_id}, {_PAST.get(one.action, one.action)} '
        f'{format_instant(one.at)[:10]} by {format_label(describe_writer(one.writer))}] '
        f'{quote(one.content, 300)}'
        for one in changes
    ]
    more = [f'{total - len(changes)} more: robot-memory review'] if total > len(changes) else []
    return [*lines, *more]


def _of(result: dict[str, Any], name: str) -> Any:
    metadata = result.get('metadata')
    return metadata.get(name) if isinstance(metadata, dict) else None
