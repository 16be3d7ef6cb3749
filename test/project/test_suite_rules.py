"""
The tests hold on a busy machine, and each file of them says what it tests.

None sleeps, none measures time, no wait is short.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import HANG_SECONDS

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
FILES = sorted(TESTS.rglob('*.py'))
CLOCKS = {
    f'time.{name}{unit}'
    for name in ('time', 'monotonic', 'perf_counter', 'process_time', 'thread_time')
    for unit in ('', '_ns')
}
SLEEPS = {'time.sleep', 'asyncio.sleep', 'anyio.sleep', 'trio.sleep'}
LIMIT = re.compile(r'timeout|deadline|patience')
WAITS = set(
    'wait join result exception settimeout wait_for_model wait_for_service fail_after '
    'move_on_after wait_for call_bounded spin_until_future_complete'.split()
)
REASONS = {
    ('waiting.py', 'until'): 'the one loop that waits: for other processes there is no event',
    ('ros/conftest.py', 'poll'): 'asks a node less often, for as long as it takes',
    ('replay.py', 'play'): 'plays a recording at its pace or slower; nothing is held to it',
    (
        'test_client.py',
        'test_a_server_that_does_not_answer_is_waited_for_no_longer_than_allowed',
    ): 'no answer ever comes: no limit is too short',
    (
        'test_client.py',
        'test_no_more_connections_are_kept_than_the_size_of_the_pool',
    ): 'the connection that is waited for is never given back: no limit is too short',
    (
        'project/test_offline.py',
        'test_a_watched_process_that_looks_up_a_name_connects_and_writes_is_seen',
    ): 'nothing answers there, and the attempt is seen whatever comes of it',
    (
        'project/test_suite_rules.py',
        'test_what_time_decides_is_refused',
    ): 'examples of what is refused',
}
"""Functions that may use what the rules refuse, and why."""


def breaches(tree: ast.AST, function: str = '') -> Iterator[tuple[str, int, str]]:
    """Yield the function, the line and the words of all in a module that time decides."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = function or node.name
        else:
            inner = function
        for words in _wrong(node):
            yield inner, getattr(node, 'lineno', 0), words
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _of_program(node, inner)
        yield from breaches(node, inner)


def _wrong(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom) and node.module in ('time', 'asyncio', 'anyio'):
        names = {f'{node.module}.{alias.name}' for alias in node.names}
        yield from sorted(names & (CLOCKS | SLEEPS))
    if isinstance(node, ast.Attribute) and ast.unparse(node) in CLOCKS:
        yield ast.unparse(node)
    if isinstance(node, ast.Call):
        yield from _wrong_call(node)
    if isinstance(node, ast.arguments):
        for argument, default in zip(reversed(node.args), reversed(node.defaults), strict=False):
            if LIMIT.search(argument.arg) and _is_short(default):
                yield f'{argument.arg}={ast.unparse(default)}'


def _wrong_call(call: ast.Call) -> Iterator[str]:
    called = ast.unparse(call.func)
    if called in SLEEPS and not _is_zero(call.args):
        yield ast.unparse(call)
    for keyword in call.keywords:
        if keyword.arg and LIMIT.search(keyword.arg) and _is_short(keyword.value):
            yield ast.unparse(call)
    if called.rpartition('.')[2] in WAITS and any(map(_is_short, call.args[:1])):
        yield ast.unparse(call)
    if called == 'select.select' and any(map(_is_short, call.args[3:])):
        yield ast.unparse(call)


def _is_zero(arguments: list[ast.expr]) -> bool:
    return len(arguments) == 1 and ast.unparse(arguments[0]) == '0'


def _is_short(value: ast.expr) -> bool:
    """Say whether a limit is a number, or a function of one, in which a busy machine may fail."""
    if isinstance(value, ast.Lambda):
        return _is_short(value.body)
    number = value.value if isinstance(value, ast.Constant) else None
    return isinstance(number, int | float) and 0 < number < HANG_SECONDS


def _of_program(node: ast.Constant, function: str) -> Iterator[tuple[str, int, str]]:
    """Yield what is wrong in a text that is a program for another process."""
    if isinstance(node.value, str) and 'import ' in node.value:
        try:
            program = ast.parse(node.value)
        except SyntaxError:
            return
        for inner, line, words in breaches(program):
            yield function or inner, node.lineno + line, words


@functools.cache
def breaches_of_all() -> list[tuple[str, str, int, str]]:
    """Return those of all files, each with the name of its file before it."""
    return [
        (str(file.relative_to(TESTS)), *found)
        for file in FILES
        for found in breaches(ast.parse(file.read_text()))
    ]


def test_no_test_depends_on_how_busy_the_machine_is() -> None:
    found = [
        f'{name}:{line} {words}: wait for what happens (waiting.py), or count'
        for name, function, line, words in breaches_of_all()
        if (name, function) not in REASONS
    ]
    assert not found, '\n'.join(found)


def test_every_exception_from_the_rules_is_still_needed() -> None:
    assert REASONS.keys() <= {(name, function) for name, function, _, _ in breaches_of_all()}


@pytest.mark.parametrize(
    'line',
    [
        'time.sleep(0.1)',
        'await asyncio.sleep(1)',
        'assert time.monotonic() - start < 2',
        'from time import perf_counter',
        'process.wait(timeout=20)',
        'process.wait(20)',
        'Extensions(timeout=lambda: 0.05)',
        'SageClient(pool_timeout=0.5)',
        'anyio.fail_after(10)',
        'select.select([a], [], [], 5)',
        'def until(what, deadline=20.0): pass',
        'subprocess.run(["python", "-c", "import time; time.sleep(5)"])',
    ],
)
def test_what_time_decides_is_refused(line: str) -> None:
    assert list(breaches(ast.parse(line)))


@pytest.mark.parametrize(
    'line',
    [
        'process.wait(timeout=HANG_SECONDS)',
        'await asyncio.sleep(0)',
        'embedder.wait(0)',
        'thread.join()',
        '", ".join(names)',
        'clock.forward(seconds=2)',
        '@settings(deadline=None)\ndef test(): pass',
    ],
)
def test_what_time_does_not_decide_is_accepted(line: str) -> None:
    assert not list(breaches(ast.parse(line)))


def test_a_test_file_has_the_name_of_a_module_or_lies_in_project() -> None:
    modules = {
        '_'.join(path.relative_to(ROOT).with_suffix('').parts).removeprefix('robot_memory_')
        for package in ('robot_memory', 'sage_mcp')
        for path in (ROOT / package).rglob('*')
        if path.suffix == '.py' or path.is_dir()
    }
    names = {
        str(path.relative_to(TESTS)): '_'.join(
            part.removeprefix('test_') for part in path.relative_to(TESTS).with_suffix('').parts
        )
        for path in FILES
        if path.name.startswith('test_') and path.parent.name != 'project'
    }
    assert {file for file, name in names.items() if name not in modules} == set()
