"""Commands are read from a table; what is wrong is answered with what would be right."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_memory.core.errors import InvalidArgument
from robot_memory.sage.commands import COMMANDS, CommandType, format_help, parse_command


@pytest.mark.parametrize(
    ('text', 'type', 'params'),
    [
        ('/save', 'save', {}),
        ('/save  the   red cup ', 'save', {'title': 'the red cup'}),
        ('/search 红色的杯子', 'search', {'query': '红色的杯子'}),
        ('/forget', 'forget', {}),
        ('/forget ALL', 'forget', {'all': True}),
        ('/forget mem_12', 'forget', {'memory_id': 12}),
        ('/forget 12', 'forget', {'memory_id': 12}),
        ('/forget 3f2a-99', 'forget', {'session_id': '3f2a-99'}),
        ('/forget all of it', 'forget', {'session_id': 'all of it'}),
        ('/recall', 'recall', {}),
        ('/recall 5', 'recall', {'limit': 5}),
        ('/recall 3f2a-99', 'recall', {'session_id': '3f2a-99'}),
        ('/status', 'status', {}),
        ('/mode', 'mode', {}),
        ('/mode On', 'mode', {'on': True}),
        ('/mode OFF', 'mode', {'on': False}),
        ('/help', 'help', {}),
        ('/help /search', 'help', {'command': 'search'}),
        ('/help sage-status', 'help', {'command': 'SAGE-STATUS'}),
        ('/analyze', 'analyze', {}),
        ('/analyze 7', 'analyze', {'days': 7}),
        ('/analyze topic_clustering', 'analyze', {'analysis': 'topic_clustering'}),
        ('/analyze topics 30', 'analyze', {'analysis': 'topics', 'days': 30}),
        ('/SAGE-STATUS', 'SAGE-STATUS', {}),
        ('/sage_status', 'SAGE-STATUS', {}),
        ('／search cup', 'search', {'query': 'cup'}),
        ('  SEARCH\u3000cup\n', 'search', {'query': 'cup'}),
    ],
)
def test_a_command_is_read(text: str, type: str, params: dict[str, object]) -> None:
    assert parse_command(text) == (CommandType(type), params)


@pytest.mark.parametrize('text', ['', '/', '   ', '/remove all', '/helpme', '／搜索 杯子'])
def test_an_unknown_command_is_answered_with_the_known_ones(text: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        parse_command(text)
    for command in COMMANDS:
        assert f'/{command.name}' in str(caught.value)


@pytest.mark.parametrize(
    ('text', 'usage'),
    [
        ('/search', '/search <query>'),
        ('/mode perhaps', '/mode [on|off]'),
        ('/status now', '/status'),
        ('/analyze topics of last week', '/analyze [type] [days]'),
    ],
)
def test_a_command_that_is_not_complete_is_answered_with_its_usage(text: str, usage: str) -> None:
    with pytest.raises(InvalidArgument, match='^usage: ' + re.escape(usage)):
        parse_command(text)


def test_help_for_an_unknown_command_lists_the_known_ones() -> None:
    with pytest.raises(InvalidArgument, match='/search'):
        parse_command('/help dance')


def test_help_has_a_line_for_each_command() -> None:
    lines = format_help().splitlines()
    assert [line.split()[0] for line in lines] == [f'/{command.name}' for command in COMMANDS]
    assert format_help('mode').startswith('/mode [on|off]  ')


@given(st.text())
def test_no_text_is_more_than_a_command_or_an_invalid_argument(text: str) -> None:
    try:
        type, params = parse_command(text)
    except InvalidArgument:
        return
    assert type in CommandType and isinstance(params, dict)
