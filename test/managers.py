"""A lifecycle manager's calls, as Nav2's makes them: change_state and get_state, no bond."""

from __future__ import annotations

from typing import Any

from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState

CONFIGURE, ACTIVATE = Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE
DEACTIVATE, CLEANUP = Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_CLEANUP
SHUTDOWN = Transition.TRANSITION_INACTIVE_SHUTDOWN
UNCONFIGURED, INACTIVE = State.PRIMARY_STATE_UNCONFIGURED, State.PRIMARY_STATE_INACTIVE
ACTIVE, FINALIZED = State.PRIMARY_STATE_ACTIVE, State.PRIMARY_STATE_FINALIZED


class Manager:
    """Call a managed node's services; `robot` is the tester's own node."""

    def __init__(self, robot: Any, name: str = '/robot_memory') -> None:
        self._robot = robot
        node = robot.node
        self._change = node.create_client(ChangeState, f'{name}/change_state')
        self._get = node.create_client(GetState, f'{name}/get_state')
        for client in (self._change, self._get):
            robot.until(client.service_is_ready, f'{name} to be there')

    def send(self, transition: int) -> Any:
        request = ChangeState.Request(transition=Transition(id=transition))
        return self._change.call_async(request)

    def change(self, *transitions: int) -> list[bool]:
        """Make transitions in turn; return which succeeded."""
        return [
            self._robot.answer(self.send(transition), f'transition {transition}').success
            for transition in transitions
        ]

    @property
    def state(self) -> int:
        found = self._robot.answer(self._get.call_async(GetState.Request()), 'the state')
        return int(found.current_state.id)
