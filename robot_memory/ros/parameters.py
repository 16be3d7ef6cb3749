"""Node parameters, declared from the settings' table."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.node import Node

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import Field, check, get_fields
from robot_memory.ingest.tap import (
    DEFAULTS,
    Tap,
    TapSettings,
    get_detector_settings,
    list_live,
    make_tap,
)

Declaration = TypeVar('Declaration')


def declare(
    node: Node,
    declaration: type[Declaration],
    live: Collection[str] = (),
    defaults: Mapping[str, Any] | None = None,
) -> Declaration:
    """
    Declare every field as a parameter and return the settings that the node was started with.

    Those that are `live` can be changed while the node runs, all others are fixed at its start.
    `defaults` stand in for those of the declaration, and for an empty text that was given. Raise
    InvalidArgument, or rclpy's own error, for a value that is not accepted.
    """
    return declaration(**declare_fields(node, declaration, defaults=defaults, live=live))


def declare_fields(
    node: Node,
    declaration: type,
    prefix: str = '',
    defaults: Mapping[str, Any] | None = None,
    live: Collection[str] = (),
) -> dict[str, Any]:
    """Declare every field below a prefix, with other defaults for some; return their values."""
    values = {}
    for field in get_fields(declaration):
        default = (defaults or {}).get(field.name, field.default)
        default = list(default) if field.kind == 'texts' else default
        described = make_descriptor(field, field.name in live)
        # rclpy takes an empty list for one of bytes, and would refuse texts in its place.
        described.dynamic_typing = default == []
        try:
            value = node.declare_parameter(f'{prefix}{field.name}', default, described).value
            if value == '':
                value = default
            if field.kind == 'texts':  # an empty list in YAML has no type, and comes as None
                value = list(value or ())
            values[field.name] = check(field, value)
        except InvalidArgument as error:
            raise InvalidArgument(f'{prefix}{error}') from None
    return values


def declare_tap(node: Node, name: str) -> Tap:
    """Declare the parameters of a tap, those of its detector included, and return it."""
    defaults = DEFAULTS.get(name, {})
    common = declare_fields(node, TapSettings, f'{name}.', defaults, list_live())
    if not common['topic'] and name not in DEFAULTS:
        raise InvalidArgument(
            f'{name}.topic is not set; it is required for each name in taps, here {name!r}'
        )
    wanted = get_detector_settings(name, common)
    live = list_live(make_tap(name, common).detector)
    return make_tap(name, {**common, **declare_fields(node, wanted, f'{name}.', defaults, live)})


def make_descriptor(field: Field, live: bool) -> ParameterDescriptor:
    """Return description, range and accepted values of a field as ROS tools show them."""
    described = ParameterDescriptor(name=field.name, description=field.help, read_only=not live)
    if field.choices:
        described.additional_constraints = f'one of {field.accepted}'
    if field.minimum is not None and field.maximum is not None:
        low, high = field.minimum, field.maximum
        if field.kind == 'integer':
            described.integer_range = [
                IntegerRange(from_value=int(low), to_value=int(high), step=1)
            ]
        else:
            described.floating_point_range = [
                FloatingPointRange(from_value=float(low), to_value=float(high), step=0.0)
            ]
    return described


def select_changed(settings: Declaration, parameters: list[Any]) -> dict[str, Any]:
    """Return those of the changed parameters that belong to the settings."""
    names = {field.name for field in get_fields(type(settings))}
    return {parameter.name: parameter.value for parameter in parameters if parameter.name in names}
