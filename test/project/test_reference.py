"""The reference pages are those of the declarations."""

from __future__ import annotations

import re
import runpy
import shutil
from pathlib import Path

from robot_memory.catalog import list_tools
from robot_memory.cli.commands import COMMANDS
from robot_memory.core.fields import get_fields
from robot_memory.core.settings import McpSettings, Settings
from robot_memory.ingest import IngestSettings, PoseSourceSettings, TapSettings
from robot_memory.ingest.tap import SETTINGS

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = runpy.run_path(str(ROOT / 'scripts/write_reference.py'))
FOLDER = ROOT / SCRIPT['FOLDER']


def page(name: str) -> str:
    made: str = (FOLDER / name).read_text(encoding='utf-8')
    return made


def first_cells(text: str) -> set[str]:
    return set(re.findall(r'^\| `([^`]+)` \|', text, re.MULTILINE))


def test_the_committed_pages_are_what_the_declarations_say() -> None:
    pages = SCRIPT['make_pages']()
    for path, text in pages.items():
        assert (ROOT / path).read_text(encoding='utf-8') == text, f'{path}: make interfaces'
    assert {f'{SCRIPT["FOLDER"]}/{file.name}' for file in FOLDER.glob('*.md')} == set(pages)


def test_writing_changes_what_drifted_and_removes_what_is_gone(tmp_path: Path) -> None:
    schema = tmp_path / SCRIPT['SCHEMA']
    schema.parent.mkdir(parents=True)
    shutil.copyfile(ROOT / SCRIPT['SCHEMA'], schema)
    shutil.copytree(FOLDER, tmp_path / SCRIPT['FOLDER'])
    drifted, gone = (tmp_path / SCRIPT['FOLDER'] / name for name in ('tools.md', 'gone.md'))
    drifted.write_text('other')
    gone.write_text('gone')
    changed = ['docs/reference/gone.md', 'docs/reference/tools.md']
    assert SCRIPT['write_pages'](tmp_path) == changed, 'what is right is not written again'
    assert drifted.read_text(encoding='utf-8') == page('tools.md') and not gone.exists()


def test_every_tool_with_all_its_fields_is_in_the_reference() -> None:
    sections = dict(re.findall(r'^## (\w+)\n(.*?)(?=^## )', page('tools.md'), re.M | re.DOTALL))
    for tool in list_tools():
        fields = (*get_fields(tool.request), *get_fields(tool.response))
        assert {field.name for field in fields} == first_cells(sections[tool.name])


def test_every_parameter_is_in_the_reference() -> None:
    for declaration in (
        Settings,
        McpSettings,
        IngestSettings,
        PoseSourceSettings,
        TapSettings,
        *SETTINGS.values(),
    ):
        wanted = {field.name for field in get_fields(declaration)}
        assert wanted <= first_cells(page('parameters.md'))


def test_every_command_is_in_the_reference() -> None:
    names = {name.replace('_', '-') for name in COMMANDS}
    assert set(re.findall(r'^## ([a-z-]+)$', page('cli.md'), re.M)) == names
