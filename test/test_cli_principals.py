"""The principals of a token file on the command line: what is written, a server accepts."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import http_requests
import prepared
import pytest

from robot_memory.mcp_server import HttpBridge

PLANNER = '0123456789abcdef0123'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / 'tokens.json'


def run(file: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, '-m', 'robot_memory', 'principals', *words, '--file', str(file)]
    return prepared.run(command, capture_output=True, text=True, env=dict(os.environ))


def add(file: Path, name: str, *words: str) -> str:
    done = run(file, 'add', '--name', name, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def list_roles(file: Path) -> dict[str, str]:
    found = json.loads(run(file, '--json').stdout)
    return {one['name']: one['role'] for one in found}


def ask(bridge: HttpBridge, token: str) -> int:
    message = http_requests.call('get_memory_stats')
    status, _, _ = http_requests.ask(bridge, message, authorization=f'Bearer {token}')
    return status


def test_a_server_accepts_the_tokens_that_were_printed_and_no_withdrawn_one(
    file: Path, serve: Callable[..., HttpBridge]
) -> None:
    anna = add(file, 'anna', '--role', 'operator')
    planner = add(file, 'planner-1', '--may-speak-for', 'operator:anna', 'person:visitor')
    screen = add(file, 'screen', '--role', 'viewer')
    assert run(file, 'remove', '--name', 'screen').returncode == 0
    assert list_roles(file) == {'anna': 'operator', 'planner-1': 'planner'}
    bridge = serve(token_file=str(file))
    assert [ask(bridge, token) for token in (anna, planner, screen)] == [200, 200, 401]
    assert run(file).stdout.splitlines() == [
        'anna  operator',
        'planner-1  planner  may speak for operator:anna, person:visitor',
    ]


def test_only_its_owner_reads_the_file_and_it_holds_no_token(file: Path) -> None:
    token = add(file, 'anna')
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert token not in file.read_text()


def test_the_planner_of_a_file_of_one_line_keeps_its_token(
    file: Path, serve: Callable[..., HttpBridge]
) -> None:
    file.touch(0o600)
    file.write_text(f'{PLANNER}\n')
    add(file, 'anna', '--role', 'operator')
    assert list_roles(file) == {'token': 'planner', 'anna': 'operator'}
    assert ask(serve(token_file=str(file)), PLANNER) == 200


@pytest.mark.parametrize(
    ('words', 'message'),
    [
        (('add', '--name', 'anna'), 'already has a principal anna'),
        (('add',), 'principals add requires --name'),
        (('add', '--name', 'two words'), 'name must be 1 to 64 letters'),
        (('add', '--name', 'bert', '--role', 'boss'), 'role must be'),
        (('add', '--name', 'bert', '--may-speak-for', 'anna'), 'may_speak_for accepts operator:'),
        (('remove', '--name', 'bert'), "no principal 'bert'; it has anna"),
        (('remove', '--name', 'anna'), 'anna is the last principal; delete'),
        (('sell',), 'action must be'),
    ],
)
def test_what_is_refused_is_said_in_words_and_changes_nothing(
    words: tuple[str, ...], message: str, file: Path
) -> None:
    add(file, 'anna')
    before = file.read_bytes()
    done = run(file, *words)
    assert (done.returncode, done.stdout) == (1, '')
    assert message in done.stderr
    assert file.read_bytes() == before


def test_a_file_that_others_read_or_that_is_not_there_is_refused(file: Path) -> None:
    assert 'create it with' in run(file).stderr
    add(file, 'anna')
    file.chmod(0o644)
    assert 'gives others access' in run(file, 'add', '--name', 'bert').stderr
