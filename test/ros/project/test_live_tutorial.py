"""docs/tutorial.md: the node, the replay and the planner go as it says."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE
from typing import Any

import prepared
from narrowing import require
from tutorials import ROOT, fits, need_build, programs_of, run, steps_of


def test_the_replay_and_the_plan_go_as_the_page_says(
    start: Callable[..., Any], robot: Any, tmp_path: Path
) -> None:
    need_build()
    started, *asking = steps_of('Replay')
    assert started.commands.endswith('\nmemory_node --ros-args -p mcp_tools:=all\n')
    shown, *looking = steps_of('See')
    assert shown.commands.endswith('\nrobot-memory view\n')
    asking += [*looking, *steps_of('Plan')]
    node = start(mcp_enabled='true', mcp_port=0, mcp_tools='all')
    folder = node.db.parent
    robot.until(lambda: 'MCP: http' in node.said(), 'the node to serve MCP')
    (port,) = re.findall(r'MCP: http://127.0.0.1:(\d+)/mcp', node.said())
    assert_reference_fits(robot)
    run(steps_of('Teach', 'Feel', 'Ask'), folder, {})
    assert (folder / 'contact.png').stat().st_size > 1000
    with view(node.db) as (page, said):
        assert fits(shown.printed.replace('17880', page), said)
        for path, text in programs_of('Replay', 'See', 'Plan').items():
            assert text.count('17800') == text.count('http://127.0.0.1:17800/mcp')
            moved = text.replace('17800', port).replace('17880', page)
            (folder / path.rpartition('/')[2]).write_text(moved)
        run(asking, folder, {})
    assert node.stop() == 0


@contextmanager
def view(store: Path) -> Iterator[tuple[str, str]]:
    """Serve the pages of a store from a process of its own; give its port, and what it says."""
    command = [
        sys.executable,
        '-m',
        'robot_memory',
        'view',
        '--view-port',
        '0',
        '--db',
        str(store),
    ]
    with prepared.Popen(command, stdout=PIPE, text=True) as viewer:
        try:
            said = require(viewer.stdout).readline()
            yield require(re.search(r':(\d+)/', said))[1], said
        finally:
            viewer.terminate()


def assert_reference_fits(robot: Any) -> None:
    """Assert that docs/reference/ros.md names the services and topics of the node that runs."""
    page = (ROOT / 'docs/reference/ros.md').read_text(encoding='utf-8')
    services = {
        f'/robot_memory/{name}': f'robot_memory/srv/{kind}'
        for name, kind in re.findall(r'\[`~/(\w+)`\].*?`robot_memory/srv/(\w+)`', page)
    }
    topics = set(re.findall(r'^\| `\w+` \| `(/\S+)` \| `\w+/msg/', page, re.MULTILINE))
    assert topics == {'/joint_states', '/wrench', '/camera/image_raw'}

    robot.until_known()

    def offered() -> dict[str, Any]:
        found = robot.node.get_service_names_and_types_by_node('robot_memory', '/')
        ours = 'robot_memory/srv/'
        return {name: kinds[0] for name, kinds in found if kinds[0].startswith(ours)}

    robot.until(lambda: offered() == services, f'the services {sorted(services)}')
    heard = robot.node.get_subscriber_names_and_types_by_node('robot_memory', '/')
    told = robot.node.get_publisher_names_and_types_by_node('robot_memory', '/')
    assert topics <= {name for name, _ in heard}
    assert ('/diagnostics', ['diagnostic_msgs/msg/DiagnosticArray']) in told
