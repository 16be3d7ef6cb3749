"""The picture in docs/design.md: imports go downward, and each library is known to one room."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

PACKAGE = Path(__file__).parents[2] / 'robot_memory'
MODULES = sorted(PACKAGE.rglob('*.py'))

LAYERS = (
    ('text',),
    ('core',),
    ('client', 'detectors', 'metrics', 'skills'),
    ('plugins',),
    ('embedding', 'plot'),
    ('analysis', 'storage'),
    ('background', 'search'),
    ('memory',),
    ('lifecycle', 'status'),
    ('retrieval', 'tool'),
    ('archive',),
    ('tools',),
    ('sage',),
    ('catalog',),
    ('http',),
    ('api', 'ingest', 'mcp_server'),
    ('doctor',),
    ('ros', 'viewer'),
    ('cli',),
    ('__main__',),
)
"""From the ground up: a room imports only from the layers under its own."""

STORAGE_LAYERS = (
    (
        'schema',
        'epochs',
        'page_file',
        'remembered',
        'store_files',
        'private_library',
        'write_turns',
    ),
    ('page_checks', 'file_watch', 'lock_owners'),
    ('damage',),
    ('error_messages',),
    ('checksums', 'vector_extension'),
    ('source', 'replacement'),
    ('indexes',),
    ('tables',),
    ('events', 'shunned'),
    ('derived',),
    ('schema_runner',),
    ('upgrade',),
    ('read_only',),
    ('connection',),
    ('admin', 'past'),
)
"""The same inside storage."""

GENERATED = ('api/methods.py', 'client/answers.py', 'client/methods.py')
"""Modules that `make interfaces` writes."""

ONLY_IN = {
    'apsw': ('storage',),
    'sqlite_vec': ('storage',),
    'numkong': ('embedding',),
    'sqlite3': (),
    'rclpy': ('ros',),
    'jinja2': ('viewer',),
    'mcp': ('mcp_server',),
    'mcap': ('archive',),
    'rosbags': ('ingest',),
    'lz4': ('ingest',),
    'matplotlib': ('plot',),
    'onnxruntime': ('embedding',),
    'tokenizers': ('embedding',),
    'cachetools': ('embedding',),
    'prometheus_client': ('status',),
    'tqdm': ('core',),
    'threadpoolctl': ('background',),
}

SQL = ('SELECT ', 'INSERT INTO', '.execute(')


def _steps(module: Path) -> tuple[str, ...]:
    return module.relative_to(PACKAGE).with_suffix('').parts


@functools.cache
def _nodes(module: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(module.read_text(encoding='utf-8'))))


@functools.cache
def _is_module(name: str) -> bool:
    return PACKAGE.parent.joinpath(*name.split('.')).with_suffix('.py').exists()


@functools.cache
def _imports(module: Path) -> tuple[str, ...]:
    return tuple(_list_imports(module))


def _list_imports(module: Path) -> Iterator[str]:
    for node in _nodes(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f'{module} imports relatively'
            name = node.module or ''
            for alias in node.names:
                whole = f'{name}.{alias.name}'
                yield whole if _is_module(whole) or name == 'robot_memory' else name


def _climbs(layers: tuple[tuple[str, ...], ...], depth: int) -> Iterator[str]:
    """Yield the imports that go up or sideways between the rooms at a depth of the package."""
    level = {room: number for number, rooms in enumerate(layers) for room in rooms}
    for module in MODULES:
        steps = _steps(module)
        if len(steps) <= depth or (steps[-1] == '__init__' and len(steps) == depth + 1):
            continue
        if depth and steps[0] != 'storage':
            continue
        room = steps[depth]
        for name in _imports(module):
            parts = name.split('.')[1:]
            if not name.startswith('robot_memory.') or parts[:depth] != list(steps[:depth]):
                continue
            other = parts[depth] if len(parts) > depth else room
            if other in (room, 'msg', 'srv', 'action'):
                continue
            assert room in level, f'{room} has no place in the picture; give it one in the layers'
            if level[other] >= level[room]:
                yield f'{"/".join(steps)} imports {name}, which does not lie under {room}'


def test_imports_go_downward_between_the_rooms() -> None:
    assert not list(_climbs(LAYERS, 0))


def test_imports_go_downward_inside_storage() -> None:
    assert not list(_climbs(STORAGE_LAYERS, 1))


def test_each_library_is_known_to_one_room() -> None:
    strangers = [
        f'{"/".join(_steps(module))} imports {name}'
        for module in MODULES
        for name in _imports(module)
        if _steps(module)[0] not in ONLY_IN.get(name.partition('.')[0], (_steps(module)[0],))
    ]
    assert not strangers


def test_no_module_is_longer_than_400_lines() -> None:
    lengths = {
        str(module.relative_to(PACKAGE)): len(module.read_text(encoding='utf-8').splitlines())
        for module in MODULES
    }
    assert not {name: n for name, n in lengths.items() if n > 400 and name not in GENERATED}


def test_sql_is_written_only_in_storage() -> None:
    writers = [
        f'{"/".join(_steps(module))} has {word!r}'
        for module in MODULES
        if _steps(module)[0] != 'storage'
        for word in SQL
        if word in module.read_text(encoding='utf-8')
    ]
    assert not writers


def test_conditions_in_sql_are_written_only_in_storage() -> None:
    writers = [
        f'{"/".join(_steps(module))}:{node.lineno} has {ast.unparse(node)}'
        for module in MODULES
        if _steps(module)[0] != 'storage'
        for node in _nodes(module)
        if _is_condition(node)
    ]
    assert not writers


def test_the_store_is_written_only_by_lifecycle_archives_and_background_jobs() -> None:
    writers = {
        _steps(module)[0]
        for module in MODULES
        if re.search(r'db\.write\(', module.read_text(encoding='utf-8'))
    }
    assert writers == {'archive', 'background', 'lifecycle', 'storage'}


def _is_condition(node: ast.AST) -> TypeGuard[ast.expr]:
    """Say whether a node makes a `Where`, or is text that names a column of `memories m`."""
    if isinstance(node, ast.Call):
        return bool(ast.unparse(node.func).endswith('Where') and (node.args or node.keywords))
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and bool(re.search(r'(?<![\w.])m\.[a-z_]{2,}\b', node.value))
    )


SEARCHERS = ('retrieval', 'search', 'storage')
"""The rooms that may look into the indexes of a search."""
SEARCH_INDEXES = ('fulltext', 'positions', 'frames', 'candidates')
MAY_IMPORT_SEARCH = (
    'retrieval',
    'search',
    'memory',
    'lifecycle/stored_facts',
    'lifecycle/verdicts',
)
"""
`memory` holds the copy of the indexes; `stored_facts` asks for near duplicates, `verdicts` for
near facts that may be corrected.
"""


def test_only_retrieval_searches_and_ranks() -> None:
    searchers = []
    for module in MODULES:
        steps = _steps(module)
        for name in _imports(module):
            _, room, *rest = (*name.split('.'), '')
            if room == 'search' and not '/'.join(steps).startswith(MAY_IMPORT_SEARCH):
                searchers.append(f'{"/".join(steps)} imports {name}')
            is_index = (
                name.startswith('robot_memory.storage.indexes.') and rest[1] in SEARCH_INDEXES
            )
            if is_index and steps[0] not in SEARCHERS:
                searchers.append(f'{"/".join(steps)} looks into {name}')
    assert not searchers


def test_the_root_of_the_package_is_empty() -> None:
    # rosidl writes an empty one, too; see docs/decisions/packaging.md.
    assert not (PACKAGE / '__init__.py').read_text(encoding='utf-8')
