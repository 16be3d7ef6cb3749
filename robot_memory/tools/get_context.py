"""Say what to know before acting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from robot_memory.core.clock import format_instant
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import Json, actor_arg, arg, collection_arg
from robot_memory.core.json_text import format_value
from robot_memory.core.records import describe_writer
from robot_memory.core.truncation import fit_each, shortened_arg
from robot_memory.core.zones import format_local
from robot_memory.memory import Memory
from robot_memory.retrieval.asked import add_asked_events
from robot_memory.retrieval.asked_events import AskedEvents
from robot_memory.retrieval.context_text import compose, read_metadata
from robot_memory.retrieval.empty_answers import explain_nothing_found, why_empty_arg
from robot_memory.retrieval.event_answers import add_faults, describe_asked
from robot_memory.retrieval.event_views import (
    AGGREGATE,
    AGGREGATE_IDS,
    EVENTS,
    LINKED,
    LINKED_TOTAL,
    NO_MATCH,
    READ_AS,
    EventView,
    FigureView,
    LinkedEventView,
    read_arg,
)
from robot_memory.retrieval.events import choose_zone
from robot_memory.retrieval.evidence import describe_links, describe_observed
from robot_memory.retrieval.pages import name_pages, page_arg
from robot_memory.retrieval.plan import RecallPlan, require_text
from robot_memory.retrieval.retriever import Retriever
from robot_memory.retrieval.rules import JudgedRules, RulesView, find_rules, view_rules
from robot_memory.retrieval.situation import MAX_AGE_S, KnownView, find_situation
from robot_memory.retrieval.skill_reports import describe_named
from robot_memory.retrieval.views import describe_authority, describe_records, describe_results
from robot_memory.storage.events.pages import EventRow
from robot_memory.storage.tables import protected_changes
from robot_memory.storage.tables.records import get_whole
from robot_memory.text.quoting import format_label, quote
from robot_memory.tool import tool


@dataclass(frozen=True)
class Preset:
    """Say how good and how sure a memory must be to be told; rules are told in any case."""

    min_score: float
    min_confidence: float


STRATEGIES = {
    'HYBRID_ADVANCED': Preset(0.25, 0.3),
    'AGGRESSIVE': Preset(0.1, 0.0),
    'CONSERVATIVE': Preset(0.5, 0.6),
}


_PAST = {'update': 'changed', 'invalidated': 'forgotten', 'reclassify': 'reclassified'}
_MOST_RULES = 50
"""Rules that the search may find beside what is asked for."""
_CHANGES = 3
"""Changed rules that are named; the others are counted."""


@dataclass(frozen=True)
class GetContextRequest:
    """Request of get_context."""

    query: str = arg('Planned action or topic.', max_length=10_000)
    max_results: int | None = arg(
        'Maximum; default: default_results (5).',
        default=None,
        minimum=1,
        maximum=50,
    )
    strategy: str = arg(
        'HYBRID_ADVANCED, AGGRESSIVE (low-confidence memories too), CONSERVATIVE (only '
        'high-confidence ones) or a custom one; default: the setting default_strategy.',
        default='',
        max_length=64,
    )
    collection: str = collection_arg('Collection to read from.')
    actor_id: str | None = actor_arg('Restrict to what this actor said or did.')
    max_characters: int = arg(
        'Maximum length of the text; rules that apply are never cut.',
        default=4000,
        minimum=200,
        maximum=100_000,
    )
    read: str = read_arg()
    situation: Json | None = arg(
        'What is known now: {"people_near": ["Li"], "tool": "soft gripper", "place": "lab", '
        '"time": "14:30", "age_s": 5}; people_near: all who are near, [] for nobody.',
        default=None,
        shape='object',
    )
    max_age_s: float = arg(
        'Age at which the situation is unknown.', default=MAX_AGE_S, minimum=0.0
    )


@dataclass(frozen=True)
class ContextItemView:
    """One memory of a context."""

    content: str = arg('Text of the memory.')
    score: float = arg('Relevance, 0 to 1.')
    metadata: Json = arg(
        'Same keys as in search_memory; newer: id of a later memory that contradicts it; '
        'contradicts: id of one of higher authority.'
    )
    shortened: tuple[str, ...] | None = shortened_arg()
    page: str | None = page_arg()


@dataclass(frozen=True)
class GetContextResponse:
    """Response of get_context."""

    context: str = arg(
        'Prompt-ready text: rules of operators and planners first, with why they are there, then '
        'quotes of people and other memories, dated, with ids and sources.'
    )
    results: tuple[ContextItemView, ...] = arg(
        'Memories that the search found, in the order of the text.'
    )
    strategy_used: str = arg('Strategy that was used.')
    num_results: int = arg('Number of results.')
    rules: RulesView = arg('Rules for the planned action, whatever the search found.')
    rules_complete: bool = arg(
        'False if a rule that applies or may apply is missing from the text.'
    )
    situation: tuple[KnownView, ...] | None = arg(
        'What was known of the situation, and where each value came from.',
        default=None,
        omitted=True,
    )
    read_as: str | None = arg(READ_AS, default=None, omitted=True)
    no_match: bool | None = arg(NO_MATCH, default=None, omitted=True)
    events: tuple[EventView, ...] | None = arg(EVENTS, default=None, omitted=True)
    aggregate: FigureView | None = arg(AGGREGATE, default=None, omitted=True)
    aggregate_ids: tuple[int, ...] | None = arg(AGGREGATE_IDS, default=None, omitted=True)
    linked: tuple[LinkedEventView, ...] | None = arg(LINKED, default=None, omitted=True)
    linked_total: int | None = arg(LINKED_TOTAL, default=None, omitted=True)
    why_empty: str | None = why_empty_arg()


@tool(read_only=True, idempotent=True, planner=True, sage=True)
def get_context(memory: Memory, request: GetContextRequest) -> GetContextResponse:
    """
    Return prompt-ready context for a planned action.

    Call it before planning or acting, with the whole task in one sentence, and say in situation
    who is near.

    Rules come first: all constraints, gotchas and postmortems whose condition is met (applies) or
    unknown (may apply), each with why. Then what people said as quotes, then other facts, then
    quotes of what was seen and read; each line has the memory's id, kind, date and source. Rules
    that anyone but an operator changed are named with their old text. The text states how many
    memories did not fit into max_characters.
    """
    require_text('query', request.query, 'say what is planned')
    name = (request.strategy or memory.settings.default_strategy).upper()
    n = request.max_results or memory.settings.default_results
    situation = find_situation(memory, request.collection, request.situation, request.max_age_s)
    rules = find_rules(
        memory,
        request.collection,
        request.query,
        situation.values,
        request.actor_id,
        asked=memory.embed_query(request.query),
    )
    rule_ids = rules.ids
    own, asked = _results(memory, request, name, n, rule_ids)
    results = memory.extensions.run_retrieve_hooks(request.query, own)
    results = _marked(memory, results)
    found = {
        known: one for one in results if (known := read_metadata(one, 'memory_id')) in rule_ids
    }
    described = {**_describe_rules(memory, rules), **found}
    changes = _describe_changes(memory, request.collection)
    why = None if results or rules.relevant else _explain_empty(memory, request, name)
    others = [
        one
        for one in results
        if read_metadata(one, 'memory_id') not in rule_ids and not _repeats(one, rules)
    ]
    composed = compose(
        request.query,
        request.max_characters,
        rules,
        others,
        described,
        changes,
        situation.describe()
        + describe_named(memory, request.collection, request.query)
        + _describe_read(memory, asked),
        why or '',
    )
    included = [*_select_found(rules, found), *composed.included]
    memory.accesses.record(
        known for one in included if isinstance(known := read_metadata(one, 'memory_id'), int)
    )
    items = [ContextItemView(one['content'], one['score'], one['metadata']) for one in included]
    read = {} if asked is None else describe_asked(memory, asked)
    return GetContextResponse(
        composed.text,
        name_pages(memory.settings, fit_each(items, ('content', 'metadata')), _get_memory_id),
        name,
        len(included),
        view_rules(rules, memory.settings),
        composed.rules_complete,
        tuple(situation.views) or None,
        **read,
        why_empty=why,
    )


def _get_memory_id(item: ContextItemView) -> Any:
    return item.metadata.get('memory_id')


def _repeats(result: dict[str, Any], rules: JudgedRules) -> bool:
    """Say whether a result is the turn in which a person stated a rule that is told."""
    return read_metadata(result, 'type') == 'turn' and any(
        rule.record.event_id == read_metadata(result, 'event_id')
        and rule.record.content in result['content']
        for rule in rules.relevant
        if rule.is_quoted
    )


def _select_found(rules: JudgedRules, found: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rules that the search found, in the order of the text."""
    return [found[rule.record.id] for rule in rules.relevant if rule.record.id in found]


def _describe_rules(memory: Memory, rules: JudgedRules) -> dict[int, dict[str, Any]]:
    """Return rules as the search describes memories, by id."""
    records = [rule.record for rule in (*rules.relevant, *rules.others)]
    described = describe_records(records, choose_zone(memory))
    return dict(zip((record.id for record in records), described, strict=True))


def _explain_empty(memory: Memory, request: GetContextRequest, name: str) -> str:
    preset = STRATEGIES.get(name)
    plan = RecallPlan.of(
        collection=request.collection,
        limit=1,
        query=request.query,
        actor_id=request.actor_id,
        real_weight=1.0,
        least=0.0 if preset is None else preset.min_score,
    )
    return explain_nothing_found(memory, plan, actor_id=request.actor_id)


def _results(
    memory: Memory, request: GetContextRequest, name: str, n: int, rule_ids: set[int]
) -> tuple[list[dict[str, Any]], AskedEvents | None]:
    """Return what a strategy, one of ours or a site's own, brings beside the rules; and events."""
    preset = STRATEGIES.get(name)
    if preset is None:
        own = memory.extensions.find_strategy(name)
        if own is None:
            raise InvalidArgument(
                f'strategy must be one of {", ".join((*STRATEGIES, *memory.extensions.names))}, '
                f'not {format_value(request.strategy or name)}'
            )
        return _permitted(memory, request, own.retrieve(request.query, n)), None
    # Rules take no place of what is found beside them.
    limit = n + min(len(rule_ids), _MOST_RULES)
    plan = RecallPlan.of(
        collection=request.collection,
        limit=limit,
        query=request.query,
        min_confidence=preset.min_confidence,
        actor_id=request.actor_id,
        real_weight=1.0,
        least=preset.min_score,
        marks_newer=True,
    )
    found, asked = Retriever(memory).find(plan), None
    reads = request.read == 'auto' and request.actor_id is None
    if reads:
        found, asked = add_asked_events(memory, found, request.query, request.collection, None, n)
        found = add_faults(memory, found, asked, n) if asked is not None else found
    described = describe_results(found, choose_zone(memory))
    others = [one for one in described if read_metadata(one, 'memory_id') not in rule_ids]
    beyond = {id(one) for one in others[n:]}
    return [one for one in described if id(one) not in beyond], asked


def _permitted(
    memory: Memory, request: GetContextRequest, results: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """
    Return of what a site's own strategy found what the request may be told.

    What is no memory of ours (it has no memory_id) is told where no actor is asked for.
    """
    known = {id(one): read_metadata(one, 'memory_id') for one in results}
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
    ids = [number for one in results if isinstance(number := read_metadata(one, 'memory_id'), int)]
    with memory.db.read() as connection:
        records = get_whole(connection, ids)
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
        if isinstance(known := read_metadata(one, 'memory_id'), int) and known in records
        else one
        for one in results
    ]


def _describe_read(memory: Memory, asked: AskedEvents | None) -> str:
    """Return what was read in the query, the figure that it asks for, and events without text."""
    if asked is None or not asked.read_as:
        return ''
    lines = [f'Read as {quote(asked.read_as, 260)}.']
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
