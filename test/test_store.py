"""The file: its versions, its integrity, its vectors, and who else writes to it."""

from __future__ import annotations

import os
import random
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import apsw
import numpy as np
import pytest
from robots import VOCABULARY, Robot, check_file

from robot_memory.embedding import BackgroundEmbedder
from robot_memory.errors import Unavailable
from robot_memory.store import Database, vectors
from robot_memory.store.migrations import MIGRATIONS, migrate
from robot_memory.store.vector_copy import VectorCopy

Embedders = dict[int, BackgroundEmbedder]
Open = Callable[..., Robot]


def sentence(chance: random.Random, words: int = 6) -> str:
    return ' '.join(chance.choices(VOCABULARY, k=words))


def fill(robot: Robot, count: int, collection: str = 'default', seed: int = 0) -> list[int]:
    """Keep texts that differ by a number, so that none is a duplicate."""
    chance = random.Random(seed)
    answers = [robot.learn(f'{sentence(chance)} {i}', collection=collection) for i in range(count)]
    return [answer.memory_id for answer in answers]


# Versions and failures


def test_a_new_file_has_the_newest_version_and_is_private(robot: Robot) -> None:
    assert robot.rows('PRAGMA user_version') == [(len(MIGRATIONS),)]
    assert robot.rows('PRAGMA journal_mode') == [('wal',)]
    mode = stat.S_IMODE(os.stat(robot.memory.db.path).st_mode)
    assert mode == 0o600


def test_each_migration_is_taken_once_and_in_order(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / 'x.db'))
    for step in range(len(MIGRATIONS) + 1):
        assert connection.pragma('user_version') == (0 if step == 0 else len(MIGRATIONS))
        migrate(connection)
    assert connection.execute("SELECT count(*) FROM meta WHERE key = 'store_id'").fetchall() == [
        (1,)
    ]


def test_a_step_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(connection: apsw.Connection) -> None:
        connection.execute('CREATE TABLE half (x)')
        raise ValueError('half way')

    monkeypatch.setattr('robot_memory.store.migrations.MIGRATIONS', (*MIGRATIONS, broken))
    connection = apsw.Connection(str(tmp_path / 'x.db'))
    with pytest.raises(ValueError, match='half way'):
        migrate(connection)
    assert connection.pragma('user_version') == len(MIGRATIONS)
    assert not connection.table_exists(None, 'half')


def test_the_identity_stays_with_the_file(open_robot: Open) -> None:
    first = open_robot()
    identity = first.query_records().memory_id
    first.close()
    assert open_robot().query_records().memory_id == identity
    assert open_robot(name='another').query_records().memory_id != identity


def test_a_file_of_a_newer_release_is_refused_and_left_as_it_is(
    open_robot: Open, tmp_path: Path
) -> None:
    open_robot().close()
    connection = apsw.Connection(str(tmp_path / 'memory.db'))
    connection.pragma('user_version', len(MIGRATIONS) + 1)
    connection.close()
    newest = len(MIGRATIONS)
    with pytest.raises(Unavailable, match=f'version {newest + 1}.*knows up to {newest}'):
        open_robot()
    connection = apsw.Connection(str(tmp_path / 'memory.db'))
    assert connection.pragma('user_version') == len(MIGRATIONS) + 1


def test_a_database_of_another_program_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / 'other.db'))
    connection.execute('CREATE TABLE songs (title)')
    with pytest.raises(Unavailable, match="another program's"):
        Database(tmp_path / 'other.db')
    assert [row[0] for row in connection.execute('SELECT name FROM sqlite_schema')] == ['songs']


def test_what_cannot_be_a_store_is_unavailable_and_the_message_names_the_setting(
    tmp_path: Path,
) -> None:
    text = tmp_path / 'notes.txt'
    text.write_text('no database ' * 1000)
    file = tmp_path / 'file'
    file.write_text('')
    for path in (text, tmp_path, file / 'x.db', Path('/proc/nowhere/x.db')):
        with pytest.raises(Unavailable, match='db_path'):
            Database(path)
    assert text.read_text() == 'no database ' * 1000


def test_a_closed_memory_says_so(open_robot: Open) -> None:
    robot = open_robot()
    robot.close()
    robot.close()
    for call in (lambda: robot.learn('the red cup'), lambda: robot.recall('cup')):
        with pytest.raises(Unavailable, match='closed'):
            call()


def test_what_fails_inside_of_a_write_is_undone(robot: Robot) -> None:
    def half() -> None:
        with robot.memory.db.write() as connection:
            connection.execute("INSERT INTO meta VALUES ('half', 1)")
            raise ValueError('half way')

    with pytest.raises(ValueError, match='half way'):
        half()
    assert robot.rows("SELECT * FROM meta WHERE key = 'half'") == []
    assert robot.learn('the red cup').status == 'created'


# Vectors


def test_every_memory_gets_its_vector_whether_the_model_is_there_or_not(
    open_robot: Open, tiny_embedders: Embedders
) -> None:
    words_only = open_robot(resident=False)
    ids = fill(words_only, 40)
    assert words_only.save_perception('the red cup is seen').has_embedding is False
    robot = open_robot(embedder=tiny_embedders[8], resident=False)
    assert robot.rows('SELECT count(*) FROM memories WHERE embedded') == [(0,)]
    robot.embed_all()
    assert robot.save_perception('the red cup is seen').has_embedding is True
    assert robot.rows('SELECT count(*) FROM memories_vec') == [(len(ids) + 2,)]
    check_file(robot.memory.db.path)


def test_another_model_embeds_anew_and_never_mixes(
    open_robot: Open, tiny_embedders: Embedders, caplog: pytest.LogCaptureFixture
) -> None:
    small = open_robot(embedder=tiny_embedders[8], resident=False)
    small.embed_all()
    ids = fill(small, 20)
    assert small.recall('red cup').mode == 'hybrid'
    large = open_robot(embedder=tiny_embedders[16], resident=False)
    assert large.recall('red cup').mode == 'bm25_only'
    assert large.learn('the gripper jams in the dark').status == 'created'
    assert large.rows('SELECT count(*) FROM memories_vec') == [(20,)]
    assert {len(row[0]) for row in large.rows('SELECT embedding FROM memories_vec')} == {8 * 4}
    large.embed_all()
    assert 'made anew' in caplog.text
    assert {len(row[0]) for row in large.rows('SELECT embedding FROM memories_vec')} == {16 * 4}
    assert large.rows('SELECT count(*) FROM memories_vec') == [(21,)]
    assert large.recall('red cup').mode == 'hybrid'
    assert small.recall('red cup').mode == 'bm25_only'
    assert small.learn('the lift is slow in the dark').status == 'created'
    small.forget(ids[0], 'wrong')
    check_file(large.memory.db.path)
    large.embed_all()
    name = tiny_embedders[16].ready().name
    assert large.rows("SELECT value ->> 'model' FROM meta WHERE key = 'vectors'") == [(name,)]
    assert large.rows('SELECT count(*) FROM memories_vec') == [(21,)]
    check_file(large.memory.db.path)


def test_an_update_while_vectors_are_made_wins(
    open_robot: Open, tiny_embedders: Embedders
) -> None:
    robot = open_robot(resident=False)
    ids = fill(robot, 3)
    thinking = open_robot(embedder=tiny_embedders[8], resident=False)
    original = tiny_embedders[8].ready().passages
    steps = thinking.memory.index()

    class Slow:
        """Let another process write between the reading of a text and its vector."""

        def __getattr__(self, name: str) -> object:
            return getattr(tiny_embedders[8].ready(), name)

        def passages(self, texts: list[str]) -> np.ndarray:
            made = original(texts)
            if ids:
                robot.update(ids[0], 'another text altogether')
                robot.forget(ids[1], 'wrong')
                ids.clear()
            return made

    slow = Slow()
    thinking.memory.embedder = type('Ready', (), {'ready': staticmethod(lambda: slow)})()
    for _ in steps:
        pass
    found = thinking.rows('SELECT rowid, embedding FROM memories_vec ORDER BY rowid')
    assert [row[0] for row in found] == [1, 3]
    expected = original(['another text altogether'])[0]
    assert np.frombuffer(found[0][1], '<f4') == pytest.approx(expected)
    check_file(thinking.memory.db.path)


def test_the_files_own_search_and_the_copy_in_memory_answer_alike(
    open_robot: Open, tiny_embedders: Embedders
) -> None:
    plain = open_robot(embedder=tiny_embedders[16], resident=False)
    copied = open_robot(embedder=tiny_embedders[16], resident=True)
    plain.embed_all()
    ids = fill(plain, 300)
    fill(plain, 30, 'lab')
    for memory_id in ids[::7]:
        plain.forget(memory_id, 'wrong')
    for memory_id in ids[1::50]:
        plain.update(memory_id, f'the {memory_id} door jams in the lab')
    chance = random.Random(5)
    for _ in range(20):
        question = sentence(chance)
        vector = plain.memory.query_vector(question)
        for collection, limit, among in (
            ('default', 10, None),
            ('lab', 50, None),
            ('nowhere', 3, None),
            ('default', 20, ids[:60]),
            ('lab', 5, ids),
        ):
            with plain.memory.db.read() as connection:
                one, other = (
                    robot.memory.nearest(connection, collection, vector, limit, among)
                    for robot in (plain, copied)
                )
            assert [cosine for _, cosine in one] == pytest.approx(
                [cosine for _, cosine in other], abs=1e-5
            )
            assert {i for i, cosine in one if cosine > one[-1][1] + 1e-5} <= {i for i, _ in other}
        answers = [
            robot.recall(question, n=20, context_filter=filter_).memories
            for robot in (plain, copied)
            for filter_ in (None, {'memory_id': {'$lt': 50}})
        ]
        for one, other in zip(answers[:2], answers[2:], strict=True):
            assert [m._rrf_score for m in one] == pytest.approx(
                [m._rrf_score for m in other], abs=1e-4
            )


def test_more_neighbours_than_the_index_gives_are_found_by_a_scan(tmp_path: Path) -> None:
    database = Database(tmp_path / 'x.db', 'normal')
    chance = np.random.default_rng(1)
    matrix = chance.normal(size=(4200, 4)).astype(np.float32)
    with database.write() as connection:
        vectors.use_model(connection, 'm', 4)
        connection.executemany(
            'INSERT INTO memories_vec (rowid, collection, embedding) VALUES (?, ?, ?)',
            [(i + 1, 'a' if i % 2 else 'b', row.tobytes()) for i, row in enumerate(matrix)],
        )
        found = vectors.nearest(connection, 'a', matrix[1], 5000)
        few = vectors.nearest(connection, 'a', matrix[1], 10)
        assert len(found) == 2100
        assert [i for i, _ in found[:10]] == [i for i, _ in few]
        assert found[0] == (2, pytest.approx(1.0, abs=1e-6))
        assert len(vectors.nearest(connection, 'a', matrix[1], 5000, [2, 3, 4])) == 2
    database.close()


def test_the_copy_follows_what_other_connections_write(
    open_robot: Open, tiny_embedders: Embedders
) -> None:
    writer = open_robot(embedder=tiny_embedders[8], resident=False)
    writer.embed_all()
    reader = open_robot(embedder=tiny_embedders[8], resident=True)
    (first,) = fill(writer, 1)
    vector = reader.memory.query_vector('red cup')

    def known() -> set[int]:
        with reader.memory.db.read() as connection:
            return {i for i, _ in reader.memory.nearest(connection, 'default', vector, 1000)}

    assert known() == {first}
    more = fill(writer, 600, seed=1)
    assert known() == {first, *more}
    writer.forget(first, 'wrong')
    for memory_id in more[:300]:
        writer.update(memory_id, f'the door jams for the {memory_id}th time')
    assert known() == set(more)
    assert reader.recall('door jams', n=100).total == 100


def test_the_copy_is_made_anew_for_another_model(tmp_path: Path) -> None:
    database = Database(tmp_path / 'x.db', 'normal')
    copy = VectorCopy()
    for dimension in (4, 6, 4):
        with database.write() as connection:
            vectors.use_model(connection, f'model of {dimension}', dimension)
            connection.execute('DELETE FROM memories')
            connection.execute(
                'INSERT INTO memories (type, collection, content, content_hash, guard,'
                ' token_count, category, confidence, confidence_base, tags, scope_files,'
                " context, strategy_name, created_at, updated_at) VALUES ('fact', 'c', 'x', x'',"
                " '', 1, 'code', 1, 1, '[]', '[]', '{}', 'episodic', 0, 0)"
            )
            row = connection.last_insert_rowid()
            vectors.put(connection, row, 'c', np.ones(dimension, np.float32))
        with database.read() as connection:
            query = np.ones(dimension, np.float32) / dimension**0.5
            assert [i for i, _ in copy.nearest(connection, 'c', query, 5)] == [row]
    database.close()


def test_readers_and_writers_of_one_process_do_not_disturb_each_other(
    open_robot: Open, tiny_embedders: Embedders
) -> None:
    robot = open_robot(embedder=tiny_embedders[8])
    robot.embed_all()
    kept: list[int] = []
    faults: list[BaseException] = []
    done = threading.Event()

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as fault:
            faults.append(fault)

    def write(name: str) -> Callable[[], None]:
        def work() -> None:
            for i in range(60):
                answer = robot.save_perception(f'red cup {name} {i}')
                kept.append(answer.memory_id)
                if i % 5 == 0:
                    robot.forget(answer.memory_id, 'wrong')

        return work

    def read() -> None:
        while not done.is_set():
            for found in robot.recall('red cup', n=20).memories:
                assert found.content.startswith('red cup')

    writers = [threading.Thread(target=guarded, args=(write(n),)) for n in 'ab']
    readers = [threading.Thread(target=guarded, args=(read,)) for _ in range(2)]
    for thread in (*readers, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    for thread in readers:
        thread.join()
    assert faults == []
    assert len(set(kept)) == 120
    assert robot.rows("SELECT count(*) FROM memories WHERE status = 'active'") == [(96,)]
    check_file(robot.memory.db.path)
