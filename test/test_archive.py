"""Export and import: for people, for programs, and without loss."""

from __future__ import annotations

import gzip
import json
import random
import re
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import prepared
import pytest
from amounts import few_or_many
from authorities import OPERATOR, calling
from narrowing import require
from robots import VOCABULARY, MovableClock, Robot, check_file, fill
from waiting import HANG_SECONDS

import robot_memory.cli
from robot_memory.archive import raw_lines, writer
from robot_memory.archive.reader import import_archive
from robot_memory.archive.writer import ExportScope, generate_lines
from robot_memory.core.clock import DAY
from robot_memory.core.errors import InvalidArgument, NotFound, RobotMemoryError
from robot_memory.core.fields import Stamp
from robot_memory.lifecycle.perceptions import Perception, store_perception
from robot_memory.storage import checksums
from robot_memory.storage.tables import observations
from robot_memory.storage.tables.event_keys import Identity
from robot_memory.storage.tables.parts import Part

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
    robot.learn('The cup on the left shelf is wet.', context={'task': {'success': True}})
    robot.forget(require(robot.learn('红杯子很重').memory_id), 'wrong')
    robot.update(require(robot.learn('the tray is blue').memory_id), 'the tray is green')
    clock.forward(days=2)
    robot.recall('tray')
    identity = Identity('arm', '/wrench', 'contact', 1, 2, 3, broken_off=True)
    pose = {'position': {'x': 0.1}}
    perception: dict[str, Any] = {
        'stamp': 1_772_000_000_123_456_789,
        'frame_id': 'base',
        'pose': pose,
    }
    parts = (Part('signal', 'application/x-npz', 3, b'\x00\xff\x10'),)
    store_perception(
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
    store_perception(
        robot.memory, Perception('a whole contact was felt', 'tactile', identity=whole)
    )
    store_perception(
        robot.memory, Perception('a long one', 'visual', data={'v': list(range(3000))})
    )
    robot.end_session(session, outcome_score=0.8)
    robot.memory.accesses.flush()
    return str(session)


def archived(robot: Robot, path: Path, **arguments: Any) -> Path:
    text = robot.export(**{'session_id': 'all', 'format': 'jsonl', **arguments}).content
    path.write_text(text, encoding='utf-8')
    return path


_LIVE: list[str] = []


@pytest.fixture
def live_archive(open_robot: Callable[..., Robot], clock: MovableClock, tmp_path: Path) -> Path:
    """An archive of some of everything, which is made once."""
    if not _LIVE:
        robot = open_robot()
        live(robot, clock)
        _LIVE.append(robot.export('all', 'jsonl').content)
    path = tmp_path / 'all.jsonl'
    path.write_text(_LIVE[0], encoding='utf-8')
    return path


def unsealed(text: str) -> list[Any]:
    """Return the lines of an archive without what only the store that wrote it believes."""
    lines = [json.loads(line) for line in text.split('\n')[:-1]]
    return [{name: line[name] for name in line if name != 'provenance'} for line in lines]


def dump(robot: Robot) -> dict[str, list[tuple[Any, ...]]]:
    """Return what stands in a store's tables, those of indexes and of the store itself aside."""
    robot.memory.accesses.flush()
    tables = ('turns', 'payloads', 'parts', 'facets', 'places')
    found = {table: robot.rows(f'SELECT * FROM {table} ORDER BY 1, 2, 3') for table in tables}
    own = {f'{name}_epoch' for name in ('created', 'accessed', 'updated', 'saved', 'ended')}
    own |= {'authority', 'writer_id', 'salt'}  # of the store that they stand in
    for table in ('memories', 'sessions'):
        columns = [row[1] for row in robot.rows(f'PRAGMA table_info({table})')]
        kept = ', '.join(name for name in columns if name not in own)
        found[table] = robot.rows(f'SELECT {kept} FROM {table} ORDER BY 1')
    found['audit'] = robot.rows(
        'SELECT memory_id, action, reason, detail, at FROM audit WHERE memory_id IS NOT NULL'
        " AND action NOT IN ('created', 'detected', 'imported', 'linked', 'observed')"
        ' ORDER BY 1, id'
    )
    found['revisions'] = robot.rows(
        'SELECT r.memory_id, action, content, r.context, category, confidence, status,'
        ' superseded_by, last_accessed FROM revisions AS r JOIN audit AS a ON a.id = audit_id'
        " WHERE action <> 'linked' ORDER BY 1, audit_id"
    )
    found['observations'] = robot.rows(
        f'SELECT memory_id, {", ".join(observations.FIELDS)} FROM observations'
        ' ORDER BY memory_id, id'
    )
    names = 'kind label topic task session robot recording collection frame source subject'
    looked_up = ', '.join(
        f'(SELECT name FROM event_names WHERE id = {name})' for name in names.split()
    )
    found['events'] = robot.rows(
        f'SELECT max(id, 0), {looked_up}, active, onset, "end", value_1, value_2, value_3,'
        ' value_4, recording_offset, peak, look, broken_off, memory_id FROM events'
        ' ORDER BY 1, 6, 2'
    )
    found['places'] = robot.rows('SELECT cell, memory_id FROM places ORDER BY 1, 2')
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
    assert unsealed(again.read_text()) == unsealed(path.read_text())
    check_file(other.memory.db.path)
    assert other.contents(query='wet cup shelf') == robot.contents(query='wet cup shelf')


def test_an_archive_has_the_corrected_times(
    open_robot: Callable[..., Robot], other: Robot, clock: MovableClock, tmp_path: Path
) -> None:
    robot = open_robot(resident=False)
    robot.learn('the tray is blue')
    clock.jump(days=400)
    memory_id = require(robot.learn('the cup is red').memory_id)
    robot.learn('The cup is red.')
    robot.update(memory_id, 'the cup is green')
    clock.jump(days=-400)
    robot.memory.timekeeper.trust(OPERATOR)
    assert robot.rows('SELECT count(*) FROM clock_epochs WHERE offset <> 0') == [(1,)]
    path = archived(robot, tmp_path / 'all.jsonl')
    assert import_archive(robot.memory, path).known == 2
    import_archive(other.memory, path)
    assert import_archive(other.memory, path).known == 2
    now = clock()
    for query in (
        'SELECT created_at, updated_at, last_accessed FROM memories',
        'SELECT at FROM observations',
        "SELECT at FROM audit WHERE action = 'update'",
        'SELECT updated_at FROM revisions',
    ):
        found = other.rows(query)
        assert found
        assert all(abs(at - now) < DAY for row in found for at in row if at is not None)
    assert unsealed(archived(other, tmp_path / 'again.jsonl').read_text()) == unsealed(
        path.read_text()
    )


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
from robot_memory.archive.reader import import_archive
from robot_memory.memory import Memory
from robot_memory.core.settings import Settings

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
    assert prepared.run(command).returncode == -signal.SIGKILL
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
    ('changes', 'words'),
    [
        ({'version': 4}, 'line 1: version must be'),
        ({'places': 1}, 'ends after line'),
        ({'format': 'other'}, 'line 1: format must be'),
        ({'memories': 3}, 'ends after line'),
        ({'memories': 30}, 'ends after line'),
        ({'sessions': 0}, 'ends after line'),
        ({'memories': 2**70}, 'line 1: memories must be'),
    ],
)
def test_a_file_that_is_not_what_its_first_line_says_is_refused_as_a_whole(
    other: Robot,
    live_archive: Path,
    changes: dict[str, Any],
    words: str,
) -> None:
    path = live_archive
    spoil(path, 1, **changes)
    with pytest.raises(InvalidArgument, match=words):
        import_archive(other.memory, path)
    assert not any(dump(other).values())


@pytest.mark.parametrize(
    ('line', 'changes', 'words'),
    [
        (2, {'status': 'gone'}, 'status must be one of'),
        (2, {'context': []}, 'context must be a JSON object'),
        (2, {'created_at': 2**63}, 'created_at must be'),
        (3, {'id': 0}, 'id must be 1 to 9007199254740991, not 0'),
        (3, {'id': 2**63 - 1}, 'id must be 1 to'),
        (3, {'id': 2**80}, 'id must be 1 to'),
        (3, {'id': True}, 'id must be an integer'),
        (3, {'content': 'a\0b'}, 'content contains a NUL'),
        (3, {'content': ...}, 'a memory requires content'),
        (3, {'confidence': 7}, 'confidence must be'),
        (3, {'confidence_base': -1}, 'confidence_base must be'),
        (3, {'access_count': 2**63 - 1}, 'access_count must be'),
        (3, {'created_at': 2**62}, 'created_at must be'),
        (3, {'last_accessed': -1}, 'last_accessed must be'),
        (3, {'stamp': 2**63 - 1}, 'stamp must be'),
        (3, {'more': 1}, "a memory has no argument 'more'"),
        (3, {'turn': None}, 'a turn with turn None'),
        (3, {'turn': {'number': 0, 'role': 'user'}}, 'number must be'),
        (3, {'turn': {'number': 2**63 - 1, 'role': 'user'}}, 'number must be'),
        (3, {'turn': {'number': 1, 'role': 'god'}}, 'role must be'),
        (3, {'origin': {}}, 'origin requires store_id'),
        (3, {'origin': {'store_id': 'a', 'id': 2**64}}, 'id must be'),
        (3, {'superseded_by': 5}, 'superseded_by is set on a memory with status active'),
        (3, {'audit': [3]}, 'audit takes keyword arguments'),
        (3, {'audit': {'a': 1}}, 'audit must be an array'),
        (3, {'observations': [{'at': 1}]}, 'observations requires said_by'),
        (3, {'audit': [{'action': 'a', 'actor': '', 'reason': '', 'detail': 1, 'at': 1}]}, 'det'),
        (3, {'event': {'source': 'a'}}, 'event requires topic'),
        (3, {'payload': {'data': 3}}, 'data must be a JSON object or array'),
        (3, {'parts': [{'name': 'a'}]}, 'parts requires media_type'),
        (4, {'id': 1}, 'duplicate memory 1'),
        (4, {'turn': {'number': 1, 'role': 'user'}}, 'duplicate turn 1 of session'),
        (3, {'kind': 'table'}, 'kind must be one of'),
    ],
)
def test_a_broken_line_is_counted_and_named_and_the_others_are_kept(
    other: Robot,
    live_archive: Path,
    line: int,
    changes: dict[str, Any],
    words: str,
) -> None:
    path = live_archive
    whole = len(path.read_text().splitlines()) - 2
    spoil(path, line, **changes)
    done = import_archive(other.memory, path)
    assert done.refused == 1
    (problem,) = done.problems
    assert re.search(rf'all\.jsonl, line {line}: .*{words}', problem)
    assert (done.memories, done.sessions) == ((whole, 0) if line == 2 else (whole - 1, 1))
    assert other.learn('the door opens to the left').status == 'created'
    check_file(other.memory.db.path)
    assert import_archive(other.memory, path).memories == 0


@pytest.mark.parametrize('text', [b'{', b'[]', b'\xff\xfe', b'', b'[' * 100_000, b'{"id": NaN}'])
def test_a_line_that_cannot_be_read_costs_that_line(
    other: Robot, live_archive: Path, text: bytes
) -> None:
    path = live_archive
    lines = path.read_bytes().splitlines()
    path.write_bytes(b'\n'.join([*lines[:5], text, *lines[6:]]) + b'\n')
    done = import_archive(other.memory, path)
    assert (done.refused, done.memories) == (1, len(lines) - 3)
    assert 'line 6: ' in done.problems[0]
    check_file(other.memory.db.path)


@pytest.mark.parametrize('empty', [True, False])
def test_memories_of_a_session_that_is_nowhere_are_kept_with_one_of_its_name(
    robot: Robot, other: Robot, clock: MovableClock, tmp_path: Path, empty: bool
) -> None:
    session = live(robot, clock)
    path = archived(robot, tmp_path / 'all.jsonl')
    spoil(path, 2, status='gone')
    if not empty:
        other.learn('known here already')
    done = import_archive(other.memory, path)
    assert (done.sessions, done.refused) == (0, 1) and done.lost >= 1
    assert other.rows('SELECT id, status FROM sessions') == [(session, 'ended')]
    assert len(json.loads(other.export(session).content)['messages']) == 2


@pytest.mark.parametrize('empty', [True, False])
def test_no_line_takes_the_ids_and_numbers_that_come_after_it(
    robot: Robot, other: Robot, clock: MovableClock, tmp_path: Path, empty: bool
) -> None:
    session = robot.start_session().session_id
    robot.save_conversation('first', 'one', session_id=session)
    path = archived(robot, tmp_path / 'all.jsonl')
    most = 2**53 - 1
    spoil(path, 4, id=most, turn={'number': most, 'role': 'assistant'}, access_count=most)
    if not empty:
        other.learn('known here already')
    done = import_archive(other.memory, path)
    assert (done.memories, done.refused, done.same_ids) == (2, 0, False)
    assert other.rows('SELECT number FROM turns ORDER BY 1') == [(1,), (2,)]
    assert require(other.learn('the door opens to the left').memory_id) <= 4
    other.save_conversation('second', 'two', session_id=session)
    other.recall('one')
    other.memory.accesses.flush()
    again = import_archive(robot.memory, archived(other, tmp_path / 'back.jsonl'))
    assert again.refused == 0


# All that can be kept can be read back


def deep(levels: int) -> dict[str, Any]:
    value: Any = 1
    for level in range(levels):
        value = {'d': value} if level % 2 or level == levels - 1 else [value]
    return {'d': value['d']}


def test_the_deepest_context_is_updated_exported_and_imported(
    robot: Robot, other: Robot, tmp_path: Path
) -> None:
    for levels in range(95, 101):
        kept = robot.learn(f'the nest has {levels} levels', context=deep(levels)).memory_id
        robot.update(
            require(kept), f'the nest has {levels} levels and an egg', context=deep(levels)
        )
        robot.forget(require(kept), 'too deep')
    robot.save_perception('a nest was seen', data=[deep(99)], metadata=[deep(99)])
    with pytest.raises(InvalidArgument, match='100 levels'):
        robot.learn('one more', context=deep(101))
    path = archived(robot, tmp_path / 'all.jsonl')
    done = import_archive(other.memory, path)
    assert (done.memories, done.refused) == (7, 0)
    assert dump(other) == dump(robot)
    again = archived(other, tmp_path / 'again.jsonl')
    assert unsealed(again.read_text()) == unsealed(path.read_text())


def test_a_memory_that_is_too_long_for_one_line_takes_several(
    robot: Robot, other: Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # At the sizes of a real store it takes half a minute.
    length = few_or_many(150_000, 15_000_000)
    monkeypatch.setattr(writer, '_LONG', few_or_many(160_000, writer._LONG))
    kept = robot.learn('the log is long', context={'text': '长' * length}).memory_id
    robot.update(require(kept), 'the log is longer', context={'text': 'ä' * length})
    path = tmp_path / 'all.jsonl'
    with robot.memory.db.read() as connection:
        path.write_text(''.join(f'{line}\n' for line in generate_lines(connection, ExportScope())))
    assert [json.loads(line)['kind'] for line in path.open()] == ['store', 'memory', 'more']
    done = import_archive(other.memory, path)
    assert (done.memories, done.refused) == (1, 0)
    assert dump(other) == dump(robot)


def test_more_of_a_memory_that_is_not_above_is_a_wrong_line(
    robot: Robot, other: Robot, tmp_path: Path
) -> None:
    robot.learn('the red cup')
    path = archived(robot, tmp_path / 'all.jsonl')
    first, memory = path.read_text().splitlines()
    wrong = ['{"kind":"more","memory":7,"audit":[]}', '{"kind":"more","memory":"x"}']
    path.write_text('\n'.join([first, wrong[0], memory, *wrong]) + '\n')
    done = import_archive(other.memory, path)
    assert (done.memories, done.refused) == (1, 3)


TEXTS = ('', ' ', 'a', 'ä', '红', '\u2028', '\x7f', '"\\', '😀', '\n', 'x' * 200)
NUMBERS = (0, -1, 2**53, 2**63 - 1, -(2**63), 2**64, 10**300, 0.1, -0.0, 5e-324, 1.8e308 / 2)


def anything(chance: random.Random, depth: int) -> Any:
    """Return any value that a context may hold."""
    if depth and chance.random() < 0.6:
        inner = [anything(chance, depth - 1) for _ in range(chance.randint(0, 3))]
        names = [chance.choice(TEXTS) + str(i) for i in range(len(inner))]
        return inner if chance.random() < 0.5 else dict(zip(names, inner, strict=True))
    return chance.choice([*TEXTS, *NUMBERS, None, True, False])


def an_object(chance: random.Random) -> dict[str, Any]:
    names = ('task', 'env', 'actor_id', 'event_id', 'strategy_name', 'robot', 'spatial', '', '.')
    return {name: anything(chance, 3) for name in chance.sample(names, chance.randint(0, 5))}


@pytest.mark.parametrize('seed', range(12))
def test_whatever_was_kept_comes_back_the_same(
    robot: Robot, other: Robot, clock: MovableClock, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    session: str | None = None
    ids: list[int] = []

    def keep_one(number: int) -> None:
        nonlocal session
        kind = chance.randrange(6)
        text = f'{chance.choice(TEXTS)} {chance.choice(VOCABULARY)} {number}'
        if kind == 0:
            title, tags = chance.choice(TEXTS), [chance.choice(TEXTS)]
            session = robot.start_session(
                context=an_object(chance), title=title, tags=tags
            ).session_id
        elif kind == 1:
            ids.append(
                require(robot.learn(text, context=an_object(chance), session_id=session).memory_id)
            )
        elif kind == 2:
            stamps = (-(2**31) * 10**9, 0, 1, 2**31 * 10**9 - 1)
            perception = robot.save_perception(
                text,
                chance.choice(('visual', 'tactile', 'procedural')),
                data=[anything(chance, 3)],
                metadata=an_object(chance),
                frame_id=chance.choice(TEXTS),
                stamp=Stamp(chance.choice(stamps)),
            )
            ids.append(perception.memory_id)
        elif kind == 3:
            robot.save_conversation(text, chance.choice(('yes', text)), session_id=session)
        elif kind == 4 and ids:
            robot.update(chance.choice(ids), text, context=an_object(chance))
        elif ids:
            robot.forget(chance.choice(ids), text)

    for number in range(40):
        with suppress(RobotMemoryError):  # what is refused is not kept
            keep_one(number)
        clock.forward(seconds=chance.choice((0, 1e-6, 10**7)))
    if session is not None:
        with suppress(RobotMemoryError):
            robot.end_session(session, outcome_score=chance.choice((None, 0.0, 1.0)))
    kept = {row[0] for row in robot.rows('SELECT DISTINCT type FROM memories')}
    assert kept == {'fact', 'perception', 'turn'}
    path = archived(robot, tmp_path / 'all.jsonl')
    done = import_archive(other.memory, path)
    assert (done.refused, done.problems) == (0, ())
    assert dump(other) == dump(robot)
    again = archived(other, tmp_path / 'again.jsonl')
    assert unsealed(again.read_text()) == unsealed(path.read_text())


@pytest.mark.parametrize(
    ('part', 'words'),
    [
        ({'content': '####'}, 'not valid base64'),
        ({'content': 'AAAA', 'size': 4}, 'has 3 bytes, but size is 4'),
        ({'content': None}, 'must have content, removed_at or damage'),
    ],
)
def test_a_broken_part_costs_its_line(
    robot: Robot, other: Robot, tmp_path: Path, part: dict[str, Any], words: str
) -> None:
    robot.learn('a fact')
    path = archived(robot, tmp_path / 'all.jsonl')
    whole = {'name': 'a', 'media_type': 'b', 'size': 3, 'protected': False, **part}
    spoil(path, 2, parts=[whole])
    done = import_archive(other.memory, path)
    assert (done.memories, done.refused) == (0, 1)
    assert words in done.problems[0]


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
    robot.forget(require(robot.learn('a secret').memory_id), 'wrong')
    for form in ('json', 'markdown', 'text'):
        assert 'a secret' not in robot.export('all', form).content
    assert 'a secret' in robot.export('all', 'jsonl').content


def test_markdown_and_text_quote_what_was_said(robot: Robot) -> None:
    robot.save_conversation('# no heading\n\n- of mine', 'fine')
    robot.learn('of no session')
    markdown = robot.export(None, 'markdown').content
    assert '\n> # no heading\n>\n> - of mine\n' in markdown
    assert '**user** (operator, 2026-02-25T06:13:20.000000Z, mem_1)' in markdown
    text = robot.export(None, 'text').content
    assert 'user (operator): "# no heading - of mine"\n' in text
    assert 'of no session' in robot.export('all', 'markdown').content
    assert 'of no session' in robot.export('all', 'text').content


@pytest.mark.parametrize(
    ('arguments', 'error', 'words'),
    [
        ({'format': 'pdf'}, InvalidArgument, 'json, markdown, text, jsonl'),
        ({'session_id': 'unknown'}, NotFound, "no session 'unknown'"),
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
    store_perception(robot.memory, Perception('a film was taken', 'visual', parts=parts))
    with pytest.raises(InvalidArgument, match='--output'):
        robot.export('all', 'jsonl')


# The command line


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return prepared.run(
        [sys.executable, '-m', 'robot_memory', *arguments, '--model', 'none'],
        capture_output=True,
        text=True,
        cwd=folder,
        env={'PYTHONPATH': str(SOURCE), 'PATH': '/usr/bin:/bin', 'HOME': str(folder)},
        timeout=HANG_SECONDS,
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
    assert 'imported, 0 already known' in run(tmp_path, 'import', path.name, *there).stdout
    assert 'imported, 0 already known' not in run(tmp_path, 'import', path.name, *there).stdout
    assert dump(other) == dump(robot)
    again = run(tmp_path, 'export', 'all', '--format', 'jsonl', *there).stdout
    assert unsealed(again) == unsealed(text)


def test_a_failed_command_leaves_no_file(robot: Robot, tmp_path: Path) -> None:
    here = ('--db', str(robot.memory.db.path))
    ran = run(tmp_path, 'export', 'none', '--output', 'x.jsonl', *here)
    assert (ran.returncode, ran.stdout) == (1, '')
    assert 'not_found' in ran.stderr
    ran = run(tmp_path, 'export', 'all', '--output', 'no/such/folder.jsonl', *here)
    assert (ran.returncode, 'unavailable' in ran.stderr) == (1, True)
    assert not list(tmp_path.glob('*.jsonl*'))
    ran = run(tmp_path, 'import', 'a.jsonl', 'bag', *here)
    assert (ran.returncode, 'cannot be mixed with recordings' in ran.stderr) == (1, True)


# Authorities


@pytest.fixture
def earlier(robot: Robot, open_robot: Callable[..., Robot], tmp_path: Path) -> Robot:
    """The robot's store as it was before it learned a rule of an operator."""
    robot.export('all', 'jsonl')
    connection = checksums.connect(robot.memory.db.path)
    connection.execute('VACUUM INTO ?', (str(tmp_path / 'earlier.db'),))
    connection.close()
    with calling(OPERATOR):
        robot.learn('Never exceed 15 N of grip force')
    return open_robot(name='earlier')


def test_an_archive_of_this_very_store_keeps_authorities(
    robot: Robot, earlier: Robot, tmp_path: Path
) -> None:
    import_archive(earlier.memory, archived(robot, tmp_path / 'all.jsonl'))
    assert earlier.rows(
        'SELECT m.authority, w.client FROM memories AS m JOIN writers AS w ON w.id = m.writer_id'
    ) == [('operator', 'anna')]


def test_an_archive_of_another_store_is_imported(
    robot: Robot, other: Robot, tmp_path: Path
) -> None:
    with calling(OPERATOR):
        robot.learn('Never exceed 15 N of grip force')
    import_archive(other.memory, archived(robot, tmp_path / 'all.jsonl'))
    assert other.rows('SELECT authority, stands FROM memories') == [('imported', 0)]
    text = other.get_context('grip force').context
    assert 'Safety:' not in text
    assert '"Never exceed 15 N of grip force"' in text


@pytest.mark.parametrize('change', ['content', 'authority', 'seal'])
def test_a_line_that_was_changed_is_imported(
    robot: Robot, earlier: Robot, tmp_path: Path, change: str
) -> None:
    robot.save_conversation('Never exceed 20 N of grip force', 'Noted', actor_id='visitor:bo')
    path = archived(robot, tmp_path / 'all.jsonl')
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if line['kind'] == 'memory' and change == 'content':
            line['content'] = line['content'].replace('N of', 'kN of')
        elif line['kind'] == 'memory':
            line['provenance'][change] = 'operator' if change == 'authority' else '0' * 64
    path.write_text(''.join(f'{json.dumps(line)}\n' for line in lines))
    import_archive(earlier.memory, path)
    found = {authority for (authority,) in earlier.rows('SELECT authority FROM memories')}
    assert 'imported' in found
    said = earlier.rows("SELECT authority FROM memories WHERE content LIKE 'Never exceed 20%'")
    assert {authority for (authority,) in said} <= {'imported', 'person'}
    assert ('operator',) not in said


def test_an_export_that_is_large_by_its_sessions_is_refused_with_the_way_to_do_it(
    robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(30):
        robot.start_session()
    monkeypatch.setattr('robot_memory.tools.export._MOST', 2000)
    for form in ('json', 'jsonl', 'text'):
        with pytest.raises(InvalidArgument, match='has about .* MB, .* robot-memory export'):
            robot.export('all', form)


def test_of_a_line_that_is_too_long_little_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raw_lines, '_LONGEST', 3_000_000)
    archive = tmp_path / 'long.jsonl.gz'
    with gzip.open(archive, 'wb', compresslevel=1) as file:
        for _ in range(60):
            file.write(b' ' * 1_000_000)
        file.write(b'\n' + b'x' * 2_500_000 + b'\n{}')
    tracemalloc.start()
    try:
        lines = [(number, len(line)) for number, line in raw_lines.read_raw_lines(archive)]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert lines == [(1, 3_000_001), (2, 2_500_001), (3, 2)]
    assert peak < 12_000_000
