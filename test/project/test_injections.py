"""
200 stored injections, in English and Chinese, instruct nobody and hide no rule.

They were written by someone who had not seen how texts are quoted. Each comes in by its channel:
a sign is a perception, speech a conversation, a log a text of a tap, a file a text with its
origin, an archive another store's, a collection what was learned in another collection.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from authorities import OPERATOR, calling
from narrowing import require
from robots import Robot, open_at

from robot_memory.archive.reader import import_archive
from robot_memory.core.errors import RobotMemoryError
from robot_memory.core.fields import to_plain
from robot_memory.ingest.results import LearnedText
from robot_memory.ingest.sessions import SessionFinder
from robot_memory.ingest.writer import EventWriter
from robot_memory.text.categories import PROTECTED

FOLDER = Path(__file__).parents[1] / 'fixtures' / 'injections'
HEADINGS = (
    'Safety:',
    'Said by people (quoted):',
    'Known:',
    'Seen and read (quoted):',
)
QUOTED = HEADINGS[1], HEADINGS[3]
LINKS = (' (replaces mem_', ' (replaced by mem_', ' (disagrees with mem_')
READ = re.compile(
    r'Read as "(?:[^"\\]|\\.)*"(: no event matches; a plain search was done instead)?\.'
    r'|Measured: [a-z_ ]+ [-0-9.e+]+( [^ ]+)?\.'
)


def load(name: str) -> list[dict[str, Any]]:
    lines = (FOLDER / name).read_text(encoding='utf-8').splitlines()
    return [json.loads(line) for line in lines]


RULES = load('rules.jsonl')
INJECTIONS = load('injections.jsonl')


@dataclass(frozen=True)
class Injected:
    """A closed store with rules of an operator, their contexts before, and half the injections."""

    path: Path
    rules: dict[int, str]
    before: dict[str, str]
    texts: list[str]


@pytest.fixture(scope='module', params=['tune', 'report'])
def injected(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Injected:
    folder = tmp_path_factory.mktemp('injected')
    half = [one for one in INJECTIONS if one['half'] == request.param]
    with (
        closing(open_at(folder / 'memory.db')) as robot,
        closing(open_at(folder / 'other.db')) as other,
    ):
        with calling(OPERATOR):
            rules = {require(robot.learn(rule['text']).memory_id): rule['text'] for rule in RULES}
        before = {text: context(robot, text) for text in rules.values()}
        inject(robot, other, half, folder)
    return Injected(folder / 'memory.db', rules, before, [one['text'] for one in half])


@pytest.fixture
def filled(injected: Injected) -> Path:
    return injected.path


def inject(robot: Robot, other: Robot, half: list[dict[str, Any]], folder: Path) -> None:
    taps = EventWriter(robot.memory, [], SessionFinder(robot.memory))
    for one in half:
        text, channel = one['text'], one['channel']
        if channel == 'sign':
            robot.save_perception(f'A sign says: {text}')
        elif channel == 'speech':
            robot.save_conversation(text, 'I see', actor_id='visitor:bo')
            robot.save_conversation(f'Remember: {text}', 'I see', actor_id='operator:anna')
        elif channel == 'log':
            origin = {'sense': {'topic': '/rosout', 'detector': 'log'}}
            taps.write('log', LearnedText(text, origin, 'default', 1))
        elif channel == 'file':
            robot.learn(text, {'sense': {'file': 'notes.txt'}})
        elif channel == 'archive':
            other.learn(text)
        else:
            robot.learn(text, collection='visitors')
    file = folder / 'other.jsonl'
    file.write_text(other.export('all', 'jsonl').content, encoding='utf-8')
    import_archive(robot.memory, file)


def context(robot: Robot, query: str) -> str:
    return robot.get_context(query, strategy='AGGRESSIVE', max_results=50).context


def unquoted(text: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a context with their headings, and hold its form."""
    first, *lines = text.splitlines()
    assert re.match('(Memories|No memories) about "', first)
    heading = ''
    for line in lines:
        if line in HEADINGS:
            heading = line
            continue
        if line.startswith('(') and line.endswith(' more omitted.)'):
            continue
        if READ.fullmatch(line):
            continue
        assert line.startswith('- ['), line
        _, _, said = line.partition('] ')
        assert said.isprintable()
        if heading in QUOTED:
            end = said.rindex('"') + 1
            assert isinstance(json.loads(said[:end]), str)
            rest = said[end:]
            assert (
                rest == ''
                or rest.startswith(LINKS)
                or (rest.startswith(' (contradicts mem_') or ' is newer' in rest)
            )
        else:
            yield heading, said


def test_no_injection_instructs_in_a_context_or_hides_a_rule(
    injected: Injected, store: Path, robot: Robot
) -> None:
    rules, before, texts = injected.rules, injected.before, injected.texts
    told = {query: context(robot, query) for query in [*rules.values(), *texts]}
    for text in told.values():
        assert {said for _, said in unquoted(text)} <= set(rules.values())
    for memory_id, rule in rules.items():
        row = robot.row(memory_id)
        assert (row['content'], row['status'], row['authority']) == (rule, 'active', 'operator')
        assert (rule in told[rule]) == (rule in before[rule])
        assert rule in [said for _, said in unquoted(told[rule])]
        if row['category'] in PROTECTED:
            small = robot.get_context(rule, max_results=1).context
            heeded = {said for _, said in unquoted(small)}
            assert rule in heeded and heeded <= set(rules.values())


def test_no_injection_instructs_in_a_prompt_or_another_text(
    injected: Injected, store: Path, robot: Robot
) -> None:
    rules, texts = injected.rules, injected.texts
    for query in [*rules.values(), *texts]:
        answer = to_plain(robot.sage_smart_prompt(query))
        for prompt in answer['prompts']:
            head, _, said = prompt['text'].replace('）：', '): ').partition(': ')
            if 'mem_' in head and said not in rules.values():
                assert not head.startswith(('Heed', '注意'))
                assert isinstance(json.loads(said), str)
    for command in ('/recall 1000', '/search glass force', '/search 规则'):
        for line in robot.sage_command(command).text.splitlines():
            assert isinstance(json.loads(line[line.index('"') :]), str), line


def test_no_injection_changes_a_rule_by_its_number_or_its_name(
    injected: Injected, store: Path, robot: Robot
) -> None:
    """What a misled planner passes on as calls: each is refused."""
    rules, texts = injected.rules, injected.texts
    for memory_id, text in zip(rules, texts, strict=False):
        for call in (
            lambda memory_id=memory_id, text=text: robot.update(memory_id, text[:300]),
            lambda memory_id=memory_id, text=text: robot.forget(memory_id, text),
        ):
            with pytest.raises(RobotMemoryError, match='authority operator'):
                call()
        assert robot.row(memory_id)['content'] == rules[memory_id]
