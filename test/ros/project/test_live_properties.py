"""Whatever is asked of a live node, it answers, and its store stays whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from amounts import LONG, few_or_many
from builtin_interfaces.msg import Time
from geometry_msgs.msg import (
    Point,
    Pose,
    PoseWithCovariance,
    PoseWithCovarianceStamped,
    Quaternion,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from robots import check_file

from robot_memory import msg
from robot_memory.catalog import list_tools
from robot_memory.core.fields import get_fields
from robot_memory.ros.typed_fields import list_typed

TEXT = st.text(st.characters(codec='utf-8', exclude_characters='\0'), max_size=40)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
).map(json.dumps)
FILTERS = st.dictionaries(
    st.sampled_from(['task.success', 'params.force.value', 'created_at', 'status', 'a..b', '$x']),
    st.dictionaries(
        st.sampled_from(['$eq', '$ne', '$gt', '$lte', '$in', '$nin', '$no']),
        st.none() | st.booleans() | st.floats() | TEXT | st.lists(st.integers(), max_size=2),
        max_size=2,
    ),
    max_size=2,
).map(json.dumps)
VALUES = {
    'text': TEXT | st.sampled_from(['default', 'visual', 'red cup', '一只红色的杯子']),
    'json': TEXT | JSON | FILTERS,
    'integer': st.integers(-(2**63), 2**63 - 1) | st.integers(-1, 5),
    'number': st.floats() | st.floats(0, 1),
    'flag': st.booleans(),
}


TIMES = st.builds(Time, sec=st.integers(-(2**31), 2**31 - 1), nanosec=st.integers(0, 2**32 - 1))
POINTS = st.builds(Point, x=st.floats(), y=st.floats(), z=st.floats() | st.just(0.0))
POSES = st.builds(
    Pose,
    position=POINTS,
    orientation=st.builds(Quaternion, x=st.floats() | st.just(0.0), w=st.just(1.0)),
)
TYPED = {
    'bool': st.booleans(),
    'string': TEXT | st.just('visual'),
    'builtin_interfaces/Time': TIMES,
    'geometry_msgs/Pose': POSES,
    'geometry_msgs/PoseWithCovarianceStamped': st.builds(
        PoseWithCovarianceStamped,
        pose=st.builds(
            PoseWithCovariance,
            pose=POSES,
            covariance=st.lists(st.floats(), min_size=36, max_size=36) | st.just([0.0] * 36),
        ),
    ),
    'Figure[]': st.lists(st.builds(msg.Figure, name=TEXT, value=st.floats()), max_size=2),
    'NearPlace': st.builds(
        msg.NearPlace, frame=TEXT, position=POINTS, has_position=st.booleans(), within=st.floats()
    ),
    'SpatialTarget': st.builds(msg.SpatialTarget, target=POINTS, has_target=st.booleans()),
}


def requests(tool: Any) -> Any:
    fields = {
        field.ros_name: VALUES[field.kind]
        for field in get_fields(tool.request)
        if field.kind in VALUES
    }
    typed = {
        one.name: TYPED[one.type]
        for field in get_fields(tool.request)
        for one in list_typed(field)
    }
    return st.fixed_dictionaries({}, optional={**fields, **typed})


SERVED = [tool for tool in list_tools() if tool.ros]


def test_a_live_node_answers_whatever_it_is_asked(start: Callable[..., Any], robot: Any) -> None:
    node = start()
    for tool in SERVED:
        assert robot.call('learn', insight='The lamp is on').success, tool.name
        ask(node, robot, tool)
        check_file(node.db)
        assert node.process.poll() is None and 'Traceback' not in node.said(), tool.name


def ask(node: Any, robot: Any, tool: Any) -> None:
    @settings(
        max_examples=few_or_many(10, 40),
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(requests(tool))
    def ask_one(request: Any) -> None:
        reply = robot.call(tool.name, **request)
        assert reply.success or (
            reply.message and reply.error_code in ('invalid_argument', 'not_found', 'conflict')
        ), tool.name
        assert robot.call('query_records').success
        if LONG:
            check_file(node.db)

    ask_one()
