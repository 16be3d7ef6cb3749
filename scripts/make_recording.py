"""
Write the short recording that the demo plays: 20 s of an invented UR5e at a table.

The arm moves three times and rests in between. It presses softly on the table once and taps it
hard once. A red block appears before its camera, and is taken away. Always the same bytes.
"""

import argparse
import functools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.rosbag2.errors import WriterError
from rosbags.typesys import Stores, get_typestore

from robot_memory.core.version import get_version

Vector = NDArray[np.float64]

START_NS = 1_767_225_600 * 10**9
SECONDS = 20.0
RATE_HZ = 100
PICTURE_EVERY = 20
WIDTH, HEIGHT = 320, 240

JOINTS = (
    'shoulder_pan_joint',
    'shoulder_lift_joint',
    'elbow_joint',
    'wrist_1_joint',
    'wrist_2_joint',
    'wrist_3_joint',
)
HOME = (0.0, -1.57, 1.20, -1.20, -1.57, 0.0)
ABOVE_TABLE = (0.9, -1.15, 1.85, -2.27, -1.57, 0.5)
OVER_BLOCK = (0.35, -1.05, 1.70, -2.22, -1.57, -0.2)
MOVES = (
    (2.0, 5.0, HOME, ABOVE_TABLE),
    (8.5, 11.0, ABOVE_TABLE, OVER_BLOCK),
    (14.5, 17.5, OVER_BLOCK, HOME),
)
EFFORT = (0.0, -38.0, -21.0, -4.0, 0.6, 0.1)

TOOL_FORCE = (1.2, -0.8, -9.4)
TOOL_TORQUE = (0.05, 0.12, 0.0)
SOFT_PUSH = (6.0, 7.4, 6.0)
HARD_TAP = (12.5, 12.62, 18.0)

BLOCK_APPEARS, BLOCK_GOES = 5.4, 13.2


def record(path: Path | str) -> Path:
    """Write the recording as the new folder `path` (rosbag2, mcap) and return it."""
    path = Path(path)
    store = get_typestore(Stores.ROS2_JAZZY)
    writer = Writer(path, version=9, storage_plugin=StoragePlugin.MCAP)
    writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
    with writer:
        connections: dict[str, Any] = {}
        for topic, kind, after_ns, fields in generate_messages():
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, typestore=store)
            stamp_ns = fields.pop('stamp_ns')
            stamp = store.types['builtin_interfaces/msg/Time'](*divmod(stamp_ns, 10**9))
            header = store.types['std_msgs/msg/Header'](stamp, fields.pop('frame_id'))
            if 'wrench' in fields:
                vector = store.types['geometry_msgs/msg/Vector3']
                force, torque = (vector(*xyz) for xyz in fields['wrench'])
                fields['wrench'] = store.types['geometry_msgs/msg/Wrench'](force, torque)
            message = store.types[kind](header=header, **fields)
            data = store.serialize_cdr(message, kind)
            writer.write(connections[topic], stamp_ns + after_ns, data)
    return path


def generate_messages() -> Iterator[tuple[str, str, int, dict[str, Any]]]:
    """Yield topic, type, delay until it was recorded (ns) and fields, in order of time."""
    random = np.random.default_rng(5)
    for step in range(round(SECONDS * RATE_HZ)):
        seconds = step / RATE_HZ
        stamp_ns = START_NS + step * 10**9 // RATE_HZ
        position, velocity, effort = compute_joints(seconds, random)
        fields: dict[str, Any] = {
            'stamp_ns': stamp_ns,
            'frame_id': 'base_link',
            'name': list(JOINTS),
            'position': position,
            'velocity': velocity,
            'effort': effort,
        }
        yield '/joint_states', 'sensor_msgs/msg/JointState', 400_000, fields
        fields = {
            'stamp_ns': stamp_ns,
            'frame_id': 'tool0',
            'wrench': compute_wrench(seconds, random),
        }
        yield '/wrench', 'geometry_msgs/msg/WrenchStamped', 600_000, fields
        if step % PICTURE_EVERY == 0:
            fields = {
                'stamp_ns': stamp_ns,
                'frame_id': 'camera_color_optical_frame',
                'height': HEIGHT,
                'width': WIDTH,
                'encoding': 'rgb8',
                'is_bigendian': 0,
                'step': 3 * WIDTH,
                'data': draw_image(seconds, random).reshape(-1),
            }
            yield '/camera/image_raw', 'sensor_msgs/msg/Image', 2_000_000, fields


def compute_joints(seconds: float, random: np.random.Generator) -> tuple[Vector, Vector, Vector]:
    """Return position (rad), velocity (rad/s) and effort (N m) at a time, with noise."""
    position: Vector = np.array(HOME)
    velocity: Vector = np.zeros(len(JOINTS))
    for begin, end, start, goal in MOVES:
        if seconds >= begin:
            share = min(1.0, (seconds - begin) / (end - begin))
            way = np.subtract(goal, start)
            position = start + way * share**3 * (10 - 15 * share + 6 * share**2)
            velocity = way * 30 * share**2 * (1 - share) ** 2 / (end - begin)
    effort = np.array(EFFORT) + 6 * velocity
    return (
        position + random.normal(0, 1e-5, len(JOINTS)),
        velocity + random.normal(0, 1e-3, len(JOINTS)),
        effort + random.normal(0, 0.2, len(JOINTS)),
    )


def compute_wrench(seconds: float, random: np.random.Generator) -> tuple[Vector, Vector]:
    """Return force (N) and torque (N m) at a time: the tool's weight, drift, touch and noise."""
    force, torque = np.array(TOOL_FORCE), np.array(TOOL_TORQUE)
    force[0] += 0.4 * np.sin(seconds / 6)
    for begin, end, peak in (SOFT_PUSH, HARD_TAP):
        if begin <= seconds <= end:
            touch = peak * np.sin(np.pi * (seconds - begin) / (end - begin))
            force[2] -= touch
            torque[0] += 0.02 * touch
    return force + random.normal(0, 0.12, 3), torque + random.normal(0, 0.005, 3)


def draw_image(seconds: float, random: np.random.Generator) -> NDArray[np.uint8]:
    """Return what the camera sees at a time: a wall, a table, a box, and for a while a block."""
    exposure = 1 + 0.03 * np.sin(seconds * 7)
    view = draw_scene(BLOCK_APPEARS <= seconds < BLOCK_GOES) * exposure
    view += random.normal(0, 1.5, (HEIGHT, WIDTH, 1))
    pixels: NDArray[np.uint8] = np.clip(view, 0, 255).astype(np.uint8)
    return pixels


@functools.cache
def draw_scene(with_block: bool) -> NDArray[np.float64]:
    """Return the scene with or without the block, as it is without noise."""
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    view = np.empty((HEIGHT, WIDTH, 3))
    view[:] = (178, 184, 190)
    grain = 6 * np.sin(rows / 5 + np.sin(columns / 23))
    table = rows > 80
    view[table] = np.array((150, 112, 74)) + grain[table][:, None]
    view[95:165, 225:295] = (70, 82, 96)
    view[100:160, 230:290] = (104, 120, 138)
    if with_block:
        view[182:190, 66:118] *= 0.6
        view[140:182, 64:112] = (186, 38, 34)
        view[140:150, 64:112] = (214, 70, 62)
    return view


def main() -> int:
    """Write the recording where the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').strip().splitlines()[0])
    parser.add_argument('--version', action='version', version=f'%(prog)s {get_version()}')
    parser.add_argument('--out', type=Path, required=True, help='output folder; must not exist')
    out = parser.parse_args().out
    if out.exists():
        message = f'{out} exists and was not changed: import it, or choose another folder'
        print(f'make_recording: {message} with --out', file=sys.stderr)
        return 1
    try:
        path = record(out)
    except (OSError, WriterError) as error:
        print(f'make_recording: cannot write {out}: {error}', file=sys.stderr)
        return 1
    size = sum(file.stat().st_size for file in path.iterdir())
    print(f'{path}: {SECONDS:.0f} s, {size / 1e6:.1f} MB')
    return 0


if __name__ == '__main__':
    sys.exit(main())
