"""Places that are told by a number or a letter, in rules and tasks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judging import judge_rule

from robot_memory.text.rules.reader import read_rule
from robot_memory.text.rules.sites import find_sites
from robot_memory.text.tokenizer import fold


@pytest.mark.parametrize(
    ('text', 'sites'),
    [
        ('Drive to zone 3.', ['zone 3']),
        ('in cell B-7', ['cell b7']),
        ('zone_03', ['zone 3']),
        ('zone3', ['zone 3']),
        ('aisle no. 12', ['aisle 12']),
        ('down corridor B', ['corridor b']),
        ('zone three', ['zone 3']),
        ('zones 3 to 5', ['zone 3', 'zone 4', 'zone 5']),
        ('rooms 101, 103 and 104', ['room 101', 'room 103', 'room 104']),
        ('meeting room 4', ['meeting room 4']),
        ('在三号区', ['区 3']),
        ('B7单元内', ['单元 b7']),
        ('204房间', ['房间 204']),
        ('第三车间', ['车间 3']),
        ('三楼', ['楼 3']),
        ('3号楼', ['号楼 3']),
        ('工位12', ['工位 12']),
        ('3、4号区', ['区 3', '区 4']),
        ('zone 3, 4 and 5', ['zone 3', 'zone 4', 'zone 5']),
        ('zones 3/4', ['zone 3', 'zone 4']),
        ('bay 12-14', ['bay 12', 'bay 13', 'bay 14']),
        ('bays A to C', ['bay a', 'bay b', 'bay c']),
        ('zone 3 to zone 5', ['zone 3', 'zone 4', 'zone 5']),
        ('rack A-3-2', ['rack a3']),
        ('row 4 of the greenhouse', ['row 4']),
        ('at table 6 sits a guest', ['table 6']),
        ('一区到三区', ['区 1', '区 2', '区 3']),
        ('一百零二号房', ['房 102']),
        ('二零四号房', ['房 204']),
        ('A-3区', ['区 a3']),
        ('6号和7号货架', ['货架 6', '货架 7']),
    ],
)
def test_a_place_with_a_number_is_read(text: str, sites: list[str]) -> None:
    assert [f'{site.word} {site.number}' for site in find_sites(fold(text))] == sites


@pytest.mark.parametrize(
    'text',
    [
        'the area 2 m around',
        'wipe the floor 3 times',
        'leave the room 5 minutes before',
        'lift 2 boxes',
        'section 4.2',
        'the zone a robot is in',
        'the area one must not enter',
        'room two hundred and four',
        'room two oh four',
        'gate b 12',
        'line 2 of the display',
        'cell 3 of the battery',
        'the table 2m away',
        'the shelf now',
        'keep to the right in corridors',
        'three zones',
        '三个区',
        '三室一厅',
        '安全通道一寸也别占',
    ],
)
def test_a_number_of_something_else_is_none_of_a_place(text: str) -> None:
    assert find_sites(fold(text)) == []


@pytest.mark.parametrize(
    'rule',
    [
        'In zone 3 drive at 0.2 m/s',
        'Drive at 0.2 m/s in zone 3.',
        'Drive through zone 3 at 0.2 m/s.',
        'Slow down when you enter zone 3.',
        'Never enter zone 3',
        'No honking in zone 3.',
        '在三号区慢行',
        '三号区内限速0.2米每秒',
        '进入三号区要减速',
    ],
)
@pytest.mark.parametrize(
    ('task', 'situation', 'truth'),
    [
        ('Drive to zone 3.', None, True),
        ('Drive from zone 2 to sector 3.', None, True),
        ('开到三号区。', None, True),
        ('Drive on.', {'place': 'zone_3'}, True),
        ('Drive to the kitchen.', None, None),
        ('Do not drive to zone 3 but to the hall.', None, None),
    ],
)
def test_a_rule_of_a_place_holds_where_that_is_named(
    rule: str, task: str, situation: dict[str, Any] | None, truth: bool | None
) -> None:
    assert judge_rule(rule, task, situation) is truth


@pytest.mark.parametrize(
    ('rule', 'task', 'situation', 'truth'),
    [
        ('In zone 3 drive at 0.2 m/s', 'Drive to zone 4.', None, False),
        ('In zone 3 drive at 0.2 m/s', 'Drive on.', {'place': 'Zone 4'}, False),
        ('In zone 3 drive at 0.2 m/s', 'Drive to sector 4.', None, None),
        ('In zone 3 drive at 0.2 m/s', '开到四号区。', None, None),
        ('在三号区慢行', '去四号区。', None, False),
        ('在三号区慢行', '去五楼。', None, None),
        ('In zones 3 to 5 do not honk.', 'Drive to zone 4.', None, True),
        ('In zones 3 to 5 do not honk.', 'Drive to zone 6.', None, False),
        ('in cell B7 keep the speed below 0.3 m/s', 'Go to B7.', None, True),
        ('in cell B7 keep the speed below 0.3 m/s', 'Go to cell B8.', None, False),
        ('In corridor 3 never exceed 0.5 m/s.', 'Drive down the corridor.', None, True),
        ('In corridor 3 never exceed 0.5 m/s.', 'Drive down corridor 4.', None, False),
        ('At table 4 serve slowly.', 'Serve table 4.', None, True),
        ('At table 4 serve slowly.', 'Serve table 5.', None, False),
        ('At table 6 sits a guest, serve no nuts.', 'Serve nuts at table six.', None, True),
        ('Except in zone 3, drive at 1 m/s.', 'Drive to zone 3.', None, False),
        ('Except in zone 3, drive at 1 m/s.', 'Drive to zone 4.', None, True),
        ('Outside zone 3, keep the beacon on.', 'Drive to zone 4.', None, True),
        ('三号区的货架不要碰', '擦四号区的货架。', None, False),
        ('On deck 3 carry nothing that drips.', 'Carry the paint to deck 3.', None, True),
        ('On deck 3 carry nothing that drips.', 'Carry the paint to deck 2.', None, False),
        ('In field 3 go slowly.', 'Go to greenhouse 3.', None, None),
        ('八号床的病人吃素，不要给肉。', '给八号床送午饭。', None, True),
        ('八号床的病人吃素，不要给肉。', '给九号床送肉。', None, False),
        ('Bed 12 is to be turned every two hours.', 'Feed the patient.', None, None),
        ('Bed 12 is to be turned every two hours.', 'Make bed 14.', None, False),
    ],
)
def test_another_place_of_the_kind_is_not_that_one(
    rule: str, task: str, situation: dict[str, Any] | None, truth: bool | None
) -> None:
    assert judge_rule(rule, task, situation) is truth


@pytest.mark.parametrize(
    ('rule', 'task', 'truth'),
    [
        ('In zone 4 drive slowly', 'Mop zone 3 and the other zones.', None),
        ('In zone 4 drive slowly', 'Mop zone 3, then the fourth zone.', None),
        ('In zone 4 drive slowly', 'Mop zone 3 and every second zone.', None),
        ('In zone 4 drive slowly', 'Mop from zone 3 to zone 6.', None),
        ('In zone 4 drive slowly', 'Carry the box from zone 3 to zone 6.', False),
        ('In room 7 be quiet', 'Bring Anna from room 5 to her room.', None),
        ('In room 7 be quiet', 'Bring the tray from room 5 to a free room.', None),
        ('In room 7 be quiet', 'Bring the tray from room 5 next door.', None),
        ('In room 7 be quiet', 'Vacuum the whole house, room 5 first.', None),
        ('In room 7 be quiet', 'Go to room 5 and lock the room.', False),
        ('五号房里轻声', '从四号房到老李的房间。', None),
        ('In room A12 be quiet', 'Go to room 12 in building A.', None),
        ('Between row 2 and row 5 do not honk', 'Drive to row 3.', True),
        ('From row 5 to row 9 do not honk', 'Go to row 7.', True),
        ('In zone A drive slowly', 'Drive to zone A.', True),
        ('In zone A drive slowly', 'Drive to zone B.', False),
        ('In zone B drive slowly', 'Take the box from zone A to the gate.', False),
        ('In zone 4 drive slowly', 'Mop zone 4b.', None),
        ('In zone 4b drive slowly', 'Mop zone 4.', None),
        ('In zone 4 drive slowly', 'Mop zone 14.', False),
        ('In room 204 keep quiet', 'Go to room two hundred and four.', None),
        ('四号区内慢行', '清扫三号区和其他区。', None),
        ('四号区内慢行', '清扫3号区，然后第四个区。', None),
        ('四号区内慢行', '清扫五号区。', False),
    ],
)
def test_another_place_leaves_a_rule_out_only_where_none_may_be_meant(
    rule: str, task: str, truth: bool | None
) -> None:
    assert judge_rule(rule, task) is truth


def test_a_line_of_a_display_is_no_place_of_a_rule() -> None:
    rule = 'If line 2 of the display shows E4, stop the arm.'
    assert judge_rule(rule, 'Weld the frame in line 3.') is None


@pytest.mark.parametrize(
    'rule',
    [
        'Never leave zone 3.',
        'Keep within zone 3.',
        'Wait in zone 3 until you are called.',
        'Work only in zone 3.',
        'From zone 3 on, sound the horn.',
        'Never leave corridor 3.',
        '不得离开三号区',
        '你的活动范围就是三号区，别的地方不去。',
    ],
)
def test_where_to_stay_is_a_rule_for_all_other_places(rule: str) -> None:
    assert judge_rule(rule, 'Drive to zone 4.') is not False
    assert judge_rule(rule, '去四号区。') is not False


@pytest.mark.parametrize(
    ('rule', 'task'),
    [
        ('Put boxes in zone 3.', 'Stack the boxes.'),
        ('Take empty pallets to bay 4', 'Carry the pallets.'),
        ('空托盘放到三号区', '端托盘。'),
        ('空托盘放二号架，以后都这样', '端托盘。'),
    ],
)
def test_where_things_are_put_is_no_place_of_the_rule(rule: str, task: str) -> None:
    assert judge_rule(rule, task) is True


@given(st.text(alphabet='zone aisle room 0123456789bt-_,.#第三号区楼房间工位和到', max_size=30))
def test_any_text_is_read(text: str) -> None:
    find_sites(fold(text))
    read_rule(text)
