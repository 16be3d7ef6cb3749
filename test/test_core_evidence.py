"""Evidence in words."""

from __future__ import annotations

from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest
from robots import START

from robot_memory.core.clock import DAY
from robot_memory.core.evidence import Evidence, describe_evidence

ONCE = Evidence(1, START, START, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({}, ''),
        ({'count': 7, 'tries': 6, 'successes': 5}, '7 times, 5 of 6 succeeded, last yesterday'),
        ({'tries': 1, 'successes': 0}, '0 of 1 succeeded'),
        ({'count': 0, 'simulated_count': 1}, 'simulated'),
        (
            {'count': 0, 'simulated_count': 3, 'simulated_tries': 3, 'simulated_successes': 2},
            'simulated, 3 times, 2 of 3 succeeded, last yesterday',
        ),
        ({'simulated_count': 1}, 'last yesterday; also simulated'),
        (
            {'count': 2, 'simulated_count': 2, 'simulated_tries': 2, 'simulated_successes': 2},
            '2 times, last yesterday; also simulated, 2 times, 2 of 2 succeeded',
        ),
        ({'count': 2, 'last_at': START + DAY}, '2 times, last today'),
        ({'count': 2, 'last_at': START - DAY}, '2 times, last 2026-02-24'),
    ],
)
def test_evidence_is_told_in_words(changes: dict[str, int], words: str) -> None:
    evidence = replace(ONCE, **changes)
    assert describe_evidence(evidence, START + DAY, ZoneInfo('UTC')) == words
