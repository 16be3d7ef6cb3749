"""Names of topics, as ROS 2 takes them: docs.ros.org, Topic and Service Names."""

from __future__ import annotations

import re

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value

_TOPIC = re.compile(r'(?:~/|/)?(?:[A-Za-z_{][A-Za-z0-9_}]*)(?:/[A-Za-z_{][A-Za-z0-9_}]*)*')


def check_topic(argument: str, topic: str) -> None:
    """Raise InvalidArgument for what is no name of a topic; an empty one names none."""
    if topic and not _TOPIC.fullmatch(topic):
        raise InvalidArgument(
            f'{argument} is {format_value(topic)}, which is no name of a topic; accepted: letters,'
            ' digits, _ and /, no part of which begins with a digit or is empty'
        )
