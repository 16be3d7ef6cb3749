"""What a plain POST is answered, and health and metrics; real HTTP."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from http_requests import SEARCH, ask, call, status
from narrowing import require
from robots import Robot
from waiting import HANG_SECONDS, until

from robot_memory.http.recent_report import RecentReport
from robot_memory.mcp_server import HttpBridge
from robot_memory.mcp_server.routes import MAX_BODY
from robot_memory.storage import checksums

# Bodies


def test_a_body_that_is_too_large_is_refused_unread(free: HttpBridge, guarded: HttpBridge) -> None:
    for bridge, code in ((free, b' 413 '), (guarded, b' 401 ')):
        with socket.create_connection(('127.0.0.1', bridge.port)) as caller:
            caller.sendall(
                f'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{bridge.port}\r\nContent-Type: '
                'application/json\r\nContent-Length: 4000000000\r\n\r\n{'.encode()
            )
            caller.settimeout(HANG_SECONDS)
            assert code in caller.recv(65536)
    assert status(free) == 200


def test_a_body_in_pieces_is_cut_off_where_it_is_too_large(free: HttpBridge) -> None:
    piece = b'100000\r\n' + b' ' * 0x100000 + b'\r\n'
    with socket.create_connection(('127.0.0.1', free.port)) as caller:
        caller.settimeout(HANG_SECONDS)
        caller.sendall(
            f'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{free.port}\r\n'
            'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'.encode()
        )
        for _ in range(MAX_BODY // 0x100000 + 1):
            caller.sendall(piece)
        assert b' 413 ' in caller.recv(65536)
    assert status(free) == 200


@pytest.mark.parametrize(
    'sent',
    [
        b'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
        b'Content-Length: 100\r\n\r\n{',
        b'\0\1\2\r\n\r\n',
    ],
)
def test_what_strangers_send_a_hundred_times_is_logged_a_few_times(
    free: HttpBridge, caplog: pytest.LogCaptureFixture, sent: bytes
) -> None:
    server = require(free._server).server.server_state
    for _ in range(100):
        with socket.create_connection(('127.0.0.1', free.port)) as stranger:
            stranger.sendall(sent)
    until(lambda: not server.connections and not server.tasks, 'the strangers to be gone')
    assert len(caplog.records) <= 7
    assert not any(record.exc_info for record in caplog.records)


def test_however_many_look_at_the_health_the_store_is_read_once_a_second() -> None:
    looks = iter(range(10))
    seconds = [5.0]

    async def look() -> list[int]:
        report = RecentReport(lambda: next(looks), clock=lambda: seconds[0])
        found: list[int] = []

        async def add() -> None:
            found.append(await report.get())

        for _ in range(2):
            async with anyio.create_task_group() as group:
                for _ in range(50):
                    group.start_soon(add)
            seconds[0] += 1.0
        return found

    assert anyio.run(look) == [0] * 50 + [1] * 50


# A bare POST


def test_the_documents_request_is_answered_as_it_stands(free: HttpBridge, robot: Robot) -> None:
    robot.learn('Docker on the robot needs 2 GB of disk')
    code, headers, body = ask(free, SEARCH)
    assert code == 200
    assert headers['content-type'].startswith('application/json')
    answer = json.loads(body)
    assert (answer['jsonrpc'], answer['id']) == ('2.0', '1')
    assert answer['result']['isError'] is False
    (found,) = json.loads(answer['result']['content'][0]['text'])
    assert found['content'] == 'Docker on the robot needs 2 GB of disk'
    assert answer['result']['structuredContent']['result'] == [found]


@pytest.mark.parametrize('accept', ['', '*/*', 'application/json', 'text/html'])
@pytest.mark.parametrize('method', ['tools/list', 'prompts/list', 'resources/list', 'ping'])
def test_a_bare_post_is_answered_whatever_it_accepts(
    free: HttpBridge, accept: str, method: str
) -> None:
    code, _, body = ask(free, {'jsonrpc': '2.0', 'id': 7, 'method': method}, accept=accept)
    answer = json.loads(body)
    assert (code, answer['id'], 'result' in answer) == (200, 7, True)


@pytest.mark.parametrize(
    ('body', 'status', 'code', 'words'),
    [
        ('{', 400, -32700, 'JSON'),
        ('', 400, -32700, 'JSON'),
        (b'\xff\xfe{}', 400, -32700, 'UTF-8'),
        ('[' * 100_000, 400, -32700, 'nested'),
        ('{"id": 1, "method": "ping"}', 400, -32600, 'jsonrpc'),
        ('{"jsonrpc": "1.0", "id": 1, "method": "ping"}', 400, -32600, "'1.0'"),
        ('{"jsonrpc": "2.0", "id": 1}', 400, -32600, 'method'),
        ('{"jsonrpc": "2.0", "id": 1, "method": 5}', 400, -32600, 'method'),
        ('{"jsonrpc": "2.0", "id": null, "method": "ping"}', 400, -32600, 'id'),
        ('{"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}', 400, -32600, 'id'),
        ('{"jsonrpc": "2.0", "id": true, "method": "ping"}', 400, -32600, 'id'),
        ('null', 400, -32600, 'object'),
        ('"text"', 400, -32600, 'object'),
        ('[]', 400, -32600, 'batch'),
        (f'[{SEARCH}, {SEARCH}]', 400, -32600, 'batch'),
        ('{"jsonrpc": "2.0", "id": 1, "method": "no/such"}', 404, -32601, 'not found'),
        ('{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}', 400, -32602, 'params.name'),
        (
            '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 5}}',
            400,
            -32602,
            'params.name',
        ),
        (
            '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ["recall"]}',
            400,
            -32602,
            'object',
        ),
        (
            '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", '
            '"params": {"name": "recall", "_meta": 5}}',
            400,
            -32602,
            '_meta',
        ),
        (
            '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x"}}',
            400,
            -32602,
            'Unknown tool',
        ),
        (
            '{"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": "x"}}',
            400,
            -32602,
            'sage_debug_mode',
        ),
    ],
)
def test_what_is_wrong_with_a_request_is_told_by_its_number(
    free: HttpBridge, body: str | bytes, status: int, code: int, words: str
) -> None:
    found, headers, answer = ask(free, body)
    error = json.loads(answer)['error']
    assert (found, error['code']) == (status, code)
    assert words in error['message'] or words == 'not found'
    assert headers['content-type'].startswith('application/json')
    assert ask(free)[0] == 200


def test_a_wrong_argument_is_a_result_that_the_model_can_read(free: HttpBridge) -> None:
    code, _, body = ask(free, call('recall', query=5))
    result = json.loads(body)['result']
    assert (code, result['isError']) == (200, True)
    assert result['structuredContent']['error']['code'] == 'invalid_argument'


@pytest.mark.parametrize('version', ['1.0', '2024-11-05', '2025-11-25', '9999-12-31', ''])
def test_initialize_is_answered_with_a_version_that_is_known(
    free: HttpBridge, version: str
) -> None:
    params = {
        'protocolVersion': version,
        'capabilities': {},
        'clientInfo': {'name': 'old', 'version': '0'},
    }
    body = {'jsonrpc': '2.0', 'id': 0, 'method': 'initialize', 'params': params}
    for accept in ('', 'application/json, text/event-stream'):
        code, _, answer = ask(free, body, accept=accept)
        found = json.loads(answer)['result']['protocolVersion']
        assert (code, found) == (200, '2024-11-05' if version == '2024-11-05' else '2025-11-25')
    assert ask(free, {'jsonrpc': '2.0', 'method': 'notifications/initialized'})[0] == 202


@pytest.mark.parametrize(
    'text',
    [
        '<script>alert(1)</script><img src=x onerror=alert(2)>',
        "'; DROP TABLE memories; --",
        '" OR 1=1 NEAR(a b) *) AND col:x ^y -z',
        '{"jsonrpc": "2.0"}',
        '../../etc/passwd%00',
        '红色杯子\u202e\u200b🤖',
        'x' * 9_000,
    ],
)
def test_hostile_text_is_kept_and_found_as_text(free: HttpBridge, robot: Robot, text: str) -> None:
    saved = ask(free, call('save_conversation', user_prompt=text, assistant_response='noted'))
    assert json.loads(saved[2])['result']['isError'] is False
    found = ask(free, call('search_memory', query=text, threshold=0))
    result = json.loads(found[2])['result']['structuredContent']['result']
    assert text in [memory['content'] for memory in result]
    name = {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call', 'params': {'name': text}}
    code, headers, body = ask(free, name)
    assert (code, json.loads(body)['error']['code']) == (400, -32602)
    assert headers['content-type'].startswith('application/json')
    code, _, _ = ask(free, {'jsonrpc': '2.0', 'id': text, 'method': text})
    assert code == 404


def test_a_failure_of_the_store_has_the_documents_number_for_its_tools(
    free: HttpBridge, robot: Robot
) -> None:
    robot.close()
    ours = json.loads(ask(free, call('recall', query='disk'))[2])['result']
    theirs = json.loads(ask(free, SEARCH)[2])['result']
    assert (ours['isError'], theirs['isError']) == (True, True)
    error = theirs['structuredContent']['error']
    assert ours['structuredContent']['error']['code'] == 'unavailable'
    assert error['code'] == 1001
    assert theirs['content'][0]['text'].startswith('[1001] ')
    assert error['hint'] in theirs['content'][0]['text']


@pytest.mark.parametrize(
    'message',
    [
        {'method': '\ud800'},
        {'method': 'tools/call', 'params': {'name': '\ud800', 'arguments': {}}},
        {'method': 'prompts/get', 'params': {'name': '\ud800'}},
        {'method': 'resources/read', 'params': {'uri': '\ud800'}},
        {
            'method': 'tools/list',
            'params': {'_meta': {'io.modelcontextprotocol/protocolVersion': '\ud800'}},
        },
    ],
)
def test_half_a_surrogate_pair_is_a_wrong_request(
    free: HttpBridge, message: dict[str, Any]
) -> None:
    code, _, body = ask(free, {'jsonrpc': '2.0', 'id': 4, **message})
    assert code in (400, 404)
    told = json.loads(body)
    assert told['id'] == 4
    assert told['error']['code'] in (-32601, -32602)


# The trace


TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'


@pytest.mark.parametrize(
    ('told', 'kept'),
    [
        (f'00-{TRACE}-00f067aa0ba902b7-01', True),
        (f'01-{TRACE}-00f067aa0ba902b7-01-more', True),
        (f'00-{"0" * 32}-00f067aa0ba902b7-01', False),
        (f'00-{TRACE}-{"0" * 16}-01', False),
        (f'ff-{TRACE}-00f067aa0ba902b7-01', False),
        (TRACE, False),
        ('"}\n{"level": "ERROR"', False),
        (5, False),
    ],
)
def test_a_call_belongs_to_the_trace_that_its_client_sent(
    free: HttpBridge, robot: Robot, told: Any, kept: bool
) -> None:
    from robot_memory.memory import trace

    seen: list[str] = []
    noted = logging.getLogger('robot_memory')

    class Seen(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(trace.get(''))

    handler = Seen()
    level = noted.level
    noted.addHandler(handler)
    noted.setLevel(logging.DEBUG)
    try:
        body = call('learn', insight='The door opens to the left')
        body['params']['_meta'] = {'traceparent': told}
        assert ask(free, body)[0] == 200
    finally:
        noted.removeHandler(handler)
        noted.setLevel(level)
    assert seen, 'a call is logged'
    assert (TRACE in seen) == kept


# Health and metrics


def test_health_says_healthy_and_holds_no_more_than_the_document_says(
    free: HttpBridge, robot: Robot
) -> None:
    robot.learn('The safe opens with 4711')
    code, headers, body = ask(free, path='/health')
    found = json.loads(body)
    assert (code, found['status'], found['memory_count']) == (200, 'healthy', 1)
    wanted = 'status timestamp memory_count database cache_status version'
    assert set(found) == set(wanted.split())
    assert headers['cache-control'] == 'no-store'
    assert b'4711' not in body
    assert str(robot.memory.db.path).encode() not in body


def test_health_is_503_where_the_store_cannot_be_read(free: HttpBridge, robot: Robot) -> None:
    robot.close()
    code, _, body = ask(free, path='/health')
    assert (code, json.loads(body)['status']) == (503, 'unhealthy')


def test_metrics_are_what_prometheus_reads(free: HttpBridge) -> None:
    ask(free, SEARCH)
    code, headers, body = ask(free, path='/metrics')
    assert code == 200
    assert headers['content-type'] == 'text/plain; version=0.0.4; charset=utf-8'
    assert 'sage_api_requests_total{method="search_memory"} 1.0' in body.decode()


def test_health_and_metrics_are_only_read(free: HttpBridge) -> None:
    for path in ('/health', '/metrics'):
        assert ask(free, path=path, method='POST')[0] == 405
        assert ask(free, path=path, method='HEAD')[0] == 200


def test_a_copy_that_cannot_be_read_has_a_number_and_is_made_anew_from_the_file(
    open_robot: Callable[..., Robot],
) -> None:
    filling = open_robot()
    filling.learn('Docker needs 2 GB of disk')
    other = checksums.connect(filling.memory.db.path)
    ((whole,),) = list(other.execute('SELECT terms FROM indexed'))
    other.execute("UPDATE indexed SET terms = x'010203'")
    reading = open_robot()
    bridge = HttpBridge(reading.memory, port=0)
    bridge.start()
    broken = json.loads(ask(bridge, SEARCH)[2])['result']
    other.execute('UPDATE indexed SET terms = ?', (whole,))
    other.close()
    mended = json.loads(ask(bridge, SEARCH)[2])['result']
    bridge.stop()
    assert broken['structuredContent']['error']['code'] == 1003
    assert mended['structuredContent']['result'][0]['content'] == 'Docker needs 2 GB of disk'
