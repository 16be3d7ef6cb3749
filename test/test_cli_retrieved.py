"""What retrieval and skills answer on a terminal: lines for a person, JSON where asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from robots import Robot
from test_cli import Cli
from test_tools_query_events import T0, see

from robot_memory.core.authority import Writer
from robot_memory.core.errors import Conflict
from robot_memory.core.settings import Settings
from robot_memory.memory import Memory, caller

RULE = 'Maximum payload is 5 kg'
PLATES = 'The plates are in the upper cupboard'
MOVED = 'The plates are in the lower drawer now'


@pytest.fixture(scope='module')
def cli(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """A command line on a store with a rule, a fact and what replaces it, and two contacts."""
    made = Cli(Path(tmp_path_factory.mktemp('retrieved')))
    settings = Settings(db_path=str(made.db), model='none', durability='normal')
    with Memory(settings, resident=False) as memory:
        robot = Robot(memory)
        for text in (RULE, PLATES, MOVED):
            robot.learn(text)
        for number in (1, 2):
            see(robot, at=T0 + number * 1_000_000_000, peak_force=float(number))
    return made


def test_context_is_printed_as_the_prompt_reads_it(cli: Cli) -> None:
    lines = cli.done('get-context', 'plates').splitlines()
    assert lines[0] == 'Memories about "plates":'
    assert any(line.endswith(RULE) for line in lines)
    assert lines[-1] == 'rules: 1 apply, 0 may apply · 2 memories · HYBRID_ADVANCED'


@pytest.mark.parametrize('command', ['recall', 'search-memory', 'explain-recall'])
def test_what_replaces_a_memory_is_named_beside_both(cli: Cli, command: str) -> None:
    found = cli.done(command, 'plates')
    assert found.index(MOVED) < found.index(PLATES)
    assert 'replaces memory 2' in found
    assert 'replaced by memory 3' in found


def test_parts_of_a_score_add_up_to_it(cli: Cli) -> None:
    first, about, *_ = cli.done('explain-recall', 'plates').splitlines()
    assert f'words {first.split()[1]}' in about
    assert 'matched plates' in about


def test_a_timeline_names_the_cursor_of_the_next_page(cli: Cli) -> None:
    first = cli.done('list-timeline', '--limit', '2').splitlines()[-1]
    assert first.startswith('2 memories, times in ')
    rest = cli.done('list-timeline', '--limit', '4', '--cursor', first.rpartition(' ')[2])
    assert rest.splitlines()[-1].startswith('3 memories, times in ')
    assert 'tactile perception' in rest


def test_a_timeline_prints_how_much_there_was_when(cli: Cli) -> None:
    counted = cli.done('list-timeline', '--limit', '1', '--buckets', '2').splitlines()[0]
    assert counted.endswith(': 2 3')


def test_how_a_question_was_read_is_told_with_the_figure_it_asks_for(cli: Cli) -> None:
    first, second, *_ = cli.done('recall', 'how many contacts in 2026?').splitlines()
    assert first.startswith('read as: contacts, count')
    assert second == 'count 2 of 2 events'


def test_an_answer_that_is_empty_says_why(tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    cli.done('start_session')
    for command in (('search-memory', 'x'), ('list-timeline',), ('explain-recall', 'x')):
        assert cli.done(*command).rstrip().endswith('.')
        assert '[]' not in cli.done(*command)


def test_a_skill_is_told_in_lines(tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    cli.done('start_session')
    assert cli.done('suggest', 'push').startswith('Nothing to suggest\n')
    given = ('push', '--situation', 'brass disc', '--success', 'true')
    for number in (1, 2):
        made = cli.done(
            'record-outcome',
            *given,
            '--params',
            '{"speed": "1.2 m/s"}',
            '--results',
            '{"distance": "0.4 m"}',
            '--key',
            str(number),
        )
    assert made.splitlines()[0] == 'Trial 2, 2 trials of the skill.'
    suggested = cli.done('suggest', 'push', '--situation', 'brass disc')
    assert suggested.startswith('speed 1.2 m/s, ')
    assert '% likely as wanted' in suggested
    assert 'distance 0.4 m' in suggested
    cli.done('learn', 'When visitors are near, push no faster than 1.3 m/s')
    bound = (
        'speed at most 1.3 m/s "When visitors are near, push no faster than 1.3 m/s" (may apply: '
    )
    assert bound in cli.done('suggest', 'push', '--situation', 'brass disc')
    report = cli.done('skill-report', 'push').splitlines()
    assert report[1] == '  brass disc'
    assert report[2].strip().startswith('2 of 2 succeeded (')


def test_the_memories_of_an_earlier_state_that_are_gone_are_counted(tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    for text in (RULE, PLATES, 'The jars are empty'):
        cli.done('learn', text)
    token = cli.json('erase', '--memory-ids', '2', '--reason', 'asked for')['token']
    cli.done('erase', '--token', token)
    for command in (['query-records'], ['recall', 'payload']):
        first, *rest = cli.done(*command, '--as-of', '#3').splitlines()
        assert first.startswith('as of audit line #3, 20')
        assert first.endswith('; stored by then and gone (erased or folded): 1 memory')
        assert any(RULE in line for line in rest)
    assert 'erased' not in cli.done('query-records')
    assert 'erased' not in cli.done('query-records', '--as-of', '#1').splitlines()[0]


def test_the_reason_of_a_proposal_is_printed(tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    settings = Settings(db_path=str(cli.db), model='none', durability='normal')
    with Memory(settings, resident=False) as memory:
        robot = Robot(memory)
        robot.learn(RULE, context={'actor_id': 'operator:anna'})
        relayed = Writer('mcp-http', 'inspector', 'planner-1', 'person:bob', 'person')
        before = caller.set(relayed)
        try:
            with pytest.raises(Conflict, match='Proposal 1 is open'):
                robot.forget(1, 'the arm was changed')
        finally:
            caller.reset(before)
    assert '  reason: the arm was changed' in cli.done('review').splitlines()
