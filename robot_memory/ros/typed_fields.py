"""
What stands in a ROS interface beside a text or JSON, where ROS has a type for what it says.

| typed         | beside the field                                                           |
|---------------|----------------------------------------------------------------------------|
| instant       | `builtin_interfaces/Time`: `created` of created_at, `start_time` of start  |
| (kind stamp)  | `has_stamp`: 0 is a legal simulated stamp                                  |
| pose          | `geometry_msgs/PoseWithCovarianceStamped pose_stamped`                     |
| position      | `geometry_msgs/PoseStamped pose_stamped`, with the orientation beside it   |
| transform     | `geometry_msgs/Pose`: `transform_pose` of transform                        |
| point         | `geometry_msgs/Point`                                                      |
| figures       | `Figure[]`: `params_figures` of params                                     |
| amounts       | the same without names: `interval_figures` of interval                     |
| filter        | `since_time`, `until_time` and `perception_type`                           |
| a declaration | a message of its own, made of the same keys: `near_place` of near          |

Each has a flag `has_...`, since no value of its own can say "not set". Needs no ROS.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from robot_memory.core.fields import Field, get_fields
from robot_memory.core.records import PERCEPTION_TYPES

NOT_GIVEN = -1.0
"""Stands for "not given" in a non-negative ROS number: ROS has no null."""
TIME = 'builtin_interfaces/Time'
POSE = 'geometry_msgs/PoseWithCovarianceStamped'
PERCEPTION_TYPE = 'perception_type'
WINDOW = {'since': '$gte', 'until': '$lt'}
"""The ends of a filter's window, and how they compare."""
OCCURRED = 'occurred_at'
"""What a filter's window is about."""
_NO_LETTER = re.compile('[^A-Z0-9]+')


@dataclass(frozen=True)
class TypedField:
    """A field of a ROS interface: its type, its name, and what it says."""

    type: str
    name: str
    help: str

    @property
    def lines(self) -> list[str]:
        """Return it as an interface file has it."""
        return [f'# {self.help}', f'{self.type} {self.name}']


_ORIENTATION = TypedField(
    'bool', 'has_orientation', 'True if its orientation is known; else it is the identity.'
)


def name_value(field: Field) -> str:
    """Return the name of the typed value of a field: created of created_at."""
    name = field.ros_name
    if field.typed == 'instant':
        short = {'timestamp': 'stamp'}.get(name, name.removesuffix('_at'))
        return f'{name}_time' if short == name else short
    if isinstance(field.typed, type):
        return re.sub('(?<=[a-z])(?=[A-Z])', '_', field.typed.__name__).lower()
    figures = f'{name}_figures'
    named = {
        'pose': 'pose_stamped',
        'position': 'pose_stamped',
        'transform': f'{name}_pose',
        'figures': figures,
        'amounts': figures,
    }
    return named.get(field.typed, name)


def name_flag(field: Field) -> str:
    """Return the name of what says whether the typed value is set: has_created."""
    return f'has_{name_value(field)}'


def list_typed(
    field: Field, *, is_answer: bool = False, is_alone: bool = False
) -> list[TypedField]:
    """Return what a field has beside it in a request or an answer, or in place of it alone."""
    flag, value = name_flag(field), name_value(field)
    if field.kind == 'stamp':
        is_set = TypedField('bool', flag, f'True if {field.ros_name} is set; 0 is a legal stamp.')
        return [is_set] if field.nullable else []
    if field.typed == 'pose':
        return list_pose(field.ros_name, is_answer=is_answer)
    if field.typed == 'amounts':
        return [TypedField('Figure[]', value, f'The same as {field.ros_name}, without names.')]
    if field.typed == 'position':
        return list_position(field.ros_name)
    if field.typed == 'figures':
        said = 'The figures in' if is_answer else 'Figures that are added to'
        return [TypedField('Figure[]', value, f'{said} {field.ros_name}.')]
    if field.typed == 'filter':
        return [*_list_filter(field)]
    found = {
        'instant': TIME,
        'point': 'geometry_msgs/Point',
        'transform': 'geometry_msgs/Pose',
    }
    kind = field.typed.__name__ if isinstance(field.typed, type) else found.get(field.typed)
    if kind is None:
        return []
    said = field.help if is_alone else f'The same as {field.ros_name}.'
    return [
        TypedField(kind, value, said),
        TypedField('bool', flag, f'True if {value} is set.'),
    ]


def list_pose(name: str, *, is_answer: bool) -> list[TypedField]:
    """Return the fields of a pose; `name` is that of its JSON."""
    said = f'The same as {name}, in header.frame_id; header.stamp is stamp, where there is one.'
    found = [
        TypedField(POSE, 'pose_stamped', said),
        TypedField('bool', 'has_pose', 'True if pose_stamped is set.'),
        TypedField('bool', 'has_covariance', 'True if its covariance is set.'),
    ]
    return [*found, _ORIENTATION] if is_answer else found


def list_position(name: str) -> list[TypedField]:
    """Return the fields of a position, named as in JSON, and of the orientation beside it."""
    return [
        TypedField('geometry_msgs/PoseStamped', 'pose_stamped', f'The same as {name}.'),
        TypedField('bool', 'has_pose', 'True if pose_stamped is set.'),
        _ORIENTATION,
    ]


def _list_filter(field: Field) -> list[TypedField]:
    found = []
    for end, word in (('since', 'then or later'), ('until', 'before then')):
        said = f'Added to {field.ros_name}: measured {word}; without a measurement, stored.'
        found += [
            TypedField(TIME, f'{end}_time', said),
            TypedField('bool', f'has_{end}_time', f'True if {end}_time is set.'),
        ]
    said = f'Added to {field.ros_name}: one of {", ".join(PERCEPTION_TYPES)}; empty: not set.'
    return [*found, TypedField('string', PERCEPTION_TYPE, said)]


def list_constants(field: Field) -> list[str]:
    """Return the texts that a field of a request accepts as constants of the interface."""
    choices = PERCEPTION_TYPES if field.typed == 'filter' else field.choices
    name = PERCEPTION_TYPE if field.typed == 'filter' else field.ros_name
    return [
        f'string {_NO_LETTER.sub("_", f"{name}_{choice}".upper())}="{choice}"'
        for choice in choices
        if choice
    ]


def list_typed_records(declaration: type) -> list[type]:
    """Return the declarations that fields of a request are typed by."""
    return [field.typed for field in get_fields(declaration) if isinstance(field.typed, type)]
