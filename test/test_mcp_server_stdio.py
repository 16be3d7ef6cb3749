"""MCP over stdio: the server in a process of its own, the real client and raw pipes outside."""

from __future__ import annotations

import json
import os
import select
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import prepared
import pytest
from http_requests import LIST
from mcp import Client, StdioServerParameters
from mcp_calls import CUP, answer, call_every_tool
from narrowing import require
from robots import REVISIONS
from waiting import HANG_SECONDS

import robot_memory.mcp_server
from robot_memory.catalog import list_tools
from robot_memory.mcp_server import stdio

pytestmark = pytest.mark.anyio
SOURCE = Path(robot_memory.mcp_server.__file__).parents[2]
PROGRAM = """
import sys
from robot_memory.core.clock import Clocks
from robot_memory.memory import Memory
from robot_memory.core.settings import Settings
from robot_memory.storage import connection
from robot_memory.mcp_server import serve_stdio, stdio

connection.PATIENCE_SECONDS = float('inf')
stdio._LAST_SECONDS = float(sys.argv[2])

class PrintingClocks(Clocks):
    def wall(self):
        if 'memory' in globals():
            print('this is no message of the protocol', flush=True)
        return super().wall()

settings = Settings(db_path=sys.argv[1], model='none', durability='normal')
with Memory(settings, clocks=PrintingClocks()) as memory:
    serve_stdio(memory, 'all')
"""
"""A clock that prints stands for any library that does."""

INITIALIZE = {
    'jsonrpc': '2.0',
    'id': 0,
    'method': 'initialize',
    'params': {
        'protocolVersion': '2025-11-25',
        'capabilities': {},
        'clientInfo': {'name': 'pipe', 'version': '1'},
    },
}
INITIALIZED = {'jsonrpc': '2.0', 'method': 'notifications/initialized'}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / 'cell.db'


def command(store: Path, last_seconds: float = stdio._LAST_SECONDS) -> list[str]:
    return [sys.executable, '-c', PROGRAM, str(store), str(last_seconds)]


class Pipe:
    """A server process that is written to and read from by hand."""

    def __init__(self, store: Path, noise: Path, *last_seconds: float) -> None:
        self.noise = noise
        self.process = prepared.Popen(
            command(store, *last_seconds),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=noise.open('wb'),
            env={**os.environ, 'PYTHONPATH': str(SOURCE)},
        )
        self.send(INITIALIZE)
        assert self.receive()['result']['protocolVersion'] == '2025-11-25'
        self.send(INITIALIZED)

    def send(self, message: Any) -> None:
        text = message if isinstance(message, bytes) else json.dumps(message).encode()
        require(self.process.stdin).write(text + b'\n')
        require(self.process.stdin).flush()

    def receive(self) -> Any:
        line = require(self.process.stdout).readline()
        assert line, self.noise.read_text()
        return json.loads(line)

    def call(self, number: int, tool: str, **arguments: Any) -> None:
        params = {'name': tool, 'arguments': arguments}
        self.send({'jsonrpc': '2.0', 'id': number, 'method': 'tools/call', 'params': params})

    def ended(self) -> int:
        """Return the exit code."""
        return self.process.wait(timeout=HANG_SECONDS)


@pytest.fixture
def open_pipe(store: Path, tmp_path: Path) -> Iterator[Callable[..., Pipe]]:
    opened: list[Pipe] = []

    def open_one(*last_seconds: float) -> Pipe:
        opened.append(Pipe(store, tmp_path / f'stderr{len(opened)}', *last_seconds))
        return opened[-1]

    yield open_one
    for pipe in opened:
        pipe.process.kill()
        pipe.process.wait()
        require(pipe.process.stdin).close()
        require(pipe.process.stdout).close()


@pytest.fixture
def pipe(open_pipe: Callable[..., Pipe]) -> Pipe:
    return open_pipe()


@pytest.mark.parametrize('revision', REVISIONS)
async def test_every_tool_answers_over_stdio(
    store: Path, revision: str, open_pipe: Callable[..., Pipe]
) -> None:
    program, *arguments = command(store)
    server = StdioServerParameters(
        command=program, args=arguments, env={**os.environ, 'PYTHONPATH': str(SOURCE)}
    )
    async with Client(server, mode=REVISIONS[revision]) as client:
        assert client.protocol_version == revision
        await call_every_tool(client)
        total = (await answer(client, 'query_records'))['total_count']
    another = open_pipe()
    another.call(1, 'query_records')
    assert another.receive()['result']['structuredContent']['total_count'] == total > 0


def test_stdout_carries_the_protocol_only(pipe: Pipe) -> None:
    pipe.call(1, 'learn', insight=CUP)
    assert pipe.receive()['id'] == 1
    require(pipe.process.stdin).close()
    assert require(pipe.process.stdout).read() == b''
    assert pipe.ended() == 0
    assert 'no message of the protocol' in pipe.noise.read_text()


def test_the_end_of_stdin_ends_it(pipe: Pipe) -> None:
    require(pipe.process.stdin).close()
    assert pipe.ended() == 0


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_while_it_waits_for_a_line(
    open_pipe: Callable[..., Pipe], number: int
) -> None:
    pipe = open_pipe(2 * HANG_SECONDS)  # it ends by itself, and is not ended
    pipe.process.send_signal(number)
    assert pipe.ended() == 0
    assert 'Traceback' not in pipe.noise.read_text()


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_within_two_seconds_with_a_call_open(
    pipe: Pipe, store: Path, number: int
) -> None:
    assert stdio._LAST_SECONDS < 2
    pipe.call(1, 'learn', insight='The door opens to the left')
    pipe.receive()
    other = sqlite3.connect(store, isolation_level=None)
    other.execute('BEGIN IMMEDIATE')
    pipe.call(2, 'learn', insight=CUP)
    pipe.call(3, 'recall', query='door')
    assert pipe.receive()['id'] == 3, 'the recall overtakes the learn, which waits'
    pipe.process.send_signal(number)
    assert pipe.ended() in (0, 128 + number)
    assert 'Traceback' not in pipe.noise.read_text()
    other.execute('ROLLBACK')
    (kept,) = other.execute('SELECT group_concat(content) FROM memories')
    other.close()
    assert kept == ('The door opens to the left',)


def test_a_signal_ends_it_while_its_client_reads_nothing(pipe: Pipe) -> None:
    pipe.call(1, 'learn', insight=CUP, context={'note': 'x' * 500_000})
    pipe.receive()
    pipe.call(2, 'recall', query='cup')
    assert select.select([require(pipe.process.stdout)], [], [], HANG_SECONDS)[0]
    pipe.process.send_signal(signal.SIGINT)
    assert pipe.ended() == 128 + signal.SIGINT


def test_lines_of_any_length_and_script_arrive_whole(pipe: Pipe) -> None:
    text = '红色杯子需要 12.5 N 的抓力'
    data = ['Übergröße 杯 🤖'] * 100_000
    pipe.send(
        json.dumps(
            {
                'jsonrpc': '2.0',
                'id': 1,
                'method': 'tools/call',
                'params': {
                    'name': 'save_perception',
                    'arguments': {'description': text, 'data': data},
                },
            },
            ensure_ascii=False,
        ).encode()
    )
    assert not pipe.receive()['result']['isError']
    pipe.call(2, 'recall', query='红色杯子')
    assert pipe.receive()['result']['structuredContent']['memories'][0]['content'] == text


def test_a_line_that_is_no_message_does_not_end_it(pipe: Pipe) -> None:
    pipe.send(b'')
    for line in (b'{', b'[]', b'\xff\xfe', b'[' * 10_000, b'{"jsonrpc": "2.0"}', b'null'):
        pipe.send(line)
        assert pipe.receive()['error']['code'] in (-32700, -32600)
    pipe.call(1, 'recall', query='cup')
    assert not pipe.receive()['result']['isError']


@pytest.mark.parametrize(
    ('line', 'code'),
    [
        (rb'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\ud800"}}', -32600),
        (b'{"jsonrpc":"2.0","id":7,"method":5}', -32600),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[]}', -32602),
        (b'{"id":7,"method":"tools/list"}', -32600),
    ],
)
def test_a_request_that_is_none_is_answered_with_its_id(
    pipe: Pipe, line: bytes, code: int
) -> None:
    pipe.send(line)
    reply = pipe.receive()
    assert (reply['id'], reply['error']['code']) == (7, code)


def test_arguments_as_json_text_are_taken_and_others_refused(pipe: Pipe) -> None:
    pipe.call(1, 'learn', insight='The red cup is chipped')
    pipe.receive()
    for number, (name, given) in enumerate(
        [
            ('getStats', '{}'),
            ('recall', "{'query': 'cup'}"),
            ('recall', 'cup'),
            ('recall', ['cup']),
        ]
    ):
        params = {'name': name, 'arguments': given}
        pipe.send({'jsonrpc': '2.0', 'id': number, 'method': 'tools/call', 'params': params})
    found = {reply['id']: reply for reply in (pipe.receive() for _ in range(4))}
    assert 'Unknown tool' in found[0]['error']['message']
    assert found[1]['result']['structuredContent']['total'] == 1
    for number in (2, 3):
        assert 'arguments must be an object' in found[number]['error']['message']


@pytest.mark.parametrize('name', ['getContext', 'get-context', 'robot_memory.get_context'])
def test_a_tool_has_its_name_in_any_style(pipe: Pipe, name: str) -> None:
    pipe.call(1, name, query='pick up the red cup')
    assert not pipe.receive()['result']['isError']


def test_what_is_not_utf_8_is_refused_and_not_kept(pipe: Pipe, store: Path) -> None:
    pipe.call(1, 'learn', insight='The door opens to the left')
    pipe.receive()
    message = {'name': 'learn', 'arguments': {'insight': 'latin BYTE here'}}
    line = json.dumps({'jsonrpc': '2.0', 'id': 2, 'method': 'tools/call', 'params': message})
    pipe.send(line.encode().replace(b'BYTE', b'\xff'))
    assert pipe.receive()['error']['code'] == -32700
    other = sqlite3.connect(store)
    assert other.execute('SELECT count(*) FROM memories').fetchall() == [(1,)]
    other.close()


def test_at_the_end_of_the_input_every_call_has_its_answer(pipe: Pipe, store: Path) -> None:
    for number in range(30):
        pipe.call(number, 'save_perception', description=f'The cup is seen {number}')
    require(pipe.process.stdin).close()
    replies = [json.loads(line) for line in require(pipe.process.stdout).read().splitlines()]
    assert pipe.ended() == 0
    assert {reply['id'] for reply in replies} == set(range(30))
    assert all(not reply['result']['isError'] for reply in replies)
    other = sqlite3.connect(store)
    assert other.execute('SELECT count(*) FROM memories').fetchall() == [(30,)]
    other.close()


def test_two_servers_share_a_file(open_pipe: Callable[..., Pipe]) -> None:
    first, second = open_pipe(), open_pipe()
    for number in range(1, 21):
        first.call(number, 'learn', insight=f'Shelf {number} is dusty')
        second.call(number, 'learn', insight=f'Drawer {number} jams')
    for pipe in (first, second):
        for _ in range(20):
            assert pipe.receive()['result']['structuredContent']['status'] == 'created'
    first.call(99, 'query_records')
    assert first.receive()['result']['structuredContent']['total_count'] == 40


@pytest.mark.parametrize(
    ('given', 'listed'),
    [([], 10), (['--mcp-tools', 'core'], 8), (['--mcp-tools', 'all'], len(list_tools()))],
)
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
