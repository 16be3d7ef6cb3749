"""Say what to know before acting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robot_memory import texts
from robot_memory.classify import PROTECTED
from robot_memory.errors import InvalidArgument
from robot_memory.fields import Json, arg, collection_arg
from robot_memory.json_text import shown
from robot_memory.lookup import Wanted, by_relevance
from robot_memory.memory import Memory
from robot_memory.model import Record
from robot_memory.newer import contradicted, newer_first
from robot_memory.search.query import Hit
from robot_memory.store import Connection, memories
from robot_memory.store.filters import Where, active_in, compile_filter, equal
from robot_memory.tool import tool
from robot_memory.tools.search_memory import metadata_of


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


@dataclass(frozen=True)
class GetContextRequest:
    """Ask what to know about something."""

    query: str = arg('What is about to be done or talked about.', max_length=10_000)
    max_results: int = arg('How many memories to tell.', default=5, minimum=1, maximum=50)
    strategy: str = arg(
        'HYBRID_ADVANCED; AGGRESSIVE tells what is less sure, too; CONSERVATIVE only what is.',
        default='HYBRID_ADVANCED',
        max_length=64,
    )
    collection: str = collection_arg('Collection to look in.')
    actor_id: str | None = arg('Only what this one said or did.', default=None, max_length=128)
    max_characters: int = arg(
        'Length of the text at most.', default=2000, minimum=200, maximum=100_000
    )


@dataclass(frozen=True)
class ContextItemView:
    """One memory of a context."""

    content: str = arg('What it says.')
    score: float = arg('How well it fits, 0 to 1.')
    metadata: Json = arg('As of search_memory, and newer: the memory that came after it.')


@dataclass(frozen=True)
class GetContextResponse:
    """Answer with text for a prompt, and what it is made of."""

    context: str = arg('Text to paste into a prompt: safety first, dated, with ids and sources.')
    results: tuple[ContextItemView, ...] = arg('The memories that it tells, in its order.')
    strategy_used: str = arg('The strategy that was used.')
    num_results: int = arg('How many memories it tells.')


@tool(read_only=True, idempotent=True)
def get_context(memory: Memory, request: GetContextRequest) -> GetContextResponse:
    """
    Say what to know before acting, as text that is ready for a prompt.

    Constraints, gotchas and postmortems come first, then the rest, best first; each line has its
    memory's id, kind, date and source. What does not fit into max_characters is counted.
    """
    if not request.query.strip():
        raise InvalidArgument(f'query is empty ({shown(request.query)}); say what is planned')
    name = request.strategy.upper()
    preset = STRATEGIES.get(name)
    if preset is None:
        raise InvalidArgument(
            f'strategy must be one of {", ".join(STRATEGIES)}, not {shown(request.strategy)}'
        )
    memory.query_vector(request.query)  # made before the read begins, and kept
    with memory.db.read() as connection:
        safety, rest, mode = _found(memory, connection, request, preset)
        records = memories.get(connection, [hit.id for hit in (*safety, *rest)])
    newer = contradicted(list(records.values()), [*safety, *rest], request.query)
    ordered = newer_first(rest, _within(newer, rest))
    told = [hit for hit in (*safety, *ordered) if hit.id in records]
    context, shown_hits = _text(request, told, len(safety), records, newer)
    memory.touch(hit.id for hit in shown_hits)
    return GetContextResponse(
        context,
        tuple(_item(records[hit.id], hit, mode, newer.get(hit.id)) for hit in shown_hits),
        name,
        len(shown_hits),
    )


def _found(
    memory: Memory, connection: Connection, request: GetContextRequest, preset: Preset
) -> tuple[list[Hit], list[Hit], str]:
    """Return what concerns safety, the rest, and what ran to find them."""
    where = active_in(request.collection, preset.min_confidence)
    if request.actor_id is not None:
        where &= equal('actor_id', request.actor_id)

    def best(passing: Where, least: float, narrow: bool) -> tuple[list[Hit], str]:
        wanted = Wanted(
            request.collection,
            request.query,
            request.max_results,
            passing,
            narrow=narrow,
            real_weight=1.0,
        )
        hits, mode = by_relevance(memory, connection, wanted)
        return [hit for hit in hits if hit.score >= least], mode

    protected = compile_filter('category', {'category': {'$in': sorted(PROTECTED)}})
    safety, _ = best(where & protected, preset.min_score / 2, narrow=True)
    every, mode = best(where, preset.min_score, narrow=request.actor_id is not None)
    known = {hit.id for hit in safety}
    rest = [hit for hit in every if hit.id not in known]
    safety = safety[: request.max_results - bool(rest)] or safety[:1]
    return safety, rest[: request.max_results - len(safety)], mode


def _within(newer: Mapping[int, int], hits: Sequence[Hit]) -> dict[int, int]:
    ids = {hit.id for hit in hits}
    return {old: new for old, new in newer.items() if {old, new} <= ids}


def _text(
    request: GetContextRequest,
    told: Sequence[Hit],
    safety: int,
    records: Mapping[int, Record],
    newer: Mapping[int, int],
) -> tuple[str, list[Hit]]:
    """Return the text within its length, and what it tells."""
    about = _one_line(request.query, 80)
    if not told:
        return f'Nothing is known about "{about}".', []
    text = f'From memory, about "{about}":'
    room = request.max_characters - len('\n(00 more did not fit.)')
    taken: list[Hit] = []
    for place, hit in enumerate(told):
        heading = {0: '\nSafety:' if safety else '\nKnown:', safety: '\nKnown:'}.get(place, '')
        line = f'{heading}\n- {_line(records[hit.id], newer.get(hit.id))}'
        if len(text) + len(line) > room:
            if taken:
                break
            line, _ = texts.cut(line, room - len(text) - 3)
            line = f'\n{line}...'
        text += line
        taken.append(hit)
    if len(taken) < len(told):
        text += f'\n({len(told) - len(taken)} more did not fit.)'
    return text, taken


def _line(record: Record, newer: int | None) -> str:
    """Return a memory on one line: nothing in it can pass for another line."""
    source = [f'mem_{record.id}', record.category, record.created[:10]]
    if record.type == 'turn':
        source[1] = f'turn {record.turn_id}'
    if record.actor_id:
        source.append(record.actor_id)
    said = _one_line(record.content, 600)
    quoted = f'"{said}"' if record.type == 'turn' else said
    later = '' if newer is None else f' (mem_{newer} is newer and differs)'
    return f'[{", ".join(_one_line(word, 128) for word in source)}] {quoted}{later}'


def _one_line(text: str, longest: int) -> str:
    """Return a text without breaks and controls, cut at a word."""
    line = ' '.join(''.join(c if c.isprintable() else ' ' for c in text).split())
    kept, gone = texts.cut(line, longest)
    return f'{kept}...' if gone else kept


def _item(record: Record, hit: Hit, mode: str, newer: int | None) -> ContextItemView:
    metadata = metadata_of(record, mode)
    if newer is not None:
        metadata['newer'] = newer
    return ContextItemView(record.content, round(hit.score, 6), metadata)
