"""Rendering of responses for a terminal."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TextIO

from robot_memory.core.clock import format_instant
from robot_memory.core.fields import to_plain
from robot_memory.core.json_text import dump_json
from robot_memory.text.controls import blank_controls

_MODES = {
    'hybrid': 'by keyword and vector search',
    'bm25_only': 'by keyword search only',
    'vec_only': 'by vector search only',
    'filter': 'by filter',
}


class Paint:
    """Apply ANSI styles if the stream is a terminal that supports them."""

    def __init__(self, stream: TextIO) -> None:
        refused = os.environ.get('NO_COLOR') or os.environ.get('TERM') == 'dumb'
        self._on = stream.isatty() and not refused

    def bold(self, text: str) -> str:
        """Return bold text."""
        return f'\033[1m{text}\033[0m' if self._on else text

    def dim(self, text: str) -> str:
        """Return dimmed text."""
        return f'\033[2m{text}\033[0m' if self._on else text


def render(name: str, response: Any, paint: Paint) -> str:
    """Return a response as text lines; a tool without its own renderer as a table."""
    words = _WORDS.get(name)
    return words(response, paint) if words else render_table(to_plain(response), paint)


def render_table(rows: Mapping[str, Any], paint: Paint) -> str:
    """Return names and values as two columns."""
    width = max(map(len, rows), default=0)
    return '\n'.join(
        f'{paint.dim(name.ljust(width))}  {_render_value(value)}' for name, value in rows.items()
    )


def _render_value(value: Any) -> str:
    return blank_controls(value if isinstance(value, str) else dump_json(value))


def format_count(number: int, noun: str, plural: str = '') -> str:
    """Return a number with its noun: '1 memory', '2 memories'."""
    return f'{number} {noun if number == 1 else plural or noun + "s"}'


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
    return [f'  Text truncated: {format_count(gone, "character")} removed.'] if gone else []


def _render_recall(response: Any, paint: Paint) -> str:
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
        about += render_observed(item)
        rows.append((item.id, score, item.content, ' · '.join(about)))
    mode = f'{_MODES[response.mode]}, {response.query_ms:.1f} ms'
    if response.faded:
        mode += f'; {response.faded} decayed below the minimum confidence'
    for one in response.brief or ():
        rows.append((one.id, '', one.content, one.about))
    if not rows:
        return explain_nothing(f'No results ({mode}).', response)
    found = format_count(response.total, 'memory', 'memories')
    lines = [*_render_rows(rows, paint), paint.dim(f'{found} {mode}')]
    if response.frames:
        frames = ', '.join(f'{number} in {name}' for name, number in response.frames.items())
        lines.append(f'Positions in several frames were compared: {blank_controls(frames)}.')
    return '\n'.join([*lines, *render_linked(response, paint)])


def render_observed(item: Any) -> list[str]:
    """Return how often and how well a memory was observed, where that is more than once."""
    said = [] if item.simulated is None else ['simulated']
    seen = item.observed
    if seen is None:
        return said
    for kind, count, tries, successes in (
        ('', seen.count, seen.tries, seen.successes),
        ('simulated ', seen.simulated_count, seen.simulated_tries, seen.simulated_successes),
    ):
        said += [f'{kind}{count} times'] if count > 1 else []
        said += [f'{kind}{successes} of {tries} succeeded'] if tries else []
    return said


def explain_nothing(none: str, response: Any) -> str:
    """Return the line of an answer that is empty, with the reason."""
    return f'{none} {blank_controls(response.why_empty)}' if response.why_empty else none


def _render_rows(rows: Iterable[tuple[int, str, str, str]], paint: Paint) -> list[str]:
    """Return aligned lines of id, measure and text, each with a details line."""
    rows = list(rows)
    width = max(len(str(row[0])) for row in rows)
    measure = max(len(row[1]) for row in rows)
    gap = '  ' if measure else ''
    lines = []
    for number, figure, text, about in rows:
        head = paint.bold(str(number).rjust(width))
        lines.append(f'{head}{gap}{paint.dim(figure.rjust(measure))}  {blank_controls(text)}')
        if about:
            lines.append(' ' * (width + len(gap) + measure + 2) + paint.dim(blank_controls(about)))
    return lines


def format_moment(iso: str) -> str:
    """Return a time to the second."""
    return iso[:19].replace('T', ' ') + ' UTC'


def _render_save_perception(response: Any, paint: Paint) -> str:
    later = '' if response.has_embedding else '; vector pending'
    return (
        f'Stored as memory {paint.bold(str(response.memory_id))}: {response.perception_type} '
        f'perception in {blank_controls(response.collection)}{later}.'
    )


def _render_forget(response: Any, paint: Paint) -> str:
    return '\n'.join(
        [
            f'Soft-deleted memory {paint.bold(str(response.memory_id))}: '
            f'{blank_controls(response.content)}',
            paint.dim(f'  reason: {blank_controls(response.reason)}'),
        ]
    )


def _render_update(response: Any, paint: Paint) -> str:
    return '\n'.join(
        [
            f'Updated memory {paint.bold(str(response.memory_id))}: '
            f'{blank_controls(response.new_content)}',
            paint.dim(f'  before: {blank_controls(response.old_content)}'),
            _render_inferred(response.auto_inferred, paint),
            *_render_truncation(response),
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
        f'Session {paint.bold(response.session_id)} started in '
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
        lines += ['  related:', *(f'    {line}' for line in _render_rows(related, paint))]
    return '\n'.join(lines)


def _render_query_records(response: Any, paint: Paint) -> str:
    found = format_count(response.total_count, 'record')
    if not response.records:
        if response.total_count:
            return f'No records on this page, {found} in total.'
        return explain_nothing('No records.', response)
    rows = []
    for item in response.records:
        about = [item.kind, item.category, f'confidence {item.confidence:.2f}', item.collection]
        about += [item.actor_id] if item.actor_id else []
        about += [item.status] if item.status != 'active' else []
        about += [f'by memory {item.superseded_by}'] if item.superseded_by else []
        about += [f'{line["actor"]}: {line["reason"]}' for line in item.audit or ()]
        rows.append((item.memory_id, format_moment(item.created_at), item.record_content, about))
    shown = [(number, at, text, ' · '.join(about)) for number, at, text, about in rows]
    return '\n'.join([*_render_rows(shown, paint), paint.dim(f'{len(rows)} of {found}')])


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


def render_linked(response: Any, paint: Paint) -> list[str]:
    """Return lines of the events that are linked to the one of an answer."""
    lines = []
    for one in response.linked or ():
        known = '' if one.memory_id is None else f'memory {one.memory_id}'
        about = [one.relation, one.kind, one.label, known, one.start, one.text]
        lines.append(f'  {blank_controls(" · ".join(filter(None, about)))}')
    if not lines:
        return []
    total = format_count(response.linked_total, 'event')
    return [paint.dim(f'linked: {len(lines)} of {total}'), *lines]


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
    lines = _render_rows(rows, paint) if rows else []
    done = f'{response.confirmed} confirmed, ' if response.confirmed else ''
    return '\n'.join([*lines, paint.dim(f'{done}{left} not confirmed')])


_WORDS: dict[str, Callable[[Any, Paint], str]] = {
    'learn': _render_learn,
    'recall': _render_recall,
    'save_perception': _render_save_perception,
    'forget': _render_forget,
    'update': _render_update,
    'start_session': _render_start_session,
    'end_session': _render_end_session,
    'query_records': _render_query_records,
    'show': _render_show,
    'history': _render_history,
    'undo': _render_undo,
    'analyze': _render_analyze,
    'maintain': _render_maintain,
    'review': _render_review,
    'trust': _render_trust,
}
