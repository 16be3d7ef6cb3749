"""Why nothing that comes on a topic can be used: the reason, and the cure."""

from __future__ import annotations

from collections.abc import Mapping

from robot_memory.core.no_record import Withheld
from robot_memory.ingest.threaded_runner import BUSY
from robot_memory.plugins.detectors import DISABLED

_CONTENT = 'check the contents of the published messages'
_STAMP = 'configure the publisher to stamp each message with the time of its measurement'
CURES = {
    'no stamp': (
        f'{_STAMP}; a zero stamp is replaced by the arrival time only if use_sim_time is false '
        'and the other stamps of the topic are from the same clock; if it is true, somebody must '
        'publish /clock'
    ),
    'late or repeated stamp': _STAMP,
    'repeated stamp': _STAMP,
    'unreadable': 'see the log; check that publisher and memory use the same type',
    BUSY: 'lower rate or size of the pictures, or set max_rate_hz of the tap',
    DISABLED: 'the log says why; mend or update the package of the detector, and restart',
    Withheld.PLACE_UNKNOWN.value: (
        'there are no-record zones, and no pose comes in their frames for the frame and stamps '
        'of the messages; check pose_topic or fixed_frame, robot_frame and tf'
    ),
    Withheld.CLOCK_SUSPECT.value: (
        'there are no-record times: synchronise the clock, or confirm it with `robot-memory clock '
        'trust`'
    ),
    'no goal': (
        'goals are seen where the server of the action has introspection on '
        '(configure_introspection with CONTENTS, ROS 2 Kilted and later); elsewhere take fields '
        'of feedback or of a result topic'
    ),
    'no result': (
        'results are seen where the server of the action has introspection on and somebody asks '
        'for them; elsewhere take fields of feedback or of a result topic'
    ),
    'no feedback': 'the server publishes none before the goal ends: take fields of the goal',
    'no message of the result topic': 'check result_topic and result_type, or raise wait_s',
    'unusable value': f'{_CONTENT}: a field was empty, not finite or too long',
    'no positions': _CONTENT,
    'names do not match positions': _CONTENT,
    'position is not a number': _CONTENT,
    'force or torque is not three numbers': _CONTENT,
    'force or torque is not a number': _CONTENT,
    'not a picture': _CONTENT,
    'position is not three or orientation not four numbers': _CONTENT,
    'position or orientation is not a number': _CONTENT,
    'orientation is zero': _CONTENT,
}
"""The counts of messages that were dropped for what is wrong with them, and what to do."""


class DropMonitor:
    """Follow the counts of one topic, and say why all of its latest messages were dropped."""

    def __init__(self) -> None:
        """Begin with no message."""
        self._before: Mapping[str, int] = {}
        self._reason = ''

    def explain(self, counts: Mapping[str, int]) -> str:
        """
        Return why no message since the last call could be used, in words; empty: some could.

        Without a message in between the answer stays as it was.
        """
        grown = {name: number - self._before.get(name, 0) for name, number in counts.items()}
        self._before = dict(counts)
        received = grown.get('received', 0) - grown.get('rate', 0)
        if received > 0:
            dropped = {name: grown[name] for name in CURES if grown.get(name)}
            none_used = sum(dropped.values()) >= received
            self._reason = max(dropped, key=lambda name: dropped[name]) if none_used else ''
        if not self._reason:
            return ''
        return f'all messages are dropped ({self._reason}): {CURES[self._reason]}'
