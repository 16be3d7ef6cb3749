"""
JSON Schemas of the declarations, draft 2020-12.

| kind    | argument                                  | answer            |
|---------|-------------------------------------------|-------------------|
| text    | string; boolean, too, for true and false  | string            |
| integer | integer (10.0 is one)                     | integer           |
| number  | number                                    | number            |
| flag    | boolean                                   | boolean           |
| texts   | array of strings                          | array of strings  |
| numbers | array of integers                         | array of integers |
| json    | object, array as the shape allows, string | anything          |
| stamp   | {sec, nanosec}, integer, string           | {sec, nanosec}    |
| record  | -                                         | object            |
| records | -                                         | array of objects  |
| bytes   | -                                         | string in base64  |

A field that is nullable takes null, too.
"""

from __future__ import annotations

from typing import Any

from robot_memory.core.errors import list_error_classes, list_error_numbers
from robot_memory.core.fields import NANOSECONDS, Field, get_fields

Schema = dict[str, Any]
_TYPES = {
    'text': 'string',
    'integer': 'integer',
    'number': 'number',
    'flag': 'boolean',
    'bytes': 'string',
}
_SHAPES = {
    'object': ('object', 'string'),
    'container': ('object', 'array', 'string'),
    'any': ('object', 'array', 'string', 'number', 'boolean', 'null'),
}
_TRUTHS = frozenset(('true', 'false'))
"""Choices that truth values are taken for."""
_STAMP: Schema = {
    'type': 'object',
    'properties': {
        'sec': {'type': 'integer'},
        'nanosec': {'type': 'integer', 'minimum': 0, 'maximum': NANOSECONDS - 1},
    },
    'required': ['sec'],
    'additionalProperties': False,
}
_GIVEN_STAMP: Schema = {
    'type': 'object',
    'properties': {'sec': {}, 'nanosec': {'maximum': NANOSECONDS - 1}},
}
"""What a refusal says better, in few characters: a list of tools is read by a model."""
_EMPTY = (None, '', ())
"""Defaults that say no more than that an argument may be left out."""
_ERROR: Schema = {
    'type': 'object',
    'description': 'Why the call failed; a failed call changes nothing.',
    'properties': {
        'error_code': {'enum': [kind.code for kind in list_error_classes()]},
        'code': {'enum': [kind.code for kind in list_error_classes()]},
        'message': {'type': 'string', 'description': 'What was wrong, and what is accepted.'},
    },
    'required': ['error_code', 'code', 'message'],
    'additionalProperties': False,
}
_HINT: Schema = {'type': 'string', 'description': 'How to resolve it.'}


def make_input_schema(request: type) -> Schema:
    """Return the schema of a tool's arguments."""
    fields = get_fields(request)
    properties = {
        field.name: _describe_field(field, _list_argument_schemas(field)) for field in fields
    }
    for field in fields:
        if field.default not in _EMPTY:
            properties[field.name]['default'] = field.default
    return _make_object_schema(properties, [field.name for field in fields if field.required])


def make_output_schema(response: type, numbered: bool = False) -> Schema:
    """
    Return the schema of a tool's result: the answer, as `fields.to_plain` writes it, or an error.

    Clients made with the TypeScript SDK hold errors to the schema, too. Errors are `numbered`
    where the tool tells the numbers of the Sage document.
    """
    answer = _make_record_schema(response)
    return {
        'type': 'object',
        'properties': {
            **answer['properties'],
            'error': _make_error_schema() if numbered else _ERROR,
        },
        'anyOf': [{'required': answer.get('required', [])}, {'required': ['error']}],
        'additionalProperties': False,
    }


def _make_error_schema() -> Schema:
    """Return the schema of an error that may have a number and a hint."""
    error_fields = _ERROR['properties']
    codes = {'enum': [*error_fields['code']['enum'], *list_error_numbers()]}
    return {**_ERROR, 'properties': {**error_fields, 'code': codes, 'hint': _HINT}}


def _make_record_schema(declaration: type) -> Schema:
    """Return the schema of a dataclass of an answer."""
    fields = get_fields(declaration)
    properties = {
        field.name: _describe_field(field, _list_answer_schemas(field)) for field in fields
    }
    return _make_object_schema(properties, [field.name for field in fields if not field.omitted])


def _make_object_schema(properties: Schema, required: list[str]) -> Schema:
    schema: Schema = {'type': 'object', 'properties': properties}
    if required:
        schema['required'] = required
    return {**schema, 'additionalProperties': False}


def _describe_field(field: Field, accepted: list[Schema]) -> Schema:
    """Join what a field accepts, and say in words what it is."""
    types = [*accepted, {'type': 'null'}] if field.nullable and accepted else accepted
    return {**_join(types), 'description': field.help}


def _join(types: list[Schema]) -> Schema:
    """
    Return alternatives of different types as one schema; none: anything.

    A limit binds only values of its type, so that all can stand side by side, but for an enum.
    """
    if len(types) < 2:
        return dict(*types)
    if any('enum' in one for one in types):
        return {'anyOf': types}
    joined = {key: value for one in types for key, value in one.items()}
    return {**joined, 'type': [one['type'] for one in types]}


def _list_argument_schemas(field: Field) -> list[Schema]:
    """Return the alternatives that an argument accepts, null aside."""
    if field.kind == 'json':
        return [{'type': name} for name in _SHAPES[field.shape]]
    if field.kind == 'stamp':
        return [_GIVEN_STAMP, {'type': 'integer'}, {'type': 'string'}]
    if _TRUTHS.issubset(field.choices):
        return [_make_bounded_schema(field), {'type': 'boolean'}]
    return [_make_bounded_schema(field)]


def _list_answer_schemas(field: Field) -> list[Schema]:
    """Return the alternatives that a field of an answer holds, null aside; none: anything."""
    if field.kind == 'json':
        return []
    if field.kind == 'stamp':
        return [{**_STAMP, 'required': ['sec', 'nanosec']}]
    if field.record is not None:
        item = _make_record_schema(field.record)
        return [{'type': 'array', 'items': item} if field.kind == 'records' else item]
    return [_make_bounded_schema(field)]


def _make_bounded_schema(field: Field) -> Schema:
    """
    Return the schema of a scalar or a list of texts, with its limits.

    Lengths of texts are left out: a model cannot count characters, and a refusal names them.
    """
    limits: Schema = {
        'minimum': field.minimum,
        'maximum': field.maximum,
        'enum': list(field.choices) or None,
    }
    kept = {name: limit for name, limit in limits.items() if limit is not None}
    if field.kind == 'texts':
        return {'type': 'array', 'items': {'type': 'string', **kept}}
    if field.kind == 'numbers':
        return {'type': 'array', 'items': {'type': 'integer', **kept}}
    return {'type': _TYPES[field.kind], **kept}
