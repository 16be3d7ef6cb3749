"""`robot-memory mcp --print-config`: a client starts this memory with it, from anywhere."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from waiting import HANG_SECONDS

ROOT = Path(__file__).resolve().parents[1]
SOURCES = (
    'LICENSE',
    'README.md',
    'package.xml',
    'pyproject.toml',
    'robot_memory',
    'sage_mcp',
    'setup.cfg',
    'setup.py',
)
COMMAND = [sys.executable, '-m', 'robot_memory']


def printed(folder: Path, *arguments: str, command: list[str] = COMMAND, **more: str) -> Any:
    """Return the server of the configuration that a command prints in a folder."""
    ran = subprocess.run(
        [*command, *arguments, '--print-config'],
        capture_output=True,
        text=True,
        env={**os.environ, 'HOME': str(folder), **more},
        cwd=folder,
        timeout=HANG_SECONDS,
    )
    assert ran.returncode == 0, ran.stderr
    assert not list(folder.rglob('*.db')), 'a configuration is printed, no store is made'
    return json.loads(ran.stdout)['mcpServers']['robot_memory']


def asked(server: Any, home: Path, elsewhere: Path) -> set[str]:
    """
    Learn through a server that a real client starts in another folder; return the listed tools.

    `env -i` takes away what the SDK's client gives on; the command must be found without.
    """
    given = [f'{name}={value}' for name, value in server.get('env', {}).items()]
    parameters = StdioServerParameters(
        command='/usr/bin/env',
        args=['-i', f'HOME={home}', *given, server['command'], *server['args']],
        cwd=elsewhere,
    )

    async def ask() -> set[str]:
        async with Client(parameters) as client:
            answer = await client.call_tool('learn', {'insight': 'The red cup needs 12 N'})
            assert not answer.is_error, answer
            return {tool.name for tool in (await client.list_tools()).tools}

    return asyncio.run(ask())


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    folder = tmp_path / 'elsewhere'
    folder.mkdir()
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / 'home'
    folder.mkdir()
    return folder


def test_the_printed_command_starts_the_server_in_an_empty_environment(
    home: Path, elsewhere: Path
) -> None:
    server = printed(home, 'mcp')
    assert 'learn' in asked(server, home, elsewhere)
    assert (home / '.local/share/robot_memory/memory.db').exists()
    assert list(elsewhere.iterdir()) == []


def test_options_beside_it_and_what_the_environment_names_hold_for_the_server(
    home: Path, elsewhere: Path
) -> None:
    server = printed(
        home, '--model', 'none', 'mcp', '--mcp-tools', 'all', ROBOT_MEMORY_DB='my cell.db'
    )
    assert 'sage_command' in asked(server, home, elsewhere)
    assert (home / 'my cell.db').exists()


def test_what_a_client_would_not_know_stands_in_the_configuration(home: Path) -> None:
    server = printed(
        home,
        'mcp',
        '--no-auto-save',
        '--plugin-dirs',
        'mine',
        SAGE_MAX_RESULTS='7',
        ROBOT_MEMORY_MODEL='e5',
        XDG_CACHE_HOME=str(home / 'cache'),
    )
    for argument in (
        f'--db={home / ".local/share/robot_memory/memory.db"}',
        f'--model={home / "e5"}',
        '--no-auto-save',
        str(home / 'mine'),
        '--default-results=7',
    ):
        assert argument in server['args']
    assert server['env']['XDG_CACHE_HOME'] == str(home / 'cache')


def test_the_command_works_where_pip_installed_the_package(
    tmp_path: Path, home: Path, elsewhere: Path
) -> None:
    """Install a copy in an environment of its own, which a .pth file lends what it needs."""
    source = tmp_path / 'source'
    source.mkdir()
    for name in SOURCES:
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, source / name)
    venv.create(tmp_path / 'venv', with_pip=False)
    python = tmp_path / 'venv/bin/python'
    (site,) = (tmp_path / 'venv/lib').glob('python*/site-packages')
    lent = [entry for entry in sys.path if entry.endswith('site-packages')]
    (site / 'lent.pth').write_text('\n'.join(lent))
    pip = [sys.executable, '-m', 'pip', '--python', str(python)]
    options = ['-q', '--no-deps', '--no-build-isolation', '--no-index']
    subprocess.run([*pip, 'install', *options, str(source)], check=True, timeout=HANG_SECONDS)
    script = tmp_path / 'venv/bin/robot-memory'
    server = printed(home, 'mcp', '--model', 'none', command=[str(script)], PYTHONPATH='')
    assert server['command'] == str(python)
    assert 'learn' in asked(server, home, elsewhere)
