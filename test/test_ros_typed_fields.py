"""What is typed beside a field, by its name, and that no interface says a thing twice."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from robot_memory.catalog import get_tool
from robot_memory.core.fields import Field, get_fields
from robot_memory.retrieval.views import MemoryView
from robot_memory.ros import interfaces
from robot_memory.ros.typed_fields import list_constants, list_typed

LEGAL = re.compile('[a-z](_?[a-z0-9]+)*|[A-Z](_?[A-Z0-9]+)*')
REQUESTS = {name: get_tool(name).request for name in ('recall', 'query_events', 'save_perception')}


def find(declaration: type, name: str) -> Field:
    (found,) = (field for field in get_fields(declaration) if field.name == name)
    return found


@pytest.mark.parametrize(
    ('declaration', 'name', 'is_answer', 'lines'),
    [
        (MemoryView, 'created_at', True, ['builtin_interfaces/Time created', 'bool has_created']),
        (MemoryView, 'stamp', True, ['bool has_stamp']),
        (MemoryView, 'params', True, ['Figure[] params_figures']),
        (
            MemoryView,
            'pose',
            True,
            [
                'geometry_msgs/PoseWithCovarianceStamped pose_stamped',
                'bool has_pose',
                'bool has_covariance',
                'bool has_orientation',
            ],
        ),
        (
            REQUESTS['query_events'],
            'since',
            False,
            ['builtin_interfaces/Time since_time', 'bool has_since_time'],
        ),
        (REQUESTS['recall'], 'near', False, ['NearPlace near_place', 'bool has_near_place']),
        (REQUESTS['recall'], 'query', False, []),
    ],
)
def test_what_is_typed_beside_a_field(
    declaration: type, name: str, is_answer: bool, lines: list[str]
) -> None:
    found = list_typed(find(declaration, name), is_answer=is_answer)
    assert [line for typed in found for line in typed.lines if line[0] != '#'] == lines
    assert all(typed.help for typed in found)


def test_what_a_field_accepts_is_its_constants() -> None:
    constants = list_constants(find(REQUESTS['save_perception'], 'perception_type'))
    assert constants[1] == 'string PERCEPTION_TYPE_TACTILE="tactile"'
    assert constants == list_constants(find(REQUESTS['recall'], 'context_filter'))
    assert not list_constants(find(REQUESTS['recall'], 'query'))


def test_no_interface_has_two_fields_of_one_name_nor_a_name_that_ros_refuses() -> None:
    for path, text in interfaces.files().items():
        if not path.startswith(('msg/', 'srv/', 'action/')):
            continue
        for part in text.split('---\n'):
            lines = [line for line in part.splitlines() if line and line[0] != '#']
            names = Counter(line.split()[1].partition('=')[0] for line in lines)
            assert not [name for name, count in names.items() if count > 1], path
            assert all(
                re.fullmatch(r'[a-z](?:_?[a-z0-9]+)*|[A-Z](?:_?[A-Z0-9]+)*', name)
                for name in names
            ), path
