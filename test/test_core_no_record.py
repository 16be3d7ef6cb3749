"""The rules of what is not recorded: from settings, from a file, and refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.no_record import NoRecordRules, read_rules
from robot_memory.core.settings import Settings
from robot_memory.core.zones import get_zone

FILE = """
regions:
  kitchen: {frame: map, polygon: [[0, 0], [4, 0], [4, 3], [0, 3]], top: 2.5}
  left bin: {frame: base_link, box: [[0, 0, 0], [1, 1, 1]]}
no_record:
  zones: [Kitchen]
  times: ['22:00-06:00', 'sat sun 00:00-24:00']
"""


def read(tmp_path: Path, text: str, **given: tuple[str, ...]) -> NoRecordRules:
    path = tmp_path / 'places.yaml'
    path.write_text(text, encoding='utf-8')
    return read_rules(Settings(regions_file=str(path), **given), tmp_path / 'memory.db')  # type: ignore[arg-type]


def test_settings_and_file_are_added_up(tmp_path: Path) -> None:
    rules = read(tmp_path, FILE, no_record_zones=('left bin', 'kitchen'), no_record_times=('',))
    assert rules.describe() == {
        'zones': ['kitchen (map)', 'left bin (base_link)'],
        'times': ['22:00-06:00', 'sat sun 00:00-24:00'],
    }
    assert rules and [region.name for region in rules.regions] == ['kitchen', 'left bin']
    rules = read(tmp_path, '', no_record_times=('12:00-13:00',))
    assert rules and not rules.zones
    noon = 1_763_899_200_000_000  # 2025-11-23 12:00 UTC
    assert rules.covers_time(noon, get_zone('UTC'))
    assert not rules.covers_time(noon - 1, get_zone('UTC'))
    assert not rules.covers_time(noon, get_zone('Asia/Shanghai'))


def test_a_file_beside_the_store_holds_for_all_who_open_it(tmp_path: Path) -> None:
    assert not read_rules(Settings(), tmp_path / 'memory.db')
    (tmp_path / 'memory.regions.yaml').write_text(FILE, encoding='utf-8')
    assert read_rules(Settings(), tmp_path / 'memory.db').zones[0].name == 'kitchen'
    assert not read_rules(Settings(), tmp_path / 'other.db')


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('[1, 2]', r'contains \[1, 2\]; accepted: regions: and no_record:'),
        ('a: [', 'is not valid YAML'),
        ('region: {}', "unknown key 'region' .did you mean regions"),
        ('no_record: [kitchen]', 'no_record must have zones and times'),
        ('no_record: {zone: [kitchen]}', "no_record: unknown key 'zone'"),
        ('no_record: {zones: kitchen}', 'no_record.zones must be a list of texts'),
        ('no_record: {times: [8]}', 'no_record.times must be a list of texts'),
        ('no_record: {times: [noon]}', "no_record.times: 'noon' is no daily time"),
        (
            'no_record: {zones: [hall]}',
            "no_record.zones: there is no region 'hall'; accepted: none",
        ),
        (FILE.replace('[4, 0], [4, 3]', '[4, 3], [4, 0]'), "region 'kitchen': polygon"),
    ],
)
def test_a_file_that_is_not_accepted_is_refused_in_words(
    tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(InvalidArgument, match=f'places.yaml.*{words}'):
        read(tmp_path, text)


def test_settings_that_are_not_accepted_are_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidArgument, match=r"no_record_zones: .*'kichen' .did you mean kitchen"
    ):
        read(tmp_path, FILE, no_record_zones=('kichen',))
    with pytest.raises(InvalidArgument, match="no_record_times: 'x' is no daily time"):
        read(tmp_path, FILE, no_record_times=('x',))
    with pytest.raises(InvalidArgument, match=r'cannot read regions_file .*missing.yaml: No such'):
        read_rules(Settings(regions_file=str(tmp_path / 'missing.yaml')), tmp_path / 'memory.db')
