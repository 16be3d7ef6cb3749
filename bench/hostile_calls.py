"""
How much memory a process keeps after hostile calls: RSS before, during and after them.

Called as `bench/hostile_calls.py CALLS [SEED] [MODEL] [FACE]`; MODEL '' is the default models. The
FACE `python` calls in this process, `mcp` over HTTP a process of its own, `node` the services and
MCP of a live node in turns; the memory of the process that is called is read. Before is after some
plain calls of each kind, which load what is loaded when it is needed; what it was at the start is
told, too. Of the others many are wrong, the rest ask for what nobody asked before; almost none
stores anything, so that what stays is what they left behind. What is mapped (pages of libraries,
and of the models' weights, which more words touch) is told beside: the system may drop it at any
time.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'torture'))
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / 'test'))
sys.path.insert(2, str(Path(__file__).resolve().parent))

import faces
from measured_process import read_megabytes
from wild import Wild

from robot_memory.api import RobotMemory
from robot_memory.catalog import get_tool
from robot_memory.core.errors import RobotMemoryError
from robot_memory.core.heap import use_one_heap

_PLAIN = 500
_FACTS = 2_000
Call = tuple[str, dict[str, Any]]
Make = Callable[[random.Random], Call]
_WORDS = 'shelf aisle part gripper drawer cup tray dock hall battery sensor wrist'.split()


def make_text(chance: random.Random) -> str:
    """Return a text that nobody said before, of any script and length."""
    letters = chance.choice(
        ('abcdefgh ', '抽屉卡住夹持力', 'жщъ ёэ', '\u202e\x1b\x00\ud7ff', '0123456789 N')
    )
    length = chance.choice((1, 20, 60, 200, 2_000, 9_000))
    return chance.choice(_WORDS) + ' ' + ''.join(chance.choices(letters, k=length))


def make_call(chance: random.Random) -> Call:
    """Return a tool and what it is asked for."""
    text = make_text(chance)
    nested: Any = 1
    for _ in range(chance.choice((1, 30, 120))):
        nested = {text[:8]: nested}
    made: list[Call] = [
        ('recall', {'query': text, 'n': chance.choice((1, 5, 10**9, -1))}),
        ('recall', {'query': text, 'context_filter': {text[:40]: text}}),
        ('recall', {'query': text, 'collection': text[:30]}),
        ('query_records', {'where': {text[:20]: {'$gt': chance.random()}}}),
        ('query_records', {'order_by': text[:50]}),
        ('query_events', {'where': {text[:20]: text}, 'time_zone': text[:30]}),
        ('get_context', {'task': text}),
        ('search_memory', {'query': text}),
        ('learn', {'insight': '', 'context': nested}),
        ('learn', {'insight': text, 'session_id': text[:40]}),
        ('suggest', {'skill': text[:60], 'situation': text}),
        ('show', {'memory_id': chance.randrange(10**12)}),
        ('forget', {'memory_id': chance.randrange(10**9, 10**12), 'reason': text}),
        ('save_perception', {'description': text, 'perception_type': text[:9]}),
        ('end_session', {'session_id': text[:60]}),
        ('export', {'session_id': text[:60]}),
        ('recall', {text[:30]: nested}),
    ]
    return chance.choice(made)


def make_plain_call(chance: random.Random) -> Call:
    """Return a tool and what it is asked for by a planner: each kind of call that is usual."""
    part = 37 * chance.randrange(_FACTS)
    speed, slide = chance.randint(5, 20) / 10, chance.randint(2, 9) / 10
    goal = {'result': 'slide', 'value': f'{slide} m', 'tolerance': '8 cm'}
    puck = {'skill': 'strike', 'situation': f'the brass disc on tray {part % 5}'}
    pushed = {'description': f'Contact of {part % 9 + 1} N', 'perception_type': 'tactile'}
    told = {
        'user_prompt': f'Remember that part {part} is on a shelf.',
        'assistant_response': 'OK.',
    }
    tried = {'params': {'speed': f'{speed} m/s'}, 'results': {'slide': f'{slide} m'}}
    made: list[Call] = [
        ('recall', {'query': f'Where is part {part}?', 'n': 5}),
        ('recall', {'query': f'{part} 号零件在哪里?'}),
        ('recall', {'query': f'Where are parts {", ".join(map(str, range(part, part + 300)))}?'}),
        ('search_memory', {'query': f'part {part}'}),
        ('get_context', {'task': f'Take part {part} to Anna, and put it on the table.'}),
        ('query_records', {'limit': 5}),
        ('query_events', {'limit': 5}),
        ('learn', {'insight': f'Shelf {part} is for bolts since the audit'}),
        ('save_perception', {**pushed, 'data': {'peak_force': f'{part % 9 + 1} N'}}),
        ('save_conversation', told),
        ('record_outcome', {**puck, **tried, 'success': 'true'}),
        ('suggest', {**puck, 'want': goal}),
        ('skill_report', {'skill': 'strike'}),
    ]
    return chance.choice(made)


def make_calls(memory: RobotMemory, count: int, chance: random.Random, make: Make) -> int:
    """Make so many calls; return how many were answered."""
    run: Callable[[str, dict[str, Any]], Any] = memory._run
    answered = 0
    for _ in range(count):
        try:
            run(*make(chance))
            answered += 1
        except (RobotMemoryError, TypeError):
            continue
    return answered


def read_rss(pid: int) -> tuple[float, float]:
    """Return the resident memory of a process in MB, and how much of it is mapped files."""
    return read_megabytes('VmRSS', pid), read_megabytes('RssFile', pid)


class Served:
    """A process that serves a memory over MCP, and connections to it that are kept."""

    def __init__(self, path: Path, model: str) -> None:
        """Start the process."""
        asked, self._ask = os.pipe()
        self._told, tell = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            os.close(self._ask)
            _serve(path, model, asked, tell)
        os.close(asked)
        self._mcp = faces.Mcp(int(self._hear()))

    def make_calls(self, count: int, chance: random.Random, make: Make) -> int:
        """Make so many calls; return how many were answered."""
        wild, answered = Wild(chance), 0
        for at in range(0, count, faces.CONNECTIONS):
            made = [make(chance) for _ in range(min(faces.CONNECTIONS, count - at))]
            calls = [(get_tool(name), given) for name, given in made]
            answered += sum(one.answered for one in self._mcp.call_all(calls, wild))
        return answered

    def close(self) -> None:
        """End the process; raise where it ended badly."""
        self._mcp.close()
        os.close(self._ask)
        if status := os.waitpid(self.pid, 0)[1]:
            raise RuntimeError(f'the server ended with {status}')

    def _hear(self) -> bytes:
        told = os.read(self._told, 100)
        if not told:
            raise RuntimeError('the server ended')
        return told


def _serve(path: Path, model: str, asked: int, tell: int) -> None:
    """Serve until nobody holds the other end of `asked`; tell the port; this process ends here."""
    from robot_memory.mcp_server import HttpBridge

    code = 1
    use_one_heap()
    try:
        with fill(path, model) as memory:
            bridge = HttpBridge(memory.memory, port=0, tools='all')
            bridge.start()
            os.write(tell, str(bridge.port).encode())
            os.read(asked, 1)
            bridge.stop()
        code = 0
    finally:
        os._exit(code)


def fill(path: Path, model: str) -> RobotMemory:
    """Open a memory and keep facts in it."""
    memory = RobotMemory(path, model=model)
    memory.memory.wait_for_models(None, None)
    for number in range(_FACTS):
        memory.learn(f'Shelf {number} of aisle {number % 7} holds part {number * 37}')
    return memory


class Live:
    """A node that serves a memory, called by its services and over MCP in turns."""

    def __init__(self, path: Path, model: str) -> None:
        """Start it on a store that is filled."""
        fill(path, model).close()
        faces.choose_domain()
        self._node = faces.Node(path.parent, model)
        self._mcp = faces.Mcp(self._node.port)
        self._services = faces.Services(self._node.name)
        self.pid = self._node.pid

    def make_calls(self, count: int, chance: random.Random, make: Make) -> int:
        """Make so many calls; return how many were answered."""
        wild, answered = Wild(chance), 0
        for place, at in enumerate(range(0, count, faces.CONNECTIONS)):
            made = [make(chance) for _ in range(min(faces.CONNECTIONS, count - at))]
            calls = [(get_tool(name), given) for name, given in made]
            offered = [one for one in calls if place % 2 and one[0].ros]
            others = [one for one in calls if not (place % 2 and one[0].ros)]
            outcomes = self._services.call_all(offered, wild) + self._mcp.call_all(others, wild)
            answered += sum(one.answered for one in outcomes)
        return answered

    def close(self) -> None:
        """End the node; raise where it met a fault."""
        try:
            self._mcp.close()
            self._services.close()
            if fault := self._node.stop():
                raise RuntimeError(fault)
        finally:
            self._node.kill()


class Local:
    """A memory in this process."""

    def __init__(self, path: Path, model: str) -> None:
        """Open it."""
        self._memory = fill(path, model)
        self.pid, self.close = os.getpid(), self._memory.close

    def make_calls(self, count: int, chance: random.Random, make: Make) -> int:
        """Make so many calls; return how many were answered."""
        return make_calls(self._memory, count, chance, make)


FACES: dict[str, type[Served | Live | Local]] = {
    'mcp': Served,
    'node': Live,
    'python': Local,
}


def main() -> None:
    """Print RSS before, and every tenth of the calls."""
    calls, seed, model, face = (*sys.argv[1:], *('1', '', 'python')[len(sys.argv) - 2 :])
    chance = random.Random(int(seed))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'memory.db'
        called: Served | Live | Local = FACES[face](path, model)
        print(f'at the start: {read_rss(called.pid)[0]:.0f} MB', flush=True)
        right = called.make_calls(_PLAIN, chance, make_plain_call)
        print(f'{right} of {_PLAIN} plain calls answered', flush=True)
        before, mapped = read_rss(called.pid)
        print(f'before: {before:.0f} MB, {mapped:.0f} of it mapped files', flush=True)
        answered, each = 0, int(calls) // 10
        for tenth in range(1, 11):
            answered += called.make_calls(each, chance, make_call)
            now, mapped_now = read_rss(called.pid)
            own = (now - mapped_now) / (before - mapped) - 1
            print(
                f'{tenth * each} calls: {now:.0f} MB ({now / before - 1:+.1%}), {mapped_now:.0f} '
                f'of it mapped files; without these {own:+.1%}',
                flush=True,
            )
        print(f'{answered} answered, the rest refused')
        called.close()


if __name__ == '__main__':
    main()
