"""While an index is damaged recall goes on with the rest, and the worker makes the index anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from robots import Robot, check_file, make_store
from test_storage_damage import break_page, list_pages
from waiting import until

from robot_memory.core.errors import Damaged
from robot_memory.embedding import BackgroundEmbedder
from robot_memory.status.summary import describe_damage, render_metrics
from robot_memory.storage import damage

KETTLE = 'The red kettle stands in the pantry'
QUESTION = 'Where in the pantry stands the red kettle?'
Embedders = dict[int, BackgroundEmbedder]
SHELVES = [
    f'Shelf {number} of aisle {number % 7} holds part {number * 37}' for number in range(300)
]


def fill(robot: Robot) -> None:
    robot.learn(KETTLE)
    for text in SHELVES:
        robot.learn(text, context={'env': {'house': text[:12]}})
    list(robot.memory.reindexer.run())


@pytest.fixture(scope='module')
def filled(tmp_path_factory: pytest.TempPathFactory, tiny_embedders: Embedders) -> Path:
    """A closed store with vectors; only to read."""
    return make_store(tmp_path_factory.mktemp('filled'), fill, tiny_embedders[8])


def break_index(store: Path, *tables: str) -> None:
    for table in tables:
        for start in list_pages(store, table, 'leaf'):
            break_page(store, start)


def open_with(open_robot: Callable[..., Robot], embedders: Embedders, *, resident: bool) -> Robot:
    return open_robot(embedder=embedders[8], resident=resident)


@pytest.mark.parametrize(
    ('table', 'group', 'mode'),
    [('memories_fts_data', 'words', 'hybrid'), ('indexed', 'vectors', 'bm25_only')],
)
def test_recall_goes_on_without_a_damaged_index(
    open_robot: Callable[..., Robot],
    store: Path,
    tiny_embedders: Embedders,
    table: str,
    group: str,
    mode: str,
) -> None:
    break_index(store, table)
    robot = open_with(open_robot, tiny_embedders, resident=False)
    found = robot.recall(QUESTION, n=3)
    assert found.mode == mode
    assert found.memories
    assert robot.memory.mender.avoided == {group}
    robot = open_robot(resident=False)
    assert robot.contents(query=QUESTION, n=1) == [KETTLE]
    assert robot.memory.mender.avoided == {group}
    assert group in describe_damage(robot.memory)
    assert 'robot_memory_indexes_set_aside 1.0' in render_metrics(robot.memory)


def test_a_filter_goes_on_without_its_damaged_index(
    open_robot: Callable[..., Robot], store: Path, tiny_embedders: Embedders
) -> None:
    break_index(store, 'facets')
    robot = open_with(open_robot, tiny_embedders, resident=False)
    assert robot.contents(context_filter={'env.house': SHELVES[40][:12]}) == [SHELVES[40]]
    assert robot.memory.mender.avoided == {'contexts'}


@pytest.mark.parametrize(
    ('tables', 'made'),
    [
        (('memories_fts_data', 'memories_fts_idx'), 'words'),
        (('indexed', 'memories_by_time'), 'memories_by_time, vectors'),
        (('facets',), 'contexts'),
    ],
)
def test_the_worker_makes_a_damaged_index_anew_once_and_tells_it(
    open_robot: Callable[..., Robot],
    store: Path,
    tiny_embedders: Embedders,
    tables: tuple[str, ...],
    made: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    break_index(store, *tables)
    hit = damage.list_owners(store)
    assert hit == set(tables)
    robot = open_with(open_robot, tiny_embedders, resident=True)
    mender = robot.memory.mender
    robot.memory.db.on_damage(hit)
    until(lambda: mender.made == len(made.split(', ')), 'made anew')
    until(lambda: not mender.avoided, 'in use again')
    assert damage.find_damaged(store) == [] and describe_damage(robot.memory) == ''
    (line,) = robot.rows("SELECT reason, detail FROM audit WHERE action = 'index_rebuilt'")
    assert all(name in line[1] for name in made.split(', '))
    (logged,) = (one.message for one in caplog.records if 'made anew from' in one.message)
    assert logged.endswith(made)
    assert f'robot_memory_indexes_rebuilt_total {mender.made}.0' in render_metrics(robot.memory)
    assert robot.learn(KETTLE).status == 'duplicate'
    robot.close()
    check_file(store)
    assert open_robot(resident=False).contents(query=QUESTION, n=1) == [KETTLE]


def test_an_index_is_made_anew_no_second_time(
    open_robot: Callable[..., Robot], store: Path, tiny_embedders: Embedders
) -> None:
    robot = open_with(open_robot, tiny_embedders, resident=False)
    mender = robot.memory.mender
    for times in (1, 2):
        with robot.memory.db.connect() as connection:
            connection.wal_checkpoint(mode=3)
        for rest in ('-wal',):
            assert store.with_name(store.name + rest).stat().st_size == 0
        break_index(store, 'facets')
        robot.memory.db.on_damage(frozenset(['facets']))
        mender.run()
        assert mender.made == 1
        assert mender.avoided == (frozenset() if times == 1 else {'contexts'})


def test_damaged_rows_are_left_alone_and_told_once(
    open_robot: Callable[..., Robot],
    store: Path,
    tiny_embedders: Embedders,
    caplog: pytest.LogCaptureFixture,
) -> None:
    break_index(store, 'facets')
    break_page(store, list_pages(store, 'memories', 'leaf')[2])
    before = store.read_bytes()
    robot = open_with(open_robot, tiny_embedders, resident=False)
    robot.memory.db.on_damage(damage.list_owners(store))
    robot.memory.mender.run()
    assert robot.memory.mender.made == 0 and 'contexts' in robot.memory.mender.describe()
    with pytest.raises(Damaged, match='memories from'):
        robot.rows('SELECT * FROM memories NOT INDEXED')
    robot.memory.mender.run()
    (told,) = [one for one in caplog.records if 'left as it is' in one.message]
    assert told.message.endswith('facets, memories')
    robot.close()
    assert damage.find_damaged(store) and len(store.read_bytes()) == len(before)


def fill_with_events(robot: Robot) -> None:
    session = robot.start_session().session_id
    for number, text in enumerate(SHELVES):
        robot.learn(text, context={'env': {'house': text[:12]}}, session_id=session)
        if number % 3 == 0:
            robot.save_perception(f'Felt push {number}', 'tactile', data={'peak': number})
    robot.learn('Never lift more than 5 kg', context={'actor_id': 'anna'})
    with robot.memory.db.write() as connection:
        kind, collection = 1, 1
        for number in range(2_000):
            onset = number * HOUR_NS
            connection.execute(
                'INSERT INTO events (id, kind, active, onset, "end", value_1, peak, collection,'
                ' broken_off) VALUES (?, ?, 1, ?, ?, ?, ?, ?, 0)',
                (10**6 + number, kind, onset, onset + number, number / 3, onset, collection),
            )


HOUR_NS = 3600 * 10**9
ASKED: list[tuple[str, dict[str, object]]] = [
    ('recall', {'query': 'part 37', 'n': 20}),
    ('recall', {'query': 'shelf', 'context_filter': {'created_at': {'$gt': '2020-01-01'}}}),
    ('recall', {'query': '', 'context_filter': {'category': 'constraint'}}),
    ('recall', {'query': 'push', 'context_filter': {'perception_type': 'tactile'}, 'n': 50}),
    ('recall', {'query': 'lift', 'context_filter': {'actor_id': 'anna'}}),
]
TREES = {
    'memories': (
        'memories_by_time',
        'memories_by_collection',
        'memories_by_session',
        'memories_by_perception',
        'memories_by_category',
        'memories_by_hash',
    ),
    'event_hours': ('event_hours',),
}


@pytest.fixture(scope='module')
def filled_with_events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store whose b-tree indexes have several pages; only to read."""
    return make_store(tmp_path_factory.mktemp('events'), fill_with_events)


def ask_all(robot: Robot) -> list[list[int]]:
    return [[one.id for one in getattr(robot, tool)(**asked).memories] for tool, asked in ASKED]


@pytest.mark.parametrize('tree', [one for trees in TREES.values() for one in trees])
def test_recall_goes_on_without_a_damaged_index_of_rows_and_maintain_mends_it(
    open_robot: Callable[..., Robot], filled_with_events: Path, store: Path, tree: str
) -> None:
    store.write_bytes(filled_with_events.read_bytes())
    table = next(name for name, trees in TREES.items() if tree in trees)
    hours = 'SELECT * FROM event_hours ORDER BY kind, hour'
    whole = open_robot(resident=False)
    answers, kept = ask_all(whole), whole.rows(hours)
    assert all(answers) and len(kept) > 2_000
    whole.close()
    break_index(store, tree)
    robot = open_robot(resident=False)
    db, mender = robot.memory.db, robot.memory.mender
    db.on_damage(damage.list_owners(store))
    assert mender.found >= {table} and table in mender.describe()
    assert ask_all(robot) == answers
    assert robot.rows(hours) == kept
    steps = {step.name: step for step in robot.maintain().steps}
    assert steps['integrity'].detail == '1 damaged indexes made anew; the file is intact'
    assert mender.found == frozenset() and damage.find_damaged(store) == []
    assert ask_all(robot) == answers and robot.rows(hours) == kept
    assert robot.rows('SELECT name FROM temp.sqlite_schema') == []
    robot.close()
    check_file(store)
