"""Who is answered: token, Host and Origin of each request; real HTTP."""

from __future__ import annotations

import http.client
import json
import logging
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from http_requests import JSON, LIST, TOKEN, ask, call, status
from robots import Robot
from waiting import HANG_SECONDS

from robot_memory.core.errors import InvalidArgument
from robot_memory.mcp_server import HttpBridge

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
