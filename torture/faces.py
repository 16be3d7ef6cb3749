"""The faces that requests come in by: services and MCP of a live node, and the command line."""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import os
import random
import secrets
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wild import Wild

from robot_memory import cli
from robot_memory.catalog import list_tools
from robot_memory.core.fields import get_fields
from robot_memory.tool import Tool

Request = tuple[Tool[Any, Any], dict[str, Any]]
REFUSED = {'invalid_argument', 'not_found', 'conflict', 'unavailable', 'permission_denied'}
"""Codes of failures that are the caller's, or pass; `internal` is ours."""
CONNECTIONS = 12
"""Calls that a live node has at a time from each face."""
HANG_SECONDS = 600.0
IDLE_SECONDS = 4.0
"""After so long the server may be just closing a connection, whatever then comes on it."""
PROCESSES = 500
"""Of so many calls of the command line one is a process of its own."""
OBEYED = {
    *map(chr, (*range(0x20), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F)),
    *map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))),
} - set('\t\n\r')
"""Characters that drive a terminal or turn a text: none is in what a face prints."""
PRINTED_AS_TEXT = 0.5
"""The share of the command line's calls that print for people, not JSON."""
NOT_FIT = '\0', '\ud800'


@dataclass(frozen=True)
class Outcome:
    """
    Say whether a call was answered, and with what, or refused by which code and words.

    `printed` is what it gave as text.
    """

    answered: bool
    answer: Any
    code: str = ''
    message: str = ''
    printed: str = ''

    @property
    def fault(self) -> str:
        """Return what is wrong with it, '' where nothing is."""
        if obeyed := sorted(OBEYED.intersection(self.printed + self.message)):
            return f'controls {obeyed} in {self.printed + self.message!r:.400}'
        if self.answered:
            return ''
        if self.code == 'internal' or not self.message:
            return f'{self.code or "no code"}: {self.message or "no words"}'
        return ''


class Node:
    """A node in a process of its own, which serves MCP too."""

    def __init__(self, folder: Path, model: str = 'none') -> None:
        """Start it, with whoever calls as an operator; '' is the default models. It listens."""
        from ament_index_python.packages import get_package_prefix

        self.db, self._log = folder / 'memory.db', folder / 'node.log'
        self.port = _find_free_port()
        given = {
            'db_path': self.db, 'durability': 'normal', 'ros_role': 'operator',
            'http_role': 'operator', 'mcp_port': self.port, 'mcp_tools': 'all',
        }  # fmt: skip
        if model:  # ROS takes no empty string for a value
            given['model'] = model
        command = [str(Path(get_package_prefix('robot_memory')) / 'lib/robot_memory/memory_node')]
        pairs = [part for key, value in given.items() for part in ('-p', f'{key}:={value}')]
        # Nobody else on this machine may have such a node: it would be called in its place.
        name = f'tortured_{secrets.token_hex(8)}'
        self.name = f'/{name}'
        with open(self._log, 'wb') as log:
            self._process = subprocess.Popen(
                [*command, '--ros-args', '-r', f'__node:={name}', *pairs],
                stdout=log,
                stderr=log,
                cwd=folder,
            )
        self._wait_until_it_listens()

    def find_fault(self) -> str:
        """Say what is wrong with the process: it must live, and have met no fault of its own."""
        if self._process.poll() is not None:
            return f'the node ended with {self._process.returncode}: {self._read_log()}'
        return f'the node met a fault: {self._read_log()}' if self._has_traceback() else ''

    @property
    def pid(self) -> int:
        """Return the number of the process."""
        return self._process.pid

    def read_processor_ms(self) -> int:
        """Return how long a processor has been at it, in milliseconds."""
        told = Path(f'/proc/{self._process.pid}/stat').read_text(encoding='ascii')
        ticks = sum(map(int, told.rpartition(')')[2].split()[11:13]))
        return round(1000 * ticks / os.sysconf('SC_CLK_TCK'))

    def stop(self) -> str:
        """Stop it as a launch file does; say what is wrong with how it ended."""
        fault = self.find_fault()
        self._process.send_signal(signal.SIGINT)
        code = self._process.wait(timeout=HANG_SECONDS)
        return fault or (f'the node stopped with {code}: {self._read_log()}' if code else '')

    def kill(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.wait()

    def _wait_until_it_listens(self) -> None:
        end = time.monotonic() + HANG_SECONDS
        while True:
            with contextlib.suppress(ConnectionRefusedError):
                socket.create_connection(('127.0.0.1', self.port), HANG_SECONDS).close()
                return
            if self._process.poll() is not None or time.monotonic() > end:
                self.kill()
                raise RuntimeError(self.find_fault())
            time.sleep(0.05)

    def _has_traceback(self) -> bool:
        return b'Traceback' in self._log.read_bytes()

    def _read_log(self) -> str:
        said = self._log.read_text(errors='replace')
        return said[max(0, said.find('Traceback')) :][:1500]


class Services:
    """The services of a node, many calls at a time."""

    def __init__(self, name: str) -> None:
        """Be a node of its own until it is closed, and call the node of a name."""
        import rclpy
        from rclpy.executors import SingleThreadedExecutor

        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self._node = rclpy.create_node('torturer', context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._name = name
        self._clients: dict[str, Any] = {}
        self._find_client(list_tools()[0])  # it is offered once the store is open

    def close(self) -> None:
        """Be no node any more."""
        import rclpy

        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)

    def call_all(self, requests: Sequence[Request], wild: Wild) -> list[Outcome]:
        """Make calls at once; return what came of each."""
        from robot_memory.ros import convert

        futures = []
        for tool, given in requests:
            client = self._find_client(tool)
            message = client.srv_type.Request()
            fill_message(message, tool, given, wild)
            futures.append(client.call_async(message))
        self._spin_until(lambda: all(future.done() for future in futures), 'answers')
        outcomes = []
        for (tool, _), future in zip(requests, futures, strict=True):
            reply: Any = future.result()
            if reply.success:
                answer = convert.to_plain(reply, tool.response)
                outcomes.append(Outcome(True, answer))
            else:
                outcomes.append(Outcome(False, None, reply.error_code, reply.message))
        return outcomes

    def _find_client(self, tool: Tool[Any, Any]) -> Any:
        if tool.name not in self._clients:
            import robot_memory.srv
            from robot_memory.ros.interfaces import service_name

            kind = getattr(robot_memory.srv, service_name(tool))
            client: Any = self._node.create_client(kind, f'{self._name}/{tool.name}')
            self._spin_until(client.service_is_ready, f'the service {tool.name}')
            self._clients[tool.name] = client
        return self._clients[tool.name]

    def _spin_until(self, condition: Any, what: str) -> None:
        end = time.monotonic() + HANG_SECONDS
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f'waited {HANG_SECONDS:.0f} s for {what}')
            self._executor.spin_once(timeout_sec=0.05)


def fill_message(message: Any, tool: Tool[Any, Any], given: dict[str, Any], wild: Wild) -> None:
    """Write a request into a message as far as its types let it; typed fields are random."""
    declared = {one.ros_name: one.name for one in get_fields(tool.request)}
    for slot, kind in message.get_fields_and_field_types().items():
        name = declared.get(slot)
        if name in given:
            value = _fit(given[name], kind, wild)
            if value is not None:
                setattr(message, slot, value)
        elif name is None and wild.chance.random() < 0.1:
            setattr(message, slot, _make_typed(getattr(message, slot), kind, wild))


def _fit(value: Any, kind: str, wild: Wild) -> Any:
    """Return a value as a message takes it; None where it does not."""
    if kind == 'string':
        try:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            return None
        return _clean(text)
    if kind == 'boolean' and isinstance(value, bool):
        return value
    if kind == 'int64' and isinstance(value, int):
        return max(-(2**63), min(2**63 - 1, int(value)))
    if kind == 'double' and isinstance(value, int | float):
        with contextlib.suppress(OverflowError):
            return float(value)
    if kind == 'sequence<string>' and isinstance(value, list):
        return [_clean(one) for one in value if isinstance(one, str)]
    if kind == 'sequence<int64>' and isinstance(value, list):
        return [_fit(one, 'int64', wild) for one in value if isinstance(one, int)]
    return None


def _clean(text: str) -> str:
    """Return a text without what no message can carry."""
    for one in NOT_FIT:
        text = text.replace(one, '')
    return text.encode('utf-8', 'ignore').decode()


def _make_typed(value: Any, kind: str, wild: Wild) -> Any:
    """Return any value of the type of a field."""
    if hasattr(value, 'get_fields_and_field_types'):
        for slot, inner in value.get_fields_and_field_types().items():
            if wild.chance.random() < 0.6:
                setattr(value, slot, _make_typed(getattr(value, slot), inner, wild))
        return value
    figures = 0.0, 1.0, -1.5, 1e308, float('nan'), float('inf')
    if kind.startswith('double['):
        return [wild.chance.choice(figures) for _ in value]
    if kind.startswith(('uint', 'int')) and '[' not in kind:
        most = 2 ** (int(''.join(filter(str.isdigit, kind))) - 1) - 1
        return wild.chance.choice((0, 1, most, -most - 1 if kind[0] == 'i' else most))
    by_kind: dict[str, Callable[[], Any]] = {
        'string': lambda: _clean(wild.make_text()),
        'boolean': lambda: wild.chance.random() < 0.5,
        'double': lambda: wild.chance.choice(figures),
        'float': lambda: wild.chance.choice((0.0, 1.0)),
    }
    return by_kind[kind]() if kind in by_kind else value


class Mcp:
    """MCP of a node over HTTP, with connections that are kept and a call at a time on each."""

    def __init__(self, port: int) -> None:
        """Connect."""
        self._port = port
        self._free = [self._connect() for _ in range(CONNECTIONS)]
        self._used = [time.monotonic()] * CONNECTIONS

    def close(self) -> None:
        """Close the connections."""
        for one in self._free:
            one.close()

    def call_all(self, requests: Sequence[Request], wild: Wild) -> list[Outcome]:
        """Make calls at once; return what came of each."""
        outcomes = []
        for at in range(0, len(requests), CONNECTIONS):
            part = requests[at : at + CONNECTIONS]
            for place, (tool, given) in enumerate(part):
                if _is_closed(self._free[place]):  # a server ends those that were idle
                    self._free[place].close()
                    self._free[place] = self._connect()
                    self._used[place] = time.monotonic()
                _post(self._free[place], _write_call(tool, given, wild))
                self._used[place] = time.monotonic() - self._used[place]
            for place in range(len(part)):
                was_idle = self._used[place] > IDLE_SECONDS
                outcomes.append(_read_outcome(self._free[place], was_idle))
                self._used[place] = time.monotonic()
        return outcomes

    def _connect(self) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection('127.0.0.1', self._port, timeout=HANG_SECONDS)
        connection.connect()
        return connection


def _write_call(tool: Tool[Any, Any], given: dict[str, Any], wild: Wild) -> bytes:
    """Return the body of a call, one in twenty broken."""
    try:
        arguments: Any = json.loads(json.dumps(given))
    except (TypeError, ValueError, RecursionError):
        arguments = {}
    body: Any = {
        'jsonrpc': '2.0',
        'id': wild.chance.choice((1, 'a', 2**53)),
        'method': 'tools/call',
        'params': {'name': tool.name, 'arguments': arguments},
    }
    if wild.chance.random() < 0.05:
        place = wild.chance.choice((*body, 'arguments', 'name', 'all', 'cut'))
        if place in ('arguments', 'name'):
            body['params'][place] = wild.make_scalar()
        elif place == 'all':
            body = wild.make_scalar()
        elif place == 'cut':
            text = json.dumps(body).encode()
            return text[: wild.chance.randrange(len(text))]
        else:
            body[place] = wild.make_scalar()
    try:
        return json.dumps(body).encode()
    except ValueError:  # a number of more digits than a text may have
        return b'{"jsonrpc": "2.0", "id": 1e999}'


def _is_closed(connection: http.client.HTTPConnection) -> bool:
    """Say whether the other end closed a connection on which nothing is waited for."""
    return connection.sock is None or bool(select.select([connection.sock], [], [], 0)[0])


def _post(connection: http.client.HTTPConnection, body: bytes) -> None:
    headers = {
        'content-type': 'application/json',
        'accept': 'application/json, text/event-stream',
    }
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # refused while it is sent
        connection.request('POST', '/mcp', body, headers)


def _read_outcome(connection: http.client.HTTPConnection, was_idle: bool) -> Outcome:
    try:
        response = connection.getresponse()
        content = response.read()
    except (http.client.HTTPException, ConnectionError) as error:
        connection.close()
        code = 'closed' if was_idle else 'internal'
        return Outcome(False, None, code, f'closed without an answer: {error!r}')
    if response.status >= 500:
        return Outcome(False, None, 'internal', f'{response.status} {content[:300]!r}')
    if not content:
        return Outcome(False, None, 'no_request', f'status {response.status}')
    told = json.loads(content)
    if 'error' in told:
        is_ours = told['error'].get('code') == -32603
        return Outcome(
            False,
            None,
            'internal' if is_ours else 'no_request',
            str(told['error'].get('message'))[:300],
        )
    result = told['result']
    answer = result.get('structuredContent')
    said = ' '.join(one.get('text', '') for one in result.get('content', []))
    if not result.get('isError'):
        return Outcome(True, answer, printed=said)
    answer = answer or {}
    return Outcome(False, None, str(answer.get('error_code', 'invalid_argument')), said)


class CommandLine:
    """The command line, in this process but for a few calls."""

    def __init__(self, db: Path) -> None:
        """Name the store."""
        self._db = db
        self._made = 0

    def close(self) -> None:
        """Have nothing to close."""

    def call_all(self, requests: Sequence[Request], wild: Wild) -> list[Outcome]:
        """Make calls one after another; return what came of each."""
        return [
            self._call(tool, given, is_json=wild.chance.random() >= PRINTED_AS_TEXT)
            for tool, given in requests
        ]

    def _call(self, tool: Tool[Any, Any], given: dict[str, Any], *, is_json: bool) -> Outcome:
        line = [tool.name.replace('_', '-'), '--db', str(self._db), '--model', 'none']
        line += ['--json'] * is_json + _write_line(tool, given)
        self._made += 1
        if self._made % PROCESSES == 0:
            return _run_process([_clean(part) for part in line], is_json)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.run(line)
        return _judge_exit(code, out.getvalue(), err.getvalue(), is_json)


def _write_line(tool: Tool[Any, Any], given: dict[str, Any]) -> list[str]:
    """Return the words of a command that say a request."""
    declared = {one.name: one for one in get_fields(tool.request)}
    line, places = [], []
    for name, value in given.items():
        field, option = declared.get(name), f'--{_say(name).replace("_", "-")}'
        if field is not None and field.required:
            places.append(_say(value))
        elif field is not None and field.kind == 'flag':
            line += [option] if value is True else []
        elif field is not None and field.kind in ('texts', 'numbers') and isinstance(value, list):
            line += [option, *map(_say, value)]
        else:
            line.append(f'{option}={_say(value)}')
    return [*line, '--', *places] if places else line


def _say(value: Any) -> str:
    try:
        return value if isinstance(value, str) else json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return 'null'


def _run_process(line: list[str], is_json: bool) -> Outcome:
    done = subprocess.run(
        ['robot-memory', *line], capture_output=True, text=True, errors='replace', check=False
    )
    return _judge_exit(done.returncode, done.stdout, done.stderr, is_json)


def _judge_exit(code: int, out: str, err: str, is_json: bool) -> Outcome:
    printed = out + err
    if code == 0 and not is_json:
        return Outcome(True, None, printed=printed)
    if code == 0:
        with contextlib.suppress(ValueError):
            return Outcome(True, json.loads(out), printed=printed)
        return Outcome(False, None, 'internal', f'no JSON was printed: {out[:200]!r}')
    if code == 2:
        return Outcome(False, None, 'usage', err[-300:], printed)
    said = err.partition('[')[2].partition(']')
    return Outcome(False, None, said[0] if code == 1 else 'internal', err[-300:], printed)


def _find_free_port() -> int:
    with socket.socket() as one:
        one.bind(('127.0.0.1', 0))
        return int(one.getsockname()[1])


def choose_domain() -> None:
    """Hear nobody's nodes but our own."""
    os.environ['ROS_DOMAIN_ID'] = str(random.SystemRandom().randrange(1, 100))
