"""What is answered over HTTP: MCP's POST, the health and the metrics."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from robot_memory.core.json_text import MAX_JSON_CHARACTERS
from robot_memory.mcp_server.access_control import AccessControl, AccessMiddleware
from robot_memory.mcp_server.envelope import Envelope
from robot_memory.memory import Memory
from robot_memory.status import summary

MAX_BODY = MAX_JSON_CHARACTERS + 4_000_000
_FRESH = {'Cache-Control': 'no-store'}
_GLANCES = 2
"""Looks at health and metrics at the same time; they take no thread from the tools."""


def build_app(memory: Memory, server: Server[Any], access: AccessControl, path: str) -> Starlette:
    """Return the application that serves MCP, health and metrics behind access control."""
    manager = StreamableHTTPSessionManager(
        server,
        json_response=True,
        stateless=True,
        max_request_body_size=MAX_BODY,
    )
    glances = anyio.CapacityLimiter(_GLANCES)

    async def health(_: Request) -> Response:
        found = await anyio.to_thread.run_sync(summary.check_health, memory, limiter=glances)
        return JSONResponse(found, 503 if found['status'] == 'unhealthy' else 200, _FRESH)

    async def metrics(_: Request) -> Response:
        text = await anyio.to_thread.run_sync(summary.render_metrics, memory, limiter=glances)
        return Response(text, headers={**_FRESH, 'content-type': summary.CONTENT_TYPE})

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    return Starlette(
        routes=[
            Route(path, Envelope(StreamableHTTPASGIApp(manager)), methods=['POST']),
            Route('/health', health),
            Route('/metrics', metrics),
        ],
        middleware=[
            Middleware(AccessMiddleware, access),
            Middleware(RequestBodyLimitMiddleware, MAX_BODY),
        ],
        lifespan=lifespan,
    )
