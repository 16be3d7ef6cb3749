"""Whatever is changed in the audit is found, and the line is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from amounts import few_or_many
from robots import MovableClock, Robot

from robot_memory.archive.reader import import_archive
from robot_memory.core.authority import THE_STORE
from robot_memory.storage import checksums
from robot_memory.storage.admin.audit_check import check, verify
from robot_memory.storage.tables import audit
from robot_memory.storage.tables.audit import get_head

COLUMNS = (
    'memory_id last_memory_id action actor reason detail at epoch writer_id digest salt note chain'
).split()


@pytest.fixture
def written(robot: Robot, clock: MovableClock, tmp_path: Path) -> Iterator[apsw.Connection]:
    """A copy of a store that was written to in all ways."""
    session = robot.start_session().session_id
    robot.learn('The dock is in hall 2', session_id=session)
    robot.update(1, 'The dock is in hall 4')
    robot.forget(1, 'it was moved')
    robot.undo(1)
    robot.save_perception('A red block is beside the tray', 'visual', data={'n': 1})
    clock.forward(days=1)
    robot.save_conversation('I prefer the soft gripper', 'Noted')
    robot.save_conversation('I prefer the soft gripper', 'Noted')
    robot.end_session(session)
    path = tmp_path / 'copy.db'
    with robot.memory.db.connect() as connection:
        connection.execute('VACUUM INTO ?', (str(path),))
    copy = checksums.connect(path)
    yield copy
    copy.close()


def find(connection: apsw.Connection, sql: str, *values: Any) -> str:
    """Return the problem that a change leads to; the change is taken back."""
    connection.execute('SAVEPOINT change')
    try:
        connection.execute(sql, values)
        assert connection.changes()
        return check(connection, all_lines=True).problem
    finally:
        connection.execute('ROLLBACK TO change; RELEASE change')


def changed(value: Any) -> Iterator[Any]:
    """Give values that differ in a byte, have one more or one less, or none."""
    if isinstance(value, int):
        yield from (value + 1, value - 1, -value - 7, None)
    elif value is None:
        yield from (0, 1, 'x')
    else:
        text = isinstance(value, str)
        data = value.encode() if isinstance(value, str) else value
        step = max(1, len(data) // few_or_many(3, 1000))
        versions = [data + b'\0', data[:-1], b'A' + data]
        for place in range(0, len(data), step):
            versions.append(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
            versions.append(data[:place] + b'7' + data[place:])
        for version in versions:
            if version != data:
                yield version.decode() if text else version
        yield None


def test_an_audit_that_nobody_touched_verifies(written: apsw.Connection) -> None:
    found = check(written, all_lines=True)
    assert (found.problem, found.last) == ('', get_head(written).id)
    assert found.last > 10


def test_every_changed_byte_is_found_and_its_line_named(written: apsw.Connection) -> None:
    tried = 0
    for column in COLUMNS:
        for line, value in list(written.execute(f'SELECT id, {column} FROM audit')):
            for other in changed(value):
                try:
                    problem = find(
                        written, f'UPDATE audit SET {column} = ? WHERE id = ?', other, line
                    )
                except apsw.ConstraintError:
                    continue  # the table itself refuses it
                assert problem.startswith(f'line {line}:'), (column, line, value, other, problem)
                tried += 1
    assert tried > 500


def test_a_removed_line_is_named(written: apsw.Connection) -> None:
    last = get_head(written).id
    for line in range(1, last):
        problem = find(written, 'DELETE FROM audit WHERE id = ?', line)
        assert f'line {line} is missing' in problem


def test_an_inserted_or_renumbered_line_is_named(written: apsw.Connection) -> None:
    last = get_head(written).id
    rest = ', '.join(COLUMNS)
    for line in range(1, last + 1):
        for number in (0, -1, last + 1):
            problem = find(
                written,
                f'INSERT INTO audit (id, {rest}) SELECT ?, {rest} FROM audit WHERE id = ?',
                number,
                line,
            )
            assert problem.startswith(f'line {number}:')
        if line < last:
            problem = find(written, 'UPDATE audit SET id = ? WHERE id = ?', last + 1, line)
            assert f'line {line} is missing' in problem


def test_a_changed_writer_is_found(written: apsw.Connection) -> None:
    for column in ('face', 'client', 'principal', 'actor'):
        problem = find(written, f"UPDATE writers SET {column} = 'someone'")
        assert problem.startswith('line 1:')


def test_a_cut_off_tail_is_found_by_a_head_that_was_kept(written: apsw.Connection) -> None:
    head = get_head(written)
    written.execute('DELETE FROM revisions')
    written.execute('DELETE FROM audit WHERE id = ?', (head.id,))
    assert check(written, all_lines=True).problem == ''
    problem = check(written, all_lines=True, expected=head).problem
    assert f'line {head.id} is missing' in problem


def test_a_memory_that_no_line_tells_of_is_found(written: apsw.Connection) -> None:
    for sql, words in (
        ("UPDATE memories SET content = 'nothing' WHERE id = 1", 'memory 1 is not what line'),
        ("UPDATE memories SET status = 'invalidated' WHERE id = 2", 'memory 2 is not what line'),
        ("UPDATE revisions SET content = 'nothing' WHERE memory_id = 1", 'memory 1 is not what'),
        ('UPDATE memories SET id = 77 WHERE id = 2', 'memory 77 is there'),
    ):
        written.execute('PRAGMA foreign_keys = OFF')
        assert words in find(written, sql)


def test_an_erased_text_leaves_the_audit_whole(written: apsw.Connection) -> None:
    written.execute("""
        UPDATE memories SET content = '', context = '{}', salt = NULL WHERE id = 1;
        DELETE FROM revisions WHERE memory_id = 1;
        UPDATE audit SET reason = '', detail = '{}', salt = NULL WHERE memory_id = 1;
    """)
    assert 'it has no salt' in check(written, all_lines=True).problem
    audit.record(written, 1, 'erased', THE_STORE, '', {}, 0)
    assert check(written, all_lines=True).problem == ''
    problem = find(written, "UPDATE audit SET reason = 'other' WHERE memory_id = 1")
    assert 'it has no salt' in problem


def test_changes_that_another_store_made_verify_after_an_import(
    robot: Robot, open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    other = open_robot(name='other')
    other.learn('The dock is in hall 2')
    other.update(1, 'The dock is in hall 4')
    other.forget(1, 'it was moved')
    other.learn('The ramp is wet')
    archive = tmp_path / 'other.jsonl'
    archive.write_text(other.export('all', 'jsonl').content, encoding='utf-8')
    robot.learn('The tray is red')
    import_archive(robot.memory, archive)
    robot.update(3, 'The ramp is dry')
    with robot.memory.db.write() as connection:
        assert check(connection, all_lines=True).problem == ''
        assert find(connection, "UPDATE revisions SET content = 'x' WHERE salt IS NOT NULL") != ''
        assert find(connection, "UPDATE memories SET content = 'x' WHERE id = 2") != ''


def test_maintain_goes_on_from_the_last_checkpoint(open_robot: Callable[..., Robot]) -> None:
    robot = open_robot()

    def step(**arguments: Any) -> Any:
        return next(one for one in robot.maintain(**arguments).steps if one.name == 'audit')

    robot.learn('The dock is in hall 2')
    assert step().done
    robot.learn('The ramp is wet')
    assert verify(robot.memory.db).first == 2
    robot.forget(1, 'it was moved')
    with robot.memory.db.write() as connection:
        connection.execute("UPDATE audit SET reason = 'it is there' WHERE id = 3")
    for _ in range(2):
        found = step()
        assert not found.done and 'line 3: reason, detail or salt were changed' in found.detail
    with robot.memory.db.write() as connection:
        connection.execute("UPDATE audit SET reason = 'it was moved' WHERE id = 3")
        connection.execute("UPDATE audit SET reason = 'other' WHERE id = 1")
    assert step().done, 'what was verified before is not read again'
    assert 'line 1:' in step(all=True).detail
