"""What retrieval answers, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robot_memory.cli.text import (
    Paint,
    explain_nothing,
    format_count,
    format_moment,
    render_linked,
    render_observed,
    render_rows,
)
from robot_memory.core.clock import format_instant
from robot_memory.text.controls import blank_controls

_MODES = {
    'hybrid': 'by keyword and vector search',
    'bm25_only': 'by keyword search only',
    'vec_only': 'by vector search only',
    'filter': 'by filter',
}


def render_recall(response: Any, paint: Paint) -> str:
    """Return memories as rows, with what was read in the query and the figure that it asks for."""
    rows = []
    for item in response.memories:
        if item.distance is not None:
            score = f'distance {item.distance:.3f}'
        else:
            score = '' if response.mode == 'filter' else f'{item._rrf_score:.3f}'
        at = format_moment(item.created_at)
        if item.stamp is not None:
            at = f'measured {format_moment(format_instant(item.stamp // 1000))}'
        about = [item.category, f'confidence {item.confidence:.2f}', at]
        if item.perception_type:
            about.insert(0, f'{item.perception_type} perception')
        if item.frame_id:
            about.append(f'in {item.frame_id}')
        about += [*render_observed(item), *_describe_links(item)]
        rows.append((item.id, score, item.content, ' · '.join(about)))
    mode = f'{_MODES[response.mode]}, {response.query_ms:.1f} ms'
    if response.faded:
        mode += f'; {response.faded} decayed below the minimum confidence'
    for one in response.brief or ():
        rows.append((one.id, '', one.content, one.about))
    read = [*_list_past(response, paint), *_render_reading(response, paint)]
    if not rows:
        return '\n'.join([*read, explain_nothing(f'No results ({mode}).', response)])
    found = format_count(response.total, 'memory', 'memories')
    lines = [*read, *render_rows(rows, paint), paint.dim(f'{found} {mode}')]
    if response.frames:
        frames = ', '.join(f'{number} in {name}' for name, number in response.frames.items())
        lines.append(f'Positions in several frames were compared: {blank_controls(frames)}.')
    return '\n'.join([*lines, *render_linked(response, paint)])


def _list_past(response: Any, paint: Paint) -> list[str]:
    """Return which earlier state answered, and how many memories of then are there no more."""
    past = response.as_of
    if past is None:
        return []
    at = f', {format_moment(past["at"])}' if past['at'] else ''
    gone = format_count(past['gone'], 'memory', 'memories')
    since = f'; stored by then and gone (erased or folded): {gone}' if past['gone'] else ''
    return [paint.dim(f'as of audit line #{past["line"]}{at}{since}')]


def _describe_links(item: Any) -> list[str]:
    """Return which memories replace, contradict or disagree with one."""
    others = (
        ('changed by newer', item.newer),
        ('contradicts', item.contradicts),
        *(('disagrees with', one) for one in item.disagrees or ()),
    )
    return _list_links(item.replaces, item.replaced_by, *others)


def _list_links(
    replaces: int | None, replaced_by: int | None, *others: tuple[str, int | None]
) -> list[str]:
    pairs = (('replaces', replaces), ('replaced by', replaced_by), *others)
    return [f'{said} memory {other}' for said, other in pairs if other is not None]


def _render_read_as(response: Any, paint: Paint) -> list[str]:
    if not response.read_as:
        return []
    none = '; no event passes it' if response.no_match else ''
    return [paint.dim(f'read as: {blank_controls(response.read_as)}{none}')]


def _render_reading(response: Any, paint: Paint) -> list[str]:
    """Return how a query was read, and the figure that it asks for."""
    lines = _render_read_as(response, paint)
    if response.aggregate:
        rests = len(response.aggregate_ids or ())
        on = f' of {format_count(rests, "event")}' if rests else ''
        lines.append(paint.bold(blank_controls(render_figure(response.aggregate))) + on)
    return lines


def render_figure(one: Any) -> str:
    """Return a figure with its name and unit."""
    return f'{one.name} {one.value:.4g} {one.unit}'.rstrip()


def render_context(response: Any, paint: Paint) -> str:
    """Return the text for the prompt as it is, then what it is made of."""
    lines = [blank_controls(line) for line in response.context.split('\n')]
    rules = response.rules
    made = [
        f'rules: {len(rules.applies)} apply, {len(rules.may_apply)} may apply',
        format_count(response.num_results, 'memory', 'memories'),
        response.strategy_used,
    ]
    if not response.rules_complete:
        made.append('the text lacks rules: raise --max-characters')
    return '\n'.join([*lines, paint.dim(' · '.join(made)), *render_linked(response, paint)])


def render_search(response: Any, paint: Paint) -> str:
    """Return results as rows, each with its score."""
    if not response.result:
        return explain_nothing('No results.', response)
    rows = []
    for item in response.result:
        known = item.metadata
        names = ('type', 'category', 'stated_by')
        about = [str(known[name]) for name in names if known.get(name)]
        if known.get('measured_at'):
            about.append(f'measured {known["measured_at"][:19].replace("T", " ")}')
        elif known.get('timestamp'):
            about.append(format_moment(known['timestamp']))
        about += _list_links(known.get('replaces'), known.get('replaced_by'))
        rows.append((known['memory_id'], f'{item.score:.3f}', item.content, ' · '.join(about)))
    found = format_count(len(rows), 'memory', 'memories')
    return '\n'.join([*render_rows(rows, paint), paint.dim(found)])


def render_timeline(response: Any, paint: Paint) -> str:
    """Return the memories of a page as rows, in their order, and how to get the next."""
    counted = _render_density(response)
    if not response.entries:
        return '\n'.join([*counted, explain_nothing('No memories.', response)])
    rows = []
    for item in response.entries:
        about = [f'{item.sense} perception' if item.sense else item.kind, item.category]
        about += [item.stated_by, item.status if item.status != 'active' else '']
        about += _list_links(item.replaces, item.replaced_by)
        text = ' · '.join(one for one in about if one)
        rows.append((item.memory_id, item.at[:19].replace('T', ' '), item.content, text))
    more = f'; more: --cursor {response.next_cursor}' if response.next_cursor else ''
    note = f'{format_count(len(rows), "memory", "memories")}, times in {response.time_zone}{more}'
    return '\n'.join([*counted, *render_rows(rows, paint), paint.dim(note)])


def _render_density(response: Any) -> list[str]:
    if not response.density:
        return []
    span = f'{response.density_from} to {response.density_until}'
    counts = ' '.join(map(str, response.density))
    return [f'{span}, every {response.bucket_seconds:.4g} s: {counts}']


def render_explained(response: Any, paint: Paint) -> str:
    """Return memories as rows, each with the parts of its score."""
    lines = _render_read_as(response, paint)
    if not response.memories:
        return '\n'.join([*lines, explain_nothing('No results.', response)])
    rows = []
    for item in response.memories:
        parts = [('words', item.words), *((one.model, one.share) for one in item.models)]
        parts += [('around', item.around)]
        about = [' + '.join(f'{name} {share:.3f}' for name, share in parts if share)]
        about += [f'matched {", ".join(item.matched)}'] if item.matched else []
        about += [f'factor {item.factor:g}'] if item.factor != 1 else []
        about += [f'placed by {item.placed_by}'] if item.placed_by != 'score' else []
        about += _list_links(item.replaces, item.replaced_by)
        text = ' · '.join(one for one in about if one)
        rows.append((item.memory_id, f'{item.score:.3f}', item.content, text))
    lines += [*render_rows(rows, paint), paint.dim(_MODES[response.mode])]
    lines += _list_decayed(response.faded)
    return '\n'.join(lines)


def _list_decayed(faded: Sequence[Any]) -> list[str]:
    return [
        f'decayed to {one.confidence:.2f}: memory {one.memory_id}, {blank_controls(one.content)}'
        for one in faded
    ]


def render_query_records(response: Any, paint: Paint) -> str:
    """Return records as rows."""
    found = format_count(response.total_count, 'record')
    past = _list_past(response, paint)
    if not response.records:
        if response.total_count:
            return '\n'.join([*past, f'No records on this page, {found} in total.'])
        return '\n'.join([*past, explain_nothing('No records.', response)])
    rows = []
    for item in response.records:
        about = [item.kind, item.category, f'confidence {item.confidence:.2f}', item.collection]
        about += [item.actor_id] if item.actor_id else []
        about += [item.status] if item.status != 'active' else []
        about += [f'by memory {item.superseded_by}'] if item.superseded_by else []
        about += [f'{line["actor"]}: {line["reason"]}' for line in item.audit or ()]
        rows.append((item.memory_id, format_moment(item.created_at), item.record_content, about))
    shown = [(number, at, text, ' · '.join(about)) for number, at, text, about in rows]
    return '\n'.join([*past, *render_rows(shown, paint), paint.dim(f'{len(rows)} of {found}')])
