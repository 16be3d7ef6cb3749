"""Where no message of a tap can be used, the reason and the cure are said."""

from __future__ import annotations

import pytest

from robot_memory.ingest.tap_problems import CURES, DropMonitor


def test_nothing_is_said_while_some_messages_are_used() -> None:
    usage = DropMonitor()
    assert usage.explain({}) == ''
    assert usage.explain({'received': 10, 'no stamp': 9}) == ''
    assert usage.explain({'received': 30, 'no stamp': 9, 'rate': 20}) == ''


@pytest.mark.parametrize('reason', CURES)
def test_where_every_message_is_dropped_the_reason_and_the_cure_are_said(reason: str) -> None:
    usage = DropMonitor()
    usage.explain({'received': 5})
    words = usage.explain({'received': 9, 'rate': 1, reason: 3})
    assert words == f'all messages are dropped ({reason}): {CURES[reason]}'
    assert usage.explain({'received': 9, 'rate': 1, reason: 3}) == words, 'silence mends nothing'
    assert usage.explain({'received': 10, 'rate': 1, reason: 3}) == ''
