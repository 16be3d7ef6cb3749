"""
Detectors: sensor readings in, events out; no ROS and no store.

The names are imported when they are asked for, so that a plug-in's base class needs neither NumPy
nor Pillow.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robot_memory.detectors.contact import ContactDetector
    from robot_memory.detectors.contact_settings import ContactSettings
    from robot_memory.detectors.diagnostics import (
        DiagnosticReading,
        DiagnosticsDetector,
        DiagnosticsSettings,
    )
    from robot_memory.detectors.event import Detector, Event, Picture
    from robot_memory.detectors.images import (
        DecodedImage,
        decode_compressed,
        decode_image,
        is_same_view,
    )
    from robot_memory.detectors.motion import MotionDetector
    from robot_memory.detectors.motion_event import MotionSettings
    from robot_memory.detectors.poses import Pose, PoseHistory, PoseLookup
    from robot_memory.detectors.readings import ImageReading, JointReading, WrenchReading
    from robot_memory.detectors.scene import SceneDetector, SceneSettings
    from robot_memory.detectors.signal import Signal
    from robot_memory.detectors.state import StateDetector, StateReading, StateSettings
    from robot_memory.detectors.text import TextDetector, TextEvent, TextReading, TextSettings
    from robot_memory.detectors.transforms import TransformTree

__all__ = [
    'ContactDetector',
    'ContactSettings',
    'DecodedImage',
    'Detector',
    'DiagnosticReading',
    'DiagnosticsDetector',
    'DiagnosticsSettings',
    'Event',
    'ImageReading',
    'JointReading',
    'MotionDetector',
    'MotionSettings',
    'Picture',
    'Pose',
    'PoseHistory',
    'PoseLookup',
    'SceneDetector',
    'SceneSettings',
    'Signal',
    'StateDetector',
    'StateReading',
    'StateSettings',
    'TextDetector',
    'TextEvent',
    'TextReading',
    'TextSettings',
    'TransformTree',
    'WrenchReading',
    'decode_compressed',
    'decode_image',
    'is_same_view',
]

_MODULES = {
    'contact': ('ContactDetector',),
    'contact_settings': ('ContactSettings',),
    'diagnostics': ('DiagnosticReading', 'DiagnosticsDetector', 'DiagnosticsSettings'),
    'event': ('Detector', 'Event', 'Picture'),
    'images': ('DecodedImage', 'decode_compressed', 'decode_image', 'is_same_view'),
    'motion': ('MotionDetector',),
    'motion_event': ('MotionSettings',),
    'poses': ('Pose', 'PoseHistory', 'PoseLookup'),
    'readings': ('ImageReading', 'JointReading', 'WrenchReading'),
    'scene': ('SceneDetector', 'SceneSettings'),
    'signal': ('Signal',),
    'state': ('StateDetector', 'StateReading', 'StateSettings'),
    'text': ('TextDetector', 'TextEvent', 'TextReading', 'TextSettings'),
    'transforms': ('TransformTree',),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(f'{__name__}.{module}'), name)
    raise AttributeError(f'{__name__} has no {name}')
