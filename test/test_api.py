"""The Python face as a user of the installed package sees it: typed, and documented."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from robots import Robot
from waiting import HANG_SECONDS

from robot_memory.api import RobotMemory, local
from robot_memory.catalog import list_tools
from robot_memory.client import MemoryClient, SageClient, TDAIException
from robot_memory.core.errors import NotFound
from robot_memory.core.fields import get_fields
from robot_memory.mcp_server import HttpBridge
from robot_memory.tool import Tool

ROOT = Path(__file__).resolve().parent.parent
OWN_FORMS = {SageClient: ('save_conversation', 'get_context'), MemoryClient: ('query_records',)}
"""Tools whose method has the form of a client's document."""


@pytest.fixture(scope='module')
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as `pip install .` leaves it, without its dependencies."""
    folder = tmp_path_factory.mktemp('site')
    source = tmp_path_factory.mktemp('source')
    for name in ('setup.py', 'setup.cfg', 'pyproject.toml', 'package.xml', 'README.md', 'LICENSE'):
        (source / name).write_bytes((ROOT / name).read_bytes())
    for name in ('robot_memory', 'sage_mcp'):  # pip builds inside of the source
        (source / name).symlink_to(ROOT / name)
    pip = [sys.executable, '-m', 'pip', 'install', '--quiet', '--no-deps', '--no-index']
    subprocess.run(
        [*pip, '--no-build-isolation', '--target', folder, source],
        check=True,
        timeout=HANG_SECONDS,
    )
    return folder


USERS_FILE = """
from robot_memory.api import RobotMemory
from robot_memory.client import MemoryClient, SageClient

with RobotMemory('cell_1.db', model='none') as memory:
    made: int | None = memory.learn('x', {'task': {'success': True}}).memory_id
    found = memory.recall('x', n=3, context_filter={'task.success': True})
    sureness: float = found.memories[0].confidence
    texts: list[str] = [one.content for one in found.memories]
with MemoryClient('http://127.0.0.1:17800') as client:
    distances = [one.get('distance', 0.0) for one in client.recall('x')['memories']]
    total: int = client.query_records(limit=5)['total_count']
    number: int = SageClient().save_conversation('hello', 'hello')['turn_id']
    client.lern('x')
    client.recall('x', nn=5)
    client.recall('x')['memorys']
    surely: str = client.recall('x')['memories'][0]['confidence']
    memory.lern('x')
    memory.recall('x', nn=5)
    memory.recall(42)
    found.memories[0].confidense
    wrong: str = found.memories[0].confidence
    memory.learn('x', context=[1])
"""
MISTAKES = (
    '"MemoryClient" has no attribute "lern"',
    'Unexpected keyword argument "nn" for "recall"',
    '"RecallResponse" has no key "memorys"',
    'expression has type "float", variable has type "str"',
    '"RobotMemory" has no attribute "lern"',
    'Unexpected keyword argument "nn" for "recall"',
    'incompatible type "int"; expected "str"',
    'has no attribute "confidense"',
    'expression has type "float", variable has type "str"',
    'incompatible type "list[int]"',
)
"""What mypy says of the last lines, in their order; of those before it says nothing."""


def test_a_users_file_is_type_checked(site: Path, tmp_path: Path) -> None:
    (tmp_path / 'user.py').write_text(USERS_FILE)
    done = subprocess.run(
        [sys.executable, '-m', 'mypy', '--strict', '--no-incremental', 'user.py'],
        cwd=tmp_path,
        env={'MYPYPATH': '', 'PATH': '', 'PYTHONPATH': str(site)},
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )
    found = [line for line in done.stdout.splitlines() if ': error: ' in line]
    first = len(USERS_FILE.splitlines()) - len(MISTAKES) + 1
    assert len(found) == len(MISTAKES), done.stdout + done.stderr
    for place, (line, words) in enumerate(zip(found, MISTAKES, strict=True)):
        assert line.startswith(f'user.py:{first + place}: error: '), line
        assert words in line


def test_the_installed_package_says_that_it_is_typed(site: Path) -> None:
    assert (site / 'robot_memory/py.typed').exists()
    assert (site / 'sage_mcp/py.typed').exists()


def test_the_version_is_that_of_the_package() -> None:
    package = ElementTree.parse(ROOT / 'package.xml').getroot()
    assert local.__version__ == package.findtext('version')


@pytest.mark.parametrize('tool', list_tools(), ids=lambda tool: tool.name)
def test_help_describes_every_argument(tool: Tool[Any, Any]) -> None:
    method = getattr(RobotMemory, tool.name)
    fields = get_fields(tool.request)
    assert list(inspect.signature(method).parameters) == [
        'self',
        *(one.attribute for one in fields),
    ]
    text = inspect.getdoc(method) or ''
    assert text.startswith(tool.summary)
    for field in (*fields, *get_fields(tool.response)):
        assert f'{field.attribute}: ' in text


@pytest.mark.parametrize('tool', list_tools(), ids=lambda tool: tool.name)
@pytest.mark.parametrize('client', [SageClient, MemoryClient])
def test_the_clients_have_the_methods_of_robot_memory(client: type, tool: Tool[Any, Any]) -> None:
    if tool.name in OWN_FORMS[client]:
        return
    method, local_method = getattr(client, tool.name), getattr(RobotMemory, tool.name)
    assert inspect.getdoc(method) == inspect.getdoc(local_method)
    parameters = inspect.signature(method).parameters.values()
    wanted = inspect.signature(local_method).parameters.values()
    assert [(one.name, one.default) for one in parameters] == [
        (one.name, one.default) for one in wanted
    ]


def test_the_clients_methods_call_the_tools(robot: Robot) -> None:
    bridge = HttpBridge(robot.memory, '127.0.0.1', 0)
    bridge.start()
    try:
        with MemoryClient(bridge.url) as client, SageClient(port=bridge.port) as sage:
            learned = client.learn('The cup needs 12 N', {'task': {'success': True}})
            assert learned['status'] == 'created'
            (memory,) = sage.recall('cup', context_filter={'task.success': True})['memories']
            assert (memory['id'], memory['content']) == (
                learned['memory_id'],
                'The cup needs 12 N',
            )
            assert 'distance' not in memory
            assert '12 N' in client.get_context('what the cup needs')['context']
            assert sage.query_records(limit=1)['total_count'] == 1
            with pytest.raises(NotFound):
                sage.forget(99, 'wrong')
            with pytest.raises(TDAIException, match='no memory 99'):
                client.forget(99, 'wrong')
    finally:
        bridge.stop()


@pytest.mark.parametrize('db_path', [None, ''])
def test_without_a_path_the_store_is_the_documented_default(
    db_path: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv('ROBOT_MEMORY_DB', raising=False)
    monkeypatch.delenv('DATABASE_URL', raising=False)
    monkeypatch.setenv('XDG_DATA_HOME', str(tmp_path / 'data'))
    with RobotMemory(db_path, model='none') as memory:
        memory.learn('The cup is red')
    assert (tmp_path / 'data' / 'robot_memory' / 'memory.db').is_file()
    assert not (tmp_path / 'None').exists()
    monkeypatch.setenv('ROBOT_MEMORY_DB', str(tmp_path / 'own.db'))
    with RobotMemory(db_path, model='none'):
        assert (tmp_path / 'own.db').is_file()
    monkeypatch.delenv('ROBOT_MEMORY_DB')
    monkeypatch.setenv('DATABASE_URL', f'sqlite:///{tmp_path}/url.db')
    with RobotMemory(db_path, model='none'):
        assert (tmp_path / 'url.db').is_file()
