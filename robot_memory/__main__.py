"""Run the command line: `robot-memory`, or `python -m robot_memory`."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Answer the process's arguments; an interrupt ends it quietly while it still loads, too."""
    # Making a thread for each core takes longer than any of them would be of use.
    os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
    gc.disable()  # what is imported stays: looking through it is a twentieth of the start
    # An exception could be lost in a callback of the import system, and the command then run.
    before = signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    try:
        from robot_memory import cli
    except ModuleNotFoundError as error:
        from robot_memory.core.dependencies import describe_missing

        message = describe_missing(error)
        if not message:
            raise
        sys.exit(f'robot-memory: [unavailable] {message}')
    signal.signal(signal.SIGINT, before)
    gc.freeze()
    gc.enable()
    cli.main()


if __name__ == '__main__':
    main()
