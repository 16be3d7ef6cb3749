"""The tables that the bench prints, each made from its part of the results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from scale_figures import SCALE as SCALE

Results = dict[str, Any]


def format_scale(results: Results) -> str:
    """Return the figures by size: {'this': {size: figures}, 'peer': ...}."""
    columns = [
        (who, size)
        for who in ('this', 'peer')
        for size in sorted({int(size) for found in results.values() for size in found})
        if who in results and str(size) in results[who]
    ]
    rows = [
        (
            title,
            *(_look_up(results[who][str(size)], path) if path else '' for who, size in columns),
            aim,
        )
        for title, path, aim in SCALE
    ]
    head = ('', *(f'{who} {_shorten(size)}' for who, size in columns), 'to reach')
    note = ''
    if any(
        _look_up(found, 'once/hybrid/mode') == 'words'
        for found in results.get('peer', {}).values()
    ):
        note = '\nThe peer answers by words alone here: its sqlite3 loads no extensions.'
    return format_table('Speed and size by the number of memories', head, rows) + note


def _shorten(size: int) -> str:
    for unit, factor in (('M', 10**6), ('k', 10**3)):
        if size >= factor:
            return f'{size / factor:g}{unit}'
    return str(size)


_SIDE: tuple[tuple[str, str, str, str, str, str], ...] = (
    ('recall, words only, p50 ms', 'none', 'recall', 'text', 'p50_ms', 'under 5'),
    ('recall, hybrid, p50 ms', 'hash', 'recall', 'text', 'p50_ms', 'under 8'),
    ('recall, filter, p50 ms', 'none', 'recall', 'filter', 'p50_ms', ''),
    ('recall, filter by range, p50 ms', 'none', 'recall', 'filter_range', 'p50_ms', ''),
    ('recall, nearest in space, p50 ms', 'none', 'recall', 'near', 'p50_ms', ''),
    ('learn, words only, last fifth /s', 'none', 'learn', '', 'last', 'over 1000'),
    ('learn, words only, last / first fifth', 'none', 'learn', '', 'flat', 'over 0.7'),
    ('learn, with vectors, last fifth /s', 'hash', 'learn', '', 'last', ''),
    ('perceive /s', 'none', 'perceive', '', 'per_s', ''),
    ('end of a session of 200, ms', 'none', 'end_session', '', 'ms', ''),
    ('bytes a memory, words only', 'none', 'size', '', 'bytes_per_memory', ''),
    ('bytes a memory, with vectors', 'hash', 'size', '', 'bytes_per_memory', ''),
    ('reopen and first recall, ms', 'none', 'reopen', '', 'open_plus_first_recall_ms', ''),
    ('matches of a filter: found', 'none', 'complete', '', 'filter_matches_got', ''),
    ('matches of a filter: there are', 'none', 'complete', '', 'filter_matches_true', ''),
)
"""Title; the harness's vectors, line, kind and field; what is to be reached."""


def format_side_by_side(results: Results) -> str:
    """Return what the harness measured: {'this': {vectors: lines}, 'peer': ...}."""
    rows = [
        (
            title,
            *_compare(*(_find_figure(results.get(who, {}), *where) for who in ('peer', 'this'))),
            aim,
        )
        for title, *where, aim in _SIDE
    ]
    lines = results['this']['none']
    size = lines[0].get('n', 0) if lines else 0
    return format_table(
        f'Side by side, {_shorten(size)} memories',
        ('', 'peer', 'this', 'this/peer', 'target'),
        rows,
    )


def _find_figure(found: Results, embed: str, part: str, kind: str, key: str) -> Any:
    for line in found.get(embed, ()):
        if line['part'] == part and (not kind or line.get('kind') == kind):
            fifths = line.get('per_s_by_fifth') or [0]
            derived = {'last': fifths[-1], 'flat': round(fifths[-1] / (fifths[0] or 1), 2)}
            return derived.get(key, line.get(key))
    return None


def _compare(peer: Any, this: Any) -> tuple[Any, Any, Any]:
    return peer, this, this / peer if peer and this is not None else None


EVENTS = {
    'day, 20 hardest': 'under 20',
    'week, 20 hardest': 'under 20',
    'month, 20 hardest': 'under 20',
    'year, 20 hardest': 'under 20',
    'month, 20 hardest of a label': 'under 20',
    'day, newest 20': 'under 20',
    'month, 20 longest': 'under 20',
    'year, the hardest and what is linked': '',
    'week, 20 by another figure': 'under 100',
    'month, 20 by another figure': 'under 100',
    'aggregate over a day': 'under 30',
    'aggregate over a week by hour': '',
    'aggregate over a year': 'under 1,000',
    'aggregate over a year by day': 'under 1,000',
    'aggregate over a year by task': 'under 1,000',
    'quantiles over a day': 'under 30',
    'quantiles over a year': 'under 1,000',
    'another figure over a day': 'under 150',
    'another figure over a year': 'under 5,000',
}
"""What is asked of events, and what is to be reached at 5M."""


def format_models(results: Results) -> str:
    """Return what the second model costs: {'more_mb': .., 'recall': {'both_ms': ..}, ..}."""
    first, both = (results['start'][side] for side in ('none', 'both'))
    asked, learned = results['recall'], results['learn']
    rows = [
        ('resident memory beyond the first model, MB', None, results['more_mb'], 'at most 150'),
        ('its bytes a memory', None, results['bytes_a_memory'], 'at most 500 at 1M'),
        ('first answer of a process, s', first['s'], both['s'], 'at most 0.5'),
        ('until all models answer, s', first['all_s'], both['all_s'], ''),
        ('a question, ms of the processor', asked['first_ms'], asked['both_ms'], 'at most 12'),
        ('learn, ms of the processor', learned['first_ms'], learned['both_ms'], ''),
        ('learn, of the rate with one', None, learned['rate'], 'at least 0.6'),
    ]
    title = f'The second model, {_shorten(results["size"])} memories'
    return format_table(title, ('', 'one model', 'both', 'target'), rows)


def format_events(results: Results) -> str:
    """Return the figures of query_events: {'size': .., 'p50_ms': {question: ..}, ..}."""
    clock, busy = results['p50_ms'], results['p50_cpu_ms']
    rows = [(title, clock.get(title), busy.get(title), aim) for title, aim in EVENTS.items()]
    rows.append(('bytes an event, with indexes', results['bytes_an_event'], None, ''))
    rows.append(('rows filled a second', results['filled_per_s'], None, ''))
    head = ('', 'p50 ms', 'of the processor', 'target at 5M')
    return format_table(f'A year of {results["size"]:,} events', head, rows)


def format_year(results: Results) -> str:
    """Return what a year of perceptions takes: {'file_mb': .., 'bytes_by_table': {..}, ..}."""
    rows = [
        ('perceptions a second', results['per_s'], ''),
        ('peak of resident memory, MB', results['peak_rss_mb'], 'under 200'),
        ('file, MB', results['file_mb'], 'under 200 at 1M'),
        ('file of 1M, by how the last quarter grew, MB', results.get('million_mb'), 'under 200'),
        ('bytes an event, all in all', results['bytes_an_event'], ''),
        ('of them event rows and indexes', results['of_them_event_rows'], ''),
        ('of them audit lines', results['of_them_audit'], ''),
        ('of them payloads', results['of_them_payloads'], ''),
        ('perceptions folded', results['folded'], ''),
        *(
            (f'bytes an event: {name}', size, '')
            for name, size in list(results['bytes_by_table'].items())[:12]
        ),
    ]
    title = f'A year of a cell, {_shorten(results["size"])} perceptions under limits'
    return format_table(title, ('', 'this', 'target'), rows)


def format_rows(results: Results) -> str:
    """Return what event rows alone take: {'size': .., 'per_s': .., 'bytes_by_table': {..}, ..}."""
    rows = [
        ('rows a second', results['per_s'], ''),
        ('file, MB', results['file_mb'], ''),
        ('bytes an event', results['bytes_an_event'], ''),
        ('rows counted', results['counted'], ''),
        *((f'bytes an event: {name}', n, '') for name, n in results['bytes_by_table'].items()),
    ]
    return format_table(f'{results["size"]:,} event rows', ('', 'this', 'target'), rows)


_SIDES = ('bare', 'this')


def _list_import(title: str, busy: Results) -> list[tuple[Any, ...]]:
    """Return the rows of an import that may have been compared with that of a checkout."""
    pairs = f'3, in {busy["pairs"]} pairs with before' if 'pairs' in busy else ''
    ratios = [busy.get(f'{kind}_ratio_quartiles', [None] * 3)[1] for kind in ('wall', 'processor')]
    by_processor = busy['times_real_time_by_processor_time']
    return [
        (f'{title}: import, times real time', None, busy['times_real_time'], ratios[0], pairs),
        (f'{title}: by processor time', None, by_processor, ratios[1], pairs),
        (f'{title}: MB beyond the model', None, busy['beyond_model_mb'], None, 'under 150'),
        (f'{title}: MB at most', None, busy['peak_mb'], None, 'under 150'),
    ]


def format_node(results: Results) -> str:
    """Return what was measured of the node: {'service': .., 'conversation': .., ...}."""
    rows: list[tuple[Any, ...]] = []
    service, recorded, load = (results.get(name) for name in ('service', 'import', 'load'))
    conversation = results.get('conversation') or {}
    if service:
        over = service['service_p50_ms'] - service['in_process_p50_ms']
        rows.append(('service over the call in process, p50 ms', None, over, None, 'under 2'))
    for tool, times in conversation.items():
        aim = 'under 50' if tool.startswith('get_context') else ''
        rows.append((f'500 turns: {tool}, p95 ms', None, times['p95_ms'], None, aim))
    if hundred := results.get('hundred'):
        aim = 'under 8'
        rows.append(('100 of 300 memories, p50 ms', None, hundred['p50_ms'], None, aim))
        rows.append(('  of the processor', None, hundred['p50_cpu_ms'], None, aim))
    if kept := results.get('kept_events'):
        for name, title in (('per_s', 'by the clock'), ('per_processor_s', 'of the processor')):
            found = (kept[f'{side}_{name}'] for side in ('one_by_one', 'together'))
            ratio = kept[f'together_{name}_ratio']
            title = f'durable perceptions a second, {title} (one by one)'
            rows.append((title, *found, ratio, 'over 5000'))
    if recorded:
        rows.append(
            ('import, times real time', None, recorded['times_real_time'], None, 'over 200')
        )
    for name, model in (('busy_import', ''), ('busy_import_without_model', ', no model')):
        if busy := results.get(name):
            rows += _list_import(f'500 + 500 Hz + 10 pictures a second{model}', busy)
    if load:
        under = f'under load of {load["seconds"]:g} s'
        spent = _compare(load['bare_processor_s'], load['this_processor_s'])
        rows.append((f'{under}: processor s', *spent, 'ratio up to 1.6'))
        rows.append((f'{under}: recall p95 ms', None, load['recall_p95_ms'], None, 'under 30'))
        for topic, counts in load['topics'].items():
            received = _compare(counts['bare'], counts.get('received'))
            rows.append((f'{under}: {topic} received', *received, 'no fewer'))
    if turns := results.get('alternation'):
        title = f'in turns of {turns["seconds"]:g} s'
        rows.append((f'{title}: processor time', None, None, turns['ratio'], 'ratio up to .45'))
        rows.append(
            (f'{title}: RSS, end over 1 min', None, turns['rss_growth'], None, 'up to 1.1')
        )
        for topic in turns['pairs'][0]['this']['lost']:
            lost = (sum(pair[one]['lost'][topic] for pair in turns['pairs']) for one in _SIDES)
            rows.append((f'{title}: {topic} lost', *lost, None, 'no more'))
        rows.append(('end under load, median s', None, turns['end_s'], None, 'under 2'))
        rows.append(('end under load, longest s', None, turns['end_most_s'], None, 'under 2'))
    return format_table('The node', ('', 'bare node', 'this', 'ratio', 'target'), rows)


def format_paired(results: Results) -> str:
    """Return what learn and recall take beside another checkout: {'ratios': {name: quartiles}}."""
    rows = [
        (name, middle, f'{low:.2f} to {high:.2f}', 'at least 1')
        for name, (low, middle, high) in results['ratios'].items()
    ]
    title = f'Calls a second of the processor, by those of {results["other"]}, in turns'
    return format_table(title, ('', 'ratio', 'quartiles', 'to reach'), rows)


_CONTACTS = (
    ('recorded', 'cmu_', 0.95),
    ('0.03 to 0.6 N of noise', 'plain', 0.95),
    ('0.6 N of noise', 'noise 0.6 N', 0.95),
    ('rise of 0.5 to 1 N/s', 'slow', 0.95),
    ('drift of up to 0.3 N/s', 'drift', 0.95),
    ('weak touches between', 'weak touches', 0.95),
    ('after silences', 'resumes', 0.95),
    ('rest left changed', 'rest offsets', 0.95),
    ('noise that changes', 'noise that changes', 0.95),
    ('no push at all', 'no push', 0.0),
)
"""Title, how the scenes are named, and what share is to be told rightly."""


def format_contacts(results: Results) -> str:
    """Return what became of pushes with a peak of 1.2 times the onset or more, by scene."""
    rows: list[tuple[Any, ...]] = []
    for title, name, least in _CONTACTS:
        for scene, found in results.items():
            if scene.startswith(name):
                shown = f'{title}: {scene}' if scene.startswith('cmu_') else title
                keys = ('onset_n', 'due', 'found', 'right', 'false', 'wrong', 'peak_p95')
                aim = f'all found, right over {least:g}, none false' if least else 'none false'
                rows.append((shown, *(found[key] for key in keys), aim))
    head = ('', 'onset N', 'pushes', 'found', 'right', 'false', 'wrong', 'error p95', 'to reach')
    return format_table('Contacts; right: within 5 % of the peak and 15 degrees', head, rows)


def format_questions(results: Results) -> str:
    """Return how many questions about a month are answered right first, by group."""
    rows: list[tuple[Any, ...]] = []
    for half, found in results.items():
        for name, (right, asked, low, high) in (found or {}).items():
            interval = f'{100 * low:.0f} to {100 * high:.0f} %'
            aim = 'over 90 %' if half in ('report', 'check') and name == 'all' else ''
            rows.append((f'{half}: {name}', f'{right} of {asked}', interval, aim))
    head = ('', 'right first', '95 % interval', 'to reach')
    return format_table('Questions about a month of events', head, rows)


QUALITY = (
    ('locomo', 'top 10', 'over .662'),
    ('locomo', 'top 25', 'over .767'),
    ('xquad-en', 'first', 'over .94'),
    ('xquad-zh', 'first', 'over .94'),
    ('xquad-en-zh', 'first', 'over .75'),
    ('xquad-zh-en', 'first', 'over .75'),
    ('calvin', 'first', ''),
    ('calvin', 'all of R', ''),
    ('robot', 'first', 'over .90'),
)
_METHODS = (
    ('words only', r'words'),
    ('vectors only', r'vectors'),
    ('plain BM25', r'plain bm25'),
    ('RRF k=60', r'.*rrf|reciprocal'),
    ('peer', r'peer'),
    ('this', r'this|hybrid'),
)
"""Columns, and how the titles of their methods begin."""


def format_quality(results: Results) -> str:
    """Return how well each method answers each set: what bench/retrieval/measure.py measured."""
    rows: list[tuple[Any, ...]] = []
    for name, measure, aim in QUALITY:
        if name in results:
            values = _list_by_method(results[name], measure)
            rows.append((f'{name}: {measure}', *values, aim))
    for name, found in results.items():
        values = _list_by_method(found, 'absent/absent: all/absent_under')
        if any(value is not None for value in values):
            rows.append((f'{name}: absent answers below the bar', *values, 'all'))
            kept = _list_by_method(found, 'absent/absent: all/kept')
            rows.append((f'{name}: answers above the bar', *kept, ''))
    head = ('', *(title for title, _ in _METHODS), 'to reach')
    return format_table('Quality of recall, as a share', head, rows)


def _list_by_method(found: Results, path: str) -> list[Any]:
    values = []
    for _, pattern in _METHODS:
        named = [one for title, one in found['methods'].items() if re.match(pattern, title, re.I)]
        values.append(_look_up(named[0], path) if named else None)
    return values


def _look_up(found: Any, path: str) -> Any:
    """Return what lies at a path of keys; None where there is nothing."""
    for key in path.split('/'):
        found = found.get(key) if isinstance(found, dict) else None
    return found


def format_table(title: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table: titles and aims stand left, figures right; without rows only its title."""
    cells = [list(head), *([_format_figure(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        figures = (f'{cell:>{width}}' for cell, width in zip(row[1:-1], widths[1:-1], strict=True))
        lines.append(f'{row[0]:{widths[0]}}  {"  ".join(figures)}  {row[-1]}'.rstrip())
    return '\n'.join((f'\n{title}\n', *lines))


def _format_figure(value: Any) -> str:
    if value is None:
        return '-'
    if isinstance(value, str | int):
        return f'{value:,}' if isinstance(value, int) else value
    return f'{value:,.0f}' if value >= 100 else f'{value:.3g}'
