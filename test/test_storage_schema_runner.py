"""The steps of the schema: frozen, run once, and undone where one fails."""

from __future__ import annotations

import ast
import hashlib
import re
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from old_stores import every_version, fixture, opened

from robot_memory.embedding import quantisation
from robot_memory.storage import Connection, checksums, derived, schema_runner
from robot_memory.storage.indexes import indexed
from robot_memory.storage.tables import meta

FROZEN = {
    'v1.py': '7d584a61951c6e2f26621aee64b371ae22794c8f25cecaf7d7707d2b57c4e689',
    'v2.py': '118c73725591057bcbd91494ce366eccc68ddce969cc273f8f70e9b82b764edb',
    'v3.py': '32b316f6e3a3707f324ff4e23b8a47ba67f2be119ce2961ab360ce9359024f55',
    'v4.py': '13ec200f49f05b7fa75f33ef6715d9c264ace0dba18906eb55b6755d43780427',
    'v5.py': 'f3cbf627fef90800253f80b1e8fdc7b9bc34fadee7f5029765bea5175b0d6f02',
    'v6.py': '3edacae0b8a10701b54249afefcd35e90f9f7cad62644e228d1ddd453aa730cf',
    'v7.py': '41183f101ba79153c247d415a84e71a8d75c409d6a8186f04892bfd79f4b5780',
    'v8.py': '4c080cb1e0898aa8c1f81bcf6443b0f30d42071fed931ad74c9bc5b96a39119f',
    'v9.py': 'a4d416556364de8509136eeb1a06132ddbfc16465583a8250d580cffd94c5c66',
    'v10.py': '3a059046fdedeb10d529ca293e67dd29af8b165c5b496d717b787c1a5db17df2',
    'v11.py': 'bb105d4cc8794c8478b767fbd33a7f395d09537681001d50ee737428cb98d649',
    'v12.py': '0be5da9cc6401fd19517e8dfa00d82086db39e71295bd4023ad1d29a825d78bb',
    'v13.py': 'aa9ab1180ccd6e145b40cde79e9445f69bd2b3833d451577a927a34214a09bc5',
    'v14.py': '699807fa5adc20171684ef5d51687dbd5451dc686ef9df9e072a7ab07520ebe4',
    'v15.py': '3c0d5be1cf8b9d0f110d2ba818a6666c29187d82cec1efd7cb52f523ae45c97d',
    'v16.py': '9ca26bbc7f931f4a9fcc90018a023a4e311ab05f9a4a71cbe12c88695a0aaca5',
    'v17.py': 'c8ceb99c9073282e78fe11ae13c2329576aa87faf6051536f42bda79ca0cf44b',
    'v18.py': 'a873c9169d151339574b4813d50b2d93c87b89bbff5456eb172f6f89e7a2e2da',
    'v19.py': '51fe254c23d77b916810f33b34df63023072ef675bd86d4f7ea2d92977ff3d03',
    'v20.py': 'a56fce91fea85349b6dd578b9f2efb260e5b416b1111d2b6bacc0a91e58f66dd',
    'v21.py': '6fafb6fd734b3b19ca32ff894c7dbd5da498af2ad59f90e070e74cbdb9b2ab6e',
    'v22.py': '521e98fa21b875c1151dc9f1d516f7071fc019ed2e672a0f70e1d2747b8f4c23',
    'v23.py': '1b16afaa172f4113c9ae6388d52a75149cb6c44d088c0f106fc7351bf48c4869',
    'v24.py': '5dc56cdc48e37cfcfb5f77fe2496ac2b75fd83a9e5a548523becb45c68afeffb',
    'v25.py': '505c89e26fe5861a1ca37577315a0b9954cfd2afeeafafcb233e86b13a0f441b',
    'v26.py': '60f3175f73460147bc60603752c75b94561973a6b3f69b9ff0a4e47bbb340978',
    'v27.py': 'c3ef6416fccfe4e746bee1c425e70af46bd27e1d37a79494e59cd3f7ea0e4cd8',
    'v28.py': 'c9e4e086b8f9750dd8e3903d0a664bcc7809e547e6dda50b0d5bf8faffeaa2b2',
    'v29.py': '66f3050111c4391da5cb2fa132739e06a56a35bcb5acd9f97586d9f226448f71',
}
"""SHA-256 of each step's file: stores of its version exist, so it never changes again."""


@every_version
def test_a_further_column_in_the_hottest_table_breaks_no_older_step(
    version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps called present code once, which wrote to columns that were not there yet."""

    def next_step(connection: Connection) -> None:
        connection.execute('ALTER TABLE indexed ADD COLUMN weight REAL')
        connection.execute("UPDATE meta SET value = 0 WHERE key = 'derived_rules'")

    put = indexed.put

    def put_next(connection: Connection, memory_id: int, *rest: Any) -> None:
        put(connection, memory_id, *rest)
        connection.execute('UPDATE indexed SET weight = 1 WHERE memory_id = ?', (memory_id,))

    monkeypatch.setattr(schema_runner, 'STEPS', (*schema_runner.STEPS, next_step))
    monkeypatch.setattr(indexed, 'put', put_next)
    robot = opened(fixture(version, tmp_path))
    assert robot.rows('SELECT count(*) FROM indexed WHERE weight IS NULL') == [(0,)]
    assert robot.rows('SELECT count(*) > 0 FROM indexed') == [(1,)]
    robot.close()


def test_the_shorter_planes_hold_the_vectors_of_before(tmp_path: Path) -> None:
    path = fixture(28, tmp_path)
    old = checksums.connect(path)
    read = 'SELECT memory_id, coarse, fine FROM indexed WHERE fine IS NOT NULL'
    before = {
        memory_id: np.frombuffer(coarse, np.int8) + np.frombuffer(fine, np.int8) / 254
        for memory_id, coarse, fine in old.execute(read)
    }
    old.close()
    robot = opened(path)
    after = quantisation.unpack(robot.rows(read))
    robot.close()
    assert before.keys() == after.keys() and before
    for memory_id, vector in before.items():
        assert float(vector / np.linalg.norm(vector) @ after[memory_id]) > 0.9999, memory_id


def test_steps_are_frozen_and_stand_alone() -> None:
    folder = Path(schema_runner.__file__).parent / 'schema'
    steps = {path.name: path for path in folder.glob('v*.py')}
    assert len(steps) == len(schema_runner.STEPS)
    for name, path in steps.items():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == FROZEN.get(name), (
            f'{name} changed: add a further step instead'
        )
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                assert 'robot_memory' not in ast.unparse(node), f'{name}: {ast.unparse(node)}'


def read_all(connection: Connection) -> dict[str, list[Any]]:
    """Return the entries of the schema, the rows of each table, and what the file's head says."""
    found = {'schema': sorted(connection.execute('SELECT type, name, sql FROM sqlite_schema'))}
    for name in [row[1] for row in found['schema'] if row[0] == 'table' and row[2]]:
        if not name.startswith(('sqlite_', 'meta', 'memories_vocabulary')):
            found[name] = sorted(connection.execute(f'SELECT * FROM {name}'), key=str)
    for name in ('user_version', 'application_id', 'page_size', 'auto_vacuum', 'encoding'):
        found[name] = [connection.pragma(name)]
    return found


def test_a_new_store_is_what_the_steps_leave_of_an_empty_one() -> None:
    new, stepped = apsw.Connection(':memory:'), apsw.Connection(':memory:')
    schema_runner.create(new)
    for step in schema_runner.STEPS:
        step(stepped)
    stepped.pragma('user_version', len(schema_runner.STEPS))
    assert read_all(new) == read_all(stepped)
    assert meta.get_store_id(new) != meta.get_store_id(stepped)
    assert len(meta.get_store_id(new)) == len(meta.get_store_id(stepped))


def test_the_present_schema_is_written_from_the_steps() -> None:
    text = schema_runner.PRESENT.read_text(encoding='utf-8')
    assert text == schema_runner.describe_present(), 'make interfaces'


def test_statements_that_insert_name_their_columns() -> None:
    """Without their names a further column breaks them."""
    for path in Path(derived.__file__).parent.rglob('*.py'):
        assert path.parent.name == 'schema' or not re.search(
            r'INTO \w+ VALUES', path.read_text()
        ), path.name


def test_a_step_that_fails_leaves_the_store_as_it_was_and_the_next_start_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fixture(2, tmp_path)

    def broken(connection: Connection) -> None:
        connection.execute('CREATE TABLE half (x)')
        raise ValueError('half way')

    monkeypatch.setattr(
        schema_runner, 'STEPS', (*schema_runner.STEPS[:5], broken, *schema_runner.STEPS[6:])
    )
    with pytest.raises(ValueError, match='half way'):
        opened(path)
    connection = checksums.connect(path)
    assert connection.pragma('user_version') == 5
    assert not connection.table_exists(None, 'half')
    connection.close()
    monkeypatch.undo()
    robot = opened(path)
    assert robot.contents(query='red cup', n=1) == ['Grip force of 12.5 N holds the red cup']
    robot.close()
