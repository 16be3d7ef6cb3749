"""Run the command line: `python -m robot_memory`."""

from robot_memory.cli import main

main()
