"""A tap joins a topic to a detector; all of it comes from the parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from robot_memory import detectors
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import arg, collection_arg, get_fields, parse
from robot_memory.core.json_text import format_value
from robot_memory.core.topic_names import check_topic
from robot_memory.detectors.outcome_fields import OutcomeFields, OutcomeSettings
from robot_memory.ingest import messages
from robot_memory.ingest.action_types import is_action
from robot_memory.plugins.detectors import list_offered, load_detector
from robot_memory.plugins.registry import ExtensionRegistry

DETECTORS: dict[str, tuple[Callable[[Any], detectors.Detector], type]] = {
    'motion': (detectors.MotionDetector, detectors.MotionSettings),
    'contact': (detectors.ContactDetector, detectors.ContactSettings),
    'scene': (detectors.SceneDetector, detectors.SceneSettings),
    'text': (detectors.TextDetector, detectors.TextSettings),
    'diagnostics': (detectors.DiagnosticsDetector, detectors.DiagnosticsSettings),
    'state': (detectors.StateDetector, detectors.StateSettings),
}
OUTCOME = 'outcome'
"""The detector of taps of actions: it follows several topics, and makes trials, not events."""
SETTINGS: dict[str, type] = {
    **{name: settings for name, (_, settings) in DETECTORS.items()},
    OUTCOME: OutcomeSettings,
}
"""The settings of each detector."""
DEFAULTS: dict[str, dict[str, Any]] = {
    'joint_states': {'topic': '/joint_states', 'type': 'sensor_msgs/msg/JointState'},
    'wrench': {'topic': '/wrench', 'type': 'geometry_msgs/msg/WrenchStamped'},
    'camera': {'topic': '/camera/image_raw', 'type': 'sensor_msgs/msg/Image'},
}
"""What the taps of these names are where the parameters do not say otherwise."""
_IMAGES_HZ = 10.0
_LIVE_OF_ALL = ('collection', 'session', 'max_rate_hz')
_FIXED = {
    'motion': ('stop_speed', 'difference_s', 'unit', 'effort_unit', 'effort_learning_s'),
    'contact': (),
    'scene': ('pre_s', 'post_s', 'film_hz'),
    'text': (),
}
"""Settings of the detectors that can be retuned which they cannot change under way."""


@dataclass(frozen=True)
class TapSettings:
    """Settings of one tap: what it subscribes to and where its events are stored."""

    topic: str = arg('Topic to subscribe to, or action to follow; empty: none.', default='')
    type: str = arg(
        f'Message type, one of {", ".join(messages.TYPES)}, or one that the detector of a plug-in '
        'accepts; image topics accept Image and CompressedImage. Of an action: '
        'package/action/Name.',
        default='',
    )
    detector: str = arg(
        f'Detector to run: {", ".join(SETTINGS)}, or one of an installed plug-in; empty: the '
        'default for the message type.',
        default='',
    )
    collection: str = collection_arg('Collection for the events of this tap.')
    session: str = arg(
        'Session for the events of this tap: auto (the newest open one of this source, begun '
        'within session_hours), none, or a session id.',
        default='auto',
        min_length=1,
        max_length=128,
    )
    session_id: str = arg('Earlier name of session; empty: session applies.', default='')
    max_rate_hz: float = arg(
        'Maximum message rate in Hz; excess messages are counted and dropped. 0: 10 for images, '
        'unlimited for others.',
        default=0.0,
        minimum=0.0,
        maximum=100_000.0,
    )


@dataclass(frozen=True)
class Tap:
    """Hold a tap: its name, its settings, and those of its detector."""

    name: str
    settings: TapSettings
    detector_settings: Any

    @property
    def detector(self) -> str:
        """Return the name of its detector."""
        return self.settings.detector

    @property
    def session(self) -> str:
        """Return the session of its events: auto, none, or a session id."""
        return self.settings.session_id or self.settings.session

    @property
    def max_rate_hz(self) -> float:
        """Return the maximum message rate that it takes, in Hz; 0: unlimited."""
        known = messages.TYPES.get(self.settings.type)
        images = _IMAGES_HZ if known is not None and known.detector == 'scene' else 0.0
        return self.settings.max_rate_hz or images


def make_tap(name: str, given: Mapping[str, Any]) -> Tap:
    """
    Return the tap that settings describe: those of `TapSettings` and of its detector.

    Raise InvalidArgument with the tap's name for what is not accepted.
    """
    values = {**DEFAULTS.get(name, {}), **given}
    common = {field.name for field in get_fields(TapSettings)}
    try:
        if 'topic' not in values:
            raise InvalidArgument('topic is missing; accepted: a topic name, or empty for none')
        settings = _resolve({key: values[key] for key in common & values.keys()})
        check_topic('topic', settings.topic)
        others = {key: value for key, value in values.items() if key not in common}
        wanted = _get_settings_type(settings.detector)
        if settings.detector == 'state' and not others.get('name'):
            others['name'] = settings.topic.rpartition('/')[2].replace('_', ' ')
        if settings.detector == OUTCOME:
            others['skill'] = others.get('skill') or settings.topic.rpartition('/')[2]
        detector_settings: Any = parse(wanted, others, f'detector {settings.detector}')
        if settings.detector == OUTCOME:
            OutcomeFields(detector_settings)
    except InvalidArgument as error:
        raise InvalidArgument(f'tap {format_value(name)}: {error}') from None
    return Tap(name, settings, detector_settings)


def make_detector(
    tap: Tap, extensions: ExtensionRegistry
) -> tuple[detectors.Detector, messages.MessageType]:
    """
    Return a new detector for a tap, and how the messages that it takes are read.

    Raise InvalidArgument where the detector of a plug-in cannot be made.
    """
    if tap.detector in DETECTORS:
        read = messages.find_type(tap.settings.type, tap.detector)
        assert read is not None  # the settings were checked
        return DETECTORS[tap.detector][0](tap.detector_settings), read
    kind = load_detector(tap.detector)
    read = messages.make_plugin_type(tap.settings.type, kind.message_definitions)
    return extensions.plug_detector(tap.detector, kind, tap.detector_settings), read


def get_detector_settings(name: str, common: Mapping[str, Any]) -> type:
    """Return the declaration of a tap's detector's settings, by the settings all taps have."""
    return type(make_tap(name, common).detector_settings)


def list_live(detector: str = '') -> tuple[str, ...]:
    """
    Return the settings of a detector that can be changed while the node runs.

    Empty: those of `TapSettings`. Other detectors than these read their settings once.
    """
    if not detector:
        return _LIVE_OF_ALL
    if detector not in _FIXED:
        return ()
    names = (field.name for field in get_fields(SETTINGS[detector]))
    return tuple(name for name in names if name not in _FIXED[detector])


def change_tap(tap: Tap, changes: Mapping[str, Any]) -> Tap:
    """
    Return a tap with some other settings.

    Raise InvalidArgument for what is not accepted, or cannot be changed while the node runs.
    """
    live = (*list_live(), *list_live(tap.detector))
    fixed = [name for name in changes if name not in live]
    if fixed:
        raise InvalidArgument(
            f'{", ".join(f"{tap.name}.{name}" for name in fixed)} cannot be changed while the '
            f'node runs; set it in the params file and restart. Of {tap.name}, these can: '
            f'{", ".join(live)}'
        )
    given = {
        field.name: getattr(part, field.name)
        for part in (tap.settings, tap.detector_settings)
        for field in get_fields(type(part))
    }
    return make_tap(tap.name, {**given, **changes})


def _get_settings_type(detector: str) -> type:
    return SETTINGS[detector] if detector in SETTINGS else load_detector(detector).settings_type


def _resolve(values: Mapping[str, Any]) -> TapSettings:
    """Return the settings all taps have, the type in full and the detector named."""
    settings = parse(TapSettings, values, 'a tap')
    kind = settings.type
    if settings.detector == OUTCOME or (is_action(kind) and not settings.detector):
        if not is_action(kind):
            raise InvalidArgument(
                f'type must be that of an action, package/action/Name, not {format_value(kind)}'
            )
        return replace(settings, detector=OUTCOME)
    if kind.count('/') == 1:
        kind = kind.replace('/', '/msg/')
    detector, accepted = _choose_detector(settings.detector, kind)
    if not kind and len(accepted) == 1:
        (kind,) = accepted
    if not kind:
        raise InvalidArgument(f'type is missing; accepted: {", ".join(accepted)}')
    return replace(settings, type=kind, detector=detector)


def _choose_detector(detector: str, kind: str) -> tuple[str, Sequence[str]]:
    """
    Return the name of the detector for a type, and the types that it takes.

    Raise InvalidArgument where there is none, or it does not take the type.
    """
    if detector in ('', *DETECTORS):
        if kind and kind not in messages.TYPES:
            raise InvalidArgument(
                f'type must be one of {", ".join(messages.TYPES)}, not {format_value(kind)}; '
                'other types need the detector of a plug-in, actions the detector outcome'
            )
        if not kind:
            return detector, tuple(messages.TYPES)
        implied = messages.TYPES[kind].detector
        if detector and messages.find_type(kind, detector) is None:
            raise InvalidArgument(
                f'detector {detector} does not support {kind}; accepted: {implied}'
            )
        return detector or implied, tuple(messages.TYPES)
    offered = list_offered()
    if detector not in offered:
        raise InvalidArgument(
            f'detector must be one of {", ".join((*SETTINGS, *offered))}, not '
            f'{format_value(detector)}; others come with packages that offer them'
        )
    types = load_detector(detector).types
    if kind and kind not in types:
        raise InvalidArgument(
            f'detector {detector} does not support {kind}; accepted: {", ".join(types)}'
        )
    return detector, types
