"""From messages to memories, live and from recordings; see docs/senses.md."""

from robot_memory.senses.keeper import Keeper, PatientKeeper
from robot_memory.senses.senses import Ear, Lesson, Senses, SenseSettings
from robot_memory.senses.tap import Tap, TapSettings, make_tap
from robot_memory.senses.whereabouts import PlaceSettings

__all__ = [
    'Ear',
    'Keeper',
    'Lesson',
    'PatientKeeper',
    'PlaceSettings',
    'SenseSettings',
    'Senses',
    'Tap',
    'TapSettings',
    'make_tap',
]
