"""One call of a running node's service, as `ros2 service call` makes it."""

from __future__ import annotations

import dataclasses
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import rclpy
import yaml
from rclpy.client import Client
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

import robot_memory.srv
from robot_memory.core.errors import (
    Internal,
    InvalidArgument,
    RobotMemoryError,
    Unavailable,
    list_error_classes,
)
from robot_memory.core.fields import NANOSECONDS, Field, check, get_fields
from robot_memory.core.json_text import dump_json, format_value
from robot_memory.ros import convert, session
from robot_memory.ros.interfaces import ROS_TOOLS, service_name
from robot_memory.ros.leaving import leave_within
from robot_memory.ros.typed_fields import name_flag
from robot_memory.tool import Tool

_TURN_SECONDS = 0.05
_LEAVING_SECONDS = 10.0
_NAME = re.compile(r'(/[A-Za-z_]\w*)+')


def call(
    service: str,
    request: str,
    node: str,
    timeout: float,
    tell: Callable[[dict[str, Any]], object],
) -> None:
    """
    Call a service of a node with a request in YAML or JSON; `tell` the reply as plain JSON.

    It is told before the process leaves the graph, so that no fault of that keeps it back.

    `timeout` bounds in seconds how long the node is looked for, and how long it may take to
    answer. Raise InvalidArgument for what the service does not take, Unavailable where no such
    node answers, and what the node refuses the call with.
    """
    tool = _find_tool(service)
    full = '/' + node.strip('/')
    if not _NAME.fullmatch(full):
        raise InvalidArgument(
            f'node must be a node name such as /cell_1/robot_memory, not {format_value(node)}'
        )
    kind = getattr(robot_memory.srv, service_name(tool))
    message = _make_message(kind, tool, _parse_request(tool, request))
    with _open_client_node() as (client_node, spin_until):
        client: Client[Any, Any] = client_node.create_client(kind, f'{full}/{tool.name}')
        if not spin_until(client.service_is_ready, timeout):
            raise Unavailable(_explain_missing(client_node, full, tool.name, timeout))
        future = client.call_async(message)
        if not spin_until(future.done, timeout):
            raise Unavailable(
                f'{full} did not answer {tool.name} within {timeout:g} s and may still execute '
                'it; increase --timeout'
            )
        tell(_convert_reply(future.result(), tool))


def _find_tool(service: str) -> Tool[Any, Any]:
    name = service.removeprefix('~/').replace('-', '_')
    for tool in ROS_TOOLS:
        if tool.name == name:
            return tool
    known = ', '.join(tool.name for tool in ROS_TOOLS)
    raise InvalidArgument(f'service must be one of {known}, not {format_value(service)}')


def _parse_request(tool: Tool[Any, Any], request: str) -> Mapping[str, Any]:
    """Return the fields of a request by their names."""
    try:
        loaded = yaml.safe_load(request)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        words = ' '.join(str(error).split())
        raise InvalidArgument(f'the request is not valid YAML or JSON: {words}') from None
    loaded = {} if loaded is None else loaded
    if not isinstance(loaded, Mapping):
        raise InvalidArgument(
            "the request must be a mapping of fields, e.g. {insight: 'The lamp is on'}, not "
            f'{format_value(loaded)}'
        )
    names = [field.ros_name for field in get_fields(tool.request)]
    wrong = [format_value(name) for name in loaded if name not in names]
    if wrong:
        takes = f'accepted: {", ".join(names)}' if names else 'it has none'
        raise InvalidArgument(f'{tool.name} has no field {", ".join(wrong)}; {takes}')
    return loaded


def _make_message(kind: Any, tool: Tool[Any, Any], request: Mapping[str, Any]) -> Any:
    message = kind.Request()
    for field in get_fields(tool.request):
        value = request.get(field.ros_name)
        if value is not None:
            _set(message, field, value)
    return message


def _set(message: Any, field: Field, value: Any) -> None:
    """Write a value into a request; whether it is in its bounds is for the node to say."""
    if field.kind == 'json':
        text = value if isinstance(value, str) else dump_json(value, field.name)
        setattr(message, field.ros_name, text)
        return
    unbounded = dataclasses.replace(
        field, minimum=None, maximum=None, min_length=0, max_length=0, choices=(), without=''
    )
    checked = check(unbounded, value)
    if field.kind == 'stamp':
        stamp = getattr(message, field.ros_name)
        stamp.sec, stamp.nanosec = divmod(checked, NANOSECONDS)
        setattr(message, name_flag(field), True)
    else:
        plain = list(checked) if isinstance(checked, tuple) else checked
        setattr(message, field.ros_name, plain)


SpinUntil = Callable[[Callable[[], bool], float], bool]


@contextmanager
def _open_client_node() -> Iterator[tuple[Node, SpinUntil]]:
    """Be a node for a while; beside it is what spins until a condition holds, or too long."""
    context = rclpy.Context()
    session.initialise([], context)
    opened = ExitStack()
    opened.callback(rclpy.shutdown, context=context)
    try:
        client_node = rclpy.create_node(
            f'robot_memory_call_{os.getpid()}',
            context=context,
            enable_rosout=False,
            start_parameter_services=False,
        )
        opened.callback(client_node.destroy_node)
        executor = SingleThreadedExecutor(context=context)
        opened.callback(executor.shutdown)
        executor.add_node(client_node)

        def spin_until(condition: Callable[[], bool], timeout: float) -> bool:
            end = time.monotonic() + timeout
            while not condition():
                if time.monotonic() > end:
                    return False
                executor.spin_once(timeout_sec=_TURN_SECONDS)
            return True

        yield client_node, spin_until
    finally:
        with leave_within(_LEAVING_SECONDS):  # of a call that is refused, too
            opened.close()


def _explain_missing(client_node: Node, node: str, service: str, timeout: float) -> str:
    """Return in words that a service is not there, and what is."""
    known = [
        f'{space.rstrip("/")}/{name}'
        for name, space in client_node.get_node_names_and_namespaces()
    ]
    services = {name for name, _ in client_node.get_service_names_and_types()}
    memories = sorted({name for name in known if f'{name}/recall' in services})
    domain = os.environ.get('ROS_DOMAIN_ID') or '0'
    if node in known:
        return (
            f'node {node} has no service {node}/{service}: it is not ready, or not a memory node'
        )
    here = (
        f'running memory nodes: {", ".join(memories)}' if memories else 'no memory node is running'
    )
    return (
        f'node {node} was not found within {timeout:g} s (ROS_DOMAIN_ID {domain}); {here}; '
        'select another with --node, or start `memory_node`'
    )


def _convert_reply(reply: Any, tool: Tool[Any, Any]) -> dict[str, Any]:
    """Return a reply as plain JSON; raise what it says where the call was refused."""
    if not reply.success:
        codes: dict[str, type[RobotMemoryError]] = {
            kind.code: kind for kind in list_error_classes()
        }
        raise codes.get(reply.error_code, Internal)(reply.message)
    head = {'success': True, 'error_code': '', 'message': reply.message}
    return {**head, **convert.to_plain(reply, tool.response)}
