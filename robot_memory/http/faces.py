"""The faces that are served over HTTP, as their messages and settings name them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Face:
    """Hold a face's name, the prefix of its settings, and how it is turned off."""

    name: str
    prefix: str
    off: str


MCP = Face('MCP', 'mcp', 'set mcp_enabled to false')
VIEWER = Face('the viewer', 'view', 'start it without view')
