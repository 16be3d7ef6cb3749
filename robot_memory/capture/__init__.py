"""Detectors: readings of a sensor in, events worth keeping out; no ROS and no store."""

from robot_memory.capture.contact import ContactDetector, ContactSettings
from robot_memory.capture.event import Event
from robot_memory.capture.motion import MotionDetector, MotionSettings
from robot_memory.capture.readings import (
    ImageReading,
    JointReading,
    WrenchReading,
    decode_compressed,
    decode_image,
)
from robot_memory.capture.scene import SceneDetector, SceneSettings

__all__ = [
    'ContactDetector',
    'ContactSettings',
    'Event',
    'ImageReading',
    'JointReading',
    'MotionDetector',
    'MotionSettings',
    'SceneDetector',
    'SceneSettings',
    'WrenchReading',
    'decode_compressed',
    'decode_image',
]
