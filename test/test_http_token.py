"""The token is read from a private file, or from the environment, and shown nowhere."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from http_requests import TOKEN, status
from robots import Robot

from robot_memory.core.errors import InvalidArgument, Unavailable
from robot_memory.mcp_server import HttpBridge


def test_the_environment_gives_a_token_where_no_file_is_named(
    serve: Callable[..., HttpBridge], token_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('ROBOT_MEMORY_TOKEN', 'from-the-environment')
    assert status(serve(), authorization='Bearer from-the-environment') == 200
    named = serve(token_file=str(token_file))
    assert status(named, authorization='Bearer from-the-environment') == 401
    assert status(named, authorization=f'Bearer {TOKEN}') == 200


@pytest.mark.parametrize('mode', [0o644, 0o640, 0o604, 0o660, 0o622, 0o611])
def test_a_token_that_others_have_access_to_is_refused(
    robot: Robot, token_file: Path, mode: int
) -> None:
    token_file.chmod(mode)
    with pytest.raises(InvalidArgument, match=f'mode {mode:04o}.*chmod 600') as refusal:
        HttpBridge(robot.memory, token_file=str(token_file))
    assert TOKEN not in str(refusal.value)
    token_file.chmod(0o400)
    HttpBridge(robot.memory, token_file=str(token_file))


@pytest.mark.parametrize(
    ('content', 'words'),
    [
        (b'', 'is empty'),
        (b' \n\n', 'is empty'),
        (b'two words-of-some-length', 'no valid token'),
        (b'two-lines-of-a-token\nsecond-line', 'no valid token'),
        ('schlüssel-der-lang-genug-ist'.encode(), 'no valid token'),
        (b'\x00\x01\xff' * 10, 'no valid token'),
        (b'x' * 5000, 'no valid token'),
    ],
)
def test_what_is_no_token_is_refused_without_being_shown(
    robot: Robot, token_file: Path, content: bytes, words: str
) -> None:
    token_file.write_bytes(content)
    with pytest.raises(InvalidArgument, match=words) as refusal:
        HttpBridge(robot.memory, token_file=str(token_file))
    assert 'secrets.token_urlsafe' in str(refusal.value)
    assert not content.strip() or content.decode('latin-1').strip() not in str(refusal.value)


def test_an_empty_variable_is_refused(robot: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('ROBOT_MEMORY_TOKEN', '')
    with pytest.raises(InvalidArgument, match='ROBOT_MEMORY_TOKEN is empty'):
        HttpBridge(robot.memory)


def test_a_file_that_cannot_be_read_is_told_at_the_start(robot: Robot, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match='cannot read .*umask 077'):
        HttpBridge(robot.memory, token_file=str(tmp_path / 'nowhere'))
    with pytest.raises(Unavailable, match='cannot read'):
        HttpBridge(robot.memory, token_file='a\0b')
    with pytest.raises(InvalidArgument, match='not a regular file'):
        HttpBridge(robot.memory, token_file=str(tmp_path))
    pipe = tmp_path / 'pipe'
    os.mkfifo(pipe, 0o600)
    with pytest.raises(InvalidArgument, match='not a regular file'):
        HttpBridge(robot.memory, token_file=str(pipe))


def test_a_short_token_is_warned_of(
    robot: Robot, token_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    token_file.write_text('1234')
    HttpBridge(robot.memory, token_file=str(token_file))
    assert 'only 4 characters' in caplog.text
    assert '1234' not in caplog.text
