"""The services of a live node."""

from __future__ import annotations

import json
import re
import signal
import socket
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from narrowing import require
from rcl_interfaces.srv import DescribeParameters, GetParameters, SetParameters
from rclpy.parameter import Parameter
from waiting import HANG_SECONDS

from robot_memory.catalog import list_tools
from robot_memory.http import web_server
from robot_memory.msg import NearPlace
from robot_memory.storage import checksums, connection


def test_every_tool_is_a_service_under_the_private_name(
    start: Callable[..., Any], robot: Any
) -> None:
    start()
    for tool in list_tools():
        if tool.ros:
            robot.client(tool.name)


def test_a_memory_is_taught_and_asked(start: Callable[..., Any], robot: Any) -> None:
    start()
    taught = robot.call(
        'learn', insight='The red cup needs 12 N', context='{"task": {"success": true}}'
    )
    assert taught.success and taught.status == 'created' and taught.memory_id == 1
    found = robot.call('recall', query='red cup')
    assert found.success and found.mode == 'bm25_only' and found.total == 1
    assert found.memories[0].content == 'The red cup needs 12 N'
    assert json.loads(found.memories[0].task) == {'success': True}


def test_the_defaults_of_a_request_are_those_of_the_declaration(
    start: Callable[..., Any], robot: Any
) -> None:
    start()
    request = robot.client('recall').srv_type.Request()
    assert (request.n, request.min_confidence, request.collection) == (5, 0.3, 'default')


def test_minus_one_means_that_a_score_is_not_given(start: Callable[..., Any], robot: Any) -> None:
    start()
    session = robot.call('start_session').session_id
    ended = robot.call('end_session', session_id=session)
    assert ended.success and robot.call('recall', query='x', min_confidence=-1.0).success
    refused = robot.call('recall', query='x', min_confidence=-0.5)
    assert refused.error_code == 'invalid_argument' and '-0.5' in refused.message


def test_a_typed_pose_and_place_go_over_dds(start: Callable[..., Any], robot: Any) -> None:
    start()
    request = robot.client('save_perception').srv_type.Request(description='Touched the table')
    request.has_pose = request.has_covariance = request.has_stamp = True
    request.pose_stamped.header.frame_id = 'map'
    request.pose_stamped.pose.pose.position.x = 1.5
    request.pose_stamped.pose.covariance[0] = 0.25
    kept = robot.answer(robot.client('save_perception').call_async(request))
    assert kept.success, kept.message
    near = NearPlace(frame='map', has_position=True, within=2.0)
    (found,) = robot.call('recall', near_place=near, has_near_place=True).memories
    assert found.pose_stamped == request.pose_stamped and found.has_covariance
    assert found.has_stamp and found.stamp == request.stamp, '0 is a legal simulated stamp'
    assert found.near.pose_stamped.pose == request.pose_stamped.pose.pose
    request.pose_stamped.pose.pose.orientation.w = 2.0
    refused = robot.answer(robot.client('save_perception').call_async(request))
    assert refused.error_code == 'invalid_argument' and 'of length 1' in refused.message


def test_fault_02_every_failing_call_has_a_reply(start: Callable[..., Any], robot: Any) -> None:
    start()
    failing: list[tuple[str, dict[str, Any], str]] = [
        ('learn', {'insight': ' '}, 'invalid_argument'),
        ('learn', {'insight': 'x', 'context': '{'}, 'invalid_argument'),
        ('learn', {'insight': 'x', 'session_id': 'nobody'}, 'not_found'),
        ('recall', {}, 'invalid_argument'),
        ('recall', {'query': 'x', 'n': 101}, 'invalid_argument'),
        ('recall', {'query': 'x', 'context_filter': '{"a": {"$like": 1}}'}, 'invalid_argument'),
        ('recall', {'query': 'x', 'spatial_sort': '[]'}, 'invalid_argument'),
        ('save_perception', {'description': 'abc'}, 'invalid_argument'),
        ('save_perception', {'description': 'touched', 'data': '3'}, 'invalid_argument'),
        ('forget', {'memory_id': 9, 'reason': 'x'}, 'not_found'),
        ('forget', {'memory_id': 0, 'reason': 'x'}, 'invalid_argument'),
        ('update', {'memory_id': 9, 'new_content': 'x'}, 'not_found'),
        ('start_session', {'context': '[1]'}, 'invalid_argument'),
        ('end_session', {'session_id': 'nobody'}, 'not_found'),
        ('query_records', {'limit': 0}, 'invalid_argument'),
    ]
    for service, request, code in failing:
        reply = robot.call(service, **request)
        assert (reply.success, reply.error_code) == (False, code), (service, request)
        assert reply.message
    assert robot.call('query_records').total_count == 0


def test_fault_03_parameters_reach_a_node_under_a_namespace(
    start: Callable[..., Any], robot: Any, tmp_path: Path
) -> None:
    file = tmp_path / 'parameters.yaml'
    file.write_text('/**:\n  ros__parameters:\n    real_weight: 3.0\n')
    start('-r', '__ns:=/cell_1', '--params-file', file)
    assert robot.call('learn', '/cell_1/robot_memory', insight='The lamp is on').success
    get = robot.node.create_client(GetParameters, '/cell_1/robot_memory/get_parameters')
    robot.until(get.service_is_ready, 'the parameter service')
    future = get.call_async(GetParameters.Request(names=['real_weight']))
    assert robot.answer(future).values[0].double_value == 3.0


def test_parameters_say_what_they_are_and_refuse_what_they_cannot_be(
    start: Callable[..., Any], robot: Any
) -> None:
    start()
    robot.client('recall')
    describe = robot.node.create_client(DescribeParameters, '/robot_memory/describe_parameters')
    set_them = robot.node.create_client(SetParameters, '/robot_memory/set_parameters')
    robot.until(set_them.service_is_ready, 'the parameter services')
    described = robot.answer(
        describe.call_async(DescribeParameters.Request(names=['real_weight', 'db_path']))
    ).descriptors
    assert described[0].floating_point_range[0].to_value == 10.0
    assert all(item.description for item in described) and described[1].read_only

    def put(name: Any, value: Any) -> Any:
        message = Parameter(name, value=value).to_parameter_msg()
        future = set_them.call_async(SetParameters.Request(parameters=[message]))
        return robot.answer(future).results[0].successful

    assert put('real_weight', 2.0)
    assert not put('real_weight', 99.0)
    assert not put('db_path', '/elsewhere')


def test_a_changed_weight_takes_effect(start: Callable[..., Any], robot: Any) -> None:
    start()
    context = '{"env": {"sim_or_real": "real"}}'
    robot.call('learn', insight='The red cup is heavy', context=context)
    before = robot.call('recall', query='cup').memories[0].rrf_score
    set_them = robot.node.create_client(SetParameters, '/robot_memory/set_parameters')
    robot.until(set_them.service_is_ready, 'the parameter service')
    message = Parameter('real_weight', value=3.0).to_parameter_msg()
    robot.answer(set_them.call_async(SetParameters.Request(parameters=[message])))
    after = robot.call('recall', query='cup').memories[0].rrf_score
    assert abs(after / before - 2.0) < 1e-3


def test_waiting_writes_never_hold_up_a_recall(start: Callable[..., Any], robot: Any) -> None:
    node = start()
    robot.call('learn', insight='The lamp is on')
    other = checksums.connect(node.db)
    other.execute('BEGIN IMMEDIATE')
    waiting = [robot.send('learn', insight=f'Shelf {i} is full') for i in range(20)]
    for _ in range(10):
        assert robot.call('recall', query='lamp').total == 1
    assert not any(future.done() for future in waiting)
    other.execute('COMMIT')
    assert all(robot.answer(future).status == 'created' for future in waiting)


def test_an_interrupt_ends_the_node_at_once_and_loses_nothing(
    start: Callable[..., Any], robot: Any
) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        node = start()
        assert robot.call('learn', insight='The lamp is on').success
        assert node.stop(number) == 0
        assert 'Traceback' not in node.said()
        rows = checksums.connect(node.db).execute('SELECT count(*) FROM memories').fetchall()
        assert rows == [(1,)]
        robot.until_gone('learn')


def test_a_wrong_parameter_is_one_clear_line(start: Callable[..., Any]) -> None:
    for parameters, words in (
        ({'durability': 'perhaps'}, 'one of full, normal'),
        ({'real_weight': '99.0'}, 'out of range'),
        ({'db_path': '/proc/no/memory.db'}, 'db_path'),
    ):
        node = start(**parameters)
        assert node.process.wait(timeout=HANG_SECONDS) == 1
        assert words in node.said() and 'Traceback' not in node.said()


def test_calls_from_many_clients_at_once_are_all_answered(
    start: Callable[..., Any], robot: Any
) -> None:
    start()
    futures = [robot.send('learn', insight=f'Bin {i} holds screws') for i in range(100)]
    futures += [robot.send('recall', query='screws') for _ in range(100)]
    assert all(robot.answer(future).success for future in futures)
    assert robot.call('query_records').total_count == 100


def test_ctrl_c_ends_the_node_within_two_seconds_with_calls_open(
    start: Callable[..., Any], robot: Any
) -> None:
    node = start(mcp_enabled='true', mcp_port=0, debug='true')
    assert robot.call('learn', insight='The lamp is on').success
    robot.until(lambda: 'MCP: http' in node.said(), 'the door of MCP')
    url = require(re.search(r'MCP: (http\S+)', node.said())).group(1)
    other = checksums.connect(node.db)
    other.execute('BEGIN IMMEDIATE')
    robot.send('learn', insight='Shelf 1 is full')
    call = {'name': 'learn', 'arguments': {'insight': 'Shelf 2 is full'}}
    body = {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call', 'params': call}
    request = urllib.request.Request(
        url,
        json.dumps(body).encode(),
        {'Content-Type': 'application/json', 'Accept': 'application/json, text/event-stream'},
    )
    with ThreadPoolExecutor(1) as pool:
        opened = pool.submit(urllib.request.urlopen, request, timeout=HANG_SECONDS)
        for _ in range(10):
            assert robot.call('recall', query='lamp').total == 1
        assert connection.STOPPING_SECONDS + web_server.PATIENCE_SECONDS < 2
        assert node.stop() == 0
        assert opened.exception() is not None or opened.result().status == 200
    told = f'another process is writing to {node.db} and this memory is shutting down'
    assert told in node.said(), 'the call was broken off, and not waited for'
    other.execute('ROLLBACK')


def test_a_taken_port_is_one_clear_line(start: Callable[..., Any]) -> None:
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        taken.listen()
        port = taken.getsockname()[1]
        node = start(mcp_enabled='true', mcp_port=port)
        assert node.process.wait(timeout=HANG_SECONDS) == 1
    assert f'{port}' in node.said()
    assert 'mcp_port' in node.said()
    assert not node.db.exists(), 'nothing was served before'
    assert 'Traceback' not in node.said()


def test_a_door_for_others_without_a_token_is_one_clear_line(start: Callable[..., Any]) -> None:
    node = start(mcp_enabled='true', mcp_port=0, mcp_host='0.0.0.0')
    assert node.process.wait(timeout=HANG_SECONDS) == 1
    assert '[invalid_argument] mcp_host 0.0.0.0' in node.said()
    assert 'mcp_token_file' in node.said()
    assert 'Traceback' not in node.said()


def test_a_node_with_a_token_asks_for_it_and_shows_it_nowhere(
    start: Callable[..., Any], robot: Any, tmp_path: Path
) -> None:
    file = tmp_path / 'token'
    file.touch(0o600)
    file.write_text('a-token-that-is-long-enough')
    node = start(
        mcp_enabled='true',
        mcp_port=0,
        mcp_host='0.0.0.0',
        mcp_token_file=file,
        mcp_allowed_hosts="['robot7.local']",
        mcp_tools='all',
    )
    robot.until(lambda: 'token required' in node.said(), 'the door of MCP')
    port = require(re.search(r'MCP: http://0.0.0.0:(\d+)', node.said())).group(1)
    for host, given, status in (
        ('robot7.local', 'Bearer a-token-that-is-long-enough', 200),
        ('robot7.local', 'Bearer another', 401),
        ('robot8.local', 'Bearer a-token-that-is-long-enough', 421),
    ):
        request = urllib.request.Request(
            f'http://127.0.0.1:{port}/metrics', headers={'Host': host, 'Authorization': given}
        )
        try:
            found = urllib.request.urlopen(request, timeout=HANG_SECONDS).status
        except urllib.error.HTTPError as refused:
            found = refused.code
        assert found == status
    assert 'long-enough' not in node.said()
