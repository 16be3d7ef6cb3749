"""The MCP face: the tools over streamable HTTP and over stdio. Only here is mcp imported."""

from robot_memory.mcp_server.http_bridge import HttpBridge as HttpBridge
from robot_memory.mcp_server.stdio import serve_stdio as serve_stdio
