"""Every example of the two further documents of the contract, from their own text, on a node."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import os
import re
import typing
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from narrowing import require

import sage_mcp
from robot_memory.client import MemoryClient

CONTRACT = Path(
    os.environ.get(
        'ROBOT_MEMORY_CONTRACT', Path(__file__).resolve().parents[4] / 'shared/contract'
    )
)
SAGE, TDAI = CONTRACT / 'sage-mcp-api.zh.txt', CONTRACT / 'tdai-query-records.zh.txt'
PORT = 17800  # the documents' own

pytestmark = pytest.mark.skipif(
    not SAGE.exists(), reason=f'the documents of the contract are not at {CONTRACT}'
)


class Live:
    """A node as the documents expect it, and the ways to it that they show."""

    def __init__(self, node: Any, robot: Any) -> None:
        robot.until(lambda: 'MCP: http' in node.said(), 'the door to be open')
        self.node = node
        self.names = {name: getattr(typing, name) for name in ('Any', 'Dict', 'List')}
        self.names |= {'asyncio': asyncio}

    def get(self, path: Any) -> Any:
        with urllib.request.urlopen(f'http://127.0.0.1:{PORT}{path}') as answer:
            return answer.read().decode()

    def post(self, body: Any) -> Any:
        request = urllib.request.Request(
            f'http://127.0.0.1:{PORT}/mcp',
            data=body.encode(),
            headers={'Content-Type': 'application/json'},
        )
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read())

    def call(self, name: Any, **arguments: Any) -> Any:
        params = {'name': name, 'arguments': arguments}
        body = {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call', 'params': params}
        result = self.post(json.dumps(body))['result']
        assert not result.get('isError'), result
        return result

    def answer(self, name: Any, **arguments: Any) -> Any:
        return json.loads(self.call(name, **arguments)['content'][0]['text'])

    def run(self, code: Any) -> None:
        exec(compile(code, 'document', 'exec'), self.names)


def assert_fits(example: Any, answer: Any, where: str = 'answer') -> None:
    """Assert that an answer has all that an example has, of the same kinds."""
    if isinstance(example, dict):
        assert isinstance(answer, dict), where
        for key, value in example.items():
            assert key in answer, f'{where} lacks {key}'
            assert_fits(value, answer[key], f'{where}.{key}')
    elif isinstance(example, list):
        assert isinstance(answer, list), where
        if example and answer:
            assert_fits(example[0], answer[0], f'{where}[0]')
    elif isinstance(example, bool) or example is None:
        assert type(answer) is type(example), where
    elif isinstance(example, (int, float)):
        assert isinstance(answer, (int, float)), where
    else:
        assert isinstance(answer, str) or answer is None, where


def from_json(text: str) -> Any:
    return json.loads(text.replace('{...}', '{}'))


# How an example is run: each takes the live node and the example's text


def called(live: Any, text: str) -> None:
    call = json.loads(text)
    live.call(call['name'], **call['arguments'])


def answered(tool: Any, **arguments: Any) -> Callable[..., Any]:
    return lambda live, text: assert_fits(from_json(text), live.answer(tool, **arguments), tool)


def cleared(live: Any, text: str) -> None:
    session = live.answer('start_session')['session_id']
    live.answer('save_conversation', user_prompt='a', assistant_response='b')
    found = live.answer('clear_session')
    assert_fits(json.loads(text), found)
    assert (found['session_id'], found['count']) == (session, 2)


def health_asked(live: Any, text: str) -> None:
    assert text == 'GET /health'
    assert json.loads(live.get('/health'))['status'] == 'healthy'


def health_answered(live: Any, text: str) -> None:
    assert_fits(json.loads(text), json.loads(live.get('/health')))


def posted(live: Any, text: str) -> None:
    head, body = text.split('\n\n', 1)
    assert head == 'POST /mcp\nContent-Type: application/json'
    answer = live.post(body)
    assert (answer['id'], answer['result'].get('isError', False)) == ('1', False)


def client_used(live: Any, text: str) -> None:
    live.run(text)
    found = live.names['stats']
    assert found['total'] >= 2
    assert live.names['context']['context']


def batches_saved(live: Any, text: str) -> None:
    before = live.answer('get_memory_stats')['total']
    live.run(text)
    assert live.answer('get_memory_stats')['total'] == before + 2
    assert [type(found) for found in live.names['results']] == [list] * 3


def pool_made(live: Any, text: str) -> None:
    live.run(text)
    assert live.names['client'].get_stats()['total'] >= 0


def stub(live: Any, text: str) -> None:
    """Compare each method of a class that the document sketches with ours."""
    (sketch,) = ast.parse(text).body
    assert isinstance(sketch, ast.ClassDef)
    ours = getattr(sage_mcp, sketch.name)
    for method in sketch.body:
        assert isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef))
        found = getattr(ours, method.name)
        assert inspect.iscoroutinefunction(found) == isinstance(method, ast.AsyncFunctionDef)
        wanted = [argument.arg for argument in method.args.args]
        parameters = list(inspect.signature(found).parameters.values())
        assert [parameter.name for parameter in parameters][: len(wanted)] == wanted
        for argument in (
            method.args.args[-len(method.args.defaults) :] if method.args.defaults else ()
        ):
            assert inspect.signature(found).parameters[argument.arg].default is not (
                inspect.Parameter.empty
            )


def decorated(live: Any, text: str) -> None:
    live.names |= {name: getattr(sage_mcp, name) for name in re.findall(r'with_\w+', text)}
    live.names['ErrorSeverity'] = sage_mcp.ErrorSeverity
    live.run(text)
    (name,) = re.findall(r'async def (\w+)', text)
    assert asyncio.run(live.names[name]()) is None


def subclassed(live: Any, text: str) -> None:
    live.run(text)
    (name,) = re.findall(r'^class (\w+)', text, re.MULTILINE)
    made = live.names[name]()
    base = type(made).__mro__[1]
    assert base.__module__.startswith('robot_memory')
    declared = {
        key: value for key, value in vars(type(made)).items() if key in ('name', 'version')
    }
    assert all(getattr(made, key) == value for key, value in declared.items())


def configured(live: Any, text: str) -> None:
    from robot_memory.core import configuration

    folder = live.node.db.parent / 'home' / '.sage'
    folder.mkdir(parents=True)
    (folder / 'config.json').write_text(text, encoding='utf-8')
    found = configuration.read_fallbacks({'HOME': str(folder.parent)})
    told = ' '.join(found.warnings)
    for name in ('enable_neural_rerank', 'enable_llm_summary', 'encryption'):
        assert 'not available: ' in told and name in told


def measured(live: Any, text: str) -> None:
    lines = [line for line in text.splitlines() if line and not line.startswith('#')]
    found = live.get('/metrics')
    for line in lines:
        name = line.rpartition(' ')[0]
        assert f'\n{name} ' in found, name


def logged(live: Any, text: str) -> None:
    live.answer('save_conversation', user_prompt='log this', assistant_response='done')
    records = [
        json.loads(line[line.index('{') :])
        for line in live.node.said().splitlines()
        if '{"timestamp"' in line
    ]
    wanted = json.loads(text)
    assert any(wanted.keys() <= record.keys() for record in records), records[-3:]


def shaped(tool: Any, key: Any = None, **arguments: Any) -> Callable[..., Any]:
    def check(live: Any, text: str) -> None:
        names = eval(text, {'str': str, 'Message': dict, **live.names})
        found = live.answer(tool, **arguments)
        found = key(found) if key else found
        assert set(names) <= set(found)

    return check


def capable(live: Any, text: str) -> None:
    live.run(text)
    wanted = live.names['experimental_capabilities']
    assert set(live.answer('sage_system_status')['capabilities']) == set(wanted)


def exported(found: Any) -> Any:
    content = found['content']
    return json.loads(content) if isinstance(content, str) else content


EXAMPLES = (
    ('"name": "save_conversation"', called),
    ('"name": "sage_memory"', called),
    ('"context": "相关上下文摘要...', answered('get_context', query='装饰器')),
    ('"content": "匹配的对话内容"', answered('search_memory', query='装饰器', threshold=0)),
    ('"total": 1234', answered('get_memory_stats')),
    ('"cleared": true', cleared),
    ('"context": "coding"', answered('sage_smart_prompt', user_input='如何使用Python装饰器？')),
    ('GET /health', health_asked),
    ('"status": "healthy"', health_answered),
    ('POST /mcp', posted),
    ('pip install sage-mcp-client', 'c: that name is not ours to publish; the client comes along'),
    ('# 初始化客户端', client_used),
    ('class SageCommandParser:', stub),
    ('class EnhancedSessionManager:', stub),
    ('class SmartPromptGenerator:', stub),
    ('class MemoryAnalyzer:', stub),
    ('class ErrorHandler:', stub),
    ('@with_error_handling', decorated),
    ('@with_performance_monitoring', decorated),
    ('@with_circuit_breaker', decorated),
    ('CREATE TABLE conversations', 'c: a PostgreSQL server; the view conversations stands for it'),
    ('-- 余弦相似度搜索', 'c: operators of pgvector; search_memory gives the same number'),
    ('"retrieval": {', configured),
    ('-- 更新统计信息', 'c: of PostgreSQL; maintain does it for SQLite'),
    ('# 批量保存', batches_saved),
    ('pool_size=10', pool_made),
    ('class MyEmbedding', subclassed),
    ('class MyStrategy', subclassed),
    ('class MyPlugin', subclassed),
    ('# 记忆总数', measured),
    ('"service": "sage-mcp"', logged),
    ('"session_id": str', shaped('export', exported, session_id='', format='json')),
    (
        '"role": str',
        shaped('export', lambda found: exported(found)['messages'][0], format='json'),
    ),
    ('"analysis_type": str', shaped('analyze', analysis_type='TOPIC_CLUSTERING')),
    ('experimental_capabilities', capable),
)
"""Each example by a part of its text, in the order in which they are run."""


def test_every_example_of_the_sage_document(start: Callable[..., Any], robot: Any) -> None:
    live = Live(start(mcp_enabled='true', mcp_port=PORT, log_format='json'), robot)
    text = SAGE.read_text(encoding='utf-8')
    blocks = [block.strip() for block in re.findall(r'```\w*\n(.*?)```', text, re.DOTALL)]
    left = list(blocks)
    told = []
    for part, check in EXAMPLES:
        (block,) = [block for block in left if part in block]
        left.remove(block)
        if callable(check):
            check(live, block)
            told.append(f'passed  {part}')
        else:
            told.append(f'{check[:1]}       {part}: {check[3:]}')
    print('\n'.join(told))
    assert left == []


def test_every_example_of_the_tdai_document(start: Callable[..., Any], robot: Any) -> None:
    live = Live(start(mcp_enabled='true', mcp_port=PORT), robot)
    text = TDAI.read_text(encoding='utf-8')
    live.answer(
        'save_conversation',
        user_prompt='太好了,酒店要带健身房,另外我对花生严重过敏,预订餐厅时请务必注意。',
        assistant_response='好的',
        actor_id='user-sdk-test',
    )
    client = MemoryClient(endpoint=f'http://127.0.0.1:{PORT}', api_key='', memory_id='')
    # The signature
    head = text[text.index('def query_records(') : text.index('使用示例')]
    (sketch,) = ast.parse(head.strip() + ' ...').body
    assert isinstance(sketch, ast.FunctionDef)
    found = inspect.signature(MemoryClient.query_records).parameters
    assert [argument.arg for argument in sketch.args.args] == list(found)
    # The example
    code = text[text.index('import json\n') : text.index('入参描述')]
    live.names['client'] = client
    live.run(code)
    assert live.names['records']['records'] == []  # a session that nobody began
    # The conditions
    where = require(re.search(r'\{\s*"where".*?\}\s*\}\s*\}', text, re.DOTALL))[0]
    assert client.query_records(**json.loads(where))['total_count'] == 0
    # The answer
    example = text[text.index('{\n"memory_id"') : text.index('参数(一级)')]
    answer = client.query_records(actor_id='user-sdk-test')
    assert_fits(json.loads(example), answer)
    assert {record['strategy_name'] for record in answer['records']} >= {'episodic'}
    assert answer['total_count'] == len(answer['records']) > 0
