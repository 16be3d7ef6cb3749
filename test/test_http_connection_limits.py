"""Clients that send nothing, and too many of them, take nothing from the others."""

from __future__ import annotations

import contextlib
import logging
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest
from http_requests import ask, call, status
from narrowing import require
from waiting import HANG_SECONDS, until

from robot_memory.http import connection_limits
from robot_memory.mcp_server import HttpBridge


def idle(bridge: HttpBridge) -> socket.socket:
    return socket.create_connection(('127.0.0.1', bridge.port), timeout=HANG_SECONDS)


def is_let_go(bridge: HttpBridge, sent: bytes = b'') -> bool:
    """Say whether a connection is ended without an answer to what was sent."""
    with contextlib.suppress(ConnectionResetError, BrokenPipeError), idle(bridge) as connection:
        connection.sendall(sent)
        return connection.recv(1) == b''
    return True


@pytest.mark.parametrize('sent', [b'', b'POST /mcp HTTP/1.1\r\nHost: localhost\r\n'])
def test_who_connects_and_asks_nothing_is_let_go(
    free: HttpBridge, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    with monkeypatch.context() as hurried:
        hurried.setattr(connection_limits, 'HEAD_SECONDS', 0.1)
        assert is_let_go(free, sent)
    assert status(free, '/health') == 200


def test_who_begins_a_body_and_does_not_end_it_is_let_go(
    free: HttpBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_limits, 'HEAD_SECONDS', 0.1)
    monkeypatch.setattr(connection_limits, 'BODY_SECONDS', 0.1)
    head = b'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
    assert is_let_go(free, head + b'Content-Length: 100\r\n\r\n{')


def ask_health(connection: socket.socket) -> bytes:
    connection.sendall(b'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    return connection.recv(15)


def test_who_only_holds_connections_open_shuts_nobody_out(
    free: HttpBridge, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connection_limits, 'CONNECTIONS', 5)
    held = [idle(free) for _ in range(5)]
    with caplog.at_level(logging.WARNING, 'robot_memory'):
        for _ in range(20):
            held.append(idle(free))
        with idle(free) as asking:
            assert ask_health(asking) == b'HTTP/1.1 200 OK'
    assert 1 <= len(caplog.records) <= 6
    # The silent ones were closed in the order in which they came.
    assert all(connection.recv(1) == b'' for connection in held[:20])
    for connection in held:
        connection.close()
    server = require(free._server).server
    until(lambda: not server.server_state.connections, 'the server to see them gone')


def test_a_new_connection_is_rejected_where_all_others_are_being_answered(
    free: HttpBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_limits, 'CONNECTIONS', 2)
    order = free._memory.call_order
    with ThreadPoolExecutor(2) as pool, order._turn:
        waiting = [pool.submit(ask, free, call('export', session_id='all')) for _ in range(2)]
        server = require(free._server).server.server_state
        until(
            lambda: (
                [
                    one._is_answered
                    for one in server.connections
                    if isinstance(one, connection_limits.LimitedProtocol)
                ]
                == [True, True]
            ),
            'both to be asked',
        )
        assert is_let_go(free)
    assert [one.result()[0] for one in waiting] == [200, 200]
