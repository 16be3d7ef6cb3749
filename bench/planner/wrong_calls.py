"""
Count how an MCP server answers calls as language models get them wrong.

`wrong_calls.py HALF` fills a new store, serves it over stdio, makes each call of a half of
`wrong_calls.jsonl` and prints, with 95 % intervals (Wilson), how many are answered as one of the
answers that their set accepts: a result, or an error, which has certain words. `--list` names the
others, for the half `tune` only.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from robot_memory.core.proportions import compute_wilson

HERE = Path(__file__).resolve().parent
SKILL = {'situation': 'brass disc on the oiled tray', 'results': {'slide': '41 cm'}}
FILLING: list[tuple[str, dict[str, Any]]] = [
    (
        'learn',
        {
            'insight': 'The red cup needs 12 N of grip force.',
            'context': {
                'params': {'force': {'value': 12, 'unit': 'N'}},
                'task': {'success': True, 'name': 'grasp'},
                'spatial': {'object_position': [1, 2, 0], 'frame_id': 'map'},
            },
        },
    ),
    (
        'learn',
        {
            'insight': 'The blue cup stands on the shelf.',
            'context': {'spatial': {'object_position': [2, 2, 1], 'frame_id': 'map'}},
        },
    ),
    ('learn', {'insight': 'The screw needs 2.5 Nm.', 'context': {'task': {'success': 'false'}}}),
    ('learn', {'insight': 'Keep at least 50 cm away from Li.'}),
    ('learn', {'insight': 'The drawer sticks at 40 % of its travel.', 'session_id': '$S'}),
    ('learn', {'insight': 'The lab closes at 18:00.', 'collection': 'lab'}),
    *(
        (
            'record_outcome',
            {'skill': 'strike', 'params': {'speed': f'{speed} m/s'}, **SKILL, **how},
        )
        for speed, how in ((1.0, {'success': 'true'}), (1.3, {'success': 'true'}), (2.0, {}))
    ),
]


class Client:
    """An MCP client of one server on stdio."""

    def __init__(self, db: Path, model: str) -> None:
        self.process = subprocess.Popen(
            ['robot-memory', 'mcp', '--db', str(db), '--model', model],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.numbers = itertools.count(1)
        asked = {'protocolVersion': '2025-06-18', 'capabilities': {}}
        self.ask('initialize', {**asked, 'clientInfo': {'name': 'bench', 'version': '1'}})

    def ask(self, method: str, params: Any) -> dict[str, Any]:
        """Return the response to a request."""
        number = next(self.numbers)
        request = {'jsonrpc': '2.0', 'id': number, 'method': method, 'params': params}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + '\n')
        self.process.stdin.flush()
        while line := self.process.stdout.readline():
            answer: dict[str, Any] = json.loads(line)
            if answer.get('id') == number:
                return answer
        raise SystemExit('the server ended')

    def call(self, tool: str, arguments: Any) -> tuple[str, str]:
        """Return whether a call has a result or an error, and its text."""
        if '$S' in json.dumps(arguments):
            _, text = self.call('start_session', {'title': 'set the table'})
            session = json.loads(text)['session_id']
            arguments = json.loads(json.dumps(arguments).replace('$S', session))
        answer = self.ask('tools/call', {'name': tool, 'arguments': arguments})
        if 'error' in answer:
            return 'error', json.dumps(answer['error'], ensure_ascii=False)
        result = answer['result']
        structured = result.get('structuredContent')
        text = '\n'.join(one.get('text', '') for one in result['content'])
        if structured is not None:
            text = json.dumps(structured, ensure_ascii=False)
        return 'error' if result.get('isError') else 'result', text


@contextmanager
def serve(model: str) -> Iterator[Client]:
    """Fill a new store and serve it."""
    with tempfile.TemporaryDirectory() as folder:
        client = Client(Path(folder) / 'memory.db', model)
        for tool, arguments in FILLING:
            kind, text = client.call(tool, arguments)
            assert kind == 'result', text
        yield client
        assert client.process.stdin is not None
        client.process.stdin.close()
        client.process.wait()


def is_accepted(kind: str, text: str, accept: list[dict[str, Any]]) -> bool:
    """Say whether an answer is one of those that are accepted."""
    found = text.casefold()
    return any(
        one['kind'] == kind and all(word.casefold() in found for word in one['has'])
        for one in accept
    )


def load(half: str) -> list[dict[str, Any]]:
    """Return the calls of a half."""
    lines = (HERE / 'wrong_calls.jsonl').read_text(encoding='utf-8').splitlines()
    return [one for one in map(json.loads, lines) if one['half'] == half]


def main() -> None:
    """Make the calls of a half and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('half', choices=('tune', 'report'))
    parser.add_argument('--model', default='none')
    parser.add_argument('--list', action='store_true')
    options = parser.parse_args()
    if options.list and options.half != 'tune':
        sys.exit(f'the half {options.half} is counted only')
    right, total = Counter[str](), Counter[str]()
    with serve(options.model) as client:
        for one in load(options.half):
            kind, text = client.call(one['tool'], one['arguments'])
            wanted = ' or '.join(sorted({accepted['kind'] for accepted in one['accept']}))
            is_right = is_accepted(kind, text, one['accept'])
            for group in (wanted, 'all'):
                total[group] += 1
                right[group] += is_right
            if options.list and not is_right:
                print(
                    f'{one["id"]} {one["tool"]} {json.dumps(one["arguments"], ensure_ascii=False)}'
                )
                print(f'  wanted {one["accept"]}\n  {kind}: {text[:400]}')
    for group in sorted(total):
        low, high = compute_wilson(right[group], total[group])
        share = right[group] / total[group]
        print(
            f'answered as accepted, {group}: {share:.3f} [{low:.3f}, {high:.3f}]'
            f' ({right[group]} of {total[group]})'
        )


if __name__ == '__main__':
    main()
