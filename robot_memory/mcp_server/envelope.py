"""What a POST must be before it is MCP's: one JSON-RPC message; a bare one is completed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    PROTOCOL_VERSION_META_KEY,
)
from mcp_types.version import LATEST_MODERN_VERSION
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from robot_memory.core.json_text import format_value, is_storable
from robot_memory.core.loose_json import read_json

_HANDSHAKE = ('initialize', 'ping')
"""Methods of the revisions with a handshake alone; there they are answered when bare, too."""

_EXAMPLE = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'


class MalformedMessage(Exception):
    """A body that is no message; its code is JSON-RPC's."""

    def __init__(self, code: int, message: str, request_id: Any = None) -> None:
        """Say what is wrong, and with which request."""
        super().__init__(message)
        self.code = code
        self.request_id = request_id


class Envelope:
    """
    ASGI middleware before the SDK's: refuse what is no message, complete what is bare.

    A POST is bare that has an id but neither a header of MCP nor an Accept for event streams: it
    comes from no MCP client but from a script, and is answered as one complete request of the
    newest revision, which needs no handshake.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Stand before an application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a POST on, completed where it is bare, or refuse it."""
        request = Request(scope, receive)
        refused = _refuse_content(request.headers)
        if refused is not None:
            await refused(scope, receive, send)
            return
        try:
            body = await request.body()
        except ClientDisconnect:
            return
        try:
            message = parse_message(body)
            called = repair_call(message)
            if called is not message:
                message, body = called, json.dumps(called).encode()
            if _is_bare(request.headers):
                scope, body = _complete_request(message, scope, body)
        except MalformedMessage as error:
            await _make_response(error)(scope, receive, send)
            return
        await self._app(scope, _make_replay(body, receive), send)


def parse_message(body: bytes) -> dict[str, Any]:
    """Return the one message of a body; raise Malformed for what is none."""
    try:
        message = json.loads(body)
    except RecursionError:
        raise MalformedMessage(PARSE_ERROR, 'Parse error: the JSON is nested too deeply') from None
    except ValueError as error:
        raise MalformedMessage(
            PARSE_ERROR, f'Parse error: the body is not JSON in UTF-8 ({error})'
        ) from None
    if isinstance(message, list):
        raise MalformedMessage(
            INVALID_REQUEST,
            'Invalid Request: batches are not supported; POST each message separately',
        )
    if not isinstance(message, dict):
        raise MalformedMessage(
            INVALID_REQUEST,
            f'Invalid Request: the body must be an object like {_EXAMPLE}, not '
            f'{format_value(message)}',
        )
    _check_members(message)
    return message


def _check_members(message: Mapping[str, Any]) -> None:
    """Hold a message's members to JSON-RPC 2.0; those of answers are the SDK's to check."""
    named = message.get('id')
    known = named if isinstance(named, str | int) and not isinstance(named, bool) else None
    if message.get('jsonrpc') != '2.0':
        given = format_value(message['jsonrpc']) if 'jsonrpc' in message else 'missing'
        raise MalformedMessage(
            INVALID_REQUEST, f'Invalid Request: jsonrpc must be "2.0", not {given}', known
        )
    if 'id' in message and known is None and 'error' not in message:
        raise MalformedMessage(
            INVALID_REQUEST,
            f'Invalid Request: id must be a string or an integer, not {format_value(named)}',
        )
    if 'result' in message or 'error' in message:
        return
    method = message.get('method')
    if not isinstance(method, str):
        given = format_value(method) if 'method' in message else 'missing'
        raise MalformedMessage(
            INVALID_REQUEST, f'Invalid Request: method must be a string, not {given}', known
        )
    if not isinstance(message.get('params', {}), dict):
        raise MalformedMessage(
            INVALID_PARAMS,
            f'Invalid params: params must be an object, not {format_value(message["params"])}',
            known,
        )


def repair_call(message: dict[str, Any]) -> dict[str, Any]:
    """
    Return a call of a tool with its arguments as an object where they are JSON text.

    Raise Malformed, which says what is accepted, for arguments that are none.
    """
    params = message.get('params')
    if message.get('method') != 'tools/call' or not isinstance(params, dict):
        return message
    given = params.get('arguments')
    if given is None or isinstance(given, dict):
        return message
    found = read_json(given) if isinstance(given, str) else None
    if not isinstance(found, dict):
        raise MalformedMessage(
            INVALID_PARAMS,
            'Invalid params: arguments must be an object such as {"query": "red cup"}, not '
            f'{format_value(given)}',
            message.get('id'),
        )
    return {**message, 'params': {**params, 'arguments': found}}


def _is_bare(headers: Headers) -> bool:
    return not any(name.startswith('mcp-') for name in headers) and (
        'text/event-stream' not in headers.get('accept', '').lower()
    )


def _complete_request(message: dict[str, Any], scope: Scope, body: bytes) -> tuple[Scope, bytes]:
    """Return a bare request with the headers and the envelope that a client would have sent."""
    headers = MutableHeaders(raw=list(scope['headers']))
    headers['accept'] = 'application/json'
    method = message.get('method')
    if 'id' in message and method is not None and method not in _HANDSHAKE:
        # No method is called what no header can hold.
        if not is_storable(method) or encode_header_value(method) != method:
            raise MalformedMessage(
                METHOD_NOT_FOUND, f'Method not found: {format_value(method)}', message['id']
            )
        params = message.get('params', {})
        given = params.get('_meta', {})
        if not isinstance(given, dict):
            raise MalformedMessage(
                INVALID_PARAMS,
                f'Invalid params: _meta must be an object, not {format_value(given)}',
                message['id'],
            )
        meta = {
            PROTOCOL_VERSION_META_KEY: LATEST_MODERN_VERSION,
            CLIENT_CAPABILITIES_META_KEY: {},
            **given,
        }
        version = str(meta[PROTOCOL_VERSION_META_KEY])
        if not is_storable(version):
            raise MalformedMessage(
                INVALID_PARAMS,
                f'Invalid params: unknown version {format_value(version)}',
                message['id'],
            )
        headers[MCP_PROTOCOL_VERSION_HEADER] = encode_header_value(version)
        headers[MCP_METHOD_HEADER] = method
        if method in NAME_BEARING_METHODS:
            headers[MCP_NAME_HEADER] = encode_header_value(_find_name(message, params))
        body = json.dumps({**message, 'params': {**params, '_meta': meta}}).encode()
        headers['content-length'] = str(len(body))
    return {**scope, 'headers': headers.raw}, body


def _find_name(message: Mapping[str, Any], params: Mapping[str, Any]) -> str:
    """Return what a request names; raise Malformed where it names nothing."""
    key = NAME_BEARING_METHODS[message['method']]
    name = params.get(key)
    if not isinstance(name, str) or not is_storable(name):
        given = format_value(name) if key in params else 'missing'
        raise MalformedMessage(
            INVALID_PARAMS,
            f'Invalid params: {message["method"]} requires params.{key} as a string, not {given}',
            message['id'],
        )
    return name


def _refuse_content(headers: Headers) -> Response | None:
    """Refuse other contents than JSON: any web page may send a form or plain text anywhere."""
    kind = headers.get('content-type', '').partition(';')[0].strip().lower()
    if kind == 'application/json':
        return None
    said = (
        f'Content-Type must be application/json, not {format_value(kind) if kind else "missing"}'
    )
    return _make_response(MalformedMessage(INVALID_REQUEST, f'Invalid Request: {said}'), 415)


def make_error(error: MalformedMessage) -> dict[str, Any]:
    """Return the JSON-RPC answer to what is no message."""
    failure = {'code': error.code, 'message': str(error)}
    return {'jsonrpc': '2.0', 'id': error.request_id, 'error': failure}


def _make_response(error: MalformedMessage, status: int = 0) -> Response:
    return JSONResponse(make_error(error), status or ERROR_CODE_HTTP_STATUS[error.code])


def _make_replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives a body that was read already, then goes on."""
    waiting: list[Message] = [{'type': 'http.request', 'body': body, 'more_body': False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
