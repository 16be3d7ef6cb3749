"""Principals of the token file: who calls, with which role, and for whom they speak."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import http_requests
import pytest
from robots import Robot

from robot_memory.core.errors import InvalidArgument
from robot_memory.http.principals import parse_principals
from robot_memory.mcp_server import HttpBridge


def entry(name: str, role: str, *may_speak_for: str) -> dict[str, Any]:
    digest = hashlib.sha256(f'token-of-{name}'.encode()).hexdigest()
    return {
        'name': name,
        'role': role,
        'token_sha256': digest,
        'may_speak_for': list(may_speak_for),
    }


@pytest.fixture
def bridge(serve: Callable[..., HttpBridge], tmp_path: Path) -> HttpBridge:
    """A server for an operator, a planner who may speak for one, and a viewer."""
    file = tmp_path / 'principals.json'
    principals = [
        entry('anna', 'operator'),
        entry('planner-1', 'planner', 'operator:anna'),
        entry('screen', 'viewer'),
    ]
    file.write_text(json.dumps({'principals': principals}))
    file.chmod(0o600)
    return serve(token_file=str(file))


def call(bridge: HttpBridge, name: str, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool with a principal's token; return its structured answer."""
    message = http_requests.call(tool, **arguments)
    bearer = f'Bearer token-of-{name}'
    status, _, body = http_requests.ask(bridge, message, authorization=bearer)
    if status != 200:
        return {'status': status}
    answer: dict[str, Any] = json.loads(body)['result']['structuredContent']
    return answer


def test_a_principal_writes_with_its_role_and_speaks_for_whom_it_may(
    bridge: HttpBridge, robot: Robot
) -> None:
    call(bridge, 'planner-1', 'learn', insight='The dock is in hall 2')
    lent = {'actor_id': 'operator:anna'}
    call(bridge, 'planner-1', 'learn', insight='Never park in hall 3', context=lent)
    other = {'actor_id': 'operator:bert'}
    call(bridge, 'planner-1', 'learn', insight='Never park in hall 4', context=other)
    call(bridge, 'anna', 'learn', insight='Never park in hall 5')
    assert robot.rows(
        'SELECT m.authority, w.principal, w.actor FROM memories AS m'
        ' JOIN writers AS w ON w.id = m.writer_id ORDER BY m.id'
    ) == [
        ('planner', 'planner-1', ''),
        ('operator', 'planner-1', 'operator:anna'),
        ('planner', 'planner-1', 'operator:bert'),
        ('operator', 'anna', ''),
    ]
    text = robot.get_context('park in a hall', strategy='AGGRESSIVE').context
    assert 'operator:anna, relayed by planner-1] Never park in hall 3' in text
    assert 'operator:bert, claimed by planner-1 (planner)] Never park in hall 4' in text
    assert 'anna (operator)] Never park in hall 5' in text


def test_words_that_are_relayed_have_the_authority_that_is_lent(
    bridge: HttpBridge, robot: Robot
) -> None:
    for actor in ('operator:anna', 'operator:bert'):
        call(
            bridge,
            'planner-1',
            'save_conversation',
            user_prompt=f'Never open door {len(actor)} for {actor}',
            assistant_response='Noted',
            actor_id=actor,
        )
    assert robot.rows("SELECT authority FROM memories WHERE type = 'fact' ORDER BY id") == [
        ('operator',),
        ('person',),
    ]


def test_a_viewer_reads_and_changes_nothing(bridge: HttpBridge, robot: Robot) -> None:
    robot.learn('The dock is in hall 2')
    assert call(bridge, 'screen', 'recall', query='dock')['total'] == 1
    refused = call(bridge, 'screen', 'learn', insight='The dock is in hall 9')['error']
    assert refused['error_code'] == 'conflict'
    assert 'viewer may only read' in refused['message']
    assert robot.query_records().total_count == 1


def test_only_an_operator_decides(bridge: HttpBridge) -> None:
    refused = call(bridge, 'planner-1', 'review')['error']
    assert refused['error_code'] == 'conflict'
    assert 'requires the role operator' in refused['message']
    assert call(bridge, 'anna', 'review')['decided'] == 'nothing'


def test_only_an_operator_erases_and_a_preview_is_its_principal_s_own(
    bridge: HttpBridge, robot: Robot
) -> None:
    robot.learn('The dock is in hall 2')
    wanted = {'memory_ids': [1], 'reason': 'asked for'}
    for name in ('planner-1', 'screen'):
        refused = call(bridge, name, 'erase', **wanted)['error']
        assert refused['error_code'] == 'conflict'
        assert 'erase requires the role operator' in refused['message']
    found = call(bridge, 'anna', 'erase', **wanted)
    assert (found['status'], found['memory_ids']) == ('preview', [1])
    done = call(bridge, 'anna', 'erase', token=found['token'])
    assert done['status'] in ('erased', 'pending')
    assert robot.rows('SELECT 1 FROM memories') == []


def test_a_token_that_no_principal_has_is_refused(bridge: HttpBridge) -> None:
    assert call(bridge, 'nobody', 'recall', query='dock') == {'status': 401}


def test_a_file_of_one_line_is_a_planners(
    serve: Callable[..., HttpBridge], robot: Robot, tmp_path: Path
) -> None:
    file = tmp_path / 'token'
    file.write_text('token-of-all-callers\n')
    file.chmod(0o600)
    call(serve(token_file=str(file)), 'all-callers', 'learn', insight='The dock is in hall 2')
    assert robot.rows('SELECT authority, principal FROM writers') == [('planner', 'token')]


GOOD = entry('anna', 'operator')


@pytest.mark.parametrize(
    ('content', 'words'),
    [
        ('{"principals": [', 'not valid JSON'),
        ({'principals': []}, 'at least one'),
        ({'users': [GOOD]}, 'key principals only'),
        ({'principals': [{**GOOD, 'role': 'root'}]}, 'role must be one of operator, planner'),
        ({'principals': [{**GOOD, 'name': 'a b'}]}, 'name must be 1 to 64 letters'),
        ({'principals': [{**GOOD, 'token_sha256': 'abc'}]}, '64 hexadecimal digits'),
        ({'principals': [{**GOOD, 'token': 'abc'}]}, 'token'),
        ({'principals': [{**GOOD, 'may_speak_for': ['anna']}]}, 'operator:NAME, planner:NAME'),
        ({'principals': [{**GOOD, 'may_speak_for': ['root:anna']}]}, 'not .root:anna.'),
        ({'principals': [{**GOOD, 'may_speak_for': 'operator:anna'}]}, 'list of strings'),
        ({'principals': [GOOD, {**GOOD, 'name': 'bert'}]}, 'same token_sha256'),
        ({'principals': [GOOD, {**entry('bert', 'viewer'), 'name': 'anna'}]}, 'same name'),
        ({'principals': ['anna']}, 'principal 1'),
    ],
)
def test_what_is_wrong_in_the_file_is_said_without_a_hash(content: Any, words: str) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    with pytest.raises(InvalidArgument, match=words) as raised:
        parse_principals(text, 'mcp_token_file')
    assert GOOD['token_sha256'] not in str(raised.value)
