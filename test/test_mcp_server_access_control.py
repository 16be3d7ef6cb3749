"""The door: who may come in, what a plain POST is answered, health and metrics; real HTTP."""

from __future__ import annotations

import contextlib
import http.client
import json
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import prepared
import pytest
from narrowing import require
from robots import Robot
from waiting import HANG_SECONDS, until

from robot_memory.catalog import TOOLS
from robot_memory.core.errors import InvalidArgument, Unavailable
from robot_memory.mcp_server import HttpBridge, connection_limits
from robot_memory.mcp_server.routes import MAX_BODY

TOKEN = 'correct-horse-battery-staple'
JSON = {'content-type': 'application/json'}
LIST = {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/list'}
SEARCH = (
    '{"jsonrpc": "2.0", "id": "1", "method": "tools/call", "params": '
    '{"name": "search_memory", "arguments": {"query": "Docker"}}}'
)
"""The request of the Sage document, as it stands there."""


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    file = tmp_path / 'token'
    file.write_text(f'{TOKEN}\n')
    file.chmod(0o600)
    return file


@pytest.fixture
def serve(robot: Robot) -> Iterator[Callable[..., HttpBridge]]:
    """Open doors to one memory; they are closed at the end."""
    opened = []

    def open_one(**settings: Any) -> HttpBridge:
        bridge = HttpBridge(robot.memory, port=0, **settings)
        bridge.start()
        opened.append(bridge)
        return bridge

    yield open_one
    for bridge in opened:
        bridge.stop()


@pytest.fixture
def free(serve: Callable[..., HttpBridge]) -> HttpBridge:
    """A door on the loopback that asks for no token."""
    return serve()


@pytest.fixture
def guarded(serve: Callable[..., HttpBridge], token_file: Path) -> HttpBridge:
    """A door on every address of this machine, with a token."""
    return serve(host='0.0.0.0', token_file=str(token_file), allowed_hosts=['robot7.local', ''])


def ask(
    bridge: HttpBridge, body: Any = LIST, path: str = '/mcp', method: str = '', **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """Send one request; a header is left out that is empty."""
    connection = http.client.HTTPConnection('127.0.0.1', bridge.port, timeout=HANG_SECONDS)
    text = None if path != '/mcp' else body if isinstance(body, str | bytes) else json.dumps(body)
    given = {**(JSON if text is not None else {}), **headers}
    sent = {name.replace('_', '-'): value for name, value in given.items() if value}
    connection.request(method or ('GET' if text is None else 'POST'), path, text, sent)
    response = connection.getresponse()
    try:
        found = {name.lower(): value for name, value in response.getheaders()}
        return response.status, found, response.read()
    finally:
        connection.close()


def status(bridge: HttpBridge, path: str = '/mcp', **headers: str) -> int:
    return ask(bridge, path=path, **headers)[0]


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    params = {'name': tool, 'arguments': arguments}
    return {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call', 'params': params}


# The token


def test_who_gives_the_token_is_answered(guarded: HttpBridge) -> None:
    code, _, body = ask(guarded, authorization=f'Bearer {TOKEN}')
    assert code == 200
    assert json.loads(body)['result']['tools']
    assert status(guarded, authorization=f'bearer  {TOKEN} ') == 200
    assert status(guarded, '/metrics', authorization=f'Bearer {TOKEN}') == 200


@pytest.mark.parametrize(
    'given',
    [
        '',
        'Bearer',
        'Bearer ',
        'Bearer wrong',
        f'Bearer {TOKEN}x',
        f'Bearer {TOKEN[:-1]}',
        f'Bearer {TOKEN.upper()}',
        f'Bearer {TOKEN} {TOKEN}',
        f'Basic {TOKEN}',
        f'Token {TOKEN}',
        TOKEN,
        f'Bearer "{TOKEN}"',
        f'Bearer {TOKEN}\xe9',
    ],
)
@pytest.mark.parametrize('path', ['/mcp', '/metrics', '/other'])
def test_who_does_not_give_the_token_is_refused_and_told_how(
    guarded: HttpBridge, given: str, path: str
) -> None:
    code, headers, body = ask(guarded, path=path, authorization=given)
    assert code == 401
    assert headers['www-authenticate'] == 'Bearer'
    assert json.loads(body)['error']['code'] == 'unauthorized'
    assert b'Authorization: Bearer' in body
    assert TOKEN.encode() not in body


def test_the_token_counts_in_one_header_only(guarded: HttpBridge) -> None:
    assert ask(guarded, path=f'/metrics?token={TOKEN}')[0] == 401
    with socket.create_connection(('127.0.0.1', guarded.port)) as caller:
        caller.sendall(
            f'GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:{guarded.port}\r\n'
            f'Authorization: Bearer wrong\r\nAuthorization: Bearer {TOKEN}\r\n\r\n'.encode()
        )
        caller.settimeout(HANG_SECONDS)
        assert b' 401 ' in caller.recv(65536)


def test_the_token_is_asked_for_on_the_loopback_too_but_not_for_the_health(
    serve: Callable[..., HttpBridge], token_file: Path
) -> None:
    bridge = serve(token_file=str(token_file))
    assert bridge.asks_for_token
    assert [status(bridge, path) for path in ('/mcp', '/metrics', '/health')] == [401, 401, 200]


def test_without_a_token_an_authorization_is_passed_over(free: HttpBridge) -> None:
    assert not free.asks_for_token
    assert status(free, authorization='Bearer whatever') == 200


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


def test_an_empty_variable_is_no_open_door(robot: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
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


# Host and Origin


@pytest.mark.parametrize('host', ['0.0.0.0', '::', '192.168.1.5', '127.0.0.1', '::1'])
def test_only_the_loopback_is_served_without_a_token(robot: Robot, host: str) -> None:
    if host in ('127.0.0.1', '::1'):
        HttpBridge(robot.memory, host=host)
    else:
        with pytest.raises(InvalidArgument, match='mcp_token_file.*ROBOT_MEMORY_TOKEN'):
            HttpBridge(robot.memory, host=host)


@pytest.mark.parametrize('host', ['robot.local', '', '127.0.0.1:80', '256.1.1.1', 'http://x'])
def test_a_host_to_serve_on_is_an_address(robot: Robot, token_file: Path, host: str) -> None:
    with pytest.raises(InvalidArgument, match='mcp_host must be'):
        HttpBridge(robot.memory, host=host, token_file=str(token_file))


@pytest.mark.parametrize('name', ['http://robot7.local', 'robot7.local:80', 'a b', '*', 'ü.de'])
def test_an_allowed_host_is_a_name_without_port(robot: Robot, name: str) -> None:
    with pytest.raises(InvalidArgument, match='mcp_allowed_hosts'):
        HttpBridge(robot.memory, allowed_hosts=[name])


@pytest.mark.parametrize(
    ('host', 'code'),
    [
        ('127.0.0.1:17800', 200),
        ('localhost', 200),
        ('LocalHost:80', 200),
        ('[::1]:17800', 200),
        ('192.168.1.5:17800', 421),
        ('evil.example', 421),
        ('evil.example:17800', 421),
        ('localhost.evil.example', 421),
        ('localhost:80@evil.example', 421),
        ('127.0.0.1.evil.example:80', 421),
        ('localhost:', 200),
        ('localhost:x', 421),
        ('', 421),
        ('localhost, evil.example', 421),
        ('robot7.local:80', 421),
    ],
)
@pytest.mark.parametrize('path', ['/mcp', '/health', '/metrics'])
def test_the_loopback_answers_to_its_own_names_only(
    free: HttpBridge, host: str, code: int, path: str
) -> None:
    connection = http.client.HTTPConnection('127.0.0.1', free.port, timeout=HANG_SECONDS)
    connection.putrequest('POST' if path == '/mcp' else 'GET', path, skip_host=True)
    text = json.dumps(LIST).encode() if path == '/mcp' else b''
    for name, value in {'Host': host, **JSON, 'Content-Length': str(len(text))}.items():
        connection.putheader(name, value)
    connection.endheaders(text)
    response = connection.getresponse()
    assert response.status == code
    if code == 421:
        assert json.loads(response.read())['error']['code'] == 'misdirected'
    connection.close()


def test_another_address_answers_to_addresses_its_name_and_those_allowed(
    guarded: HttpBridge, serve: Callable[..., HttpBridge]
) -> None:
    good = ['192.168.1.5:80', '[fe80::1]:80', socket.gethostname(), 'Robot7.LOCAL:17800']
    for host in good:
        assert status(guarded, host=host, authorization=f'Bearer {TOKEN}') == 200, host
        assert status(guarded, host=host) == 401
    for host in ('evil.example', 'robot8.local', f'{socket.gethostname()}.evil.example'):
        assert status(guarded, host=host, authorization=f'Bearer {TOKEN}') == 421, host
    assert status(serve(allowed_hosts=['robot7.local']), host='robot7.local') == 200


@pytest.mark.parametrize(
    ('origin', 'code'),
    [
        ('http://localhost:6274', 200),
        ('https://127.0.0.1', 200),
        ('http://[::1]:80', 200),
        ('http://evil.example', 403),
        ('http://localhost.evil.example', 403),
        ('http://localhost@evil.example', 403),
        ('null', 403),
        ('file://', 403),
        ('localhost', 403),
        ('ftp://localhost', 403),
        ('http://192.168.1.66', 403),
        ('http://localhost/x', 403),
    ],
)
def test_a_web_page_from_elsewhere_is_refused(
    free: HttpBridge, robot: Robot, origin: str, code: int
) -> None:
    found, headers, _ = ask(free, call('learn', insight='The door opens left'), origin=origin)
    assert found == code
    assert robot.query_records().total_count == (code == 200)
    assert not [name for name in headers if name.startswith('access-control')]


def test_a_page_of_the_same_host_is_answered_and_one_of_another_address_is_not(
    guarded: HttpBridge,
) -> None:
    given = {'authorization': f'Bearer {TOKEN}', 'host': '192.168.1.5:17800'}
    assert status(guarded, origin='http://192.168.1.5:17800', **given) == 200
    assert status(guarded, origin='http://robot7.local', **given) == 200
    assert status(guarded, origin='http://192.168.1.66', **given) == 403


def test_a_browser_is_never_told_that_it_may(free: HttpBridge) -> None:
    code, headers, _ = ask(
        free,
        method='OPTIONS',
        origin='http://localhost:6274',
        access_control_request_method='POST',
        access_control_request_headers='content-type',
    )
    assert code == 405
    assert not [name for name in headers if name.startswith('access-control')]
    for kind in ('text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', ''):
        assert ask(free, content_type=kind, **{'content-type': kind})[0] == 415


def test_refusals_are_logged_ever_more_rarely(
    guarded: HttpBridge, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        for _ in range(40):
            status(guarded, authorization=f'Bearer {TOKEN[:-1]}')
    told = [r for r in caplog.records if 'rejected with 401' in r.message]
    assert len(told) == 6, 'after 1, 2, 4, 8, 16 and 32'
    assert '32 rejected so far' in told[-1].message
    assert TOKEN[:-1] not in caplog.text


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
    other = apsw.Connection(str(filling.memory.db.path))
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


@pytest.mark.parametrize(('given', 'listed'), [([], 8), (['--mcp-tools', 'all'], len(TOOLS))])
def test_the_command_line_lists_what_it_is_told_to(
    tmp_path: Path, given: list[str], listed: int
) -> None:
    command = [sys.executable, '-m', 'robot_memory', 'mcp', '--db', str(tmp_path / 'a.db'), *given]
    hello = {
        'protocolVersion': '2025-11-25',
        'capabilities': {},
        'clientInfo': {'name': 'x', 'version': '1'},
    }
    lines = [
        {'jsonrpc': '2.0', 'id': 0, 'method': 'initialize', 'params': hello},
        {'jsonrpc': '2.0', 'method': 'notifications/initialized'},
        LIST,
    ]
    with prepared.Popen(
        [*command, '--model', 'none'], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        require(server.stdin).write(b''.join(json.dumps(line).encode() + b'\n' for line in lines))
        require(server.stdin).flush()
        answers = [json.loads(require(server.stdout).readline()) for _ in range(2)]
        require(server.stdin).close()
    assert len(answers[1]['result']['tools']) == listed


# Clients that say nothing


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


def test_more_connections_than_are_served_take_no_files_and_end_nothing(
    free: HttpBridge, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connection_limits, 'CONNECTIONS', 5)
    held = [idle(free) for _ in range(5)]
    with caplog.at_level(logging.WARNING, 'robot_memory'):
        for _ in range(20):
            assert is_let_go(free)
    assert 1 <= len(caplog.records) <= 6
    for connection in held:
        connection.close()
    server = free._server
    until(lambda: not require(server).server_state.connections, 'the server to see them gone')
    assert status(free, '/health') == 200


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
