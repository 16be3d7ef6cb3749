"""What is answered over HTTP: MCP's POST, the health and the metrics."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from robot_memory.core.admission import Admission
from robot_memory.core.json_text import MAX_JSON_CHARACTERS
from robot_memory.http.access_control import AccessControl, AccessMiddleware
from robot_memory.http.recent_report import RecentReport
from robot_memory.mcp_server.envelope import Envelope
from robot_memory.memory import Memory
from robot_memory.status import summary

MAX_BODY = MAX_JSON_CHARACTERS + 4_000_000
_HEADERS = {'Cache-Control': 'no-store', 'Connection': 'close'}
"""Who looks at the health holds no connection afterwards."""


class _Admitted:
    """Answer 503 with the reason while calls are refused: a node is there, but not active."""

    def __init__(self, app: ASGIApp, admission: Admission) -> None:
        self._app = app
        self._admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reason = self._admission.reason
        if not reason:
            await self._app(scope, receive, send)
            return
        body = {'error': {'code': 'unavailable', 'message': reason}}
        await JSONResponse(body, 503, _HEADERS)(scope, receive, send)


def build_app(memory: Memory, server: Server[Any], access: AccessControl, path: str) -> Starlette:
    """Return the application that serves MCP, health and metrics behind access control."""
    manager = StreamableHTTPSessionManager(
        server,
        json_response=True,
        stateless=True,
        max_request_body_size=MAX_BODY,
    )
    last_health = RecentReport(partial(summary.check_health, memory))
    last_metrics = RecentReport(partial(summary.render_metrics, memory))

    async def health(_: Request) -> Response:
        found = await last_health.get()
        return JSONResponse(found, 503 if found['status'] == 'unhealthy' else 200, _HEADERS)

    async def metrics(_: Request) -> Response:
        text = await last_metrics.get()
        return Response(text, headers={**_HEADERS, 'content-type': summary.CONTENT_TYPE})

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    return Starlette(
        routes=[
            Route(
                path,
                _Admitted(Envelope(StreamableHTTPASGIApp(manager)), memory.admission),
                methods=['POST'],
            ),
            Route('/health', health),
            Route('/metrics', metrics),
        ],
        middleware=[
            Middleware(AccessMiddleware, access),
            Middleware(RequestBodyLimitMiddleware, MAX_BODY),
        ],
        lifespan=lifespan,
    )
