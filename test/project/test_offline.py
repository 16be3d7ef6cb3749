"""Nothing leaves the machine and nothing foreign is written: processes watched from inside."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from sources import ROOT, importers
from waiting import HANG_SECONDS
from watched import STORE_FILES, Watch

ROBOT_MEMORY = [sys.executable, '-m', 'robot_memory']
FONTS = r'(\.cache|/var/cache)/fontconfig/.*'
"""What fc-list keeps, which matplotlib asks for the fonts of the system."""


@pytest.fixture
def settings(watch: Watch, tiny_models: dict[int, Path]) -> list[str]:
    """Options of a store and a model that onnxruntime runs."""
    model = shutil.copytree(tiny_models[8], watch.home / 'model')
    return ['--db', str(watch.home / 'memory.db'), '--model', str(model), '--wait', '60']


def run(watch: Watch, *command: str) -> str:
    ran = subprocess.run(
        command,
        cwd=watch.home,
        env=watch.environment,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def assert_offline(watch: Watch, *ours: str) -> None:
    """Hold that nothing outside was tried, and only the store, its model and `ours` written."""
    assert watch.tried() == set()
    known = re.compile('|'.join((STORE_FILES, 'model/.*', *ours)))
    assert {name for name in watch.written() if not known.fullmatch(name)} == set()


def test_a_watched_process_that_looks_up_a_name_connects_and_writes_is_seen(watch: Watch) -> None:
    program = """
import contextlib, pathlib, socket
with contextlib.suppress(OSError):
    socket.getaddrinfo('robot.invalid', 443)
with contextlib.suppress(OSError):
    socket.create_connection(('203.0.113.1', 443), timeout=1)
with contextlib.suppress(OSError), socket.socket(type=socket.SOCK_DGRAM) as sender:
    sender.sendto(b'', ('203.0.113.2', 53))
pathlib.Path('device_id').write_text('1')
"""
    run(watch, sys.executable, '-c', program)
    assert watch.tried() >= {
        'lookup robot.invalid',
        'connect 203.0.113.1 443',
        'send 203.0.113.2 53',
    }
    assert watch.written() == {'device_id'}


def test_the_command_line_tries_no_address_and_writes_only_our_files(
    watch: Watch, settings: list[str]
) -> None:
    run(watch, *ROBOT_MEMORY, 'learn', 'The red cup needs 12.5 N', *settings)
    assert 'red cup' in run(watch, *ROBOT_MEMORY, 'recall', 'cup', *settings)
    run(watch, *ROBOT_MEMORY, 'index', *settings)
    run(watch, *ROBOT_MEMORY, 'status', *settings)
    assert_offline(watch)


def test_a_recording_is_made_imported_and_plotted_without_a_trace_elsewhere(
    watch: Watch, settings: list[str]
) -> None:
    run(watch, sys.executable, str(ROOT / 'scripts/make_recording.py'), '--out', 'ur5e')
    run(watch, *ROBOT_MEMORY, 'import', 'ur5e', *settings)
    run(watch, *ROBOT_MEMORY, 'plot', '1', '--output', 'one.png', *settings)
    assert_offline(
        watch,
        'ur5e/.*',
        r'one\.png|\.robot_memory-\w+\.part',
        r'\.cache/robot_memory/matplotlib/.*',
        FONTS,
    )


@pytest.mark.anyio
async def test_the_mcp_server_on_stdio_tries_no_address_and_writes_only_our_files(
    watch: Watch, settings: list[str]
) -> None:
    command, *arguments = (str(part) for part in (*ROBOT_MEMORY, 'mcp', *settings))
    server = StdioServerParameters(
        command=command, args=arguments, env=watch.environment, cwd=watch.home
    )
    async with Client(server) as client:
        await client.call_tool('learn', {'insight': 'The red cup needs 12.5 N'})
        found = await client.call_tool('recall', {'query': 'cup'})
    assert found.structured_content is not None and found.structured_content['total'] == 1
    assert_offline(watch)


def test_a_program_that_imports_us_first_has_no_telemetry_in_its_own_onnxruntime(
    watch: Watch,
) -> None:
    run(watch, sys.executable, '-c', 'import robot_memory.api, importlib as i\n' + LOAD)
    assert_offline(watch)


def test_a_program_that_loaded_onnxruntime_before_us_is_warned(
    watch: Watch, tiny_models: dict[int, Path]
) -> None:
    program = f"""
import importlib as i
{LOAD}
import logging, pathlib
logging.basicConfig(format='%(message)s')
from robot_memory.embedding import OnnxEmbedder
OnnxEmbedder(pathlib.Path({str(tiny_models[8])!r}))
"""
    for value, warned in (('', True), ('0', True), ('1', False)):
        ran = subprocess.run(
            [sys.executable, '-c', program],
            env={**watch.environment, 'ORT_DISABLE_TELEMETRY': value},
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
        )
        assert ran.returncode == 0, ran.stderr
        assert ('set ORT_DISABLE_TELEMETRY=1 in the environment' in ran.stderr) is warned


LOAD = "i.import_module('onnxruntime')"


def test_onnxruntime_is_imported_only_where_its_telemetry_was_turned_off_before() -> None:
    assert list(importers('onnxruntime')) == ['robot_memory/embedding/runtime.py']
