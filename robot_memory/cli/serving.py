"""The mcp command: serve the tools on stdio."""

from __future__ import annotations

import json
from dataclasses import dataclass

from robot_memory.cli.options import Options
from robot_memory.cli.registration import make_registration
from robot_memory.core.fields import arg
from robot_memory.core.heap import use_one_heap
from robot_memory.core.settings import Settings, output_schemas_arg, tools_arg
from robot_memory.memory import Memory


@dataclass(frozen=True)
class McpRequest:
    """Arguments of the mcp command."""

    mcp_tools: str = tools_arg()
    mcp_output_schemas: bool = output_schemas_arg()
    print_config: bool = arg(
        'Print the JSON that an MCP client needs to start this server with the given options.',
        default=False,
    )


def serve_mcp(request: McpRequest, settings: Settings, options: Options) -> None:
    """Serve the tools over MCP on stdio until the client disconnects."""
    if request.print_config:
        print(
            json.dumps(make_registration(request, settings, options), ensure_ascii=False, indent=2)
        )
        return
    from robot_memory.mcp_server import serve_stdio

    use_one_heap()
    with Memory(settings, upgrade=True) as memory:
        serve_stdio(memory, request.mcp_tools, request.mcp_output_schemas)
