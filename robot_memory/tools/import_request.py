"""What an import is told, by the command line and over ROS."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.core.fields import arg


@dataclass(frozen=True)
class ImportRequest:
    """Arguments of an import."""

    bags: tuple[str, ...] = arg(
        'rosbag2 folders or files, rosbag1 files, archives (.jsonl, .jsonl.gz), or folders that '
        'contain any of these.'
    )
    params: str = arg(
        'Node parameter file that defines the taps; without it, all topics of supported types '
        'are read.',
        default='',
    )
    set: tuple[str, ...] = arg(
        'Setting of the node or a tap, such as wrench.onset_n=1; repeatable, above --params.',
        default=(),
    )
    again: bool = arg('Import recordings that were completely imported before.', default=False)
    collection: str = arg('Collection for all events.', default='', max_length=128)
    session_id: str = arg('Session id for all events.', default='')
    source: str = arg('Source (robot) recorded with all events.', default='')
    demonstration: str = arg('Store motions as a demonstration with this name.', default='')
    pose_topic: str = arg('Topic with the pose of the robot or its tool.', default='')
    pose_type: str = arg('Message type of pose_topic.', default='')
    fixed_frame: str = arg('Fixed frame in which tf poses are resolved.', default='')
