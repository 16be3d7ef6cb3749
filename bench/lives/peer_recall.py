"""
Answer for the rival: a line of JSON in, a line out; run by the rival's own Python.

Vectors come with the requests: its own embedder needs weights that can not be had offline.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any


class _Given:
    """Be the rival's embedder, with the vector of the request."""

    available, unavailable_reason, model, dim = True, '', 'given', 384
    vector: list[float] = []  # noqa: RUF012 - set before each call

    def embed_one_sync(self, text: str) -> list[float]:
        """Return the vector that came with the text."""
        return self.vector


def main() -> None:
    """Answer until the input ends."""
    sdk = importlib.import_module('robotmem.sdk')
    robot = sdk.RobotMemory(db_path=sys.argv[1], embed_backend='none')
    given = _Given()
    robot._embedder = given
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        given.vector = request['vector']
        answer: Any
        if request['do'] == 'keep':
            context = json.dumps(request['context'])
            kept = robot.save_perception(
                request['text'], perception_type='procedural', metadata=context
            )
            answer = kept['memory_id']
        else:
            found = robot.recall(request['text'], n=request['n'])
            answer = [one['id'] for one in found]
        print(json.dumps(answer), flush=True)
    robot.close()


if __name__ == '__main__':
    main()
