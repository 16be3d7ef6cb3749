"""The committed ROS interfaces and parameters are those of the declarations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from robot_memory.core.fields import get_fields
from robot_memory.core.settings import McpSettings, NodeSettings, Settings
from robot_memory.ingest import IngestSettings, PoseSourceSettings, TapSettings
from robot_memory.ingest.tap import DEFAULTS, get_detector_settings
from robot_memory.ros import interfaces

ROOT = Path(__file__).resolve().parent.parent


def test_the_committed_files_are_what_the_declarations_say() -> None:
    for path, text in interfaces.files().items():
        assert (ROOT / path).read_text() == text, f'{path} has drifted: make interfaces'


def test_there_is_no_interface_that_is_not_declared() -> None:
    there = {
        f'{file.parent.name}/{file.name}'
        for pattern in ('msg/*.msg', 'srv/*.srv', 'action/*.action')
        for file in ROOT.glob(pattern)
    }
    assert there == {
        path for path in interfaces.files() if path.startswith(('msg', 'srv', 'action'))
    }


def test_writing_changes_what_drifted_and_removes_what_is_gone(tmp_path: Path) -> None:
    interfaces.write(tmp_path)
    (tmp_path / 'srv/Learn.srv').write_text('string other\n')
    (tmp_path / 'msg/Gone.msg').write_text('string x\n')
    assert sorted(interfaces.write(tmp_path)) == ['msg/Gone.msg', 'srv/Learn.srv']
    assert interfaces.write(tmp_path) == []


def test_every_reply_begins_with_how_it_went() -> None:
    for path, text in interfaces.files().items():
        if path.startswith(('srv/', 'action/')):
            reply = [line for line in text.split('---\n')[1].splitlines() if line[0] != '#']
            assert reply[:3] == ['bool success', 'string error_code', 'string message']


def test_the_parameters_file_holds_every_setting_with_its_default() -> None:
    loaded = yaml.safe_load((ROOT / 'config/robot_memory.yaml').read_text())

    def plain(declaration: Any, defaults: Any) -> dict[str, Any]:
        found = {field.name: field.default for field in get_fields(declaration)} | defaults
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in found.items()
        }

    declared: dict[Any, Any] = {}
    for settings in (Settings, McpSettings, NodeSettings, IngestSettings, PoseSourceSettings):
        declared |= plain(settings, {})
    for name, defaults in DEFAULTS.items():
        declared[name] = {
            **plain(get_detector_settings(name, {}), {}),
            **plain(TapSettings, defaults),
        }
    assert loaded == {'/**': {'ros__parameters': declared}}
