"""
A planner's loop over MCP: ask before each try, report what came of it.

`python examples/mcp_loop.py URL` plays 40 tries against a running node or
`robot-memory mcp --http`; a language model calls the same two tools.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import uuid
from pathlib import Path
from typing import Any

from mcp import Client

sys.path.insert(0, str(Path(__file__).resolve().parent))

from puck import GOAL_M, TOLERANCE_M, Table, is_good

WANT = {'result': 'slide', 'value': f'{GOAL_M} m', 'tolerance': f'{TOLERANCE_M} m'}
AMONG = {'speed': {'min': '0.3 m/s', 'max': '2 m/s'}}


async def main() -> None:
    """Play the tries, and print how many of each ten were good."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('url', help='of the MCP server, e.g. http://127.0.0.1:8765/mcp')
    parser.add_argument('--tries', type=int, default=40)
    options = parser.parse_args()
    table = Table(seed=0)
    async with Client(options.url) as client:
        outcomes = [await play(client, table, number) for number in range(options.tries)]
        report = await call(client, 'skill_report', skill='strike')
    for first in range(0, len(outcomes), 10):
        ten = outcomes[first : first + 10]
        print(f'tries {first + 1} to {first + len(ten)}: {sum(ten)} good')
    print(report['text'])


async def play(client: Client, table: Table, number: int) -> bool:
    """Ask, act and report once; say whether it was good."""
    situation = table.find_situation()
    advice = await call(
        client,
        'suggest',
        skill='strike',
        situation=situation,
        want=WANT,
        **({'among': AMONG, 'explore': 0.5, 'seed': number} if number > 1 else {}),
        default={'speed': f'{table.try_out():.2f} m/s'},
    )
    speed = advice['params']['speed']['value']
    slide = table.strike(situation, speed)
    await call(
        client,
        'record_outcome',
        skill='strike',
        situation=situation,
        params={'speed': f'{speed} m/s'},
        results={'slide': f'{slide:.3f} m'},
        success=str(is_good(slide)).lower(),
        key=str(uuid.uuid4()),
    )
    return is_good(slide)


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the answer of a tool; raise RuntimeError with its words where it refuses."""
    result = await client.call_tool(tool, arguments)
    answer: dict[str, Any] = result.structured_content or {}
    if result.is_error:
        raise RuntimeError(answer['error']['message'])
    return answer


if __name__ == '__main__':
    asyncio.run(main())
