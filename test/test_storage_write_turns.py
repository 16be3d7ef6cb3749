"""Processes that write take turns: none that waits is passed by one that writes all the time."""

from __future__ import annotations

import fcntl
import math
import threading
from pathlib import Path

import pytest
from waiting import HANG_SECONDS, until

from robot_memory.core.errors import Unavailable
from robot_memory.core.files import claim_file
from robot_memory.storage import Database, connection, write_turns


def name_turns(path: Path) -> Path:
    return path.with_name(f'.{path.name}.writing')


def is_somebody_next(path: Path) -> bool:
    try:
        with open(name_turns(path), 'rb') as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (FileNotFoundError, BlockingIOError) as error:
        return isinstance(error, BlockingIOError)
    return False


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / 'memory.db'


def note(db: Database, name: str) -> None:
    with db.write() as writer:
        writer.execute('CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, name TEXT)')
        writer.execute('INSERT INTO notes (name) VALUES (?)', (name,))


def list_notes(db: Database) -> list[str]:
    with db.read() as reader:
        return [row[0] for row in reader.execute('SELECT name FROM notes ORDER BY id')]


def test_who_waits_writes_before_who_just_wrote(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_turns, 'STANDSTILL_SECONDS', math.inf)
    monkeypatch.setattr(connection, 'PATIENCE_SECONDS', math.inf)
    busy, waiting = Database(path), Database(path)
    for _ in range(20):
        with busy.write() as writer:
            thread = threading.Thread(target=note, args=(waiting, 'waited'))
            thread.start()
            until(lambda: is_somebody_next(path), 'the other one to be next')
            writer.execute('CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, name TEXT)')
        note(busy, 'just wrote')
        thread.join(HANG_SECONDS)
    assert list_notes(busy) == ['waited', 'just wrote'] * 20
    busy.close()
    waiting.close()


def test_a_process_that_never_waits_makes_no_file(path: Path) -> None:
    db = Database(path)
    note(db, 'one')
    db.close()
    assert not name_turns(path).exists()


def test_a_process_that_stands_still_while_it_is_next_keeps_nobody_from_writing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_turns, 'STANDSTILL_SECONDS', 0)
    stopped = claim_file(name_turns(path))
    assert stopped is not None
    db = Database(path)
    note(db, 'one')
    monkeypatch.setattr(write_turns, 'STANDSTILL_SECONDS', math.inf)
    note(db, 'two')  # it is not waited for a second time
    assert list_notes(db) == ['one', 'two']
    db.close()


def test_a_write_that_is_not_to_wait_is_refused_where_another_process_is_next(path: Path) -> None:
    db = Database(path)
    is_next = claim_file(name_turns(path))
    assert is_next is not None
    with pytest.raises(Unavailable, match='another process is writing'), db.write(patient=False):
        pass
    db.close()


def test_writes_go_on_where_there_can_be_no_turns(path: Path) -> None:
    name_turns(path).mkdir()
    db, other = Database(path), Database(path)
    with db.write() as writer:
        writer.execute('CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, name TEXT)')
        thread = threading.Thread(target=note, args=(other, 'waited'))
        thread.start()
    thread.join(HANG_SECONDS)
    assert list_notes(db) == ['waited']
    db.close()
    other.close()
