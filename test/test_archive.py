"""Export and import: for people, for programs, and without loss."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from robots import MovableClock, Robot, check_file, fill

import robot_memory.cli
from robot_memory.archive.reading import import_archive
from robot_memory.errors import InvalidArgument, NotFound, RobotMemoryError
from robot_memory.keeping.perceptions import Perception, keep
from robot_memory.store.events import Identity
from robot_memory.store.parts import Part

SOURCE = Path(robot_memory.cli.__file__).parents[2]


def live(robot: Robot, clock: MovableClock) -> str:
    """Let a robot remember some of everything; return its session."""
    session = robot.start_session(
        context={'robot': {'id': 'arm-1'}, 'task': {'name': 'pick'}}, title='Cups', tags=['cup']
    ).session_id
    robot.save_conversation(
        'I like the red cup.', 'Noted: "red".\n\nAnd more.', session_id=session
    )
    for text in ('the cup on the left shelf is wet', 'the cup on the left shelf is wet now'):
        robot.learn(text, session_id=session, context={'params': {'f': 1e-7, 'n': 2**60}})
    robot.learn('the cup on the left shelf is very wet', session_id=session)
    robot.forget(robot.learn('红杯子很重').memory_id, 'wrong')
    robot.update(robot.learn('the tray is blue').memory_id, 'the tray is green')
    clock.forward(days=2)
    robot.recall('tray')
    identity = Identity('arm', '/wrench', 'contact', 1, 2, 3, broken_off=True)
    pose = {'position': {'x': 0.1}}
    perception = {'stamp': 1_772_000_000_123_456_789, 'frame_id': 'base', 'pose': pose}
    parts = (Part('signal', 'application/x-npz', 3, b'\x00\xff\x10'),)
    keep(
        robot.memory,
        Perception(
            'a contact was felt',
            'tactile',
            data={'peak': 3.5},
            metadata=[1, 'two', None],
            parts=parts,
            identity=identity,
            **perception,
        ),
    )
    whole = Identity('arm', '/wrench', 'contact', 1, 2, 9)
    keep(robot.memory, Perception('a whole contact was felt', 'tactile', identity=whole))
    keep(robot.memory, Perception('a long one', 'visual', data={'v': list(range(3000))}))
    robot.end_session(session, outcome_score=0.8)
    robot.memory.flush()
    return str(session)


def archived(robot: Robot, path: Path, **arguments: Any) -> Path:
    text = robot.export(**{'session_id': 'all', 'format': 'jsonl', **arguments}).content
    path.write_text(text, encoding='utf-8')
    return path


def dump(robot: Robot) -> dict[str, list[tuple[Any, ...]]]:
    """Return what stands in a store's tables, those of indexes and of the store itself aside."""
    robot.memory.flush()
    tables = ('memories', 'sessions', 'turns', 'payloads', 'parts', 'events', 'facets', 'places')
    found = {table: robot.rows(f'SELECT * FROM {table} ORDER BY 1, 2, 3') for table in tables}
    found['audit'] = robot.rows(
        'SELECT memory_id, action, reason, detail, at FROM audit ORDER BY 1'
    )
    found['words'] = robot.rows(
        'SELECT memory_id, collection, real, terms FROM indexed ORDER BY 1'
    )
    found['facets'] = robot.rows(
        'SELECT path, value, memory_id FROM facets JOIN facet_paths AS p ON p.id = path_id'
        ' ORDER BY 1, 2, 3'
    )
    return found


@pytest.fixture
def other(open_robot: Callable[..., Robot]) -> Robot:
    """A second, empty store."""
    return open_robot(name='other')


# Without loss


def test_an_archive_comes_back_whole_into_an_empty_store(
    robot: Robot, other: Robot, clock: MovableClock, tmp_path: Path
) -> None:
    live(robot, clock)
    path = archived(robot, tmp_path / 'all.jsonl')
    done = import_archive(other.memory, path)
    count = len(robot.rows('SELECT 1 FROM memories'))
    assert (done.sessions, done.memories, done.known, done.lost) == (1, count, 0, 0)
    assert done.same_ids
    assert dump(other) == dump(robot)
    again = archived(other, tmp_path / 'again.jsonl')
    assert again.read_text() == path.read_text()
    check_file(other.memory.db.path)
    assert other.contents(query='wet cup shelf') == robot.contents(query='wet cup shelf')


def test_what_is_superseded_points_to_the_same_memory_under_its_new_id(
    robot: Robot, other: Robot, clock: MovableClock, tmp_path: Path
) -> None:
    live(robot, clock)
    fill(other, 5)
    before = dump(other)['memories']
    done = import_archive(other.memory, archived(robot, tmp_path / 'all.jsonl'))
    assert not done.same_ids
    pointing = (
        'SELECT m.content, s.content FROM memories AS m'
        ' JOIN memories AS s ON s.id = m.superseded_by ORDER BY m.id'
    )
    assert robot.rows(pointing)
    assert other.rows(pointing) == robot.rows(pointing)
    told = "SELECT detail ->> 'superseded_by' = superseded_by FROM audit AS a JOIN memories AS m"
    told += " ON m.id = a.memory_id WHERE action = 'superseded'"
    assert {row[0] for row in other.rows(told)} == {1}
    assert dump(other)['memories'][:5] == before
    check_file(other.memory.db.path)


def test_a_second_import_adds_nothing(
    robot: Robot, other: Robot, clock: MovableClock, tmp_path: Path
) -> None:
    live(robot, clock)
    other.learn('known here already')
    path = archived(robot, tmp_path / 'all.jsonl')
    first = import_archive(other.memory, path)
    kept = dump(other)
    second = import_archive(other.memory, path)
    assert (second.sessions, second.memories, second.known) == (0, 0, first.memories)
    assert dump(other) == kept


KILLED = """
import os, signal, sys
from pathlib import Path
from robot_memory.archive.reading import import_archive
from robot_memory.memory import Memory
from robot_memory.settings import Settings

def progress(done, total):
    if done == 450:
        os.kill(os.getpid(), signal.SIGKILL)

with Memory(Settings(db_path=sys.argv[1], model='none')) as memory:
    import_archive(memory, Path(sys.argv[2]), progress)
"""


@pytest.mark.parametrize('empty', [True, False])
def test_an_import_that_was_killed_is_completed_by_the_next(
    robot: Robot,
    open_robot: Callable[..., Robot],
    clock: MovableClock,
    tmp_path: Path,
    empty: bool,
) -> None:
    live(robot, clock)
    fill(robot, 600)
    path = archived(robot, tmp_path / 'all.jsonl')
    killed, whole = open_robot(name='killed'), open_robot(name='whole')
    for store in (killed, whole):
        if not empty:
            store.learn('the door opens to the left')
    command = [sys.executable, '-c', KILLED, str(killed.memory.db.path), str(path)]
    assert subprocess.run(command).returncode == -signal.SIGKILL
    done = import_archive(killed.memory, path)
    expected = import_archive(whole.memory, path)
    assert done.known == (0 if empty else 399)  # two batches of 200 lines, one the session
    assert done.known + done.memories == expected.memories
    assert dump(killed) == dump(whole)
    check_file(killed.memory.db.path)


def test_what_comes_home_by_way_of_another_store_is_known(
    robot: Robot, other: Robot, clock: MovableClock, tmp_path: Path
) -> None:
    live(robot, clock)
    other.learn('only known there')
    import_archive(other.memory, archived(robot, tmp_path / 'there.jsonl'))
    done = import_archive(robot.memory, archived(other, tmp_path / 'back.jsonl'))
    assert done.memories == 1


def test_a_later_archive_adds_only_what_is_new(
    robot: Robot, other: Robot, clock: MovableClock, tmp_path: Path
) -> None:
    session = robot.start_session().session_id
    robot.save_conversation('first', 'one', session_id=session)
    other.learn('known here already')
    import_archive(other.memory, archived(robot, tmp_path / 'first.jsonl'))
    other.save_conversation('there', 'two', session_id=session)
    robot.save_conversation('here', 'three', session_id=session)
    done = import_archive(other.memory, archived(robot, tmp_path / 'second.jsonl'))
    assert (done.memories, done.known) == (2, 2)
    numbers = other.rows('SELECT number FROM turns ORDER BY number')
    assert numbers == [(1,), (2,), (3,), (4,), (5,), (6,)]


def test_a_session_or_a_collection_alone_is_exported(
    robot: Robot, other: Robot, clock: MovableClock, tmp_path: Path
) -> None:
    session = live(robot, clock)
    robot.learn('of the lab', collection='lab')
    one = robot.export(session, 'jsonl')
    assert one.session_id == session
    assert {row['session_id'] for row in map(json.loads, one.content.splitlines()[2:])} == {
        session
    }
    lab = import_archive(other.memory, archived(robot, tmp_path / 'l.jsonl', collection='lab'))
    assert (lab.sessions, lab.memories) == (0, 1)


def test_vectors_are_made_anew(
    open_robot: Callable[..., Robot], tiny_embedders: dict[int, Any], tmp_path: Path
) -> None:
    robot = open_robot('', embedder=tiny_embedders[8], name='one')
    robot.learn('the red cup is wet')
    robot.embed_all()
    path = archived(robot, tmp_path / 'all.jsonl')
    other = open_robot('', embedder=tiny_embedders[16], name='two')
    import_archive(other.memory, path)
    other.embed_all()
    assert other.rows('SELECT coarse IS NOT NULL FROM indexed') == [(1,)]


# What is refused


def spoil(path: Path, line: int, **changes: Any) -> None:
    """Change a line of an archive; a value of ... removes the field."""
    texts = path.read_text().splitlines()
    values = {**json.loads(texts[line - 1]), **changes}
    texts[line - 1] = json.dumps({name: v for name, v in values.items() if v is not ...})
    path.write_text('\n'.join(texts) + '\n')


@pytest.mark.parametrize(
    ('line', 'changes', 'words'),
    [
        (1, {'version': 2}, 'line 1: version must be'),
        (1, {'format': 'other'}, 'line 1: format must be'),
        (1, {'memories': 3}, 'ends after line'),
        (2, {'status': 'gone'}, 'line 2: status must be one of'),
        (2, {'context': []}, 'line 2: context must be a JSON object'),
        (3, {'id': 0}, 'line 3: id must be at least 1'),
        (3, {'id': True}, 'line 3: id must be a whole number'),
        (3, {'content': 'a\0b'}, 'line 3: content holds a NUL'),
        (3, {'content': ...}, 'line 3: a memory needs content'),
        (3, {'confidence': 7}, 'line 3: confidence must be'),
        (3, {'created_at': 2**62}, 'line 3: created_at must be'),
        (3, {'more': 1}, "line 3: a memory has no argument 'more'"),
        (3, {'session_id': 'nowhere'}, 'line 3: session .* neither above nor in the store'),
        (3, {'turn': None}, 'line 3: a turn with turn None'),
        (3, {'turn': {'number': 0, 'role': 'user'}}, 'line 3: number must be'),
        (3, {'turn': {'number': 1, 'role': 'god'}}, 'line 3: role must be'),
        (3, {'origin': {}}, 'line 3: origin needs store_id'),
        (3, {'superseded_by': 5}, 'line 3: superseded_by stands at a memory that is active'),
        (3, {'audit': [3]}, 'line 3: audit takes its arguments by name'),
        (3, {'audit': {'a': 1}}, 'line 3: parts and audit must be arrays'),
        (3, {'event': {'source': 'a'}}, 'line 3: event needs topic'),
        (3, {'payload': {'data': 3}}, 'line 3: data must be a JSON object or array'),
        (3, {'parts': [{'name': 'a'}]}, 'line 3: parts needs media_type'),
        (4, {'id': 1}, 'line 4: memory 1 stands there twice'),
        (4, {'turn': {'number': 1, 'role': 'user'}}, 'line 4: turn 1 of session .* twice'),
        (3, {'kind': 'table'}, 'line 3: kind must be one of'),
    ],
)
def test_a_broken_line_is_named_and_nothing_is_changed(
    robot: Robot,
    other: Robot,
    clock: MovableClock,
    tmp_path: Path,
    line: int,
    changes: dict[str, Any],
    words: str,
) -> None:
    live(robot, clock)
    path = archived(robot, tmp_path / 'all.jsonl')
    spoil(path, line, **changes)
    with pytest.raises(InvalidArgument, match=words):
        import_archive(other.memory, path)
    assert not any(dump(other).values())


@pytest.mark.parametrize(
    ('part', 'words'),
    [
        ({'content': '####'}, 'not base64'),
        ({'content': 'AAAA', 'size': 4}, 'has 3 bytes, not 4'),
        ({'content': None}, 'must have a content or be removed'),
    ],
)
def test_a_broken_part_is_refused(
    robot: Robot, tmp_path: Path, part: dict[str, Any], words: str
) -> None:
    robot.learn('a fact')
    path = archived(robot, tmp_path / 'all.jsonl')
    whole = {'name': 'a', 'media_type': 'b', 'size': 3, 'protected': False, **part}
    spoil(path, 2, parts=[whole])
    with pytest.raises(InvalidArgument, match=words):
        import_archive(robot.memory, path)


@pytest.mark.parametrize(
    'content',
    [
        b'',
        b'\n',
        b'{',
        b'[]\n',
        b'\xff\xfe\n',
        b'{"kind":"store"}\n',
        b'[' * 100_000 + b'\n',
        b'{"kind":"store","format":"robot_memory","version":1,"sessions":0,"memories":1e999}\n',
        b'{"kind":"store","format":"robot_memory","version":NaN,"sessions":0,"memories":0}\n',
    ],
)
def test_a_file_that_is_no_archive_is_refused(
    robot: Robot, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / 'odd.jsonl'
    path.write_bytes(content)
    with pytest.raises(InvalidArgument):
        import_archive(robot.memory, path)
    assert not any(dump(robot).values())


def test_gzip_that_breaks_off_is_refused(robot: Robot, other: Robot, tmp_path: Path) -> None:
    for number in range(50):
        robot.learn(f'fact number {number}')
    text = archived(robot, tmp_path / 'all.jsonl').read_bytes()
    path = tmp_path / 'cut.jsonl.gz'
    path.write_bytes(gzip.compress(text)[:-40])
    with pytest.raises(InvalidArgument, match='gzip'):
        import_archive(other.memory, path)
    path.write_bytes(b'no gzip')
    with pytest.raises(InvalidArgument, match='gzip'):
        import_archive(other.memory, path)
    assert not any(dump(other).values())


def test_a_file_that_is_not_there_is_not_found(robot: Robot, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        import_archive(robot.memory, tmp_path / 'none.jsonl')


# For people and programs


def test_json_is_the_sessions_documented_shape(robot: Robot, clock: MovableClock) -> None:
    session = live(robot, clock)
    answer = robot.export(session)
    values = json.loads(answer.content)
    documented = {'session_id', 'title', 'created_at', 'updated_at', 'messages', 'tags'}
    assert documented | {'metadata', 'memories'} == set(values)
    assert (values['title'], values['tags']) == ('Cups', ['cup'])
    first = values['messages'][0]
    assert set(first) == {'role', 'content', 'timestamp', 'metadata'}
    assert (first['role'], first['content']) == ('user', 'I like the red cup.')
    assert answer.count == len(values['messages']) + len(values['memories'])


def test_what_was_forgotten_is_in_jsonl_alone(robot: Robot) -> None:
    robot.forget(robot.learn('a secret').memory_id, 'wrong')
    for form in ('json', 'markdown', 'text'):
        assert 'a secret' not in robot.export('all', form).content
    assert 'a secret' in robot.export('all', 'jsonl').content


def test_markdown_and_text_quote_what_was_said(robot: Robot) -> None:
    robot.save_conversation('# no heading\n\n- of mine', 'fine')
    robot.learn('of no session')
    markdown = robot.export(None, 'markdown').content
    assert '\n> # no heading\n>\n> - of mine\n' in markdown
    assert '**user** (operator, 2026-02-25T06:13:20.000000, mem_1)' in markdown
    text = robot.export(None, 'text').content
    assert 'user (operator): # no heading - of mine\n' in text
    assert 'of no session' in robot.export('all', 'markdown').content
    assert 'of no session' in robot.export('all', 'text').content


@pytest.mark.parametrize(
    ('arguments', 'error', 'words'),
    [
        ({'format': 'pdf'}, InvalidArgument, 'json, markdown, text, jsonl'),
        ({'session_id': 'none'}, NotFound, "no session 'none'"),
        ({}, NotFound, 'no session is open'),
    ],
)
def test_what_cannot_be_exported(
    robot: Robot, arguments: dict[str, Any], error: type[RobotMemoryError], words: str
) -> None:
    with pytest.raises(error, match=words):
        robot.export(**arguments)


def test_an_answer_that_would_be_too_long_is_for_the_command_line(robot: Robot) -> None:
    parts = (Part('film', 'image/jpeg', 13_000_000, bytes(13_000_000)),)
    keep(robot.memory, Perception('a film was taken', 'visual', parts=parts))
    with pytest.raises(InvalidArgument, match='--output'):
        robot.export('all', 'jsonl')


# The command line


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, '-m', 'robot_memory', *arguments, '--model', 'none'],
        capture_output=True,
        text=True,
        cwd=folder,
        env={'PYTHONPATH': str(SOURCE), 'PATH': '/usr/bin:/bin', 'HOME': str(folder)},
        timeout=60,
    )


def test_a_store_goes_through_a_compressed_file(
    robot: Robot, other: Robot, clock: MovableClock, tmp_path: Path
) -> None:
    live(robot, clock)
    text = robot.export('all', 'jsonl').content
    here = ('--db', str(robot.memory.db.path))
    ran = run(tmp_path, 'export', 'all', '--output', 'store.jsonl.gz', *here)
    assert (ran.returncode, ran.stderr) == (0, ''), ran
    path = tmp_path / 'store.jsonl.gz'
    assert gzip.decompress(path.read_bytes()).decode() == text
    assert path.stat().st_mode & 0o077 == 0
    there = ('--db', str(other.memory.db.path))
    assert 'kept, 0 known already' in run(tmp_path, 'import', path.name, *there).stdout
    assert 'kept, 0 known already' not in run(tmp_path, 'import', path.name, *there).stdout
    assert dump(other) == dump(robot)
    assert run(tmp_path, 'export', 'all', '--format', 'jsonl', *there).stdout == text


def test_a_failed_command_leaves_no_file(robot: Robot, tmp_path: Path) -> None:
    here = ('--db', str(robot.memory.db.path))
    ran = run(tmp_path, 'export', 'none', '--output', 'x.jsonl', *here)
    assert (ran.returncode, ran.stdout) == (1, '')
    assert 'not_found' in ran.stderr
    ran = run(tmp_path, 'export', 'all', '--output', 'no/such/folder.jsonl', *here)
    assert (ran.returncode, 'unavailable' in ran.stderr) == (1, True)
    assert not list(tmp_path.glob('*.jsonl*'))
    ran = run(tmp_path, 'import', 'a.jsonl', 'bag', *here)
    assert (ran.returncode, 'apart from archives' in ran.stderr) == (1, True)
