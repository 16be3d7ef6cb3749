"""The parameters qos_overrides of a tap's subscription."""

from __future__ import annotations

from typing import Any

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value

_POLICIES: dict[str, dict[str, Any]] = {
    'reliability': {
        'reliable': ReliabilityPolicy.RELIABLE,
        'best_effort': ReliabilityPolicy.BEST_EFFORT,
    },
    'durability': {
        'volatile': DurabilityPolicy.VOLATILE,
        'transient_local': DurabilityPolicy.TRANSIENT_LOCAL,
    },
}


def declare_overrides(node: Node, topic: str) -> dict[str, Any]:
    """Declare the topic's qos_overrides, and return those that were given."""
    found: dict[str, Any] = {}
    prefix = f'qos_overrides.{topic}.subscription'
    for policy, values in _POLICIES.items():
        described = ParameterDescriptor(
            description=f'{policy} of this subscription; empty: as offered by the publishers.',
            additional_constraints=f'one of {", ".join(values)}',
            read_only=True,
        )
        value = _declare_once(node, f'{prefix}.{policy}', '', described)
        if value and value not in values:
            raise InvalidArgument(
                f'{prefix}.{policy} must be one of {", ".join(values)}, not {format_value(value)}'
            )
        if value:
            found[policy] = values[value]
    described = ParameterDescriptor(
        description='Subscription queue depth; 0: 1000, for images 30.', read_only=True
    )
    found['depth'] = _declare_once(node, f'{prefix}.depth', 0, described)
    if found['depth'] < 0:
        raise InvalidArgument(f'{prefix}.depth must be 0 or more, not {found["depth"]}')
    return found


def _declare_once(node: Node, name: str, default: Any, described: ParameterDescriptor) -> Any:
    """Declare a parameter, unless another tap of the same topic has; return its value."""
    if node.has_parameter(name):
        return node.get_parameter(name).value
    return node.declare_parameter(name, default, described).value
