"""MCP over real HTTP: the bridge in this process, the real client and plain sockets outside."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import apsw
import pytest
from mcp import Client
from mcp_calls import CUP, answer, call_every_tool
from narrowing import require
from robots import REVISIONS, Robot
from waiting import HANG_SECONDS, until

from robot_memory.core.errors import InvalidArgument, Unavailable
from robot_memory.http import web_server
from robot_memory.mcp_server import HttpBridge
from robot_memory.storage import checksums

pytestmark = pytest.mark.anyio
HEADERS = {'content-type': 'application/json', 'accept': 'application/json, text/event-stream'}
LIST = {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/list'}


@pytest.fixture
def bridge(robot: Robot) -> Iterator[HttpBridge]:
    bridge = HttpBridge(robot.memory, port=0, tools='all')
    bridge.start()
    yield bridge
    bridge.stop()


def client_of(bridge: HttpBridge, revision: str = '2026-07-28') -> Client:
    return Client(bridge.url, mode=REVISIONS[revision])


def request(
    bridge: HttpBridge,
    body: Any = LIST,
    method: str = 'POST',
    path: str = '/mcp',
    **headers: str,
) -> tuple[int, bytes]:
    """Send one plain request; return the status and the body."""
    connection = http.client.HTTPConnection('127.0.0.1', bridge.port, timeout=HANG_SECONDS)
    text = body if isinstance(body, str | bytes) else json.dumps(body)
    connection.request(method, path, text, {**HEADERS, **headers})
    response = connection.getresponse()
    try:
        return response.status, response.read()
    finally:
        connection.close()


def learning(text: str) -> dict[str, Any]:
    params = {'name': 'learn', 'arguments': {'insight': text}}
    return {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call', 'params': params}


def is_writing(robot: Robot) -> bool:
    """Return whether another thread is in a write transaction, or waits for one to begin."""
    free = robot.memory.db._lock.acquire(blocking=False)
    if free:
        robot.memory.db._lock.release()
    return not free


def call_in_flight(bridge: HttpBridge, robot: Robot) -> tuple[socket.socket, apsw.Connection]:
    """Hold the store's write lock and send a learn that waits for it; end when it waits."""
    other = checksums.connect(robot.memory.db.path)
    other.execute('BEGIN IMMEDIATE')
    body = json.dumps(learning(CUP)).encode()
    head = ''.join(f'{name}: {value}\r\n' for name, value in HEADERS.items())
    caller = socket.create_connection(('127.0.0.1', bridge.port))
    caller.sendall(
        f'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{bridge.port}\r\n{head}'
        f'Content-Length: {len(body)}\r\n\r\n'.encode()
        + body
    )
    until(lambda: is_writing(robot), 'the call to reach the store')
    return caller, other


async def test_every_tool_answers_over_http(bridge: HttpBridge, revision: str) -> None:
    async with client_of(bridge, revision) as client:
        assert client.protocol_version == revision
        await call_every_tool(client)


async def test_a_client_that_knows_neither_revision_finds_one(bridge: HttpBridge) -> None:
    async with Client(bridge.url) as client:
        assert client.protocol_version in REVISIONS
        await answer(client, 'learn', insight=CUP)


async def test_a_client_outlives_a_restart_of_the_node(robot: Robot, revision: str) -> None:
    bridge = HttpBridge(robot.memory, port=0)
    bridge.start()
    async with client_of(bridge, revision) as client:
        await answer(client, 'learn', insight=CUP)
        await anyio.to_thread.run_sync(bridge.stop)
        after = HttpBridge(robot.memory, port=bridge.port)
        after.start()
        assert (await answer(client, 'recall', query='cup'))['total'] == 1
    await anyio.to_thread.run_sync(after.stop)


@pytest.mark.usefixtures('_endless_patience')
async def test_a_recall_answers_while_writes_wait(
    bridge: HttpBridge, robot: Robot, revision: str
) -> None:
    robot.learn('The door opens to the left')
    robot.memory.accesses.flush()
    caller, other = await anyio.to_thread.run_sync(call_in_flight, bridge, robot)
    async with client_of(bridge, revision) as client:
        with anyio.fail_after(HANG_SECONDS):
            assert (await answer(client, 'recall', query='door'))['total'] == 1
        assert is_writing(robot), 'the write waits still'
        other.execute('ROLLBACK')
        other.close()
        reply = await anyio.to_thread.run_sync(caller.recv, 65536)
        assert reply.startswith(b'HTTP/1.1 200')
        assert (await answer(client, 'recall', query='cup'))['total'] == 1
    caller.close()


def test_many_clients_at_once_lose_no_write(bridge: HttpBridge, robot: Robot) -> None:
    texts = [f'Shelf {number} holds {number * 3} boxes' for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda text: request(bridge, learning(text)), texts))
    assert {status for status, _ in replies} == {200}
    assert robot.query_records(limit=1).total_count == 40


def test_the_caller_of_a_plain_request_is_its_user_agent(bridge: HttpBridge, robot: Robot) -> None:
    kept = robot.learn(CUP).memory_id
    params = {'name': 'forget', 'arguments': {'memory_id': kept, 'reason': 'wrong'}}
    body = {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call', 'params': params}
    request(bridge, body, **{'user-agent': 'arm-ui/3'})
    (record,) = robot.query_records(where={'status': 'invalidated'}).records
    assert require(record.audit)[-1]['actor'] == 'mcp:arm-ui/3'


def accepted(caller: tuple[str, int]) -> socket.socket:
    """Return a copy of this process's socket at the other end of a connection from an address."""
    for name in os.listdir('/proc/self/fd'):
        with contextlib.suppress(OSError):
            one = socket.socket(fileno=os.dup(int(name)))
            if one.family == socket.AF_INET and one.getpeername() == caller:
                return one
            one.close()
    raise AssertionError(f'no connection from {caller}')


def test_no_call_waits_for_a_delayed_acknowledgement(bridge: HttpBridge) -> None:
    connection = http.client.HTTPConnection('127.0.0.1', bridge.port, timeout=HANG_SECONDS)
    connection.request('POST', '/mcp', json.dumps(LIST), HEADERS)
    connection.getresponse().read()
    for end in (connection.sock, accepted(connection.sock.getsockname())):
        # Without it the second part of a message waits until the first is acknowledged.
        assert end.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    connection.close()


def test_a_taken_port_is_told_at_start(robot: Robot, bridge: HttpBridge) -> None:
    second = HttpBridge(robot.memory, port=bridge.port)
    with pytest.raises(Unavailable, match=rf'port {bridge.port} .*in use.*mcp_port'):
        second.start()
    second.stop()
    assert request(bridge)[0] == 200


def test_a_port_that_is_none_is_told_at_start(robot: Robot) -> None:
    with pytest.raises(Unavailable, match='port 70000'):
        HttpBridge(robot.memory, port=70000).start()


@pytest.mark.parametrize('host', ['0.0.0.0', '::', '192.168.1.5', 'robot.local', ''])
def test_a_host_that_others_reach_is_refused_without_a_token(robot: Robot, host: str) -> None:
    with pytest.raises(InvalidArgument, match='127.0.0.1'):
        HttpBridge(robot.memory, host=host)


@pytest.mark.parametrize('host', ['localhost', '127.0.0.1', '127.0.0.2', '::1'])
async def test_every_name_of_the_loopback_is_served(robot: Robot, host: str) -> None:
    if host == '::1':
        try:
            with socket.socket(socket.AF_INET6) as probe:
                probe.bind(('::1', 0))
        except OSError as lacking:
            pytest.skip(f'no IPv6 loopback here: {lacking}')
    bridge = HttpBridge(robot.memory, host=host, port=0)
    bridge.start()
    async with client_of(bridge) as client:
        await answer(client, 'recall', query='cup')
    await anyio.to_thread.run_sync(bridge.stop)


@pytest.mark.parametrize(
    ('headers', 'status'),
    [
        ({'host': 'evil.example:80'}, 421),
        ({'host': 'localhost.evil.example:80'}, 421),
        ({'origin': 'http://evil.example'}, 403),
        ({'origin': 'null'}, 403),
        ({'host': 'localhost:9', 'origin': 'http://localhost:6274'}, 200),
        ({'content-type': 'text/plain'}, 415),
    ],
)
@pytest.mark.parametrize('version', ['', *REVISIONS])
def test_a_web_page_cannot_reach_the_memory(
    bridge: HttpBridge, robot: Robot, headers: dict[str, str], status: int, version: str
) -> None:
    named = {'mcp-protocol-version': version} if version else {}
    found, _ = request(bridge, learning(CUP), **headers, **named)
    if status == 200 and version == '2026-07-28':
        status = 400  # this revision wants its envelope in each request
    assert found == status
    assert robot.query_records().total_count == (status == 200)


def test_what_is_no_request_is_refused_and_the_next_is_answered(bridge: HttpBridge) -> None:
    assert request(bridge, method='GET')[0] == 405
    assert request(bridge, method='DELETE')[0] == 405
    assert request(bridge, path='/other')[0] == 404
    for body in ('', '{', '[]', 'null', '"x"', b'\xff\xfe', '[' * 10_000, '{"jsonrpc": "2.0"}'):
        for version in REVISIONS:
            status, _ = request(bridge, body, **{'mcp-protocol-version': version})
            assert status == 400, body
    assert request(bridge)[0] == 200


@pytest.mark.parametrize('text', ['\ud800', '\0', 'NaN'])
def test_a_text_that_cannot_be_kept_is_answered(bridge: HttpBridge, text: str) -> None:
    meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': {'name': 'x', 'version': text},
    }
    body = learning(text)
    body['params']['arguments']['context'] = {text: float('nan')}
    body['params'] |= {'_meta': meta}
    headers = {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'learn',
    }
    for sent in ({}, headers):
        status, reply = request(bridge, body, **sent)
        assert status in (200, 400)
        assert {'result', 'error'} & set(json.loads(reply))
    assert request(bridge)[0] == 200


def test_a_body_without_end_is_cut_off(bridge: HttpBridge) -> None:
    with socket.create_connection(('127.0.0.1', bridge.port)) as caller:
        caller.sendall(
            f'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{bridge.port}\r\n'
            'Content-Type: application/json\r\nContent-Length: 4000000000\r\n\r\n{'.encode()
        )
        caller.settimeout(HANG_SECONDS)
        assert b' 413 ' in caller.recv(65536)


def test_a_large_perception_arrives_whole(bridge: HttpBridge, robot: Robot) -> None:
    arguments = {'description': 'A long trajectory', 'data': [[0.25, 0.5]] * 100_000}
    params = {'name': 'save_perception', 'arguments': arguments}
    body = {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call', 'params': params}
    status, reply = request(bridge, body)
    assert (status, json.loads(reply)['result']['isError']) == (200, False)


@pytest.mark.usefixtures('_endless_patience')
def test_stop_ends_within_two_seconds_with_a_call_open(robot: Robot) -> None:
    assert web_server.PATIENCE_SECONDS < 2
    bridge = HttpBridge(robot.memory, port=0)
    bridge.start()
    caller, other = call_in_flight(bridge, robot)
    bridge.stop()
    assert is_writing(robot), 'the call is open still'
    with pytest.raises(ConnectionError):
        socket.create_connection(('127.0.0.1', bridge.port))
    other.execute('ROLLBACK')
    other.close()
    caller.close()


def test_stop_frees_the_port_and_leaves_no_thread(robot: Robot) -> None:
    bridge = HttpBridge(robot.memory, port=0)
    bridge.stop()
    bridge.start()
    port = bridge.port
    bridge.stop()
    bridge.stop()
    assert 'mcp-http' not in [thread.name for thread in threading.enumerate()]
    again = HttpBridge(robot.memory, port=port)
    again.start()
    assert request(again)[0] == 200
    again.stop()
