"""The classes of rclpy for the types of topics, those that ROS makes of actions included."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from robot_memory.core.errors import Unavailable

_OF_ACTIONS = {
    'FeedbackMessage': 'FeedbackMessage',
    'SendGoal_Event': 'SendGoalService.Event',
    'GetResult_Event': 'GetResultService.Event',
}


def import_type(kind: str) -> Any:
    """
    Return the class of a message: package/msg/Name, or package/action/Name_SendGoal_Event.

    Raise Unavailable where its package is not there, or has no such message.
    """
    package, form, name = kind.split('/')
    try:
        module = import_module(f'{package}.{form}')
        if form != 'action':
            return getattr(module, name)
        action, _, part = name.partition('_')
        found = getattr(module, action).Impl
        for step in _OF_ACTIONS[part].split('.'):
            found = getattr(found, step)
        return found
    except (ImportError, AttributeError, KeyError) as error:
        raise Unavailable(
            f'cannot subscribe to {kind}: {error}; it requires the ROS package {package}, which '
            'the PyPI wheels may lack: install and source ROS 2 with it'
        ) from None
