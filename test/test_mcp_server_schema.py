"""The schemas of the tools take what the tools take and give, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from robot_memory.catalog import get_tool, list_tools
from robot_memory.core.errors import list_error_classes
from robot_memory.core.fields import get_fields
from robot_memory.mcp_server.schema import make_input_schema, make_output_schema

every_tool = pytest.mark.parametrize('tool', list_tools(), ids=lambda tool: tool.name)


def arguments_of(tool: Any) -> dict[str, Any]:
    """Return a value for each argument of a tool, as a client may send it."""
    samples = {'text': 'hello', 'integer': 10.0, 'number': 0.5, 'stamp': '{"sec": 1}'}
    samples |= {'texts': ['hello'], 'numbers': [7], 'flag': True}
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


def test_a_success_is_a_truth_value_or_its_word() -> None:
    accepts = accepter(get_tool('record_outcome'))
    for success in (True, False, 'true', 'false', 'unknown'):
        assert accepts({'skill': 'pour', 'success': success})
    for other in (None, 1, 'True', 'yes'):
        assert not accepts({'skill': 'pour', 'success': other})


def test_an_answer_schema_takes_an_answer_or_an_error_and_nothing_else() -> None:
    for tool in list_tools():
        accepts = Draft202012Validator(make_output_schema(tool.response)).is_valid
        for kind in list_error_classes():
            told = {'error_code': kind.code, 'code': kind.code, 'message': 'why'}
            assert accepts({'error': told})
        assert not accepts({'error': {'error_code': 'other', 'code': 'other', 'message': 'why'}})
        assert not accepts({'error': {'code': 'internal', 'message': 'why'}})
        assert not accepts({})
