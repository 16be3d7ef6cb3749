"""config/fastdds_pictures.xml gives the pictures of a process room in shared memory."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from narrowing import require
from rclpy.utilities import get_rmw_implementation_identifier

PROFILE = Path(__file__).parents[3] / 'config/fastdds_pictures.xml'
SIZE = int(require(ElementTree.parse(PROFILE).getroot().findtext('.//{*}segment_size')))
VARIABLES = ('FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE')
"""Of Fast DDS 3, and of the versions before it."""
CAMERA = """
import re
import sys
import rclpy
from sensor_msgs.msg import Image

rclpy.init()
node = rclpy.create_node('camera')
publisher = node.create_publisher(Image, '/camera/image_raw', 10)
with open('/proc/self/maps') as maps:
    found = re.findall('([0-9a-f]+)-([0-9a-f]+) .*/fast(?:dds|rtps)_[0-9a-f]{16}\\n', maps.read())
print(max(int(end, 16) - int(start, 16) for start, end in found), flush=True)
message = Image(encoding='rgb8', height=480, width=640, step=1920, data=bytes(range(240)) * 3840)
for number, _ in enumerate(sys.stdin):
    message.header.stamp.sec = 1_700_000_000 + number
    publisher.publish(message)
"""
"""Tells the size of its largest segment, then publishes a picture for each line that it reads."""

pytestmark = pytest.mark.skipif(
    'fastrtps' not in get_rmw_implementation_identifier(),
    reason='the middleware here is not Fast DDS',
)


@pytest.mark.parametrize('both', [False, True], ids=['the camera alone', 'the node too'])
def test_pictures_come_through_the_larger_segment(
    start: Callable[..., Any], robot: Any, monkeypatch: pytest.MonkeyPatch, both: bool
) -> None:
    profile = dict.fromkeys(VARIABLES, str(PROFILE))
    if both:
        for name, value in profile.items():
            monkeypatch.setenv(name, value)
    start()
    camera = subprocess.Popen(
        [sys.executable, '-c', CAMERA],
        env={**os.environ, **profile},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with camera:
        assert int(require(camera.stdout).readline()) >= SIZE

        def kept() -> bool:
            require(camera.stdin).write(b'\n')
            require(camera.stdin).flush()
            reply = robot.call('query_records', where='{"perception_type": "visual"}')
            return bool(reply.total_count)

        robot.until(kept, 'the first view of the camera')
        require(camera.stdin).close()
