"""Where the disk has no room for the copy before an upgrade, a store is read as upgraded."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from old_stores import every_version, fixture, records
from robots import Robot
from waiting import until

from robot_memory.core.settings import Settings
from robot_memory.embedding import BackgroundEmbedder
from robot_memory.memory import Memory
from robot_memory.storage import Database, checksums, read_only, schema_runner
from robot_memory.storage import upgrade as upgrading
from robot_memory.storage.read_only import ReadOnlyStore
from robot_memory.storage.upgrade import NoRoom, copy_of


@pytest.fixture
def no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrading, '_MARGIN', 1 << 60)
    monkeypatch.setattr(upgrading, '_clone', lambda *_: False)


@every_version
def test_without_room_a_store_of_every_version_is_read_as_it_would_be_upgraded(
    version: int, tmp_path: Path, no_room: None, caplog: pytest.LogCaptureFixture
) -> None:
    path = fixture(version, tmp_path)
    before = records(path)
    if version == len(schema_runner.STEPS):
        older = checksums.connect(path)
        older.execute("UPDATE meta SET value = 0 WHERE key = 'derived_rules'")
        older.close()
    settings = Settings(db_path=str(path), model='none')
    with Memory(settings, upgrade=True, read_only_fallback=True) as memory:
        robot = Robot(memory)
        assert 'Grip force of 12.5 N holds the red cup' in robot.contents(query='red cup', n=5)
        command = re.escape(f'`robot-memory upgrade --db {path}`')
        for write in (
            lambda: robot.learn('the lamp is green'),
            lambda: robot.forget(1, 'wrong'),
            lambda: robot.start_session(),
            lambda: robot.maintain(),
        ):
            with pytest.raises(ReadOnlyStore, match=rf'read-only.*no.*changed.*{command}'):
                write()
    assert sum('served read-only' in message for message in caplog.messages) == 1
    assert records(path) == before
    assert not copy_of(path).exists()


def test_without_room_on_disk_and_in_memory_the_store_is_refused(
    tmp_path: Path, no_room: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fixture(5, tmp_path)
    monkeypatch.setattr(read_only, '_MARGIN', 1 << 60)
    with pytest.raises(NoRoom, match='nothing was changed'):
        Database(path, upgrade=True, read_only_fallback=True)


def test_without_room_the_background_worker_tries_no_write_and_makes_no_backup(
    tmp_path: Path,
    no_room: None,
    tiny_embedders: dict[int, BackgroundEmbedder],
    caplog: pytest.LogCaptureFixture,
) -> None:
    path, backups = fixture(5, tmp_path), tmp_path / 'backups'
    settings = Settings(db_path=str(path), backup_folder=str(backups))
    with Memory(
        settings, embedder=tiny_embedders[16], upgrade=True, read_only_fallback=True
    ) as memory:

        def is_loaded() -> bool:
            with memory.db.read() as connection:
                return memory.cache_state(connection) == 'active'

        until(is_loaded, 'the worker to load the indexes; closing waits for what it does next')
    assert [message for message in caplog.messages if 'retried' in message] == []
    assert not backups.exists()
