"""What the messages of an action are made of, by the definitions of installed packages."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rosbags.interfaces import Nodetype
from rosbags.typesys import get_types_from_msg

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value
from robot_memory.detectors.outcome_fields import FieldPath
from robot_memory.ingest.messages import load_typestore

STATUS = 'action_msgs/msg/GoalStatusArray'
_PARTS = ('Goal', 'Result', 'Feedback')
_ID = 'unique_identifier_msgs/msg/UUID goal_id'
_EVENT = """service_msgs/msg/ServiceEventInfo info
{0}_Request[<=1] request
{0}_Response[<=1] response"""
_MADE = {
    'FeedbackMessage': f'{_ID}\n{{0}}_Feedback feedback',
    'SendGoal_Request': f'{_ID}\n{{0}}_Goal goal',
    'SendGoal_Response': 'bool accepted\nbuiltin_interfaces/msg/Time stamp',
    'SendGoal_Event': _EVENT.format('{0}_SendGoal'),
    'GetResult_Request': _ID,
    'GetResult_Response': 'int8 status\n{0}_Result result',
    'GetResult_Event': _EVENT.format('{0}_GetResult'),
}
"""The messages that ROS makes of an action's three parts; events since Iron."""


def is_action(kind: str) -> bool:
    """Say whether a type is that of an action: package/action/Name."""
    return kind.count('/') == 2 and kind.split('/')[1] == 'action'


def define_action(kind: str, folder: str) -> None:
    """
    Make the messages of an action readable.

    Its definition is that of an installed package (AMENT_PREFIX_PATH), or in a folder. Raise
    InvalidArgument where there is none, or it cannot be read.
    """
    parts = _read_definition(kind, 'action', folder).split('\n---')
    if len(parts) != len(_PARTS):
        raise InvalidArgument(f'the definition of {kind} must have three parts, not {len(parts)}')
    for name, text in zip(_PARTS, parts, strict=True):
        # The rest of a line of dashes, up to its end, is no field.
        _define(f'{kind}_{name}', text.lstrip('-') if name != 'Goal' else text, folder)
    for name, text in _MADE.items():
        _define(f'{kind}_{name}', text.format(kind), folder)


def define_message(kind: str, folder: str) -> None:
    """Make messages of a type readable; raise InvalidArgument as `define_action` does."""
    if kind not in load_typestore().types:
        _define(kind, _read_definition(kind, 'msg', folder), folder)


def check_path(field: FieldPath, kind: str) -> None:
    """Raise InvalidArgument where messages of a type do not have a field, or it is no value."""
    current: Any = (Nodetype.NAME, kind)
    for step in field.path:
        if step.isdecimal() and current[0] in (Nodetype.ARRAY, Nodetype.SEQUENCE):
            current = current[1][0]
            continue
        known = _list_fields(current)
        if step not in known:
            raise InvalidArgument(
                f'{field} is not there: {kind} has {", ".join(known) or "no fields"} at '
                f'{format_value(step)}'
            )
        current = known[step]
    if current[0] != Nodetype.BASE:
        inside = ', '.join(_list_fields(current)) or 'elements: name one by its number'
        raise InvalidArgument(f'{field} is no single value; it has {inside}')


def _list_fields(node: Any) -> dict[str, Any]:
    if node[0] != Nodetype.NAME:
        return {}
    return dict(load_typestore().get_msgdef(node[1]).fields)


def _define(kind: str, text: str, folder: str) -> None:
    store = load_typestore()
    if kind in store.types:
        return
    package, _, name = kind.split('/')
    # Names without a package are those of the package's messages, also within an action.
    plain = f'{package}/msg/{name}'
    try:
        constants, fields = get_types_from_msg(text, plain)[plain]
    except Exception as error:  # the parser raises whatever a broken text leads it to
        raise InvalidArgument(f'the definition of {kind} cannot be read: {error!r}') from error
    for other in _list_names(fields):
        define_message(other, folder)
    store.register({kind: (constants, fields)})


def _list_names(fields: Iterable[tuple[str, Any]]) -> Iterator[str]:
    for _, (what, inside) in fields:
        if what in (Nodetype.ARRAY, Nodetype.SEQUENCE):
            what, inside = inside[0]
        if what == Nodetype.NAME and '/action/' not in inside:
            yield inside


def _read_definition(kind: str, form: str, folder: str) -> str:
    package, _, name = kind.split('/')
    prefixes = filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep))
    places = [Path(folder)] if folder else []
    places += [Path(prefix, 'share') for prefix in prefixes]
    for place in places:
        file = place / package / form / f'{name}.{form}'
        if file.is_file():
            return file.read_text(encoding='utf-8')
    raise InvalidArgument(
        f'there is no definition of {kind}: source the workspace that has the package {package}, '
        f'or set definitions to a folder with {package}/{form}/{name}.{form}'
    )
