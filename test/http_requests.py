"""Requests to a memory that is served over HTTP, as any client sends them."""

from __future__ import annotations

import http.client
import json
from typing import Any

from waiting import HANG_SECONDS

from robot_memory.mcp_server import HttpBridge

TOKEN = 'correct-horse-battery-staple'
JSON = {'content-type': 'application/json'}
LIST = {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/list'}
SEARCH = (
    '{"jsonrpc": "2.0", "id": "1", "method": "tools/call", "params": '
    '{"name": "search_memory", "arguments": {"query": "Docker"}}}'
)
"""The request of the Sage document, as it stands there."""


def ask(
    bridge: HttpBridge, body: Any = LIST, path: str = '/mcp', method: str = '', **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """Send one request; a header is left out that is empty."""
    connection = http.client.HTTPConnection('127.0.0.1', bridge.port, timeout=HANG_SECONDS)
    text = None if path != '/mcp' else body if isinstance(body, str | bytes) else json.dumps(body)
    given = {**(JSON if text is not None else {}), **headers}
    sent = {name.replace('_', '-'): value for name, value in given.items() if value}
    connection.request(method or ('GET' if text is None else 'POST'), path, text, sent)
    response = connection.getresponse()
    try:
        found = {name.lower(): value for name, value in response.getheaders()}
        return response.status, found, response.read()
    finally:
        connection.close()


def status(bridge: HttpBridge, path: str = '/mcp', **headers: str) -> int:
    return ask(bridge, path=path, **headers)[0]


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    params = {'name': tool, 'arguments': arguments}
    return {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call', 'params': params}
