"""What is told who started it ends with that process."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
from collections.abc import Iterator

import pytest
from narrowing import require
from waiting import HANG_SECONDS

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.starter import VARIABLE, watch_starter


@pytest.fixture
def starter() -> Iterator[subprocess.Popen[bytes]]:
    """A process that runs until its input ends."""
    with subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def test_the_end_comes_when_the_starter_is_gone(
    starter: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: queue.SimpleQueue[str] = queue.SimpleQueue()
    monkeypatch.setenv(VARIABLE, str(starter.pid))
    watch_starter(lambda: ends.put('ended'))
    assert ends.empty()
    starter.kill()
    assert ends.get(timeout=HANG_SECONDS) == 'ended'


def test_the_end_comes_at_once_where_the_starter_was_gone_before(
    starter: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    require(starter.stdin).close()
    starter.wait(HANG_SECONDS)
    ends: queue.SimpleQueue[str] = queue.SimpleQueue()
    monkeypatch.setenv(VARIABLE, str(starter.pid))
    watch_starter(lambda: ends.put('ended'))
    assert ends.get(timeout=HANG_SECONDS) == 'ended'


@pytest.mark.parametrize('text', ['launch', '0', '-1', '1.5', str(2**31), '\u0663'])
def test_what_is_no_process_id_is_refused_in_words(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(InvalidArgument, match=f'{VARIABLE} must be the id of a process'):
        watch_starter(os.abort)


def test_nothing_is_watched_where_nobody_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, '')
    watch_starter(os.abort)
