"""The picture in docs: imports go downward, and each library is known to one part."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / 'robot_memory'
MODULES = sorted(PACKAGE.rglob('*.py'))

LAYERS = (
    ('errors', 'clock', 'progress', 'version', 'required'),
    ('json_text', 'language', 'monitoring', 'files', 'shortening'),
    ('folders',),
    ('fields', 'client', 'extensions', 'params_file'),
    ('model', 'settings'),
    ('configuration', 'embedding', 'capture', 'guidance'),
    ('reflection', 'plot', 'store'),
    ('search',),
    ('memory',),
    ('keeping', 'status'),
    ('finding', 'tool'),
    ('archive',),
    ('tools',),
    ('api_methods', 'api_writer'),
    ('senses', 'api'),
    ('sage', 'mcp_server'),
    ('ros',),
    ('cli',),
    ('__main__',),
)
"""From the ground up: a part imports only from the layers under its own."""

WRITTEN = ('api_methods.py',)
"""Modules that a script writes: nobody reads them from end to end."""

ONLY_IN = {
    'apsw': ('store',),
    'sqlite_vec': ('store',),
    'numkong': ('search',),
    'sqlite3': (),
    'rclpy': ('ros',),
    'mcp': ('mcp_server',),
    'rosbags': ('senses',),
    'matplotlib': ('plot',),
    'onnxruntime': ('embedding',),
    'tokenizers': ('embedding',),
    'cachetools': ('embedding',),
    'prometheus_client': ('status',),
    'tqdm': ('progress',),
}


def _part(module: Path) -> str:
    return module.relative_to(PACKAGE).parts[0].removesuffix('.py')


def _imports(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f'{module} imports relatively'
            name = node.module or ''
            if name == 'robot_memory':
                yield from (f'{name}.{alias.name}' for alias in node.names)
            else:
                yield name


def _level(part: str) -> int:
    levels = [level for level, parts in enumerate(LAYERS) if part in parts]
    assert levels, f'{part} has no place in the picture; give it one in LAYERS'
    return levels[0]


@pytest.mark.parametrize('module', MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_downward(module: Path) -> None:
    part = _part(module)
    if part == '__init__':
        assert not module.read_text(encoding='utf-8')
        return
    for name in _imports(module):
        top, _, rest = name.partition('.')
        imported = rest.partition('.')[0]
        if top != 'robot_memory' or imported in (part, 'msg', 'srv'):
            continue
        assert _level(imported) < _level(part), f'{part} imports {name}, which lies above it'


@pytest.mark.parametrize('module', MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_each_library_is_known_to_one_part(module: Path) -> None:
    for name in _imports(module):
        library = name.partition('.')[0]
        parts = ONLY_IN.get(library, (_part(module),))
        assert _part(module) in parts, f'{name} belongs to {", ".join(parts)}'


@pytest.mark.parametrize('module', MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_is_longer_than_400_lines(module: Path) -> None:
    lines = module.read_text(encoding='utf-8').splitlines()
    assert len(lines) <= 400 or module.name in WRITTEN


def test_sql_is_written_only_in_the_store() -> None:
    for module in MODULES:
        text = module.read_text(encoding='utf-8')
        if _part(module) != 'store':
            for word in ('SELECT ', 'INSERT INTO', '.execute('):
                assert word not in text, f'{module} has {word!r}'
