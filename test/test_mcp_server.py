"""The MCP server, asked by the real client in one process, in both revisions of the protocol."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anyio
import apsw
import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, Implementation
from narrowing import require
from robots import REVISIONS, Robot
from waiting import HANG_SECONDS

from robot_memory.catalog import TOOLS
from robot_memory.core.errors import Unavailable, list_error_classes, list_error_numbers
from robot_memory.core.fields import get_fields
from robot_memory.mcp_server.schema import make_input_schema, make_output_schema
from robot_memory.mcp_server.server import build_server

pytestmark = pytest.mark.anyio
CUP = 'The red cup needs 12.5 N of grip force'
FURTHER: dict[str, dict[str, Any]] = {
    'save_conversation': {'user_prompt': 'I like it slow', 'assistant_response': 'I go slower'},
    'get_context': {'query': 'the red cup'},
    'search_memory': {'query': 'cup', 'threshold': 0},
    'get_memory_stats': {},
    'analyze': {'analysis_type': 'TOPIC_CLUSTERING'},
    'clear_session': {},
    'export': {},
    'maintain': {},
    'sage_memory': {'action': 'status'},
    'sage_command': {'command': '/help'},
    'sage_auto': {'action': 'check_save'},
    'sage_smart_prompt': {'user_input': 'how do I hold the cup?'},
    'sage_system_status': {},
}
"""Arguments with which each tool beside the robot's own answers, in the order of the listing."""


@pytest.fixture
def asked(robot: Robot, revision: str) -> Client:
    """A client of the robot's memory, to be entered by the test."""
    info = Implementation(name='planner', version='7')
    server = build_server(robot.memory, 'all')
    return Client(server, mode=REVISIONS[revision], client_info=info)


async def answer(client: Client, tool: str, **arguments: Any) -> Any:
    """Call a tool that is to succeed; its text and its structure say the same."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    said = json.loads(text_of(result))
    assert result.structured_content == ({'result': said} if isinstance(said, list) else said)
    return result.structured_content


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


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert content.type == 'text'
    return content.text


async def call_every_tool(client: Client) -> None:
    """Call each tool, most of its answer's fields filled; the client checks the schemas."""
    listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == [tool.name for tool in TOOLS]
    pose = {'position': [1.0, 2.0, 0.5], 'orientation': [0.0, 0.0, 0.0, 1.0]}
    context = {'task': {'success': True}, 'spatial': {'object_position': [1.0, 2.0, 0.5]}}
    answers: dict[str, Any] = {}
    for _ in range(2):
        answers['start_session'] = await answer(client, 'start_session', context={'robot': {}})
        session = answers['start_session']['session_id']
        for text in (CUP, CUP, 'The door opens to the left', 'word ' * 100):
            answers['learn'] = await answer(
                client, 'learn', insight=text, context=context, session_id=session
            )
        answers['save_perception'] = await answer(
            client,
            'save_perception',
            description='A cup on the table',
            data=[1, 2],
            metadata={'hz': 30},
            session_id=session,
            stamp={'sec': 12, 'nanosec': 345},
            frame_id='map',
            pose=pose,
        )
        near = {'field': 'spatial.object_position', 'target': [1, 2, 0], 'max_distance': 10}
        answers['recall'] = await answer(client, 'recall', query='cup', spatial_sort=near)
        found = await answer(client, 'recall', query='cup table', n=10.0)
        answers['end_session'] = await answer(
            client, 'end_session', session_id=session, outcome_score=0.5
        )
    sensed = next(memory for memory in found['memories'] if memory['type'] == 'perception')
    assert (sensed['stamp'], sensed['frame_id']) == ({'sec': 12, 'nanosec': 345}, 'map')
    assert sensed['pose'] == pose
    first = answers['recall']['memories'][0]
    assert first['perception_type'] is None, 'null is there, it is not left out'
    answers['update'] = await answer(
        client, 'update', memory_id=first['id'], new_content='The red cup needs 14 N'
    )
    answers['forget'] = await answer(client, 'forget', memory_id=first['id'], reason='it broke')
    answers['query_records'] = await answer(
        client, 'query_records', where={'status': 'invalidated'}, limit=10.0
    )
    assert answers['query_records']['records'][0]['audit']
    answers['show'] = await answer(client, 'show', memory_id=sensed['id'])
    assert answers['show']['data'] == [1, 2]
    for tool in listed:
        if tool.name not in answers:
            answers[tool.name] = await answer(client, tool.name, **FURTHER[tool.name])
    for tool in listed:
        Draft202012Validator(tool.output_schema).validate(answers[tool.name])


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
    assert listed['save_perception'].title == 'Save perception'
    for tool in TOOLS:
        shown = listed[tool.name]
        assert shown.description == tool.help
        assert require(shown.annotations).model_dump(exclude_none=True) == {
            'read_only_hint': tool.read_only,
            'destructive_hint': tool.destructive,
            'idempotent_hint': tool.idempotent,
            'open_world_hint': False,
        }
        assert list(shown.input_schema['properties']) == [
            field.name for field in get_fields(tool.request)
        ]
        Draft202012Validator.check_schema(shown.input_schema)
        Draft202012Validator.check_schema(shown.output_schema)


every_tool = pytest.mark.parametrize('tool', TOOLS, ids=lambda tool: tool.name)


def arguments_of(tool: Any) -> dict[str, Any]:
    """Return a value for each argument of a tool, as a client may send it."""
    samples = {'text': 'hello', 'integer': 10.0, 'number': 0.5, 'stamp': '{"sec": 1}'}
    samples |= {'texts': ['hello'], 'flag': True}
    given = {}
    for field in get_fields(tool.request):
        given[field.name] = field.choices[0] if field.choices else samples.get(field.kind, {})
        if field.kind == 'integer' and field.minimum:
            given[field.name] = max(10.0, field.minimum)
    return given


def accepter(tool: Any) -> Callable[[Any], bool]:
    """Return what says whether arguments fit the schema of a tool."""
    accepts: Callable[[Any], bool] = Draft202012Validator(make_input_schema(tool.request)).is_valid
    return accepts


@every_tool
def test_an_argument_schema_takes_its_arguments_and_no_others(tool: Any) -> None:
    given, accepts = arguments_of(tool), accepter(tool)
    assert accepts(given)
    assert not accepts({**given, 'colour': 'red'})


@every_tool
def test_an_argument_schema_takes_null_and_nothing_where_the_field_does(tool: Any) -> None:
    given, accepts = arguments_of(tool), accepter(tool)
    for field in get_fields(tool.request):
        assert accepts({**given, field.name: None}) == field.nullable
        without = {name: value for name, value in given.items() if name != field.name}
        assert accepts(without) == (not field.required)


@every_tool
def test_an_argument_schema_takes_json_as_text_and_as_it_is(tool: Any) -> None:
    given, accepts = arguments_of(tool), accepter(tool)
    for field in get_fields(tool.request):
        if field.kind == 'json':
            assert accepts({**given, field.name: '{"a": 1}'})
            assert accepts({**given, field.name: [1]}) == (field.shape == 'container')


@every_tool
def test_an_argument_schema_takes_a_stamp_below_a_second_of_nanoseconds(tool: Any) -> None:
    given, accepts = arguments_of(tool), accepter(tool)
    for field in get_fields(tool.request):
        if field.kind == 'stamp':
            assert accepts({**given, field.name: {'sec': 1, 'nanosec': 2}})
            assert not accepts({**given, field.name: {'sec': 1, 'nanosec': 10**9}})


@every_tool
def test_an_argument_schema_refuses_what_is_beyond_limits_and_choices(tool: Any) -> None:
    given, accepts = arguments_of(tool), accepter(tool)
    for field in get_fields(tool.request):
        if field.maximum is not None:
            assert not accepts({**given, field.name: field.maximum + 1})
        if field.choices:
            assert not accepts({**given, field.name: 'no choice'})


def test_an_answer_schema_takes_an_answer_or_an_error_and_nothing_else() -> None:
    for tool in TOOLS:
        accepts = Draft202012Validator(make_output_schema(tool.response)).is_valid
        for kind in list_error_classes():
            told = {'error_code': kind.code, 'code': kind.code, 'message': 'why'}
            assert accepts({'error': told})
        assert not accepts({'error': {'error_code': 'other', 'code': 'other', 'message': 'why'}})
        assert not accepts({'error': {'code': 'internal', 'message': 'why'}})
        assert not accepts({})


def test_the_numbers_of_failures_are_in_the_schemas_of_the_tools_that_tell_them() -> None:
    assert list_error_numbers() == (1001, 1002, 1003)
    for tool in TOOLS:
        accepts = Draft202012Validator(make_output_schema(tool.response, tool.sage)).is_valid
        told = tool.describe_failure(Unavailable('the disk is full'))
        assert accepts({'error': told})
        assert told['error_code'] == 'unavailable'
        assert told['code'] == (1001 if tool.sage else 'unavailable')
        for number in list_error_numbers():
            failure = {'code': number, 'message': 'why', 'hint': 'do'}
            failure['error_code'] = 'unavailable'
            assert accepts({'error': failure}) == tool.sage
    assert {tool.name for tool in TOOLS if tool.sage} == {
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


async def test_core_lists_the_eight_of_the_robot_and_every_tool_can_be_called(
    robot: Robot, revision: str
) -> None:
    async with Client(build_server(robot.memory), mode=REVISIONS[revision]) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert listed == [tool.name for tool in TOOLS if tool.core]
        assert len(listed) == 8
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
        ('recall', {'query': 'cup', 'n': '5'}, 'invalid_argument', ['n', "'5'"]),
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
    other = apsw.Connection(str(robot.memory.db.path))
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
