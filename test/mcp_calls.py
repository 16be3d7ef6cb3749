"""Calls of tools through the real client of MCP."""

from __future__ import annotations

import json
from typing import Any

from jsonschema import Draft202012Validator
from mcp import Client
from mcp_types import CallToolResult

from robot_memory.catalog import list_tools
from robot_memory.mcp_server.schema import make_output_schema

CUP = 'The red cup needs 12.5 N of grip force'
FURTHER: dict[str, dict[str, Any]] = {
    'query_events': {},
    'explain_recall': {'query': 'cup table'},
    'list_timeline': {'buckets': 3},
    'record_outcome': {
        'skill': 'strike',
        'situation': 'disc on ice',
        'params': {'speed': '1 m/s'},
        'results': {'slide': '40 cm'},
        'success': 'true',
        'memory_ids': ['mem_2'],
    },
    'suggest': {'skill': 'strike', 'situation': 'disc on ice', 'want': {'maximise': 'slide'}},
    'skill_report': {'skill': 'strike'},
    'save_conversation': {'user_prompt': 'I like it slow', 'assistant_response': 'I go slower'},
    'get_context': {'query': 'the red cup'},
    'search_memory': {'query': 'cup', 'threshold': 0},
    'history': {'memory_id': 1},
    'get_memory_stats': {},
    'analyze': {'analysis_type': 'TOPIC_CLUSTERING'},
    'clear_session': {},
    'export': {},
    'maintain': {},
    'set_map': {
        'name': 'kitchen',
        'transform': {'position': [1, 0, 0]},
        'residual': 0.1,
        'old_unnamed': True,
    },
    'set_region': {'name': 'left bin', 'frame': 'map', 'box': [[0, 0, 0], [1, 1, 1]]},
    'erase': {'memory_ids': [1], 'reason': 'asked for'},
    'review': {},
    'trust': {'action': 'review'},
    'sage_memory': {'action': 'status'},
    'sage_command': {'command': '/help'},
    'sage_auto': {'action': 'check_save'},
    'sage_smart_prompt': {'user_input': 'how do I hold the cup?'},
    'sage_system_status': {},
}
"""Arguments with which each tool beside the robot's own answers, in the order of the listing."""


OPERATORS = {tool.name for tool in list_tools() if tool.operator}
"""Tools that a planner, which calls here, is refused."""


async def answer(client: Client, tool: str, **arguments: Any) -> Any:
    """Call a tool that is to succeed; its text and its structure say the same."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    said = json.loads(text_of(result))
    assert result.structured_content == ({'result': said} if isinstance(said, list) else said)
    return result.structured_content


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert content.type == 'text'
    return content.text


async def call_every_tool(client: Client) -> None:
    """Call each tool, most of its answer's fields filled; the client checks the schemas."""
    listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == [tool.name for tool in list_tools()]
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
    answers['undo'] = await answer(client, 'undo', memory_id=first['id'])
    answers['show'] = await answer(client, 'show', memory_id=sensed['id'])
    assert answers['show']['data'] == [1, 2]
    schemas = {tool.name: make_output_schema(tool.response, tool.sage) for tool in list_tools()}
    for tool in listed:
        if tool.name in OPERATORS:
            refused = await client.call_tool(tool.name, FURTHER[tool.name])
            assert refused.is_error
            answers[tool.name] = refused.structured_content
            assert answers[tool.name]['error']['error_code'] == 'conflict'
        elif tool.name not in answers:
            answers[tool.name] = await answer(client, tool.name, **FURTHER[tool.name])
    for tool in listed:
        Draft202012Validator(schemas[tool.name]).validate(answers[tool.name])
