"""The services: one loop over the tools."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.service import Service

import robot_memory.srv
from robot_memory.core.authority import Writer
from robot_memory.core.errors import Internal, RobotMemoryError
from robot_memory.memory import Memory, caller
from robot_memory.ros import convert
from robot_memory.ros.interfaces import ROS_TOOLS, service_name
from robot_memory.tool import Tool

logger = logging.getLogger(__name__)
_WAITING = QoSProfile(
    history=HistoryPolicy.KEEP_LAST, depth=1000, reliability=ReliabilityPolicy.RELIABLE
)
"""The default keeps ten requests: the callers of the others would wait for ever."""
_ATTEMPTS = 30
"""Each waits 100 ms inside the middleware."""


class Services:
    """
    Offer every tool as a service under the node's private name.

    Calls that read run side by side; calls that write take turns, and so do long ones: however
    many of them wait, there is a thread left for a recall.
    """

    def __init__(self, node: Node, memory: Memory) -> None:
        """Offer them from now on."""
        self._node = node
        self._services: list[Service[Any, Any]] = []
        reading, writing = ReentrantCallbackGroup(), MutuallyExclusiveCallbackGroup()
        reading_long = MutuallyExclusiveCallbackGroup()
        for tool in ROS_TOOLS:
            service = node.create_service(
                getattr(robot_memory.srv, service_name(tool)),
                f'~/{tool.name}',
                _make_handler(node, memory, tool),
                qos_profile=_WAITING,
                callback_group=(
                    reading_long if tool.long else reading if tool.read_only else writing
                ),
            )
            self._services.append(service)
        retry_replies(self._services)

    def close(self) -> None:
        """Offer them no more."""
        for service in self._services:
            self._node.destroy_service(service)
        self._services.clear()


def retry_replies(services: Iterable[Service[Any, Any]]) -> None:
    """Have services send a reply again that the middleware drops; rclpy's own only warn."""
    # Here the warning is raised, see _retry_sending.
    warnings.filterwarnings('error', 'failed to send response', RuntimeWarning)
    for service in services:
        # rclpy has no hook for it.
        service.send_response = _retry_sending(service)  # type: ignore[method-assign,assignment]


def _retry_sending(service: Service[Any, Any]) -> Callable[[Any, Any], None]:
    """
    Return a service's sending of replies that tries again where the caller is not matched yet.

    A request can come before the reply's way back is discovered; the middleware waits 100 ms for
    it and then drops the reply, and the caller would wait for ever.
    """
    send = service.send_response

    def send_response(response: Any, header: Any) -> None:
        for _ in range(_ATTEMPTS):
            try:
                return send(response, header)
            except (RuntimeWarning, SystemError) as error:
                # rclpy's C++ half passes the raised warning on as the cause of a SystemError.
                cause = error if isinstance(error, RuntimeWarning) else error.__cause__
                if not isinstance(cause, RuntimeWarning):
                    raise
        logger.warning(
            '%s: cannot send a response, the caller is gone: %s', service.srv_name, cause
        )
        return None

    return send_response


def name_caller(node: Node, memory: Memory) -> None:
    """Say of what this thread does next that it is a call over ROS."""
    name = node.get_fully_qualified_name()
    caller.set(Writer.of_role('ros', name, memory.settings.ros_role))


def _make_handler(node: Node, memory: Memory, tool: Tool[Any, Any]) -> Callable[[Any, Any], Any]:
    """Return the callback of a tool's service: whatever happens, the caller has a reply."""

    def handle(request: Any, response: Any) -> Any:
        name_caller(node, memory)
        try:
            with memory.admission.enter():
                answer = tool.run(memory, convert.read_arguments(request, tool.request))
            convert.fill(response, answer)
            response.success = True
            response.message = getattr(answer, 'status', 'ok')
        except RobotMemoryError as error:
            return convert.fail(type(response)(), error, tool.response)
        except Exception as error:
            logger.error('%s: cannot send a response: %r', tool.name, error)
            fault = Internal(f'{tool.name}: cannot send a response: {error!r}')
            return convert.fail(type(response)(), fault, tool.response)
        return response

    return handle
