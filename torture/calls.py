"""
Random requests by every face, most of them wrong: answered or refused, and refused whole.

In each batch one store is called through Python and looked at with all its rows around one call in
twenty; another one by the services and MCP of a live node, many calls at a time, and by the
command line beside it.
"""

from __future__ import annotations

import importlib.util
import json
import random
import shutil
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import checker
import faces
from faces import CONNECTIONS, CommandLine, Mcp, Node, Outcome, Request, Services
from robots import MovableClock, Robot, make_model
from rounds import fork
from wild import Wild, describe
from wild_requests import Watched

from robot_memory.catalog import list_tools
from robot_memory.core.settings import Settings
from robot_memory.embedding import BackgroundEmbedder
from robot_memory.memory import Memory
from robot_memory.storage import checksums

FULLY = 20
"""Of so many calls one is looked at with all rows before and after."""
BATCH = 2500
SHARES = {'services': 30, 'MCP': 34, 'the command line': 2}
"""Percent of the calls that come in by a live node and beside it; the others are Python's."""
STATE = (
    'SELECT id, type, collection, session_id, content, context, status, superseded_by, tags'
    ' FROM memories',
    'SELECT id, memory_id, action FROM audit',
    'SELECT id, status, title FROM sessions',
)
CREATED = "SELECT id FROM memories UNION SELECT memory_id FROM audit WHERE action = 'erased'"

Add = Callable[[str, str], None]


class Told:
    """Count what came of calls, and hold what is wrong."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.figures: Counter[str] = Counter()
        self.wrong: list[tuple[str, str]] = []

    def judge(self, face: str, tool: str, given: Any, outcome: Outcome) -> None:
        """Count a call."""
        self.figures[f'calls by {face}'] += 1
        self.figures['answered' if outcome.answered else 'refused'] += 1
        if outcome.fault:
            self.wrong.append(('ended', f'{face}: {tool} {describe(given)}: {outcome.fault:.500}'))


def call_all(folder: Path, number: int, seed: int, add: Add) -> Counter[str]:
    """Make so many calls in batches, each in a process of its own; return what came of them."""
    figures: Counter[str] = Counter()
    for batch in range(-(-number // BATCH)):
        size = min(BATCH, number - batch * BATCH)
        within = folder / str(batch)
        within.mkdir()
        found, status = (
            within / 'told',
            fork(
                lambda within=within, size=size, batch=batch: _call_batch(  # type: ignore[misc]
                    within, size, random.Random(f'{seed} batch {batch}')
                ),
                within / 'log',
            ),
        )
        if status:
            add('ended', f'batch {batch}: status {status}: {(within / "log").read_text()[-1500:]}')
            return figures
        told = json.loads(found.read_text())
        figures.update(told['figures'])
        for kind, detail in told['wrong']:
            add(kind, f'batch {batch}: {detail}')
        for _ in range(size - len(told['wrong'])):
            add('', '')
        shutil.rmtree(within)
    return figures


def _call_batch(folder: Path, size: int, chance: random.Random) -> None:
    told, has_ros = Told(), importlib.util.find_spec('rclpy') is not None
    shares = {face: size * share // 100 for face, share in SHARES.items()} if has_ros else {}
    _call_python(folder / 'python', size - sum(shares.values()), chance, told)
    if has_ros:
        _call_node(folder / 'node', shares, chance, told)
    else:
        told.figures['batches without services and MCP: no ROS here'] += 1
    (folder / 'told').write_text(json.dumps({'figures': told.figures, 'wrong': told.wrong}))


def _call_python(folder: Path, size: int, chance: random.Random, told: Told) -> None:
    folder.mkdir()
    model = make_model(folder / 'model', 8)
    db = folder / 'memory.db'
    chosen = Settings(db_path=str(db), durability='normal', python_role='operator')
    wild, tools = Wild(chance), list_tools()
    with Memory(chosen, clocks=MovableClock(), embedder=BackgroundEmbedder(str(model))) as memory:
        watched, start = Watched(Robot(memory)), time.process_time()
        for made in range(size):
            tool = chance.choice(tools)
            given = wild.make_request(tool)
            answered = watched.outcomes[tool.name, True]
            try:
                wild.notice(watched.call(tool, given, fully=made % FULLY == 0))
                outcome = Outcome(watched.outcomes[tool.name, True] > answered, None, 'x', 'x')
            except Exception as error:
                outcome = Outcome(False, None, 'internal', f'{error!r}')
                traceback.print_exc()
            told.judge('Python', tool.name, given, outcome)
        spent = round(1000 * (time.process_time() - start))
        told.figures['ms of the processor for calls by Python, looks at all rows included'] += (
            spent
        )
        watched.check()
    _check(db, set(), told)


def _call_node(folder: Path, shares: dict[str, int], chance: random.Random, told: Told) -> None:
    folder.mkdir()
    faces.choose_domain()
    node = Node(folder)
    try:
        called: dict[str, Any] = {
            'services': Services(node.name),
            'MCP': Mcp(node.port),
            'the command line': CommandLine(node.db),
        }
        start, own = node.read_processor_ms(), time.process_time()
        created = _call_faces(called, node, shares, chance, told)
        told.figures['ms of the processor for calls of a node, by the node'] += (
            node.read_processor_ms() - start
        )
        told.figures['ms of the processor for calls of a node, by this program'] += round(
            1000 * (time.process_time() - own)
        )
        for one in called.values():
            one.close()
        fault = node.stop()
    finally:
        node.kill()
    if fault:
        told.wrong.append(('ended', fault))
    _check(node.db, created, told)


def _call_faces(
    called: dict[str, Any],
    node: Node,
    shares: dict[str, int],
    chance: random.Random,
    told: Told,
) -> set[int]:
    """Call a node's faces in turns; return the memories that were said to be created."""
    wild, created = Wild(chance), set()
    for place, (name, size) in enumerate(_take_turns(shares, chance)):
        requests = list(_make_requests(wild, size))
        alone = place % FULLY == 0
        for some in [[one] for one in requests] if alone else [requests]:
            before = _read_state(node.db) if alone else []
            outcomes = called[name].call_all(some, wild)
            for (tool, given), outcome in zip(some, outcomes, strict=True):
                told.judge(name, tool.name, given, outcome)
                wild.notice(outcome.answer)
                created |= _find_created(outcome)
            if alone and not outcomes[0].answered and (after := _read_state(node.db)) != before:
                changed = _describe_change(before, after)
                detail = (
                    f'{name}: a refused {some[0][0].name} changed a row: {changed};'
                    f' {outcomes[0].message:.200}; {describe(some[0][1])}'
                )
                told.wrong.append(('inconsistent', detail))
        fault = node.find_fault() if place % FULLY == 0 else ''
        if fault:
            told.wrong.append(('ended', fault))
            break
    return created


def _take_turns(shares: dict[str, int], chance: random.Random) -> Iterator[tuple[str, int]]:
    """Yield faces in a random order with numbers of calls, until each had its share."""
    left = dict(shares)
    while left:
        name = chance.choice([*left])
        size = min(2 * CONNECTIONS, left[name])
        left[name] -= size
        if not left[name]:
            del left[name]
        if size:
            yield name, size


def _make_requests(wild: Wild, size: int) -> Iterator[Request]:
    tools = [tool for tool in list_tools() if tool.ros]
    for _ in range(size):
        tool = wild.chance.choice(tools)
        yield tool, wild.make_request(tool)


def _find_created(outcome: Outcome) -> set[int]:
    answer = outcome.answer if isinstance(outcome.answer, dict) else {}
    is_new = answer.get('status') == 'created' and isinstance(answer.get('memory_id'), int)
    return {answer['memory_id']} if outcome.answered and is_new else set()


def _read_state(db: Path) -> list[Any]:
    connection = checksums.connect(db)
    try:
        connection.execute('BEGIN')
        return [connection.execute(sql).fetchall() for sql in STATE]
    finally:
        connection.close()


def _describe_change(before: list[Any], after: list[Any]) -> str:
    """Return the first rows of each table that went and that came."""
    told = []
    for one, other in zip(before, after, strict=True):
        gone, new = (
            [row for row in one if row not in other],
            [row for row in other if row not in one],
        )
        if gone or new:
            told.append(f'-{len(gone)} {gone[:1]!r:.200} +{len(new)} {new[:1]!r:.200}')
    return '; '.join(told)


def _check(db: Path, created: Sequence[int] | set[int], told: Told) -> None:
    """Note what is wrong with a store, and which memories are not there that were answered."""
    try:
        problems = checker.check(db)
    except Exception as error:
        traceback.print_exc()
        problems = [f'it could not be checked: {error!r}']
    if problems:
        told.wrong.append(('inconsistent', '; '.join(problems[:5])))
    connection = checksums.connect(db)
    try:
        known = {row[0] for row in connection.execute(CREATED)}
    finally:
        connection.close()
    lost = sorted(set(created) - known)
    told.figures['memories that were said to be created by a node'] += len(created)
    if lost:
        told.wrong.append(('lost', f'{len(lost)} memories: {lost[:5]}'))
