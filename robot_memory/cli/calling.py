"""The call command, which uses a running node; all other commands open the store themselves."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from robot_memory.cli.common import show_answer
from robot_memory.cli.options import Options
from robot_memory.cli.text import Paint, render_table
from robot_memory.core.errors import Unavailable
from robot_memory.core.fields import arg
from robot_memory.core.settings import Settings


@dataclass(frozen=True)
class CallRequest:
    """Arguments of the call command."""

    service: str = arg('Service of the node, e.g. learn or recall.')
    request: str = arg(
        'Request fields in YAML or JSON: "{query: \'red cup\', n: 3}".',
        default='',
    )
    node: str = arg('Fully qualified node name.', default='/robot_memory')
    timeout: float = arg(
        'Timeout in seconds for finding the node and for its response.',
        default=10.0,
        minimum=0.1,
        maximum=3600.0,
    )


def call(request: CallRequest, settings: Settings, options: Options) -> None:
    """
    Call a service of a running node over ROS 2, like `ros2 service call`.

    Requires ROS 2, but not the `ros2` command. All other commands open the store directly.
    """
    try:
        from robot_memory.ros import calls
    except ImportError as missing:
        raise Unavailable(
            f'call requires ROS 2 and a build of this package with it ({missing}): source both, '
            'or run make build and use scripts/env; all other commands work without ROS'
        ) from None

    def show(answer: dict[str, Any]) -> None:
        show_answer(answer, render_table(answer, Paint(sys.stdout)), options, painted=True)

    calls.call(request.service, request.request, request.node, request.timeout, show)
