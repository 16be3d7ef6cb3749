"""Node parameters, declared from the settings' table."""

from __future__ import annotations

from typing import Any, TypeVar

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.node import Node

from robot_memory.fields import Field, check, fields_of

Declaration = TypeVar('Declaration')


def declare(node: Node, declaration: type[Declaration], *, live: bool = False) -> Declaration:
    """
    Declare every field as a parameter and return the settings that the node was started with.

    Where they are `live`, numbers can be changed while the node runs; all else is fixed at its
    start. Raise InvalidArgument, or rclpy's own error, for a value that is not accepted.
    """
    values = {}
    for field in fields_of(declaration):
        value = node.declare_parameter(field.name, field.default, descriptor(field, live)).value
        values[field.name] = check(field, value)
    return declaration(**values)


def descriptor(field: Field, live: bool) -> ParameterDescriptor:
    """Return description, range and accepted values of a field as ROS tools show them."""
    described = ParameterDescriptor(
        name=field.name, description=field.help, read_only=not (live and field.kind == 'number')
    )
    if field.choices:
        described.additional_constraints = f'one of {", ".join(field.choices)}'
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


def changed(settings: Declaration, parameters: list[Any]) -> dict[str, Any]:
    """Return those of the changed parameters that belong to the settings."""
    names = {field.name for field in fields_of(type(settings))}
    return {parameter.name: parameter.value for parameter in parameters if parameter.name in names}
