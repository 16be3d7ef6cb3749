"""`make torture` judges rightly, and a few of its rounds leave nothing lost or inconsistent."""

from __future__ import annotations

import itertools
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from amounts import LONG, few_or_many

from robot_memory.catalog import get_tool, list_tools
from robot_memory.core.fields import get_fields
from robot_memory.storage import checksums

sys.path.insert(0, str(Path(__file__).parents[2] / 'torture'))

import break_stores
import checker
import disk
import faces
import histories
import parts
import rounds
import wild
from disk import Event, Replay
from histories import STORE, Life
from rounds import Reference

ROOT = Path(__file__).parents[2]
PATH = os.pathsep.join(filter(None, (os.environ.get('PYTHONPATH'), str(ROOT))))
"""The package with its interfaces first, where they are built."""
ROUNDS, SEED = few_or_many(5, 100), '2357'
COUNTED = (
    'killed at a call',
    'killed at a call, halfway where it writes',
    'power cuts with durability full',
    'I/O errors (EIO) at a call',
    'a full disk (ENOSPC) at one call',
    'a disk that is full from a call on',
    'flips',
    'pages',
    'blank pages',
    'stores with bits flipped',
    'stores with pages overwritten',
    'stores with their end cut off',
    'stores with sectors of zeros',
    'stores with the first page and others overwritten',
    'rows whose pages are whole',
    'jumps of the clock',
    'machines that started anew',
    'calls by Python',
    'erasures begun',
    'words erased',
)
"""What a few rounds of the seed do at least once each."""
FAULTS = {
    'counts': 'UPDATE counts SET memories = memories + 1',
    'collections': 'UPDATE collections SET memories = memories + 1',
    'full text': 'DELETE FROM memories_fts WHERE rowid = {one}',
    'indexed': "UPDATE indexed SET terms = x'00000000' WHERE memory_id = {one}",
    'memory {one}: hash': "UPDATE memories SET guard = 'x' WHERE id = {one}",
    'facets': 'DELETE FROM facets WHERE memory_id = {one}',
    'places': 'DELETE FROM places WHERE memory_id = {one}',
    'audit: line 3 ': "UPDATE audit SET action = 'x' WHERE id = 3",
    'audit: line 2 is missing': 'DELETE FROM audit WHERE id = 2',
    'audit: memory {one}': 'UPDATE memories SET stands = NOT stands WHERE id = {one}',
    'audit: no line': (
        'INSERT INTO memories SELECT 999, * FROM (SELECT {rest} FROM memories WHERE id = {one})'
    ),
    'trial': 'DELETE FROM trials',
    'hours': 'DELETE FROM event_hours',
    'superseded_by': "UPDATE memories SET status = 'superseded' WHERE id = {one}",
    'foreign key': 'UPDATE memories SET superseded_by = 12345 WHERE id = {one}',
    'one plane alone': "UPDATE indexed SET coarse = x'00' WHERE memory_id = {one}",
    'payloads: a row': 'INSERT INTO payloads (memory_id) VALUES (9999)',
}
"""What is said of a store, and a change that nothing else tells of."""


@pytest.fixture(scope='module')
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('torture') / 'base'
    Life(1).prepare(folder)
    return folder


def test_a_store_that_nobody_disturbed_is_consistent(base: Path) -> None:
    assert checker.check(base / STORE) == []


@pytest.mark.parametrize('told', FAULTS)
def test_a_row_that_was_changed_behind_the_indexes_is_found(
    base: Path, tmp_path: Path, told: str
) -> None:
    path = tmp_path / STORE
    shutil.copyfile(base / STORE, path)
    connection = checksums.connect(path)
    ((one,),) = connection.execute(
        'SELECT min(i.memory_id) FROM indexed AS i JOIN places AS p ON p.memory_id = i.memory_id'
    )
    columns = [row[1] for row in connection.execute('PRAGMA table_info(memories)')]
    connection.execute(FAULTS[told].format(one=one, rest=', '.join(columns[1:])))
    connection.close()
    wanted = told.format(one=one)
    assert [problem for problem in checker.check(path) if wanted in problem] != []


def test_two_lives_of_a_seed_leave_the_same_rows(base: Path, tmp_path: Path) -> None:
    left = []
    for name in ('one', 'other'):
        shutil.copytree(base, tmp_path / name)
        for _ in Life(1).live(tmp_path / name):
            pass
        left.append(histories.read_rows(tmp_path / name))
    assert histories.describe_difference(*left) == ''


def test_a_lost_call_and_half_of_one_are_told_apart(base: Path, tmp_path: Path) -> None:
    shutil.copytree(base, ran := tmp_path / 'run')
    states = [[histories.read_rows(ran)]]
    states += [[histories.read_rows(ran)] for _ in Life(1).live(ran)]
    reference = Reference(Life(1), base, states, [])
    judged = [rounds.judge_rows(reference, step[-1], 6).kind for step in states]
    changed = [step != states[6] for step in states]
    assert judged == ['lost' if one else '' for one in changed[:6]] + ['', ''] + [
        'half' if one else '' for one in changed[8:]
    ]
    assert 'lost' in judged
    assert 'half' in judged


def test_a_power_cut_leaves_what_was_synced_and_any_of_the_rest(tmp_path: Path) -> None:
    ran, kept = tmp_path / 'run', str(tmp_path / 'run' / 'kept')
    ran.mkdir()
    events = [
        Event('C', kept, '', 0, b''),
        Event('W', kept, '', 0, b'a' * 1024),
        Event('S', kept, '', 0, b''),
        Event('W', kept, '', 0, b'b' * 1024),
        Event('A', '', '', 1, b''),
        Event('R', kept, f'{kept}.2', 0, b''),
    ]
    replay = Replay(ran, ran)
    for event in events:
        replay.step(event)
    assert replay.answered == 1
    found = set()
    for seed in range(600):
        shutil.rmtree(ran)
        replay.cut(random.Random(seed), ran)
        (path,) = ran.iterdir()
        content = path.read_bytes()
        found.add((path.name, content[:1], content[512:513]))
        assert content == content[:1] * 512 + content[512:513] * 512
    sectors = [(one, other) for one in (b'a', b'b') for other in (b'a', b'b')]
    assert found == {(name, *pair) for name in ('kept', 'kept.2') for pair in sectors}


def run_torture(*arguments: str, **environment: str) -> str:
    """Run it; return what it prints. It must find nothing lost and nothing inconsistent."""
    if shutil.which('g++') is None:
        pytest.skip('torture needs g++ to strike at calls')
    done = subprocess.run(
        [sys.executable, str(ROOT / 'torture/break_stores.py'), *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, 'PYTHONPATH': PATH, **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope='module')
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The library that strikes, which the program otherwise compiles at each start."""
    return str(disk.build_library(tmp_path_factory.mktemp('library')) or '')


def test_some_rounds_of_each_part_are_clean() -> None:
    told = run_torture('--rounds', str(ROUNDS), '--seed', SEED)
    run = re.findall(r'^(\w+): [1-9]\d* (?:rounds|calls)', told, re.MULTILINE)
    assert run == list(break_stores.PARTS) == list(parts.PARTS)
    counted = {
        what: int(count) for count, what in re.findall(r'^  (\d+) (.*)', told, re.MULTILINE)
    }
    assert {what for what in COUNTED if not counted.get(what)} == set()


def test_a_power_cut_after_a_receipt_brings_no_backup_back_that_held_what_was_erased(
    library: str,
) -> None:
    number = str(few_or_many(15, 40))
    run_torture('--part', 'cuts', '--seed', '13', '--rounds', number, LD_PRELOAD=library)


def test_no_kill_spoils_a_rewritten_backup_and_no_error_halves_what_a_receipt_names(
    library: str,
) -> None:
    number = ('--round', '3', '--round', '7') if not LONG else ('--rounds', '8')
    both = '--part', 'kills', '--part', 'errors', '--seed', '214508'
    run_torture(*both, *number, LD_PRELOAD=library)


def test_requests_of_a_seed_are_the_same_and_use_every_argument() -> None:
    drawn = [wild.Wild(random.Random(3)) for _ in range(2)]
    for tool in list_tools():
        made, again = ([[*one.make_request(tool)] for _ in range(300)] for one in drawn)
        assert made == again
        assert {one.name for one in get_fields(tool.request)} <= {*itertools.chain(*made)}


def test_what_was_answered_is_asked_for_again() -> None:
    drawn = wild.Wild(random.Random(3))
    drawn.notice({'memory_id': 4711, 'token': 'once'})
    asked = [drawn.make_request(get_tool(name)) for name in ('show', 'erase') for _ in range(300)]
    assert any(one.get('memory_id') == 4711 for one in asked)
    assert any(one.get('token') == 'once' for one in asked)


def test_a_refusal_without_words_and_a_fault_of_ours_are_told() -> None:
    assert not faces.Outcome(True, {}).fault
    assert not faces.Outcome(False, None, 'conflict', 'it has changed since').fault
    assert 'no words' in faces.Outcome(False, None, 'conflict').fault
    assert 'a fault' in faces.Outcome(False, None, 'internal', 'a fault').fault


def test_the_library_that_strikes_is_refused_where_it_is_not_loaded() -> None:
    with pytest.raises(OSError, match='not preloaded'):
        disk.Disk()
