"""Every parameter that a document names exists, and a mistyped one is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from robot_memory.catalog import list_tools
from robot_memory.core.fields import get_fields
from robot_memory.core.settings import McpSettings, NodeSettings, Settings
from robot_memory.ingest import IngestSettings, PoseSourceSettings, TapSettings
from robot_memory.ingest.parameters import OF_ROS, list_names, read_parameters
from robot_memory.ingest.tap import SETTINGS

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob('*.md'), *ROOT.glob('docs/**/*.md')])
OF_NODE = {
    *list_names(Settings, NodeSettings, McpSettings, IngestSettings, PoseSourceSettings),
    *OF_ROS,
}
OF_TAPS = set(list_names(TapSettings, *SETTINGS.values()))
OF_LAUNCH = set(
    re.findall(r"^    '(\w+)': \(", (ROOT / 'launch/robot_memory.launch.py').read_text(), re.M)
)


def list_fields(declaration: type) -> Iterator[str]:
    """Yield the names of a declaration's fields, and of the records in it."""
    for field in get_fields(declaration):
        yield field.name
        if field.record is not None:
            yield from list_fields(field.record)


OF_TOOLS = {
    name
    for tool in list_tools()
    for declaration in (tool.request, tool.response)
    for name in list_fields(declaration)
}
FILES = (
    'py',
    'md',
    'toml',
    'xml',
    'yaml',
    'json',
    'onnx',
    'bin',
    'cfg',
    'db',
    'html',
    'bash',
    'com',
    'data',
    'onnx_data',
)
MODULES = {path.stem for path in (ROOT / 'robot_memory').rglob('*.py')} | {
    path.name for path in (ROOT / 'robot_memory').rglob('*') if path.is_dir()
}
JSON = {*'context params task env robot spatial sense data metadata results objects'.split()}
JSON |= {'spatial_sort'}
OTHERS = {'robot_memory', 'sage_mcp', 'film'} | MODULES | JSON
"""What stands before the dot in names that are not those of parameters."""
TYPICAL = re.compile(r'\w+_(s|hz|n|nm|mb|path|port|host|hosts|tools|topic|frame|dirs|keep|level)')


def named(text: str) -> Iterator[str]:
    """Yield the names that a page writes as those of parameters."""
    yield from re.findall(r'ros2 param (?:set|get) \S+ ([\w.]+)', text)
    yield from re.findall(r'(?:-p |`|\s)([a-z_][\w.]*):=', text)
    yield from re.findall(r'[Pp]arameters? `([\w.]+)`', text)
    yield from re.findall(r'`([a-z_]+): [^`]+`', text)
    for name in re.findall(r'`([a-z_]+(?:\.\w+)*)`', text):
        if TYPICAL.fullmatch(name) or ('.' in name and not _is_another(name)):
            yield name


def _is_another(name: str) -> bool:
    first, last = name.partition('.')[0], name.rpartition('.')[2]
    return last in FILES or first in OTHERS


def is_known(name: str) -> bool:
    """Say whether there is a parameter of a name, a launch argument, or a field of a tool."""
    tap, _, setting = name.rpartition('.')
    if tap:
        return setting in OF_TAPS and tap in IngestSettings().taps
    return name in OF_NODE | OF_TAPS | OF_LAUNCH | OF_TOOLS


@pytest.mark.parametrize('page', PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_parameter_that_a_document_names_exists(page: Path) -> None:
    text = page.read_text(encoding='utf-8')
    assert [name for name in named(text) if not is_known(name)] == []


def test_a_name_that_is_none_of_a_parameter_is_noticed() -> None:
    text = '`pose.topic`, `pose_topc: /x`, the parameter `taps_`, -p sorce:=a, `quit_s`'
    wrong = [name for name in named(text) if not is_known(name)]
    assert sorted(wrong) == ['pose.topic', 'pose_topc', 'quit_s', 'sorce', 'taps_']


@pytest.mark.parametrize('page', PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_params_files_of_a_document_are_accepted(page: Path, tmp_path: Path) -> None:
    file = tmp_path / 'params.yaml'
    for block in re.findall(r'```yaml\n(.*?)```', page.read_text(encoding='utf-8'), re.DOTALL):
        if 'ros__parameters' in block:
            file.write_text(block)
            assert read_parameters(file)


def test_the_shipped_params_file_is_accepted() -> None:
    assert OF_NODE - set(OF_ROS) <= set(read_parameters(ROOT / 'config/robot_memory.yaml'))
