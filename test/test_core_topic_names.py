"""Names of topics."""

from __future__ import annotations

import pytest

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.topic_names import check_topic


@pytest.mark.parametrize(
    'topic', ['', '/wrench', 'wrench', '~/wrench', '/arm_1/ft/wrench', '{ns}/wrench', '_hidden']
)
def test_what_ros_takes_is_taken(topic: str) -> None:
    check_topic('topic', topic)


@pytest.mark.parametrize(
    'topic', ['bad topic', '/1wrench', '/wrench/', '//wrench', '/a//b', '/ü', '/', 'a-b']
)
def test_what_ros_refuses_is_refused_with_its_name(topic: str) -> None:
    with pytest.raises(InvalidArgument, match='pose_topic is .*no name of a topic'):
        check_topic('pose_topic', topic)
