"""Responses of tools for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from robot_memory.cli.erased import render_erase
from robot_memory.cli.retrieved import (
    render_context,
    render_explained,
    render_query_records,
    render_recall,
    render_search,
    render_timeline,
)
from robot_memory.cli.text import (
    Paint,
    format_count,
    format_moment,
    render_linked,
    render_rows,
    render_table,
)
from robot_memory.core.clock import format_instant
from robot_memory.core.fields import to_plain
from robot_memory.text.controls import blank_controls
from robot_memory.text.quoting import quote


def render(name: str, response: Any, paint: Paint) -> str:
    """Return a response as text lines; a tool without its own renderer as a table."""
    words = _WORDS.get(name)
    return words(response, paint) if words else render_table(to_plain(response), paint)


def _render_learn(response: Any, paint: Paint) -> str:
    if response.status == 'duplicate':
        lines = [
            f'Duplicate of memory {paint.bold(str(response.existing_id))} ({response.method}, '
            f'similarity {response.similarity:.2f}).'
        ]
    else:
        lines = [
            f'Stored as memory {paint.bold(str(response.memory_id))}.',
            _render_inferred(response.auto_inferred, paint),
        ]
    return '\n'.join(lines + _render_truncation(response))


def _render_inferred(inferred: Any, paint: Paint) -> str:
    tags = ', '.join(inferred.tags)
    parts = [inferred.category, f'confidence {inferred.confidence:.2f}', f'tags {tags}']
    if inferred.scope_files:
        parts.append(f'files {", ".join(inferred.scope_files)}')
    return paint.dim('  ' + blank_controls(' · '.join(parts)))


def _render_truncation(response: Any) -> list[str]:
    gone = response.truncated_characters
    if not gone:
        return []
    after = quote(response.truncated_after, len(response.truncated_after))
    return [f'  Text truncated: {format_count(gone, "character")} removed after {after}.']


def _render_save_perception(response: Any, paint: Paint) -> str:
    later = '' if response.has_embedding else '; vector pending'
    return (
        f'Stored as memory {paint.bold(str(response.memory_id))}: {response.perception_type} '
        f'perception in {blank_controls(response.collection)}{later}.'
    )


def _render_forget(response: Any, paint: Paint) -> str:
    done = 'Would soft-delete' if response.token else 'Soft-deleted'
    return '\n'.join(
        [
            f'{done} memory {paint.bold(str(response.memory_id))}: '
            f'{blank_controls(response.content)}',
            paint.dim(f'  reason: {blank_controls(response.reason)}'),
            *_render_preview(response),
        ]
    )


def _render_preview(response: Any) -> list[str]:
    """Return what confirms a change by description, and what else the description may mean."""
    if not response.token:
        return []
    lines = [
        f'  also meant? memory {one.memory_id}: {blank_controls(one.content)}'
        for one in response.others or ()
    ]
    confirm = f'repeat it with --token {response.token} in place of --description'
    return [*lines, f'  Nothing is changed yet; to confirm, {confirm}']


def _render_update(response: Any, paint: Paint) -> str:
    done = 'Would update' if response.token else 'Updated'
    return '\n'.join(
        [
            f'{done} memory {paint.bold(str(response.memory_id))}: '
            f'{blank_controls(response.new_content)}',
            paint.dim(f'  before: {blank_controls(response.old_content)}'),
            _render_inferred(response.auto_inferred, paint),
            *_render_truncation(response),
            *_render_preview(response),
        ]
    )


def _render_history(response: Any, paint: Paint) -> str:
    lines = []
    for entry in response.entries:
        undone = '' if entry.undone_by is None else f', undone by #{entry.undone_by}'
        why = f': {entry.reason}' if entry.reason else ''
        about = f'{entry.action} by {entry.actor}, {format_moment(entry.at)}{undone}{why}'
        lines.append(f'{paint.bold(f"#{entry.line}")}  {blank_controls(about)}')
        if entry.content is not None:
            lines.append(paint.dim(f'  {entry.status}: {blank_controls(entry.content)}'))
    return '\n'.join(lines) or 'No audit line tells of it: it was stored before there were any.'


def _render_undo(response: Any, paint: Paint) -> str:
    return (
        f'Undone #{response.line} ({response.action}): memory '
        f'{paint.bold(str(response.memory_id))} is {response.memory_status}: '
        f'{blank_controls(response.new_content)}'
    )


def _render_start_session(response: Any, paint: Paint) -> str:
    known = format_count(response.active_memories_count, 'memory', 'memories')
    return (
        f'Session {paint.bold(blank_controls(response.session_id))} started in '
        f'{blank_controls(response.collection)} ({known}).'
    )


def _render_end_session(response: Any, paint: Paint) -> str:
    summary, merged = response.summary, response.consolidated
    kinds = ', '.join(f'{number} {name}' for name, number in summary.by_category.items())
    held = format_count(summary.memory_count, 'memory', 'memories')
    lines = [
        f'Session {paint.bold(blank_controls(response.session_id))} ended: {held}'
        + (f' ({kinds}).' if kinds else '.'),
        f'  merged   {format_count(merged.superseded_count, "memory", "memories")} '
        f'into {merged.merged_groups}',
        f'  decayed  {format_count(response.decayed_count, "memory", "memories")}',
    ]
    if response.related_memories:
        related = [
            (item.id, f'{item._rrf_score:.3f}', item.content, '')
            for item in response.related_memories
        ]
        lines += ['  related:', *(f'    {line}' for line in render_rows(related, paint))]
    return '\n'.join(lines)


def _render_show(response: Any, paint: Paint) -> str:
    item = response.memory
    lines = [f'{paint.bold(str(item.id))}  {blank_controls(item.content)}']
    rows: dict[str, Any] = {'kind': item.perception_type or item.type, 'status': response.status}
    if response.superseded_by:
        rows['superseded by'] = response.superseded_by
    rows |= {'stored': format_moment(item.created_at), 'category': item.category}
    if item.stamp is not None:
        rows['measured'] = format_moment(format_instant(item.stamp // 1000))
    rows |= {
        name: value
        for name, value in (('frame', item.frame_id), ('pose', item.pose))
        if value is not None
    }
    rows |= {'context': item.context, 'data': response.data, 'metadata': response.metadata}
    shown = {name: value for name, value in rows.items() if value not in (None, '{}')}
    for part in response.parts:
        gone = f', evicted {format_moment(part.removed)}' if part.removed else ''
        bad = f', damaged: {part.damage}' if part.damage else ''
        shown[part.name] = f'{part.media_type}, {part.size} bytes{gone}{bad}'
    return '\n'.join([*lines, render_table(shown, paint), *render_linked(response, paint)])


def _render_analyze(response: Any, paint: Paint) -> str:
    window = response.results['window']
    left_out = f', {window["left_out"]} older ones omitted' if window['left_out'] else ''
    read = format_count(window['records_read'], 'record')
    lines = [f'{paint.bold(response.analysis_type)} of {read}{left_out}']
    for title, texts in (
        ('found', response.insights),
        ('recommended', response.recommendations),
        ('unknown', response.results['cannot_say']),
    ):
        lines += [f'{paint.dim(title.ljust(9))}  {blank_controls(text)}' for text in texts]
    return '\n'.join(lines)


def _render_maintain(response: Any, paint: Paint) -> str:
    lines = [
        f'{paint.dim(step.name.ljust(10))}  {blank_controls(step.detail)} ({step.ms:.0f} ms)'
        for step in response.steps
    ]
    size = response.file_bytes / 1e6
    before = size + response.freed_bytes / 1e6
    return '\n'.join([*lines, paint.dim(f'{size:.1f} MB now, {before:.1f} MB before')])


def _render_review(response: Any, paint: Paint) -> str:
    lines = [] if response.decided == 'nothing' else [f'{response.decided.capitalize()}.']
    for one in response.proposals:
        new = f' to "{blank_controls(one.new_content)}"' if one.new_content else ''
        lines += [
            f'{paint.bold(f"proposal {one.proposal_id}")}  {one.action} memory {one.memory_id} '
            f'({one.authority}){new}',
            f'  now: {blank_controls(one.content)}',
            *([f'  reason: {blank_controls(one.reason)}'] if one.reason else []),
            paint.dim(f'  {blank_controls(one.proposed_by)}, {format_moment(one.at)}'),
        ]
    for one in response.changes:
        lines += [
            f'{paint.bold(f"memory {one.memory_id}")}  {one.action}, not confirmed',
            f'  before: {blank_controls(one.old_content)}',
            paint.dim(f'  {blank_controls(one.changed_by)}, {format_moment(one.at)}'),
        ]
    return '\n'.join(lines) or 'Nothing to review.'


def _render_trust(response: Any, paint: Paint) -> str:
    rows = [
        (one.memory_id, '', one.content, f'{one.type} · {one.category} · {one.collection}')
        for one in response.memories
    ]
    left = format_count(response.total, 'memory', 'memories')
    lines = render_rows(rows, paint) if rows else []
    done = f'{response.confirmed} confirmed, ' if response.confirmed else ''
    return '\n'.join([*lines, paint.dim(f'{done}{left} not confirmed')])


def _render_outcome(response: Any, paint: Paint) -> str:
    number, again = paint.bold(str(response.memory_id)), 'again: ' if response.repeated else ''
    lines = [f'{again}Trial {number}, {format_count(response.trials, "trial")} of the skill.']
    if response.surprise is not None:
        lines.append(paint.dim(f'  {response.surprise:.1f} deviations from what was predicted'))
    if response.changed:
        lines.append('The world has changed: predictions for situations like this fail.')
    return '\n'.join(lines)


def _render_suggestion(response: Any, paint: Paint) -> str:
    params = _write_each(response.params)
    chance = (
        '' if response.probability is None else f', {response.probability:.0%} likely as wanted'
    )
    lines = [
        f'{paint.bold(blank_controls(params) or "Nothing to suggest")}{chance}',
        f'  {blank_controls(response.why)}',
    ]
    for one in response.bound_by:
        ends = (('at least', one.min), ('at most', one.max))
        bounds = ' and '.join(f'{side} {end:.4g}' for side, end in ends if end is not None)
        text = f'limit of memory {one.memory_id}: {one.param} {bounds} {one.unit}'
        lines.append(f'  {blank_controls(f"{text} {_name_rule(one)}")}')
    for one in response.unchecked:
        text = f'no param keeps memory {one.memory_id}: {_name_rule(one)}'
        lines.append(f'  {blank_controls(text)}')
    for one in response.evidence:
        results = _write_each(one.results)
        about = [f'memory {one.memory_id}', one.outcome, f'weight {one.weight:.2f}', results]
        lines.append(paint.dim(f'  {blank_controls(" · ".join(filter(None, about)))}'))
    return '\n'.join(lines)


def _name_rule(one: Any) -> str:
    """Return the text of a rule, and what it only may apply by."""
    return f'"{one.content}"' + ('' if one.applies else f' (may apply: {one.why})')


def _render_skill(response: Any, paint: Paint) -> str:
    lines = [blank_controls(response.text)]
    for one in response.situations:
        best = _write_each(one.best)
        low, high = f'{one.success_low:.0%}', f'{one.success_high:.0%}'
        about = [f'{one.successes} of {one.tries} succeeded ({low} to {high})', one.trend]
        about += [f'best {best}'] if best else []
        lines += [
            f'  {blank_controls(one.situation) or "any situation"}',
            paint.dim(f'    {blank_controls(" · ".join(about))}'),
        ]
    rest = response.situations_total - len(response.situations)
    return '\n'.join([*lines, *([f'  and {rest} more situations'] if rest else [])])


def _write_each(values: Mapping[str, Any]) -> str:
    return ', '.join(f'{name} {_write(value)}' for name, value in values.items())


def _write(value: Any) -> str:
    """Return a value as it is said: of a figure its number and unit."""
    if isinstance(value, dict) and 'value' in value:
        return f'{value["value"]:.4g} {value.get("unit") or ""}'.rstrip()
    return f'{value:.4g}' if isinstance(value, float) else str(value)


_WORDS: dict[str, Callable[[Any, Paint], str]] = {
    'learn': _render_learn,
    'recall': render_recall,
    'save_perception': _render_save_perception,
    'forget': _render_forget,
    'erase': render_erase,
    'update': _render_update,
    'start_session': _render_start_session,
    'end_session': _render_end_session,
    'query_records': render_query_records,
    'show': _render_show,
    'history': _render_history,
    'undo': _render_undo,
    'analyze': _render_analyze,
    'maintain': _render_maintain,
    'review': _render_review,
    'trust': _render_trust,
    'get_context': render_context,
    'search_memory': render_search,
    'list_timeline': render_timeline,
    'explain_recall': render_explained,
    'record_outcome': _render_outcome,
    'suggest': _render_suggestion,
    'skill_report': _render_skill,
}
