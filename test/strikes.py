"""Goals of the action strike_interfaces/action/Strike as messages on its hidden topics."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from recordings import Message
from robots import START

from robot_memory.ingest.action_types import STATUS, define_action
from robot_memory.ingest.messages import load_typestore

KIND = 'strike_interfaces/action/Strike'
DEFINITIONS = str(Path(__file__).parent)
SECOND = 10**9
SETTINGS = {
    'topic': '/strike',
    'type': KIND,
    'situation': '{goal.object} on {goal.surface}',
    'numbers': ['distance: goal.distance m'],
    'params': ['speed: goal.speed m/s', 'tool: goal.tool.name'],
    'results': ['slide: result.slide m'],
    'definitions': DEFINITIONS,
}
"""A tap that reads goals and results where introspection is on."""


def make(kind: str, **values: Any) -> Any:
    """Return a message of a type."""
    define_action(KIND, DEFINITIONS)
    return load_typestore().types[kind](**values)


class Server:
    """Make the messages that a server of the action publishes; one second goes by in each."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._now_ns = START * 1000
        self._number = 0

    def publish(self, topic: str, message: Any) -> None:
        self._now_ns += SECOND
        raw = load_typestore().serialize_cdr(message, message.__msgtype__)
        self.messages.append((topic, message.__msgtype__, self._now_ns, bytes(raw)))

    def skip(self, seconds: float) -> None:
        """Let time go by."""
        self._now_ns += round(seconds * SECOND)

    def request(self, number: int, speed: float = 1.0, accepted: bool = True) -> None:
        """Publish the request of a goal and its answer, as introspection does."""
        goal = make(
            f'{KIND}_Goal',
            tool=make('strike_interfaces/msg/Tool', name='soft', fingers=2),
            object='brass disc',
            surface='the oiled tray',
            distance=0.4,
            speed=speed,
        )
        request = make(f'{KIND}_SendGoal_Request', goal_id=make_id(number), goal=goal)
        answer = make(f'{KIND}_SendGoal_Response', accepted=accepted, stamp=self._stamp())
        self._publish_events('send_goal', 'SendGoal', request, answer)

    def tell_status(self, **statuses: int) -> None:
        """Publish the states of goals: g1=4."""
        listed = [
            make(
                'action_msgs/msg/GoalStatus',
                goal_info=make(
                    'action_msgs/msg/GoalInfo',
                    goal_id=make_id(int(name[1:])),
                    stamp=self._stamp(int(name[1:])),
                ),
                status=status,
            )
            for name, status in statuses.items()
        ]
        self.publish('/strike/_action/status', make(STATUS, status_list=listed))

    def tell_feedback(self, number: int, speed: float, path: list[float]) -> None:
        """Publish feedback of a goal."""
        told = make(f'{KIND}_Feedback', speed=speed, path=np.array(path))
        message = make(f'{KIND}_FeedbackMessage', goal_id=make_id(number), feedback=told)
        self.publish('/strike/_action/feedback', message)

    def answer(self, number: int, status: int, slide: float) -> None:
        """Publish who asked for a result, and the result."""
        request = make(f'{KIND}_GetResult_Request', goal_id=make_id(number))
        result = make(f'{KIND}_Result', slide=slide)
        answer = make(f'{KIND}_GetResult_Response', status=status, result=result)
        self._publish_events('get_result', 'GetResult', request, answer)

    def measure(self, slide: float) -> None:
        """Publish on the result topic."""
        self.publish('/slide', make('std_msgs/msg/Float64', data=slide))

    def _publish_events(self, topic: str, name: str, request: Any, answer: Any) -> None:
        self._number += 1
        for number, requests, answers in ((1, [request], []), (2, [], [answer])):
            info = make(
                'service_msgs/msg/ServiceEventInfo',
                event_type=number,
                stamp=self._stamp(),
                client_gid=np.zeros(16, np.uint8),
                sequence_number=self._number,
            )
            kind = f'{KIND}_{name}_Event'
            event = make(kind, info=info, request=requests, response=answers)
            self.publish(f'/strike/_action/{topic}/_service_event', event)

    def _stamp(self, number: int = 0) -> Any:
        seconds = START // 10**6 + number
        return make('builtin_interfaces/msg/Time', sec=seconds, nanosec=0)


def make_id(number: int) -> Any:
    """Return the id of a goal as a message."""
    uuid = np.frombuffer(UUID(int=number).bytes, np.uint8)
    return make('unique_identifier_msgs/msg/UUID', uuid=uuid)
