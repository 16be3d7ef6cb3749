"""The tools as an MCP server, whichever way it is reached."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import anyio.from_thread
import anyio.to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    ContentBlock,
    GetPromptRequestParams,
    GetPromptResult,
    ImageContent,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as ToolListing

from robot_memory import catalog
from robot_memory.core.authority import Writer
from robot_memory.core.errors import RobotMemoryError
from robot_memory.core.fields import to_plain
from robot_memory.core.json_text import format_value
from robot_memory.core.suggestions import suggest
from robot_memory.core.version import get_version
from robot_memory.http.access_control import PRINCIPAL
from robot_memory.http.principals import Principal
from robot_memory.mcp_server import completions, prompts, resources
from robot_memory.mcp_server.notifications import Notifier
from robot_memory.mcp_server.schema import make_input_schema, make_output_schema
from robot_memory.memory import Memory, caller, progress, trace
from robot_memory.text.controls import escape_controls
from robot_memory.tool import Tool
from robot_memory.tools.recall import RecallResponse
from robot_memory.tools.show import ShowResponse

_INSTRUCTIONS = (
    ('Before planning or acting, call get_context with the task.', {'get_context'}),
    (
        'After acting, learn what worked or failed: one fact per call, with numbers and\n'
        'units in the text and its conditions in context.',
        {'learn'},
    ),
    (
        'Wrap each task in start_session and end_session\n'
        'and pass its session_id to the calls in between.',
        {'start_session', 'end_session'},
    ),
    ('If a memory turns out to be wrong, learn what is right: it replaces it.', {'learn'}),
    ('Or update it, or forget it with a reason.', {'update', 'forget'}),
    ('recall looks up the rest, ranked by relevance.', {'recall'}),
    ('query_records lists exactly.', {'query_records'}),
)
"""What a planner is advised, and the tools that each sentence names."""

_READERS = 8
_WRITERS = 4
_CALLERS_NAME = 100
_TRACEPARENT = re.compile(
    r'(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?'
)
_SERVER = re.compile(r'(?:mcp__)?robot[_-]memory(?:__|[./:])')
"""The name of the server, which clients put before that of a tool."""
_TOOLS = {tool.name: tool for tool in catalog.list_tools()}
_Context = ServerRequestContext[Any, Any]


def build_server(
    memory: Memory, tools: str = 'planner', output_schemas: bool = False
) -> Server[Any]:
    """
    Return a server of the tools over a memory.

    `tools` is the profile that it lists (planner, core or all), `output_schemas` says whether it
    lists the schemas of answers, which hold in any case.
    Any tool can be called, listed or not: a small model onboard is shown the few that it needs.
    Calls run in threads, those that only read apart from those that write, and from long ones:
    however many of these wait, a recall does not. A call whose client has gone is left to end by
    itself.
    """
    listing = [
        _describe_tool(tool, output_schemas)
        for tool in catalog.list_tools()
        if tool.is_listed(tools)
    ]
    schemas = {tool.name: make_input_schema(tool.request) for tool in catalog.list_tools()}
    readers, writers = anyio.CapacityLimiter(_READERS), anyio.CapacityLimiter(_WRITERS)
    long_readers = anyio.CapacityLimiter(1)
    notifier = Notifier(memory, readers)

    async def list_tools(_: _Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=listing)

    async def call_tool(context: _Context, params: CallToolRequestParams) -> CallToolResult:
        tool = find_tool(params.name)
        return await anyio.to_thread.run_sync(
            _run_tool,
            memory,
            tool,
            params.arguments or {},
            output_schemas,
            _identify_caller(memory, context),
            context,
            abandon_on_cancel=True,
            limiter=long_readers if tool.long else readers if tool.read_only else writers,
        )

    async def list_resources(
        _: _Context, __: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        return await anyio.to_thread.run_sync(resources.list_resources, memory, limiter=readers)

    async def list_templates(
        _: _Context, __: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return resources.list_templates()

    async def read_resource(_: _Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        return await anyio.to_thread.run_sync(
            resources.read_resource, memory, str(params.uri), limiter=readers
        )

    async def list_prompts(_: _Context, __: PaginatedRequestParams | None) -> ListPromptsResult:
        return prompts.list_prompts()

    async def get_prompt(context: _Context, params: GetPromptRequestParams) -> GetPromptResult:
        return await anyio.to_thread.run_sync(
            prompts.fill_prompt, memory, params.name, params.arguments or {}, limiter=readers
        )

    async def complete(_: _Context, params: CompleteRequestParams) -> CompleteResult:
        chosen = (params.context.arguments if params.context else None) or {}
        return await anyio.to_thread.run_sync(
            completions.complete_argument,
            memory,
            params.ref,
            params.argument,
            chosen,
            limiter=readers,
        )

    return Server(
        'robot_memory',
        version=get_version(),
        title='Robot memory',
        instructions=_advise({tool.name for tool in listing}),
        get_tool_input_schema=schemas.get,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_subscriptions_listen=notifier.listen,
    )


def _advise(listed: set[str]) -> str:
    """Return what a planner is advised; no tool is named that is not listed."""
    told = [text for text, named in _INSTRUCTIONS if named <= listed]
    return '\n'.join(('Long-term memory of a robot.', *told))


def find_tool(name: str) -> Tool[Any, Any]:
    """
    Return the tool of a name, also of one in another style (`getContext`, `robot_memory.recall`).

    Raise MCPError, which names those that there are.
    """
    if name in _TOOLS:
        return _TOOLS[name]
    style = _strip_style(_SERVER.sub('', name))
    found = [tool for known, tool in _TOOLS.items() if _strip_style(known) == style]
    if len(found) != 1:
        raise MCPError(
            INVALID_PARAMS,
            f'Unknown tool: {format_value(name)}{suggest(name, _TOOLS)}; accepted: '
            f'{", ".join(_TOOLS)}',
        )
    return found[0]


def _strip_style(name: str) -> str:
    return name.replace('_', '').replace('-', '').lower()


def _describe_tool(tool: Tool[Any, Any], output_schemas: bool) -> ToolListing:
    """Return a tool as MCP lists it: short, for the list is in every prompt of a planner."""
    return ToolListing(
        name=tool.name,
        description=tool.brief,
        input_schema=make_input_schema(tool.request),
        output_schema=make_output_schema(tool.response, tool.sage) if output_schemas else None,
        annotations=_describe_effects(tool),
    )


def _describe_effects(tool: Tool[Any, Any]) -> ToolAnnotations:
    """Return MCP's hints; of a tool that only reads, the others have no meaning."""
    if tool.read_only:
        return ToolAnnotations(read_only_hint=True, open_world_hint=False)
    return ToolAnnotations(
        read_only_hint=False,
        destructive_hint=tool.destructive,
        idempotent_hint=tool.idempotent,
        open_world_hint=False,
    )


def _run_tool(
    memory: Memory,
    tool: Tool[Any, Any],
    arguments: Mapping[str, Any],
    output_schemas: bool,
    who: Writer,
    context: _Context,
) -> CallToolResult:
    """
    Run a tool; a failure is a result, so that the model reads what to do next.

    A brief answer is sent once, as text, unless a listed schema promises structured content.
    """
    caller.set(who)
    trace.set(find_trace(context))
    progress.set(partial(_report_progress, context))
    try:
        response = tool.run(memory, arguments)
    except RobotMemoryError as error:
        failure = tool.describe_failure(error)
        text = ' '.join(filter(None, (f'[{failure["code"]}] {error}', failure.get('hint'))))
        return CallToolResult(
            is_error=True, content=[TextContent(text=text)], structured_content={'error': failure}
        )
    # Bytes are resources, and pictures are for the model to look at: no text of base64.
    answer = to_plain(response, with_bytes=False)
    # As the SDKs do: what is a list is shown bare, and structured under this name.
    bare = answer['result'] if answer.keys() == {'result'} else answer
    text = escape_controls(json.dumps(bare, ensure_ascii=False, separators=(',', ':')))
    content: list[ContentBlock] = [TextContent(text=text), *_list_pictures(response)]
    is_brief = isinstance(response, RecallResponse) and response.brief is not None
    structured = None if is_brief and not output_schemas else answer
    return CallToolResult(content=content, structured_content=structured)


def _report_progress(context: _Context, done: int, total: int, step: str) -> None:
    """Notify the client of progress, if it asked for that and its transport allows it."""
    # A client that has gone must not end what it started.
    with suppress(Exception):
        anyio.from_thread.run(context.session.report_progress, done, total, step)


def _list_pictures(response: Any) -> Iterator[ImageContent]:
    """Yield the picture of a memory that is shown, its film aside."""
    for part in response.parts if isinstance(response, ShowResponse) else ():
        if part.name == 'picture' and part.content is not None:
            data = base64.b64encode(part.content).decode()
            yield ImageContent(data=data, mime_type=part.media_type)


def find_trace(context: _Context) -> str:
    """
    Return the trace that a request belongs to; empty: to none.

    A client tells it as W3C's traceparent in `_meta`, or in the header of that name.
    """
    parent: Any = (context.meta or {}).get('traceparent')
    if parent is None and context.request is not None:
        parent = context.request.headers.get('traceparent')
    match = _TRACEPARENT.fullmatch(parent) if isinstance(parent, str) else None
    return match[1] if match else ''


def _identify_caller(memory: Memory, context: _Context) -> Writer:
    """Return who calls: the client's name and version, or what its HTTP library says."""
    params = context.session.client_params
    if params is not None:
        known = f'{params.client_info.name} {params.client_info.version}'
    else:
        known = '' if context.request is None else context.request.headers.get('user-agent', '')
    printable = ''.join(letter for letter in known if letter.isprintable()).strip()
    client = printable[:_CALLERS_NAME] or 'unknown'
    if context.request is None:
        return Writer.of_role('mcp-stdio', client, memory.settings.stdio_role)
    principal: Principal | None = context.request.scope.get(PRINCIPAL)
    if principal is None:
        return Writer.of_role('mcp-http', client, memory.settings.http_role)
    return Writer.of_role(
        'mcp-http', client, principal.role, principal.name, principal.may_speak_for
    )
