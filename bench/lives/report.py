"""The tables of the report, from the lives that were lived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from lives.draw import VARIANTS, Variant
from lives.intervals import (
    LEAST_OF_BIN,
    Difference,
    compare_paired,
    compute_gap,
    measure_calibration,
)
from lives.registry import ARMS, BASELINE, CEILING, FIXED, NO_MEMORY
from lives.worlds import Floats

Lives = Mapping[int, Mapping[str, Any]]
"""By seed."""
_AFTER = 80
"""Trials after a change that count as right after it."""
_PROSE = """
whole / last third: success in % of all trials, and of the last third. gap: share of the gap in the
last third between the better control without memory (at random, or one fixed value) and the true
situation known. ahead: last third, paired by seed, less the CSV with our embeddings, in points,
with its 95 % interval by bootstrap, and the seeds that are ahead. after: success in the 80 trials
after a change (and after the change back), with its share of the gap there. ECE: expected
calibration error of what the arm says of its success, in bins of at least 100 trials.
"""


def collect(known: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str, str], dict[str, Lives]]:
    """Return lives by skill and variant, arm, and seed."""
    found: dict[tuple[str, str], dict[str, dict[int, Mapping[str, Any]]]] = {}
    for key, lived in known.items():
        table, variant, seed, arm = key.split('|')
        skill = table.split('-')[0]
        if variant in VARIANTS and arm in ARMS:
            found.setdefault((skill, variant), {}).setdefault(arm, {})[int(seed)] = lived
    return {place: {**arms} for place, arms in found.items()}


def summarise(arms: Mapping[str, Lives], variant: Variant) -> list[dict[str, Any]]:
    """Return a row of figures for each arm, in the order of the registry."""
    third = range(variant.trials - variant.trials // 3, variant.trials)
    windows = [
        range(edge, min(edge + _AFTER, variant.trials))
        for edge in variant.changed
        if 0 < edge < variant.trials
    ]
    rows = []
    for name in (name for name in ARMS if name in arms):
        lives = arms[name]
        row: dict[str, Any] = {'arm': name, 'seeds': len(lives)}
        row['whole'] = _mean(_share(lives, range(variant.trials)))
        row['last'] = _mean(_share(lives, third))
        row['gap'] = _find_gap(arms, name, third)
        row['ahead'] = _compare(arms, name, third)
        row['after'] = [
            (_mean(_share(lives, window)), _find_gap(arms, name, window)) for window in windows
        ]
        row['ece'] = _measure_error(lives)
        row['seconds'] = _mean({seed: life['seconds'] for seed, life in lives.items()})
        rows.append(row)
    return rows


def format_rows(skill: str, variant: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a table for the terminal and for Markdown."""
    after = [f'after {n + 1}' if n else 'after' for n in range(len(rows[0]['after']))]
    head = ['arm', 'seeds', 'whole / last third', 'gap', 'ahead of the CSV', *after, 'ECE']
    head.append('s a life')
    lines = [f'\n### {skill}, {variant}\n', _join(head), _join(['---'] * len(head))]
    for row in rows:
        cells = [row['arm'], str(row['seeds']), f'{row["whole"]:.1f} / {row["last"]:.1f}']
        cells += [_percent(row['gap']), _format_difference(row['ahead'])]
        cells += [f'{value:.1f} ({_percent(gap)})' for value, gap in row['after']]
        cells += ['' if row['ece'] is None else f'{row["ece"]:.3f}', f'{row["seconds"]:.1f}']
        lines.append(_join(cells))
    return '\n'.join(lines)


def format_report(known: Mapping[str, Mapping[str, Any]]) -> tuple[str, dict[str, Any]]:
    """Return all tables, and the same figures for a file."""
    found = collect(known)
    order = [
        (skill, name) for skill in sorted({s for s, _ in found}, reverse=True) for name in VARIANTS
    ]
    texts, figures = [], {}
    for skill, variant in (place for place in order if place in found):
        rows = summarise(found[skill, variant], VARIANTS[variant])
        texts.append(format_rows(skill, variant, rows))
        figures[f'{skill}, {variant}'] = rows
    return '\n'.join([*texts, _PROSE]), figures


def _share(lives: Lives, window: range) -> dict[int, float]:
    """Return the success by seed, in %."""
    return {
        seed: 100 * float(np.mean(life['success'][window.start : window.stop]))
        for seed, life in lives.items()
    }


def _mean(by_seed: Mapping[int, float]) -> float:
    return float(np.mean([*by_seed.values()]))


def _find_gap(arms: Mapping[str, Lives], name: str, window: range) -> float | None:
    """Return the share of the gap, over the seeds that the arm has lived."""
    if not {NO_MEMORY, FIXED, CEILING} <= {*arms}:
        return None
    seeds = {*arms[name]} & {*arms[NO_MEMORY]} & {*arms[FIXED]} & {*arms[CEILING]}
    if not seeds:
        return None

    def measure(arm: str) -> float:
        return _mean(_share({seed: arms[arm][seed] for seed in seeds}, window))

    return compute_gap(measure(name), max(measure(NO_MEMORY), measure(FIXED)), measure(CEILING))


def _compare(arms: Mapping[str, Lives], name: str, window: range) -> Difference | None:
    if name == BASELINE or BASELINE not in arms:
        return None
    one, other = _share(arms[name], window), _share(arms[BASELINE], window)
    seeds = sorted({*one} & {*other})
    if not seeds:
        return None
    return compare_paired([one[seed] for seed in seeds], [other[seed] for seed in seeds])


def _measure_error(lives: Lives) -> float | None:
    pairs = [
        (said, came)
        for life in lives.values()
        for said, came in zip(life['probability'], life['success'], strict=True)
        if said is not None
    ]
    if len(pairs) < LEAST_OF_BIN:
        return None
    table: Floats = np.array(pairs, float)
    return measure_calibration(table[:, 0], table[:, 1])


def _format_difference(found: Difference | None) -> str:
    if found is None:
        return ''
    return (
        f'{found.mean:+.1f} [{found.low:+.1f}, {found.high:+.1f}], {found.ahead} of {found.pairs}'
    )


def _percent(share: float | None) -> str:
    return '' if share is None else f'{100 * share:.0f} %'


def _join(cells: Sequence[str]) -> str:
    return f'| {" | ".join(cells)} |'
