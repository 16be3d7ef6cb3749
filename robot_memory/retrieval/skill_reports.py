"""How well a skill goes: by situation, with intervals, trend and changes of the world."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from robot_memory.background.blas import hold_blas
from robot_memory.background.skills import SkillCopy, SkillKey, to_plain
from robot_memory.core.amounts import Value
from robot_memory.core.errors import NotFound
from robot_memory.core.json_text import format_value
from robot_memory.core.proportions import compute_wilson
from robot_memory.memory import Memory
from robot_memory.skills.choice import Want, choose
from robot_memory.skills.trials import SUCCESS
from robot_memory.storage.tables import trials
from robot_memory.storage.tables.trials import Row
from robot_memory.text.quoting import format_label, quote
from robot_memory.text.tokenizer import extract_query_terms

MOST_SITUATIONS = 20
_CANDIDATES = 100
_LEAST_FOR_TREND = 10
_MOST_NAMED = 3
_SAID = 2
"""Situations whose best params the text names."""


@dataclass(frozen=True)
class Share:
    """Hold how many of some tries succeeded, of those of which it is known."""

    tries: int
    successes: int

    @property
    def interval(self) -> tuple[float, float]:
        """Return where the share lies with 95 %."""
        return compute_wilson(self.successes, self.tries)

    def describe(self) -> str:
        """Return it in words."""
        if not self.tries:
            return 'success unknown'
        low, high = self.interval
        share = self.successes / self.tries
        return f'{self.successes} of {self.tries} succeeded ({share:.0%}, {low:.0%} to {high:.0%})'


@dataclass(frozen=True)
class Stretch:
    """Say what the trials of a skill, or of one situation, come to; `best` were tried."""

    trials: int
    real: Share
    simulated: Share
    trend: str
    best: dict[str, Value]
    best_id: int | None
    situation: str = ''


@dataclass(frozen=True)
class WorldChange:
    """Say since which trial results in a situation were others; `back`: as they were before."""

    situation: str
    since: int
    back: bool


@dataclass(frozen=True)
class SkillReport:
    """Hold what is known of a skill; the commonest situations first."""

    skill: str
    whole: Stretch
    situations: Sequence[Stretch]
    situations_total: int
    changes: Sequence[WorldChange]

    def describe(self) -> str:
        """Return it as a line of a context."""
        whole = self.whole
        parts = [f'{whole.trials} trials', whole.real.describe()]
        if whole.simulated.tries:
            parts.append(f'simulated {whole.simulated.describe()}')
        if whole.trend in ('rising', 'falling'):
            parts.append(f'success {whole.trend}')
        for one in [one for one in self.situations if one.best][:_SAID]:
            params = ', '.join(f'{format_label(name)} {value}' for name, value in one.best.items())
            parts.append(f'best for {quote(one.situation, 80)}: {params} (mem_{one.best_id})')
        for change in self.changes[-_SAID:]:
            said = 'as before again' if change.back else 'changed'
            parts.append(f'{quote(change.situation, 80)} {said} since mem_{change.since}')
        return f'Skill {format_label(self.skill)}: {"; ".join(parts)}.'


@dataclass(frozen=True)
class SkillTrace:
    """Hold a report with the trials it rests on, oldest first; `words` are of situations."""

    report: SkillReport
    rows: Sequence[Row]
    words: dict[int, str]


def report_skill(
    memory: Memory, collection: str, skill: str, robot: str | None = None, world: str = 'real'
) -> SkillReport:
    """Return what is known of a skill; raise NotFound, which names the skills that there are."""
    return _trace(memory, SkillKey(collection, skill, robot, world)).report


def trace_skill(memory: Memory, collection: str, skill: str) -> SkillTrace:
    """Return the outcomes of a skill with its report; raise NotFound as `report_skill` does."""
    return _trace(memory, SkillKey(collection, skill, None, 'real'))


def _trace(memory: Memory, key: SkillKey) -> SkillTrace:
    with memory.db.read() as connection:
        copy = memory.skills.open(connection, key)
        words = trials.read_situations(connection, key.collection, key.skill)
        known = trials.list_skills(connection, key.collection) if not copy.rows else []
    with copy.lock:
        if not copy.rows:
            raise NotFound(
                f'no trial of {format_value(key.skill)} is learned from in collection '
                f'{format_value(key.collection)}; skills: {", ".join(known) or "none"}'
            )
        return SkillTrace(_report(copy, words), tuple(copy.rows), words)


def describe_named(memory: Memory, collection: str, task: str) -> str:
    """Return lines of a context about the skills that a task names; empty where it names none."""
    lines = []
    for skill in _find_named(memory, collection, task)[:_MOST_NAMED]:
        with suppress(NotFound):
            lines.append(f'\n{report_skill(memory, collection, skill).describe()}')
    return ''.join(lines)


def _find_named(memory: Memory, collection: str, task: str) -> list[str]:
    with memory.db.read() as connection:
        known = trials.list_skills(connection, collection)
    if not known:
        return []
    terms = set(extract_query_terms(task)[0])
    return [
        skill
        for skill in known
        if (own := extract_query_terms(skill.replace('_', ' '))[0]) and terms.issuperset(own)
    ]


def _report(copy: SkillCopy, words: dict[int, str]) -> SkillReport:
    by_situation: dict[int, list[Row]] = defaultdict(list)
    for row in copy.rows:
        by_situation[row.situation].append(row)
    commonest = sorted(by_situation, key=lambda one: -len(by_situation[one]))
    changes = [
        WorldChange(words.get(one['situation'], ''), one['begin'], one['back'] is not None)
        for one in copy.list_changes()
    ]
    with hold_blas():
        situations = [
            _sum_up(copy, by_situation[one], words.get(one, ''), with_best=True)
            for one in commonest[:MOST_SITUATIONS]
        ]
    whole = _sum_up(copy, copy.rows, '', with_best=False)
    return SkillReport(copy.key.skill, whole, situations, len(commonest), changes)


def _sum_up(copy: SkillCopy, rows: Sequence[Row], situation: str, *, with_best: bool) -> Stretch:
    of_real = [row.success for row in rows if not row.simulated and row.success is not None]
    of_sim = [row.success for row in rows if row.simulated and row.success is not None]
    best, best_id = _find_best(copy, rows) if with_best else ({}, None)
    return Stretch(
        len(rows),
        Share(len(of_real), sum(of_real)),
        Share(len(of_sim), sum(of_sim)),
        _name_trend(of_real),
        best,
        best_id,
        situation,
    )


def _name_trend(outcomes: Sequence[bool]) -> str:
    """Return how the later half compares with the earlier one, where that is no chance."""
    if len(outcomes) < _LEAST_FOR_TREND:
        return 'unknown'
    half = len(outcomes) // 2
    before, after = (Share(len(part), sum(part)) for part in (outcomes[:half], outcomes[half:]))
    if after.interval[0] > before.successes / before.tries and (
        before.interval[1] < after.successes / after.tries
    ):
        return 'rising'
    if after.interval[1] < before.successes / before.tries and (
        before.interval[0] > after.successes / after.tries
    ):
        return 'falling'
    return 'steady'


def _find_best(copy: SkillCopy, rows: Sequence[Row]) -> tuple[dict[str, Value], int | None]:
    """Return the params of the successful trial of a situation that is likeliest to succeed."""
    good = [row for row in rows if row.success and row.params][-_CANDIDATES:]
    if not good or SUCCESS not in copy.skill.trials.results:
        return {}, None
    candidates: list[dict[str, Any]] = [to_plain(row.params) for row in good]
    found = choose(copy.skill, copy.get_vector(good[-1].situation), Want(), candidates)
    for row, candidate in zip(good, candidates, strict=True):
        if candidate == found.params:
            return dict(row.params), row.memory_id
    return {}, None
