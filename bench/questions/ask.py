"""
Ask the questions about a month of a real store, and count how many are right first.

`ask.py` asks the half `dev`; `--half report` only counts. `--file` asks another set of questions,
of which `tune` may be looked at and `check` is only counted. The month is stored as a robot does
it, in its order and at its times: what taps notice as events, facts and rules with learn, turns
with save_conversation, sessions with their start and end. Each question is asked with recall, with
nothing given but its text, at its moment.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from check import QUESTIONS, UNITS, Reply, judge  # noqa: E402 - the environment leaves this out
from month import ZONE, Item, make_month, read_stamp  # noqa: E402

from robot_memory.api.methods import ToolMethods  # noqa: E402
from robot_memory.catalog import get_tool  # noqa: E402
from robot_memory.core.authority import Writer  # noqa: E402
from robot_memory.core.clock import ClockReading, Clocks  # noqa: E402
from robot_memory.core.proportions import compute_wilson  # noqa: E402
from robot_memory.core.settings import Settings  # noqa: E402
from robot_memory.lifecycle.perceptions import Perception, store_perception  # noqa: E402
from robot_memory.memory import Memory, caller  # noqa: E402
from robot_memory.storage.tables.event_keys import Identity  # noqa: E402

TYPES = {
    'contact': 'tactile',
    'motion': 'proprioceptive',
    'scene': 'visual',
    'fault': 'proprioceptive',
    'state': 'proprioceptive',
    'task': 'procedural',
}


class MonthClock(Clocks):
    """Tell the time of the month, in microseconds."""

    def __init__(self) -> None:
        """Begin before the month."""
        self.now = 0

    def wall(self) -> int:
        """Return the present instant."""
        return self.now

    def steady(self) -> float:
        """Return the seconds that went by."""
        return self.now / 1e6

    def read(self) -> ClockReading:
        """Return a clock that the kernel knows to be right."""
        return ClockReading(self.now, self.now, 'one boot', '', True)


class _Robot(ToolMethods):
    """Call the tools on a memory that was made here."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def _run(self, name: str, arguments: Any) -> Any:
        return get_tool(name).run(self._memory, arguments)


class Month:
    """Store the month bit by bit, and remember which memory each item became."""

    def __init__(self, memory: Memory, clock: MonthClock) -> None:
        """Begin with nothing stored."""
        self.robot = _Robot(memory)
        self._memory, self._clock = memory, clock
        self.keys: dict[Any, str] = {}
        self._sessions: dict[str, str] = {}
        steps = [(read_stamp(item.end), 1, item) for item in make_month()]
        steps += [(read_stamp(one.start), 0, one) for *_, one in steps if one.kind == 'session']
        self._steps: Iterator[tuple[datetime, int, Item]] = iter(
            sorted(steps, key=lambda step: (step[0], step[1], step[2].key))
        )
        self._waiting = next(self._steps, None)

    def go_to(self, moment: datetime) -> None:
        """Store what happened until a moment, and set the clock to it."""
        while self._waiting is not None and self._waiting[0] <= moment:
            at, ends, item = self._waiting
            self._clock.now = to_microseconds(at)
            self._store(item, bool(ends))
            self._waiting = next(self._steps, None)
        self._clock.now = to_microseconds(moment)

    def _store(self, item: Item, ends: bool) -> None:
        if item.kind == 'session' and not ends:
            context = {'robot': {'id': item.robot}, 'env': {'name': item.env}}
            context['task'] = {'name': item.task.replace('_', ' ')}
            started = self.robot.start_session(context=context, title=item.text)
            self._sessions[item.key] = started.session_id
            self.keys['session', started.session_id] = item.key
        elif item.kind == 'session':
            score = None if item.outcome is None else float(item.outcome == 'success')
            self.robot.end_session(self._sessions[item.key], outcome_score=score)
        elif item.kind == 'turn':
            said = self.robot.save_conversation(item.text, 'Noted.', actor_id=item.actor)
            for memory_id in list_ids(said):
                self.keys[memory_id] = item.key
        elif item.kind in ('fact', 'rule'):
            learned = self.robot.learn(item.text, context={'actor_id': item.actor})
            self.keys.setdefault(learned.memory_id or learned.existing_id, item.key)
        else:
            self.keys[self._perceive(item)] = item.key

    def _perceive(self, item: Item) -> int:
        onset = to_nanoseconds(item.start)
        figures = {
            name: {'value': value, 'unit': unit.replace('·', ' ').replace('1', '', unit == '1')}
            for name, (value, unit) in item.figures.items()
            if name != 'duration'
        }
        what = item.what.replace('_', ' ')
        sense: dict[str, Any] = {'topic': item.topic, 'detector': item.kind, 'kind': what}
        if item.kind == 'fault':
            sense |= {'fault': True, 'detector': 'state'}
        if item.recording is not None:
            sense |= {'recording': item.recording[0], 'offset_s': item.recording[1]}
        task: dict[str, Any] = {'name': item.task.replace('_', ' ')} if item.task else {}
        if item.kind == 'task':
            task = {'name': what, 'success': item.outcome == 'success'}
        context = {'sense': sense, 'params': figures, 'robot': {'id': item.robot}, 'task': task}
        before = caller.set(Writer('tap', 'month', authority='robot'))
        try:
            stored = store_perception(
                self._memory,
                Perception(
                    item.text,
                    TYPES[item.kind],
                    session_id=self._sessions.get(item.session),
                    stamp=onset,
                    frame_id=item.frame or None,
                    context=context,
                    identity=Identity(
                        '',
                        item.topic,
                        f'{item.kind} {item.key}',
                        onset,
                        to_nanoseconds(item.peak or item.start),
                        to_nanoseconds(item.end),
                    ),
                ),
            )
        finally:
            caller.reset(before)
        return stored.memory_id

    def ask(self, question: dict[str, Any]) -> tuple[Reply, Any]:
        """Ask a question at its moment; return the reply in the month's keys, and all of it."""
        self.go_to(read_stamp(question['now']))
        answer = self.robot.recall(question['question'], n=5)
        events = answer.events or ()
        keys = [
            self.keys.get(('session', one.session_id) if one.memory_id is None else one.memory_id)
            for one in events
        ]
        keys += [self.keys.get(one.id) for one in answer.memories]
        figure = None
        if answer.aggregate is not None:
            unit = answer.aggregate.unit.replace('N m', 'N·m') or '1'
            figure = (answer.aggregate.value, unit if unit in UNITS else '1')
        known = tuple(dict.fromkeys(key for key in keys if key is not None))
        # What follows where nothing passes is the plain answer, and marked as such.
        return Reply(() if answer.no_match else known, figure, bool(answer.no_match)), answer


def list_ids(said: Any) -> list[int]:
    """Return the ids of all memories of a saved conversation but the robot's answer."""
    return [*said.memory_ids[:1], *said.memory_ids[2:]]


def to_microseconds(moment: datetime) -> int:
    """Return an instant in microseconds since 1970 UTC."""
    return round(moment.timestamp() * 1e6)


def to_nanoseconds(stamp: str) -> int:
    """Return an instant in nanoseconds since 1970 UTC."""
    return 1000 * to_microseconds(read_stamp(stamp))


def measure(file: Path, half: str, *, model: str, verbose: bool) -> dict[str, list[int]]:
    """Ask a half; return by group, by language and in all how many were right, and asked."""
    with file.open(encoding='utf-8') as lines:
        questions = [one for one in map(json.loads, lines) if one['half'] == half]
    questions.sort(key=lambda one: read_stamp(one['now']))
    found: dict[str, list[int]] = {}
    clock = MonthClock()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            db_path=f'{folder}/memory.db', model=model, durability='normal', time_zone=str(ZONE)
        )
        with Memory(settings, clocks=clock, resident=False) as memory:
            memory.wait_for_models(None, None)
            memory.reindexer.adopt_model()
            month = Month(memory, clock)
            for one in questions:
                reply, answer = month.ask(one)
                good = judge(one['answer'], reply)
                for name in (one['group'], one['language'], 'all'):
                    counted = found.setdefault(name, [0, 0])
                    counted[0] += good
                    counted[1] += 1
                if verbose and not good:
                    print_wrong(one, reply, answer)
    return dict(sorted(found.items()))


def print_wrong(question: dict[str, Any], reply: Reply, answer: Any) -> None:
    """Print a question that was not answered right, with what was read and replied."""
    wanted = {
        name: value[:4] if isinstance(value, list) else value
        for name, value in question['answer'].items()
    }
    print(f'{question["id"]} ({question["now"]}): {question["question"]}')
    print(f'    read: {answer.read_as}; wanted {wanted}')
    print(f'    got {reply.keys[:3]} {reply.figure} none={reply.says_none}')


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure one half."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--file', type=Path, default=QUESTIONS, help='questions, one a line')
    parser.add_argument('--half', default='dev', choices=('dev', 'report', 'tune', 'check'))
    parser.add_argument('--model', default='')
    parser.add_argument('--verbose', action='store_true', help='print the wrong ones')
    parser.add_argument('--json', action='store_true', help='print JSON')
    given = parser.parse_args(arguments)
    shown = given.verbose and given.half in ('dev', 'tune')
    found = measure(given.file, given.half, model=given.model, verbose=shown)
    intervals = {name: compute_wilson(*counted) for name, counted in found.items()}
    if given.json:
        print(json.dumps({name: [*found[name], *intervals[name]] for name in found}))
        return
    for name, (right, asked) in found.items():
        low, high = (round(100 * bound) for bound in intervals[name])
        print(f'{name:12} {right:4} of {asked:4}   95 % interval {low:3} to {high:3} %')


if __name__ == '__main__':
    main()
