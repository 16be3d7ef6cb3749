"""Settings are checked where the store is opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.settings import Settings
from robot_memory.memory import Memory


def test_encryption_is_refused_and_not_pretended(tmp_path: Path) -> None:
    settings = Settings(db_path=str(tmp_path / 'x.db'), encryption='aes-256-gcm')
    with pytest.raises(InvalidArgument, match='LUKS'):
        Memory(settings)
    assert not (tmp_path / 'x.db').exists()


def test_settings_are_checked_where_the_store_is_opened(tmp_path: Path) -> None:
    from robot_memory.api import RobotMemory

    with pytest.raises(InvalidArgument, match='no argument'):
        RobotMemory(tmp_path / 'x.db', colour='red')
    with pytest.raises(InvalidArgument, match='decay_rate'):
        RobotMemory(tmp_path / 'x.db', decay_rate=2)
    with RobotMemory(tmp_path / 'x.db', model='none') as memory:
        assert memory.learn('the tray is wet').status == 'created'
