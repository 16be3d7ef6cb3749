"""The actions: long calls with progress and cancel, one goal after the other."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from typing import Any

from rclpy.action.server import ActionServer, CancelResponse, GoalResponse, ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

import robot_memory.action
from robot_memory.core.errors import Cancelled, Internal, RobotMemoryError, Unavailable
from robot_memory.memory import Memory, progress
from robot_memory.ros import convert
from robot_memory.ros.declared_actions import ACTIONS, DeclaredAction
from robot_memory.ros.services import name_caller

logger = logging.getLogger(__name__)
Goal = ServerGoalHandle[Any, Any, Any]
_WAITING = 8
"""Goals that may wait for their turn; others are rejected."""
_RESULT_SECONDS = 900
"""How long the result of a goal that has ended is kept."""
_FEEDBACK_SECONDS = 0.1


class Actions:
    """
    Offer the declared actions under the node's private name.

    One goal runs at a time, in a thread of the executor that no service needs; others wait.
    """

    def __init__(self, node: Node, memory: Memory) -> None:
        """Offer them from now on."""
        self._node = node
        self._memory = memory
        self._lock = threading.Lock()
        self._waiting: deque[Goal] = deque()
        self._is_busy = False
        group = ReentrantCallbackGroup()
        self._servers = [self._make_server(action, group) for action in ACTIONS]

    def _make_server(self, action: DeclaredAction, group: ReentrantCallbackGroup) -> Any:
        kind = getattr(robot_memory.action, action.type_name)

        def execute(goal: Goal) -> Any:
            try:
                return self._carry_out(action, kind, goal)
            finally:
                self._take_next()

        return ActionServer(
            self._node,
            kind,
            f'~/{action.name}',
            execute,
            callback_group=group,
            goal_callback=self._answer_goal,
            handle_accepted_callback=self._enqueue,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
            result_timeout=_RESULT_SECONDS,
        )

    def close(self) -> None:
        """Offer them no more; a goal that runs was asked to stop before."""
        for server in self._servers:
            server.destroy()
        self._servers.clear()

    def _answer_goal(self, request: Any) -> GoalResponse:
        with self._lock:
            if len(self._waiting) < _WAITING:
                return GoalResponse.ACCEPT
        logger.warning('a goal is rejected: %d are waiting; send it again later', _WAITING)
        return GoalResponse.REJECT

    def _enqueue(self, goal: Goal) -> None:
        with self._lock:
            if self._is_busy:
                self._waiting.append(goal)
                return
            self._is_busy = True
        _begin(goal)

    def _take_next(self) -> None:
        with self._lock:
            self._is_busy = bool(self._waiting)
            goal = self._waiting.popleft() if self._waiting else None
        if goal is not None:
            _begin(goal)

    def _carry_out(self, action: DeclaredAction, kind: Any, goal: Goal) -> Any:
        """Carry out a goal and bring it into its last state; return its result."""
        call = _Call(self._memory, kind, goal)
        name_caller(self._node, self._memory)
        reset = progress.set(call.tell)
        try:
            with self._memory.admission.enter():
                call.tell(0, 0, '')
                given = convert.read_arguments(goal.request, action.tool.request)
                answer = action.tool.run(self._memory, given, in_background=True)
            result = convert.fill(kind.Result(), answer)
        except RobotMemoryError as error:
            failed = convert.fail(kind.Result(), error, action.tool.response)
            return call.end(failed, is_failure=not isinstance(error, Cancelled))
        except Exception as error:
            logger.exception('%s: cannot make a result: %r', action.name, error)
            fault = Internal(f'{action.name}: cannot make a result: {error!r}')
            failed = convert.fail(kind.Result(), fault, action.tool.response)
            return call.end(failed, is_failure=True)
        finally:
            progress.reset(reset)
        result.success = True
        result.message = getattr(answer, 'status', 'ok')
        return call.end(result)


_begin = ServerGoalHandle.execute
"""Have rclpy carry out a goal in a thread of the executor."""


class _Call:
    """Tell the caller of a goal how far it is, and the goal when it is to stop."""

    def __init__(self, memory: Memory, kind: Any, goal: Goal) -> None:
        self._memory = memory
        self._kind = kind
        self._goal = goal
        self._step = ''
        self._sent_at = 0.0
        self._stopped: Unavailable | None = None

    def tell(self, done: int, total: int, step: str) -> None:
        """Publish progress, ten times a second at most; raise Cancelled where it is to stop."""
        if self._memory.admission.reason:
            self._stopped = Cancelled(f'stopped: {self._memory.admission.reason}')
        elif self._goal.is_cancel_requested:
            self._stopped = Cancelled('cancelled by the caller')
        if self._stopped is not None:
            raise self._stopped
        now = time.monotonic()
        if step != self._step or now > self._sent_at + _FEEDBACK_SECONDS:
            self._step, self._sent_at = step, now
            self._goal.publish_feedback(self._kind.Feedback(done=done, total=total, step=step))

    def end(self, result: Any, *, is_failure: bool = False) -> Any:
        """Bring the goal into the state that its result means, and return the result."""
        if is_failure:
            self._goal.abort()
            return result
        if self._stopped is not None:
            result.success = False
            result.message = str(self._stopped)
            # Who cancels is not told of an error.
            result.error_code = '' if self._goal.is_cancel_requested else Unavailable.code
        if self._stopped is not None and self._goal.is_cancel_requested:
            self._goal.canceled()
        elif result.success:
            self._goal.succeed()
        else:
            self._goal.abort()
        return result
