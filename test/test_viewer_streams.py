"""What open pages are told, by Server-Sent Events."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from narrowing import require
from robots import Robot
from viewing import Visit, serve_viewer
from waiting import HANG_SECONDS

from robot_memory.viewer.streams import MAX_STREAMS


class Stream:
    """An open stream, read event by event."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self._response = response
        self.id = ''

    def read(self, name: str) -> dict[str, Any]:
        """Return the data of the next event of a name."""
        fields: dict[str, str] = {}
        while line := self._response.readline().decode():
            key, _, value = line.rstrip('\n').partition(': ')
            if line != '\n':
                fields[key] = value
                continue
            self.id = fields.get('id', self.id)
            if fields.get('event') == name:
                found: dict[str, Any] = json.loads(fields['data'])
                return found
            fields = {}
        raise EOFError('the stream ended')


@contextmanager
def listen(port: int, **headers: str) -> Iterator[Stream]:
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=HANG_SECONDS)
    given = {'Accept': 'text/event-stream', **{k.replace('_', '-'): v for k, v in headers.items()}}
    connection.request('GET', '/news', headers=given)
    try:
        response = connection.getresponse()
        assert response.status == 200, response.read()
        assert response.headers['content-type'].startswith('text/event-stream')
        yield Stream(response)
    finally:
        connection.close()


def test_what_is_kept_changed_and_forgotten_is_told(robot: Robot) -> None:
    kept = require(robot.learn('The cup is on the table').memory_id)
    with serve_viewer(robot) as viewer, listen(viewer.port) as stream:
        assert stream.read('open') == {}
        new = require(robot.learn('The plate is in the sink').memory_id)
        assert stream.read('news')['changed'] == [new]
        robot.forget(kept, reason='it broke')
        assert stream.read('news')['changed'] == [kept]


def test_a_stream_resumes_where_it_was_lost(robot: Robot) -> None:
    with serve_viewer(robot) as viewer:
        with listen(viewer.port) as stream:
            stream.read('open')
            last = stream.id
        missed = require(robot.learn('The cup is on the table').memory_id)
        with listen(viewer.port, last_event_id=last) as stream:
            assert stream.read('news')['changed'] == [missed]
        with listen(viewer.port, last_event_id='no number') as stream:
            stream.read('open')
            new = require(robot.learn('The plate is in the sink').memory_id)
            assert stream.read('news')['changed'] == [new]


def test_there_are_so_many_streams_and_no_more(robot: Robot) -> None:
    with serve_viewer(robot) as viewer, ExitStack() as opened:
        for _ in range(MAX_STREAMS):
            opened.enter_context(listen(viewer.port)).read('open')
        refused = Visit(viewer.port).send('/news')
        assert refused.status == 503
        assert str(MAX_STREAMS) in refused.text
        assert Visit(viewer.port).send('/').status == 200


def test_stopping_ends_the_streams_at_once(robot: Robot) -> None:
    with serve_viewer(robot) as viewer, listen(viewer.port) as stream:
        stream.read('open')
        viewer.stop()
        try:
            stream.read('news')
        except (EOFError, http.client.IncompleteRead):
            return
        raise AssertionError('the stream went on')
