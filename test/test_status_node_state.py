"""What a node tells of its taps through the socket beside its store."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from robot_memory.core.errors import Unavailable
from robot_memory.status.node_state import NodeState, StateTeller, TapState, ask_node

TAP = TapState('wrench (/wrench)', '/wrench', 1, 'lost 3', {'received': 10, 'lost': 3}, 100)
STATE = NodeState('/robot_memory', 'active', '', (TAP,), 0.2)


def test_what_the_node_describes_is_told_to_who_asks(tmp_path: Path) -> None:
    store = tmp_path / 'memory.db'
    teller = StateTeller(store, lambda: STATE)
    assert ask_node(store) == STATE
    assert ask_node(store) == STATE
    assert os.stat(tmp_path / 'memory.db-node').st_mode & 0o777 == 0o600
    teller.close()
    assert not list(tmp_path.iterdir())


def test_without_a_node_there_is_an_answer_in_words(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match='no node is running on this store'):
        ask_node(tmp_path / 'memory.db')
    with pytest.raises(Unavailable, match='no node is running'):
        ask_node(tmp_path / 'nowhere' / 'memory.db')


def test_the_socket_of_a_node_that_was_killed_is_replaced(tmp_path: Path) -> None:
    store = tmp_path / 'memory.db'
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(tmp_path / 'memory.db-node'))
    with pytest.raises(Unavailable, match='no node is running'):
        ask_node(store)
    teller = StateTeller(store, lambda: STATE)
    assert ask_node(store) == STATE
    teller.close()


def test_a_second_node_leaves_the_first_to_tell(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = tmp_path / 'memory.db'
    first = StateTeller(store, lambda: STATE)
    second = StateTeller(store, lambda: NodeState('/other', 'active'))
    assert 'another node serves this store' in caplog.text
    second.close()
    assert ask_node(store) == STATE
    first.close()


def test_a_folder_name_may_be_longer_than_the_address_of_a_socket(tmp_path: Path) -> None:
    folder = tmp_path / ('a' * 200)
    folder.mkdir()
    teller = StateTeller(folder / 'memory.db', lambda: STATE)
    assert ask_node(folder / 'memory.db') == STATE
    teller.close()


def test_a_folder_that_takes_no_socket_ends_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    StateTeller(tmp_path / 'nowhere' / 'memory.db', lambda: STATE).close()
    assert 'the viewer cannot show the taps' in caplog.text


@pytest.mark.parametrize('told', [b'', b'no json', b'[]', b'{"node": 1}', b'{"taps": [{"x": 1}]}'])
def test_an_answer_that_is_none_is_told_in_words(tmp_path: Path, told: bytes) -> None:
    store = tmp_path / 'memory.db'
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / 'memory.db-node'))
        listening.listen()
        from threading import Thread

        def answer() -> None:
            asking, _ = listening.accept()
            with asking:
                asking.sendall(told)

        thread = Thread(target=answer)
        thread.start()
        with pytest.raises(Unavailable, match='does not tell how it is'):
            ask_node(store)
        thread.join()
