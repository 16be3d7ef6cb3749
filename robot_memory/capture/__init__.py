"""Detectors: readings of a sensor in, events worth keeping out; no ROS and no store."""

from robot_memory.capture.contact import ContactDetector
from robot_memory.capture.event import Detector, Event, Picture
from robot_memory.capture.motion import MotionDetector
from robot_memory.capture.movement import MotionSettings
from robot_memory.capture.pictures import View, alike, decode_compressed, decode_image
from robot_memory.capture.place import Place, Pose, PoseHistory
from robot_memory.capture.readings import ImageReading, JointReading, WrenchReading
from robot_memory.capture.scene import SceneDetector, SceneSettings
from robot_memory.capture.signal import Signal
from robot_memory.capture.text import Saying, TextDetector, TextReading, TextSettings
from robot_memory.capture.touch import ContactSettings
from robot_memory.capture.transforms import TransformTree

__all__ = [
    'ContactDetector',
    'ContactSettings',
    'Detector',
    'Event',
    'ImageReading',
    'JointReading',
    'MotionDetector',
    'MotionSettings',
    'Picture',
    'Place',
    'Pose',
    'PoseHistory',
    'Saying',
    'SceneDetector',
    'SceneSettings',
    'Signal',
    'TextDetector',
    'TextReading',
    'TextSettings',
    'TransformTree',
    'View',
    'WrenchReading',
    'alike',
    'decode_compressed',
    'decode_image',
]
