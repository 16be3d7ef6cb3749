"""What the plot command draws of a skill."""

from __future__ import annotations

from collections.abc import Sequence

from robot_memory.memory import Memory
from robot_memory.plot import Curve, Outcome, SkillDrawing
from robot_memory.retrieval.skill_reports import SkillTrace, trace_skill
from robot_memory.storage.tables.trials import Row

_MOST_PANELS = 4
"""Situations that have a panel of their own, the commonest."""


def load_skill(memory: Memory, collection: str, skill: str) -> tuple[SkillDrawing, list[str]]:
    """Return what is drawn of a skill, and notes of what is left out; raise NotFound."""
    trace = trace_skill(memory, collection, skill)
    report = trace.report
    facts = [f'{report.whole.trials} trials', report.whole.real.describe()]
    if report.whole.simulated.tries:
        facts.append(f'simulated: {report.whole.simulated.describe()}')
    named = report.situations[:_MOST_PANELS]
    situations = [one.situation for one in named] if report.situations_total > 1 else []
    curves = [_make_curve(trace, name) for name in ('', *filter(None, situations))]
    notes = []
    if situations and report.situations_total > len(situations):
        notes.append(f'{len(situations)} of {report.situations_total} situations shown')
    unknown = sum(row.success is None for row in trace.rows)
    notes += [f'success of {unknown} trials unknown'] * bool(unknown)
    drawing = SkillDrawing(
        f'Skill {skill}',
        tuple(facts),
        len(trace.rows),
        tuple(one for one in curves if one.outcomes),
    )
    return drawing, notes


def _make_curve(trace: SkillTrace, situation: str) -> Curve:
    """Return the curve of a situation, of the whole skill where it is empty."""
    numbers = {row.memory_id: number for number, row in enumerate(trace.rows, 1)}
    changes = [
        (numbers[one.since], one.back)
        for one in trace.report.changes
        if one.since in numbers and (not situation or one.situation == situation)
    ]
    rows = [
        row for row in trace.rows if not situation or trace.words.get(row.situation) == situation
    ]
    return Curve(situation or 'all', _list_outcomes(rows, numbers), tuple(changes))


def _list_outcomes(rows: Sequence[Row], numbers: dict[int, int]) -> tuple[Outcome, ...]:
    return tuple(
        Outcome(numbers[row.memory_id], row.success, row.simulated)
        for row in rows
        if row.success is not None
    )
