"""The MCP server, asked by the real client in one process, in both revisions of the protocol."""

from __future__ import annotations

import json
import re
from typing import Any

import anyio
import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_calls import CUP, FURTHER, answer, call_every_tool, text_of
from mcp_types import INVALID_PARAMS, Implementation
from narrowing import require
from robots import REVISIONS, Robot
from waiting import HANG_SECONDS

from robot_memory.catalog import list_tools
from robot_memory.core.errors import Unavailable, list_error_numbers
from robot_memory.core.fields import get_fields
from robot_memory.mcp_server.schema import make_output_schema
from robot_memory.mcp_server.server import build_server
from robot_memory.storage import checksums

pytestmark = pytest.mark.anyio


@pytest.fixture
def asked(robot: Robot, revision: str) -> Client:
    """A client of the robot's memory, to be entered by the test."""
    info = Implementation(name='planner', version='7')
    server = build_server(robot.memory, 'all', output_schemas=True)
    return Client(server, mode=REVISIONS[revision], client_info=info)


async def error(client: Client, tool: str, **arguments: Any) -> dict[str, str]:
    """Call a tool that is to fail; return the code and the message."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    found: dict[str, str] = result.structured_content['error']
    assert text_of(result).startswith(f'[{found["code"]}] {found["message"]}')
    assert text_of(result).endswith(found.get('hint', found['message']))
    schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
    Draft202012Validator(schemas[tool]).validate(result.structured_content)
    return found


async def test_every_tool_answers_by_its_schema(asked: Client, revision: str) -> None:
    async with asked as client:
        assert client.protocol_version == revision
        await call_every_tool(client)


async def test_the_listing_says_what_the_declarations_say(asked: Client) -> None:
    async with asked as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        if client.instructions is not None:
            assert 'recall' in client.instructions
            assert 'learn' in client.instructions
    for tool in list_tools():
        shown = listed[tool.name]
        assert shown.description == tool.brief
        effects = {'destructive_hint': tool.destructive, 'idempotent_hint': tool.idempotent}
        assert require(shown.annotations).model_dump(exclude_none=True) == {
            'read_only_hint': tool.read_only,
            **({} if tool.read_only else effects),
            'open_world_hint': False,
        }
        assert list(shown.input_schema['properties']) == [
            field.name for field in get_fields(tool.request)
        ]
        Draft202012Validator.check_schema(shown.input_schema)
        Draft202012Validator.check_schema(shown.output_schema)


def test_the_numbers_of_failures_are_in_the_schemas_of_the_tools_that_tell_them() -> None:
    assert list_error_numbers() == (1001, 1002, 1003)
    for tool in list_tools():
        accepts = Draft202012Validator(make_output_schema(tool.response, tool.sage)).is_valid
        told = tool.describe_failure(Unavailable('the disk is full'))
        assert accepts({'error': told})
        assert told['error_code'] == 'unavailable'
        assert told['code'] == (1001 if tool.sage else 'unavailable')
        for number in list_error_numbers():
            failure = {'code': number, 'message': 'why', 'hint': 'do'}
            failure['error_code'] = 'unavailable'
            assert accepts({'error': failure}) == tool.sage
    assert {tool.name for tool in list_tools() if tool.sage} == {
        'save_conversation',
        'get_context',
        'search_memory',
        'get_memory_stats',
        'clear_session',
        'sage_memory',
        'sage_command',
        'sage_auto',
        'sage_smart_prompt',
        'sage_system_status',
    }


@pytest.mark.parametrize(('profile', 'number'), [('planner', 10), ('core', 8)])
async def test_a_profile_lists_its_tools_and_every_tool_can_be_called(
    robot: Robot, revision: str, profile: str, number: int
) -> None:
    server = build_server(robot.memory, profile)
    async with Client(server, mode=REVISIONS[revision]) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert listed == [tool.name for tool in list_tools() if tool.is_listed(profile)]
        assert len(listed) == number
        await answer(client, 'save_conversation', **FURTHER['save_conversation'])
        assert (await answer(client, 'search_memory', query='slow', threshold=0))['result']


@pytest.mark.parametrize('text', ['123', '{"a":1}', 'null', '[]', 'true', '"quoted"', '1e5'])
async def test_a_text_that_looks_like_json_stays_a_text(asked: Client, text: str) -> None:
    async with asked as client:
        kept = await answer(client, 'learn', insight=text)
        found = await answer(client, 'query_records', where={'memory_id': kept['memory_id']})
        assert found['records'][0]['record_content'] == text
        await answer(client, 'recall', query=text)


@pytest.mark.parametrize(
    ('context', 'kept'),
    [
        ('{"robot": {"id": "ur5e"}}', {'robot': {'id': 'ur5e'}}),
        ({'robot': {'id': 'ur5e'}}, {'robot': {'id': 'ur5e'}}),
        ({'note': '{"a": 1}', 'big': 2**53 + 1}, {'note': '{"a": 1}', 'big': 2**53 + 1}),
        ({'half': None}, {'half': None}),
        (None, {}),
        ('', {}),
    ],
)
async def test_context_is_taken_as_json_text_as_an_object_and_as_null(
    asked: Client, context: Any, kept: Any
) -> None:
    async with asked as client:
        await answer(client, 'learn', insight=CUP, context=context)
        (record,) = (await answer(client, 'query_records'))['records']
        assert record['context'] == kept


async def test_numbers_in_quotes_ids_with_their_prefix_and_lax_json_are_taken(
    asked: Client,
) -> None:
    async with asked as client:
        context = "{'task': {'success': True}}"
        kept = await answer(client, 'learn', insight=CUP, context=context)
        found = await answer(
            client,
            'recall',
            query='cup',
            n='1',
            minConfidence='0.1',
            context_filter='```json\n{"task.success"：true}\n```',
        )
        assert [one['id'] for one in found['memories']] == [kept['memory_id']]
        named = f'mem_{kept["memory_id"]}'
        assert (await answer(client, 'show', memory_id=named))['memory']['content'] == CUP


@pytest.mark.parametrize('profile', ['planner', 'all'])
async def test_output_schemas_are_listed_only_where_the_parameter_says_so(
    robot: Robot, revision: str, profile: str
) -> None:
    server = build_server(robot.memory, profile)
    async with Client(server, mode=REVISIONS[revision]) as client:
        assert not any(tool.output_schema for tool in (await client.list_tools()).tools)


async def test_a_brief_answer_is_sent_once_unless_a_schema_promises_its_structure(
    robot: Robot, revision: str
) -> None:
    robot.learn(CUP)
    for schemas in (False, True):
        server = build_server(robot.memory, output_schemas=schemas)
        async with Client(server, mode=REVISIONS[revision]) as client:
            result = await client.call_tool('recall', {'query': 'cup', 'format': 'Brief'})
        said = json.loads(text_of(result))
        assert [one['content'] for one in said['brief']] == [CUP]
        assert result.structured_content == (said if schemas else None)


async def test_a_long_call_reports_its_progress_where_the_client_asks_for_it(
    asked: Client,
) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async with asked as client:
        result = await client.call_tool('maintain', {}, progress_callback=hear)
        steps = result.structured_content['steps']
        assert [step['name'] for step in steps] == [message for _, _, message in told]
        assert [progress for progress, _, _ in told] == list(range(len(steps)))
        assert {total for _, total, _ in told} == {len(steps)}


async def test_an_export_reports_its_progress(asked: Client) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async with asked as client:
        await client.call_tool('learn', {'insight': CUP})
        arguments = {'session_id': 'all', 'format': 'jsonl'}
        await client.call_tool('export', arguments, progress_callback=hear)
        assert told == [(0, 1, 'memories')]


async def test_the_list_for_planners_is_short(robot: Robot, revision: str) -> None:
    async with Client(build_server(robot.memory), mode=REVISIONS[revision]) as client:
        listed = await client.list_tools()
    names = {tool.name for tool in listed.tools}
    assert len(names) <= 15
    assert names >= {'get_context', 'query_events', 'show', 'recall', 'learn'}
    assert names >= {'record_outcome', 'suggest', 'skill_report'}
    assert (
        len(json.dumps(listed.model_dump(mode='json', by_alias=True, exclude_none=True))) <= 13_000
    )


@pytest.mark.parametrize(
    ('tool', 'arguments', 'code', 'words'),
    [
        ('learn', {'insight': CUP, 'confidnce': 1}, 'invalid_argument', ['confidnce', 'context']),
        ('learn', {}, 'invalid_argument', ['insight']),
        ('learn', {'insight': 5}, 'invalid_argument', ['insight', '5', 'string']),
        ('learn', {'insight': CUP, 'context': '[1]'}, 'invalid_argument', ['context', 'object']),
        (
            'learn',
            {'insight': CUP, 'context': '{'},
            'invalid_argument',
            ['context', 'not valid JSON'],
        ),
        ('recall', {'query': 'cup', 'n': 0}, 'invalid_argument', ['n', '1 to 100', '0']),
        ('recall', {'query': 'cup', 'n': 'five'}, 'invalid_argument', ['n', "'five'", 'integer']),
        ('query_records', {'limit': 10.5}, 'invalid_argument', ['limit', '10.5']),
        ('forget', {'memory_id': 99, 'reason': 'wrong'}, 'not_found', ['99']),
        ('end_session', {'session_id': 'nowhere'}, 'not_found', ['nowhere']),
    ],
)
async def test_a_refusal_is_a_result_that_says_what_would_be_accepted(
    asked: Client, tool: str, arguments: dict[str, Any], code: str, words: list[str]
) -> None:
    async with asked as client:
        found = await error(client, tool, **arguments)
        assert found['code'] == code
        for word in words:
            assert word in found['message']
        assert (await answer(client, 'query_records'))['total_count'] == 0


async def test_a_conflict_is_told_as_one(asked: Client) -> None:
    async with asked as client:
        kept = await answer(client, 'learn', insight=CUP)
        await answer(client, 'forget', memory_id=kept['memory_id'], reason='wrong')
        again = await error(client, 'forget', memory_id=kept['memory_id'], reason='wrong')
        assert again['code'] == 'conflict'


async def test_an_unknown_tool_is_an_error_of_the_protocol_that_names_the_tools(
    asked: Client,
) -> None:
    async with asked as client:
        with pytest.raises(MCPError, match='remember.*learn, recall') as failure:
            await client.call_tool('remember', {})
        assert failure.value.error.code == INVALID_PARAMS


async def test_the_audit_trail_names_the_client(asked: Client) -> None:
    async with asked as client:
        kept = await answer(client, 'learn', insight=CUP)
        await answer(client, 'forget', memory_id=kept['memory_id'], reason='wrong')
        found = await answer(client, 'query_records', where={'status': 'invalidated'})
        assert found['records'][0]['audit'][-1]['actor'] == 'mcp:planner 7'


@pytest.mark.usefixtures('_endless_patience')
async def test_a_recall_does_not_wait_for_any_number_of_writes(
    asked: Client, robot: Robot
) -> None:
    robot.learn(CUP)
    robot.memory.accesses.flush()
    other = checksums.connect(robot.memory.db.path)
    learned: list[Any] = []

    async def learn(number: int) -> None:
        learned.append(await answer(client, 'learn', insight=f'Shelf {number} is dusty'))

    async with asked as client, anyio.create_task_group() as group:
        other.execute('BEGIN IMMEDIATE')
        for number in range(20):
            group.start_soon(learn, number)
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(HANG_SECONDS):
            found = await answer(client, 'recall', query='red cup')
        assert found['total'] == 1
        assert not learned
        other.execute('ROLLBACK')
    other.close()
    assert [item['status'] for item in learned] == ['created'] * 20


@pytest.mark.parametrize('profile', ['core', 'planner', 'all'])
async def test_a_planner_is_advised_of_listed_tools_only(robot: Robot, profile: str) -> None:
    async with Client(build_server(robot.memory, profile)) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        words = set(re.findall(r'\w+', client.instructions or ''))
    assert 'recall' in words
    assert words & {tool.name for tool in list_tools()} <= listed


async def test_an_outcome_is_taken_as_a_truth_value(robot: Robot) -> None:
    async with Client(build_server(robot.memory)) as client:
        given = {'skill': 'pick', 'success': True, 'params': {'force': '2 N'}}
        result = await client.call_tool('record_outcome', given)
    assert not result.is_error
    assert robot.rows('SELECT success FROM trials') == [(1,)]
