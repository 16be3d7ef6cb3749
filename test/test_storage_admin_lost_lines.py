"""Lines of the audit that a salvage lost: told, dated, and not to be taken for removed ones."""

from __future__ import annotations

import hashlib
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from amounts import LONG
from narrowing import require
from old_stores import fixture, opened
from robots import Robot, check_file, make_store
from test_storage_damage import break_page, list_pages

from robot_memory.core.authority import THE_STORE, Writer
from robot_memory.core.errors import Conflict, Unavailable
from robot_memory.storage import checksums
from robot_memory.storage.admin import audit_check, audit_losses
from robot_memory.storage.admin.restore import restore
from robot_memory.storage.admin.salvage import FAULT, salvage
from robot_memory.storage.admin.verify import LOSS, Check, verify
from robot_memory.storage.tables import audit

NOW = 1_772_000_000_000_000
SINCE = 'since the salvage of 2026-02-25T06:13:20'
ANNA = Writer.of_role('cli', 'anna', 'operator')


def fill(robot: Robot) -> None:
    for number in range(1, 301):
        robot.learn(f'Cup {number} of colour {number * 7919 % 1000} stands on shelf {number % 97}')
        if number % 5 == 0:
            robot.update(number, f'Cup {number} moved to shelf {number * 13}')


@pytest.fixture(scope='module')
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store with changed facts, whose audit lies at the end of the file as elsewhere."""
    return make_store(tmp_path_factory.mktemp('changed'), fill)


@pytest.fixture
def store(filled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(filled, tmp_path / 'memory.db'))


def list_lines(path: Path) -> set[int]:
    connection = checksums.connect(path)
    found = {int(row[0]) for row in connection.execute('SELECT id FROM audit')}
    connection.close()
    return found


def change(path: Path, sql: str, *values: object) -> None:
    connection = checksums.connect(path)
    connection.execute(sql, values)
    assert connection.changes()
    connection.close()


def judge(path: Path) -> Check:
    """Return what is said of the audit; all else must hold."""
    (found,) = [one for one in verify(path) if one.name == 'audit']
    assert [one for one in verify(path) if not one.holds and one.name != 'audit'] == []
    return found


def read_loss(path: Path) -> audit_losses.Loss:
    connection = checksums.connect(path)
    (loss,) = audit_losses.read_losses(connection)
    connection.close()
    return loss


def salvage_now(path: Path, to: Path) -> list[str]:
    """Salvage a store; return what is told of the audit."""
    return salvage(path, to, clock=lambda: NOW).lost.get('audit', [])


@pytest.mark.parametrize('share', [0.95, 0.9, 0.8, 0.7, 0.6])
def test_what_is_salvaged_of_a_file_that_was_cut_off_is_restored_once_the_loss_is_accepted(
    store: Path, tmp_path: Path, share: float
) -> None:
    new, whole = tmp_path / 'salvaged.db', store.read_bytes()
    store.write_bytes(whole[: int(len(whole) * share)])
    cut = store.read_bytes()
    told = salvage_now(store, new)
    assert any(SINCE in one for one in told) and not any(FAULT in one for one in told)
    found = judge(new)
    assert (found.holds, found.kind) == (False, LOSS)
    assert 'the chain is not whole' in found.detail and SINCE in found.detail
    with pytest.raises(Conflict, match='--accept-loss'):
        restore(new, store)
    assert store.read_bytes() == cut
    done = restore(new, store, ANNA, lambda: NOW + 60_000_000)
    assert done.kept is not None and done.kept.read_bytes() == cut
    assert 'accepted by cli:anna on 2026-02-25T06:14:20' in done.loss
    robot = opened(store)
    door = require(robot.learn('the red door is closed').memory_id)
    robot.update(door, 'the red door is open')
    steps = {step.name: step for step in robot.maintain(all=True).steps}
    assert 'but not whole' in steps['audit'].detail and steps['audit'].done
    robot.close()
    check_file(store)
    found = judge(store)
    assert found.holds and 'not whole' in found.detail and 'cli:anna' in found.detail
    copy = Path(shutil.copy(store, tmp_path / 'backup.db'))
    assert 'cli:anna' in restore(copy, store).loss


def test_lost_lines_are_named_and_no_line_takes_their_numbers(store: Path, tmp_path: Path) -> None:
    before, pages = list_lines(store), list_pages(store, 'audit', 'leaf')
    for place in (len(pages) // 2, -1):
        break_page(store, pages[place])
    (told,) = [one for one in salvage_now(store, tmp_path / 'new.db') if SINCE in one]
    lost = before - list_lines(tmp_path / 'new.db')
    loss = read_loss(tmp_path / 'new.db')
    assert all(loss.has(line) for line in lost) and loss.line > max(before)
    assert not loss.untold and loss.open_from is not None
    inside = {one for one in lost if one < loss.open_from}
    assert f'{len(inside)} lines, {min(inside)} to {max(inside)}, are missing' in told
    assert f'line {max(before)} was one' in told
    assert hashlib.sha256(store.read_bytes()).hexdigest()[:16] in told


def test_memories_that_are_lost_are_counted_and_named(store: Path, tmp_path: Path) -> None:
    connection = checksums.connect(store)
    (before,) = zip(*connection.execute('SELECT id FROM memories'), strict=True)
    connection.close()
    break_page(store, list_pages(store, 'memories', 'leaf')[2])
    told = salvage(store, tmp_path / 'new.db').lost['memories']
    connection = checksums.connect(tmp_path / 'new.db')
    (after,) = zip(*connection.execute('SELECT id FROM memories'), strict=True)
    connection.close()
    lost = sorted({*before} - {*after})
    assert f'{len(lost)} memories of which the audit tells: ids {lost[0]}-{lost[-1]}' in told


def test_what_is_changed_in_a_salvaged_store_is_found_as_ever(store: Path, tmp_path: Path) -> None:
    pages, new = list_pages(store, 'audit', 'leaf'), tmp_path / 'new.db'
    break_page(store, pages[len(pages) // 2])
    salvage_now(store, new)
    loss = read_loss(new)
    ((first, last),) = loss.lines
    whole = new.read_bytes()
    for sql, line in (
        ("UPDATE audit SET actor = 'nobody' WHERE id = ?", last + 1),
        ("UPDATE audit SET actor = 'nobody' WHERE id = ?", first - 1),
        ('UPDATE audit SET at = at + 1 WHERE id = ?', last + 2),
        ('DELETE FROM audit WHERE id = ?', last + 1),
        ('DELETE FROM audit WHERE id = ?', first - 1),
        ('DELETE FROM audit WHERE id = ?', last + 5),
        ('DELETE FROM audit WHERE id = ?', loss.line),
        ("UPDATE audit SET detail = replace(detail, 'lines', 'LINES') WHERE id = ?", loss.line),
        ("UPDATE memories SET content = 'no' WHERE id = ?", 2),
    ):
        change(new, sql, line)
        found = judge(new)
        assert (found.holds, found.kind) == (False, ''), (sql, line, found)
        with pytest.raises(Unavailable, match='is not whole'):
            restore(new, store, ANNA)
        new.write_bytes(whole)


def test_lines_that_were_removed_are_not_noted_as_lost(store: Path, tmp_path: Path) -> None:
    new = tmp_path / 'new.db'
    change(store, 'DELETE FROM audit WHERE id BETWEEN 100 AND 103')
    told = salvage_now(store, new)
    assert [one.startswith(FAULT) for one in told] == [True]
    assert judge(new).kind == ''
    with pytest.raises(Unavailable, match='line 104'):
        restore(new, store, ANNA)
    new.unlink()
    break_page(store, list_pages(store, 'memories', 'leaf')[1])
    told = salvage_now(store, new)
    assert any(one.startswith(FAULT) for one in told)
    new.unlink()
    break_page(store, list_pages(store, 'audit', 'leaf')[-1])
    salvage_now(store, new)
    loss = read_loss(new)
    assert loss.untold == [(100, 103)] and not any(low == 100 for low, _ in loss.lines)
    assert '4 lines, 100 to 103, are missing, too, but not for a page' in judge(new).detail


def forge(path: Path, *, chained: bool) -> None:
    """Remove lines and have a line tell that a salvage lost them."""
    connection = checksums.connect(path)
    connection.execute('BEGIN')
    seals = dict(audit_check.seal_lines(connection, [104]))
    connection.execute('DELETE FROM audit WHERE id BETWEEN 100 AND 103')
    detail = {'file': '', 'lines': '100+3', 'seals': seals}
    audit.record(connection, None, audit_losses.SALVAGED, THE_STORE, '', detail, NOW)
    if not chained:
        connection.execute("UPDATE audit SET chain = x'00' WHERE action = 'audit_salvaged'")
    connection.execute('COMMIT')
    connection.close()


def test_a_forged_loss_is_told_and_refused_where_the_lines_are_still_there(
    store: Path, tmp_path: Path
) -> None:
    forged = Path(shutil.copy(store, tmp_path / 'forged.db'))
    forge(forged, chained=False)
    assert judge(forged).kind == ''
    shutil.copy(store, forged)
    forge(forged, chained=True)
    found = judge(forged)
    assert (found.holds, found.kind) == (False, LOSS) and SINCE in found.detail
    for accepting in (None, ANNA):
        with pytest.raises(Conflict, match=r'lines 100, 101, 102, 103'):
            restore(forged, store, accepting)
    connection = checksums.connect(forged)
    with connection:
        audit_losses.accept(connection, audit_losses.read_losses(connection), ANNA, NOW)
    connection.close()
    assert judge(forged).holds
    with pytest.raises(Conflict, match='which are in'):
        restore(forged, store)


@pytest.mark.parametrize('open_from', ['none', [7]])
def test_a_loss_that_cannot_be_understood_explains_nothing(store: Path, open_from: object) -> None:
    connection = checksums.connect(store)
    connection.execute('BEGIN')
    detail = {'open_from': open_from, 'named': 9, 'lines': '100+3'}
    audit.record(connection, None, audit_losses.SALVAGED, THE_STORE, '', detail, NOW)
    connection.execute('DELETE FROM audit WHERE id BETWEEN 100 AND 103')
    connection.execute('COMMIT')
    connection.close()
    found = judge(store)
    assert (found.holds, found.kind) == (False, '') and 'line 100 is missing' in found.detail


def test_a_head_whose_line_is_lost_cannot_be_compared(store: Path, tmp_path: Path) -> None:
    connection = checksums.connect(store)
    head = audit.get_head(connection)
    connection.close()
    break_page(store, list_pages(store, 'audit', 'leaf')[-1])
    salvage_now(store, tmp_path / 'new.db')
    connection = checksums.connect(tmp_path / 'new.db')
    found = audit_check.check(connection, all_lines=True, expected=head)
    connection.close()
    assert f'line {head.id}, whose head was kept, cannot be compared' in found.problem


@pytest.mark.parametrize('table', ['writers', 'clock_epochs'])
def test_lines_whose_writer_or_epoch_is_lost_are_told(
    store: Path, tmp_path: Path, table: str
) -> None:
    new = tmp_path / 'new.db'
    break_page(store, list_pages(store, table, 'leaf')[0])
    assert not any(FAULT in one for one in salvage_now(store, new))
    loss = read_loss(new)
    assert not loss.missing and set(loss.seals) == list_lines(store) and not judge(new).holds
    change(new, "UPDATE audit SET actor = 'nobody' WHERE id = 9")
    assert judge(new).kind == ''


def test_lost_lines_of_an_erasure_leave_the_rest_proved(
    open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    robot = open_robot(resident=False, python_role='operator')
    for number in range(150):
        robot.learn(f'cup {number} is red')
    robot.forget(2, 'asked for')
    for number in range(5, 60):
        robot.update(number, f'cup {number} is green')
    token = require(robot.erase(memory_ids=[2], reason='asked for').token)
    assert robot.erase(token=token).status == 'erased'
    path = robot.memory.db.path
    robot.close()
    break_page(path, list_pages(path, 'audit', 'leaf')[-1])
    assert not any(FAULT in one for one in salvage_now(path, tmp_path / 'new.db'))
    assert judge(tmp_path / 'new.db').kind == LOSS
    restore(tmp_path / 'new.db', path, ANNA)
    assert judge(path).holds


@pytest.mark.parametrize('seed', range(60 if LONG else 6))
def test_of_random_damage_what_is_salvaged_is_taken_and_goes_on(
    store: Path, tmp_path: Path, seed: int
) -> None:
    chance, new = random.Random(seed), tmp_path / 'new.db'
    before, whole = list_lines(store), store.read_bytes()
    pages = len(whole) // 4096
    for page in chance.sample(range(pages // 5, pages), 1 + seed % 4):
        with store.open('r+b') as file:
            file.seek(page * 4096)
            file.write(chance.randbytes(4096))
    told = salvage_now(store, new)
    assert not any(FAULT in one for one in told), told
    lost = before - list_lines(new)
    if lost:
        assert all(read_loss(new).has(line) for line in lost)
        assert judge(new).kind == LOSS
    restore(new, store, ANNA)
    robot = opened(store)
    robot.learn('the red door is closed')
    robot.close()
    assert judge(store).holds
    assert ('not whole' in judge(store).detail) == any('since the salvage' in one for one in told)


@pytest.mark.parametrize('version', [12, 15, 20, 23])
def test_lines_that_a_store_without_checksums_lost_are_noted_too(
    tmp_path: Path, version: int
) -> None:
    path, new = fixture(version, tmp_path), tmp_path / 'new.db'
    data = bytearray(path.read_bytes())
    start = list_pages(path, 'audit', 'leaf')[-1]
    data[start : start + 4096] = bytes([7]) * 4096
    path.write_bytes(data)
    told = salvage_now(path, new)
    assert any(SINCE in one for one in told) and not any(FAULT in one for one in told)
    assert judge(new).kind == LOSS
    restore(new, tmp_path / 'memory.db', ANNA)
    assert judge(tmp_path / 'memory.db').holds
