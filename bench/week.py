"""
Replay a week of a robot's work with three people, ask what a planner would ask, and count.

`week.py` prints how many of 30 questions and 5 composite tasks would have been answered rightly.
A question is right if each memory that it needs is among five results and none that is out of
date stands before it; a task, if all rules that it needs are told, none that it does not touch is
said to apply, and what is to be known stands in the context.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robot_memory.api import RobotMemory
from robot_memory.core.clock import DAY, ClockReading, Clocks
from robot_memory.core.settings import Settings
from robot_memory.memory import Memory

WEEK = Path(__file__).resolve().parent / 'planner/week.jsonl'
MONDAY = 1_772_409_600_000_000
"""2026-03-02, midnight UTC, in microseconds."""
READ = 5
"""Results that a planner reads."""


@dataclass(frozen=True)
class Verdict:
    """Hold what was asked, by which tool, and what of it is missing or wrong; '' where right."""

    kind: str
    asked: str
    wrong: str


def load() -> list[dict[str, Any]]:
    """Return the week, line by line: calls with their time, questions, tasks."""
    return [json.loads(line) for line in WEEK.read_text(encoding='utf-8').splitlines()]


def replay(memory: RobotMemory, set_time: Callable[[int], None]) -> Iterator[Verdict]:
    """Make the calls of the week, each at its time in microseconds, and judge the answers."""
    texts: dict[str, str] = {}
    for line in load():
        if 'call' in line:
            hour, minute = map(int, line['at'].split(':'))
            set_time(MONDAY + (line['day'] - 1) * DAY + (hour * 60 + minute) * 60_000_000)
            getattr(memory, line['call'])(**line['arguments'])
            said = line['arguments']
            texts[line['key']] = said.get('insight') or said['user_prompt']
        elif 'ask' in line:
            yield from _ask(memory, line, texts)
        else:
            yield _plan(memory, line, texts)


def _ask(memory: RobotMemory, line: dict[str, Any], texts: dict[str, str]) -> Iterator[Verdict]:
    """Judge the answers of recall and get_context to one question."""
    found = memory.recall(line['ask'], n=READ).memories
    context = memory.get_context(line['ask'], max_results=READ)
    for tool, contents in (
        ('recall', [one.content for one in found]),
        ('get_context', context.context.splitlines()),
    ):
        wrong = _judge(contents, line['needs'], line.get('not_before', ()), texts)
        yield Verdict(tool, line['ask'], wrong)


def _plan(memory: RobotMemory, line: dict[str, Any], texts: dict[str, str]) -> Verdict:
    """Judge the context of a composite task."""
    answer = memory.get_context(line['task'], situation=line.get('situation'))
    applies = [rule.content for rule in answer.rules.applies]
    told = [*applies, *(rule.content for rule in answer.rules.may_apply)]
    wrong = [f'{key} is not told' for key in line['applies'] if texts[key] not in told]
    wrong += [f'{key} is not told' for key in line['may_apply'] if texts[key] not in told]
    wrong += [f'{key} is said to apply' for key in line['never'] if texts[key] in applies]
    missing = _judge(answer.context.splitlines(), line['needs'], (), texts)
    return Verdict('task', line['task'], '; '.join(filter(None, [*wrong, missing])))


def _judge(
    lines: Sequence[str], needs: Sequence[str], not_before: Sequence[str], texts: dict[str, str]
) -> str:
    """Return what is missing of what is needed, or stands before it and must not."""
    for key in needs:
        place = _find(lines, texts[key])
        if place is None:
            return f'{key} is missing'
        for older in not_before:
            other = _find(lines, texts[older])
            if other is not None and other < place:
                return f'{older} stands before {key}'
    return ''


def _find(lines: Sequence[str], text: str) -> int | None:
    """Return the first line that has a text or the statement in it; a quoted one is escaped."""
    core = text.rstrip('.。')
    for place, line in enumerate(lines):
        if core in line or core.replace('"', '\\"') in line:
            return place
    return None


class WeekClock(Clocks):
    """A clock that is set by the week."""

    def __init__(self) -> None:
        """Stand at Monday."""
        self.now = MONDAY

    def wall(self) -> int:
        """Return the time of the week, in microseconds."""
        return self.now

    def steady(self) -> float:
        """Return the seconds since Monday."""
        return (self.now - MONDAY) / 1e6

    def read(self) -> ClockReading:
        """Return a reading of one boot."""
        return ClockReading(self.now, self.now - MONDAY, 'week', '', False)


def main() -> None:
    """Print the figures, and what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--model', default='', help='folder of a model, or none')
    given = parser.parse_args()
    clock = WeekClock()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(db_path=f'{folder}/memory.db', model=given.model)
        memory = RobotMemory.__new__(RobotMemory)
        memory.memory = Memory(settings, clocks=clock)
        with memory:
            if given.model != 'none':
                memory.wait_for_model()
            verdicts = list(replay(memory, lambda now: setattr(clock, 'now', now)))
    for kind in ('recall', 'get_context', 'task'):
        mine = [one for one in verdicts if one.kind == kind]
        print(f'{kind}: {sum(not one.wrong for one in mine)} of {len(mine)} right')
        for one in mine:
            if one.wrong:
                print(f'  {one.asked}: {one.wrong}')


if __name__ == '__main__':
    main()
