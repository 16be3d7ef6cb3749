#!/usr/bin/env python3
"""
Print how a recall moves through the files of the package, from the tool to the rows and back.

A small store is made, with the default model where there is one, and `recall` is called as every
face calls it: with a query, with a context_filter beside it, and with a spatial_sort. What is
counted are the functions of robot_memory that begin or go on (generators), in the order in which
they do; lambdas and comprehensions count with the function that they stand in:

- files: in how many files they lie,
- moves: how often one begins in another file than the one before it,
- climbs: how often the later of two lies in a room of a higher layer than the former, by LAYERS of
  test/project/test_architecture.py.

Another tree is measured by naming it first on the path:
`PYTHONPATH=<tree> python scripts/trace_recall.py`. With `--steps` every move is printed.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

from robot_memory import memory as memory_module
from robot_memory.api import RobotMemory
from robot_memory.tools.recall import recall

PACKAGE = Path(memory_module.__file__).resolve().parent
FACTS = (
    'The red cup needs 12 N of grip force',
    'The red cup stands on the upper shelf',
    'The blue cup belongs to Anna',
    'The gripper slips on wet glass',
    'The door of the lab jams in the morning',
    'The red tray is too heavy for the left arm',
)
POSITION = 'spatial.object_position'
REQUESTS: dict[str, dict[str, Any]] = {
    'query': {'query': 'red cup'},
    'longer query': {'query': 'how hard do I hold the red cup?'},
    'context_filter': {'query': 'red cup', 'context_filter': {'task.success': True}},
    'spatial_sort': {'spatial_sort': {'field': POSITION, 'target': [0, 0, 0]}},
}

_DECORATORS = (Path('text/caching.py'),)
"""Whose wrappers are read where they decorate, as those of functools, and are no move."""


def read_layers() -> dict[str, int]:
    """Return the layer of each room, from the ground up, as the tree's own test holds them."""
    test = PACKAGE.parent / 'test/project/test_architecture.py'
    for node in ast.parse(test.read_text(encoding='utf-8')).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], 'id', '') == 'LAYERS':
            layers = ast.literal_eval(node.value)
            return {room: level for level, rooms in enumerate(layers) for room in rooms}
    raise SystemExit(f'{test} has no LAYERS')


def trace(call: Callable[[], object]) -> list[tuple[Path, str]]:
    """Return the file, from the package on, and the name of each function that begins."""
    files: dict[str, Path | None] = {}
    steps: list[tuple[Path, str]] = []

    def find_file(name: str) -> Path | None:
        path = Path(name).resolve()
        return path.relative_to(PACKAGE) if path.is_relative_to(PACKAGE) else None

    def note(frame: FrameType, event: str, _: object) -> None:
        if event != 'call':
            return
        name = frame.f_code.co_filename
        if name not in files:
            files[name] = find_file(name)
        file = files[name]
        is_apart = file in _DECORATORS or frame.f_code.co_name.startswith('<')
        if file is not None and not is_apart:
            steps.append((file, frame.f_code.co_name))

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return steps


def main() -> None:
    """Trace the requests and print what was counted."""
    parser = argparse.ArgumentParser(description=__doc__.strip().partition('\n')[0])
    parser.add_argument('--steps', action='store_true', help='print every move')
    parser.add_argument('--no-model', action='store_true', help='keyword search only')
    options = parser.parse_args()
    layers = read_layers()

    def find_layer(file: Path) -> int:
        return layers[file.parts[0].removesuffix('.py')]

    model = 'none' if options.no_model else ''
    with tempfile.TemporaryDirectory() as folder:
        robot = RobotMemory(Path(folder) / 'memory.db', model=model)
        if not options.no_model:
            robot.wait_for_model(60)
            robot.memory.second.wait(60)
        for place, fact in enumerate(FACTS):
            context = {
                'task': {'success': place % 2 == 0},
                'spatial': {'object_position': [place / 10, 0, 0]},
            }
            robot.learn(fact, context=context)
        for _ in robot.memory.reindexer.run():  # vectors of what was stored before the model came
            pass
        for name, request in REQUESTS.items():
            mode = recall.run(robot.memory, request).mode
            steps = trace(partial(recall.run, robot.memory, request))
            moves = [(a, b) for a, b in pairwise(steps) if a[0] != b[0]]
            climbs = [1 for (a, _), (b, _) in moves if find_layer(b) > find_layer(a)]
            files = {file for file, _ in steps}
            print(
                f'{name} ({mode}): {len(files)} files, {len(moves)} moves, {len(climbs)} climbs, '
                f'{len(steps)} calls'
            )
            if options.steps:
                for (a, _), (b, function) in moves:
                    mark = '^' if find_layer(b) > find_layer(a) else ' '
                    print(f'  {mark} {b} {function}')
        robot.close()


if __name__ == '__main__':
    main()
