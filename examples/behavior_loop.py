"""
A behaviour tree's loop over ROS 2 services: ask before each try, report what came of it.

Start the node, then `python examples/behavior_loop.py`. Each tick of the tree runs a sequence of
three leaves: Ask (service suggest), Act (here: a simulated puck), Report (service record_outcome).
In BehaviorTree.CPP they are an RosServiceNode, your action node, and another RosServiceNode.
"""

from __future__ import annotations

import argparse
import json
import sys
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import rclpy
from rclpy.node import Node

from robot_memory.srv import RecordOutcome, Suggest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from puck import GOAL_M, TOLERANCE_M, Table, is_good

WANT = {'result': 'slide', 'value': f'{GOAL_M} m', 'tolerance': f'{TOLERANCE_M} m'}
AMONG = {'speed': {'min': '0.3 m/s', 'max': '2 m/s'}}
Leaf = Callable[[], bool]


@dataclass
class Blackboard:
    """Hold what the leaves of a tick hand on to each other."""

    situation: str = ''
    speed: float = 0.0
    slide: float = 0.0
    outcomes: list[bool] = field(default_factory=list)


class Tree(Node):
    """Tick a sequence of leaves; a leaf that fails ends the tick."""

    def __init__(self, node: str) -> None:
        """Find the services of a memory node."""
        super().__init__('behavior_loop')
        self._suggest = self.create_client(Suggest, f'{node}/suggest')
        self._record = self.create_client(RecordOutcome, f'{node}/record_outcome')
        self._table = Table(seed=0)
        self.board = Blackboard()

    def tick(self) -> bool:
        """Run the sequence once."""
        leaves: tuple[Leaf, ...] = (self.ask, self.act, self.report)
        return all(leaf() for leaf in leaves)

    def ask(self) -> bool:
        """Ask what to try; it fails where rules leave nothing."""
        board, number = self.board, len(self.board.outcomes)
        board.situation = self._table.find_situation()
        request = Suggest.Request(
            skill='strike',
            situation=board.situation,
            want=json.dumps(WANT),
            default_params=json.dumps({'speed': f'{self._table.try_out():.2f} m/s'}),
            seed=number,
        )
        if number > 1:
            request.among, request.explore = json.dumps(AMONG), 0.5
        params = json.loads(self._call(self._suggest, request).params)
        board.speed = params['speed']['value'] if params else 0.0
        return bool(params)

    def act(self) -> bool:
        """Strike."""
        self.board.slide = self._table.strike(self.board.situation, self.board.speed)
        return True

    def report(self) -> bool:
        """Report what came of it; whether that is good does not matter to the tree."""
        board = self.board
        board.outcomes.append(is_good(board.slide))
        request = RecordOutcome.Request(
            skill='strike',
            situation=board.situation,
            params=json.dumps({'speed': f'{board.speed} m/s'}),
            results=json.dumps({'slide': f'{board.slide:.3f} m'}),
            success=str(board.outcomes[-1]).lower(),
            key=str(uuid.uuid4()),
        )
        return bool(self._call(self._record, request).success)

    def _call(self, client: Any, request: Any) -> Any:
        client.wait_for_service()
        future = client.call_async(request)
        rclpy.spin_until_future_complete(self, future)
        answer = future.result()
        if not answer.success:
            raise RuntimeError(answer.message)
        return answer


def main() -> None:
    """Tick the tree, and print how many of each ten tries were good."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--node', default='/robot_memory')
    parser.add_argument('--tries', type=int, default=40)
    options = parser.parse_args()
    rclpy.init()
    tree = Tree(options.node)
    for _ in range(options.tries):
        tree.tick()
    outcomes = tree.board.outcomes
    for first in range(0, len(outcomes), 10):
        ten = outcomes[first : first + 10]
        print(f'tries {first + 1} to {first + len(ten)}: {sum(ten)} good')
    rclpy.shutdown()


if __name__ == '__main__':
    main()
