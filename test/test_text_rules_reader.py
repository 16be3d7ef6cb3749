"""Conditions of rules: what is permitted only where something is so, who has an occupation."""

from __future__ import annotations

from typing import Any

import pytest
from judging import judge_rule

from robot_memory.text.rules.quantities import find_days
from robot_memory.text.rules.reader import read_rule
from robot_memory.text.rules.rewording import reword


@pytest.mark.parametrize(
    ('rule', 'task', 'situation'),
    [
        ('Ben may only use the oven when Mum is with him.', 'Turn on the oven for Ben.',
         {'people_near': ['Ben']}),
        ('Glass may only be carried in the kitchen.', 'Carry the wine glass to the hall.', None),
        ('Knives are only to be used in the kitchen.', 'Take a knife to the garage.', None),
        ('Vacuuming is only allowed between 9:00 and 12:00.', 'Vacuum the hall.',
         {'time': '20:00'}),
        ('Lift patients only with two people present.', 'Lift the patient into the chair.',
         {'people_near': []}),
        ('只有妈妈在旁边才能给小宝剪刀。', '把剪刀递给小宝。', {'people_near': ['小宝']}),
        ('早上九点以后才能吸尘。', '给客厅吸尘。', {'time': '07:00'}),
        ('只有周六才能给孩子吃糖。', '给孩子一颗糖吃。', None),
    ],
)  # fmt: skip
def test_what_is_permitted_only_where_something_is_so_applies_where_it_is_not(
    rule: str, task: str, situation: dict[str, Any] | None
) -> None:
    assert judge_rule(rule, task, situation) is True


@pytest.mark.parametrize(
    ('rule', 'task', 'situation'),
    [
        ('Only hand Ben scissors if Mum is near.', 'Hand Ben the scissors.',
         {'people_near': ['Ben']}),
        ('The mill may only be started between 8:00 and 17:00.', 'Start the mill.',
         {'time': '19:00'}),
        ('只有护士能开药柜。', '打开药柜。', {'people_near': []}),
        ('只能在8点到17点之间开铣床。', '开铣床。', {'time': '19:00'}),
    ],
)  # fmt: skip
def test_what_is_permitted_is_never_known_not_to_apply(
    rule: str, task: str, situation: dict[str, Any]
) -> None:
    assert judge_rule(rule, task, situation) is not False


def test_a_manner_that_only_some_tasks_want_is_known_for_these() -> None:
    rule = 'Only crawl along when you drive with the screwdriver mounted.'
    assert judge_rule(rule, 'Drive to the dock.', {'tool': 'screwdriver'}) is True


@pytest.mark.parametrize(
    ('rule', 'task', 'other'),
    [
        ('Nobody except the foreman changes the tool.', 'Change the tool.', 'Vacuum the hall.'),
        ('No one but Tom and Ines may use the oven.', 'Use the oven.', 'Vacuum the hall.'),
        ('除了老王谁都不许进厨房。', '去厨房拿杯子。', '擦车间的桌子。'),
    ],
)
def test_what_nobody_else_may_do_is_forbidden(rule: str, task: str, other: str) -> None:
    assert judge_rule(rule, task) is True
    assert judge_rule(rule, other) is False


@pytest.mark.parametrize(
    ('rule', 'task'),
    [
        (
            "Never let the cat into the lounge, Mr Li's grandson is allergic.",
            'Let the cat into the lounge.',
        ),
        ('邻居家的小孩对花粉过敏，别把百合放在窗台。', '把百合放在窗台上。'),
    ],
)
def test_why_something_is_forbidden_is_no_condition(rule: str, task: str) -> None:
    assert judge_rule(rule, task) is True


def test_whom_a_rule_is_for_is_a_condition_where_a_pronoun_names_him() -> None:
    rule = 'Anna is allergic to peanuts: never put nuts in her food.'
    assert judge_rule(rule, 'Bring Anna a cake.') is True
    assert judge_rule(rule, 'Bring Tom a cake.') is False


@pytest.mark.parametrize(
    ('rule', 'near'),
    [
        ('When the caretaker is near, keep the arm folded.', ['the caretaker']),
        ('主厨在旁边时不要动刀。', ['主厨']),
        ('车间主任在旁边时要减速。', ['车间主任']),
    ],
)
def test_who_has_an_occupation_is_near_or_not(rule: str, near: list[str]) -> None:
    assert judge_rule(rule, 'Wave.', {'people_near': near}) is True
    assert judge_rule(rule, 'Wave.', {'people_near': []}) is False
    # Of somebody with a name it is not known what he works as.
    assert judge_rule(rule, 'Wave.', {'people_near': ['Jan']}) is None


@pytest.mark.parametrize(
    'rule',
    [
        "In the carpenter's workshop keep your sensors covered.",
        '在木工房里干活，除尘机得一直开着。',
    ],
)
def test_the_room_of_an_occupation_is_a_place(rule: str) -> None:
    assert read_rule(rule)['place'] == 'workshop'


@pytest.mark.parametrize(
    'rule',
    [
        'Max speed is 100 mm/s when somebody is in the cell.',
        'Max speed is 250 mm/s when a person is inside the cell.',
        'Reduce speed to 100 mm/s while the door of the cell is open.',
    ],
)
def test_the_cell_of_an_arm_is_where_it_always_is(rule: str) -> None:
    assert judge_rule(rule, 'Carry the box to the shelf.', {'people_near': ['Jan']}) is not False


@pytest.mark.parametrize(
    ('time', 'truth'),
    [
        ('2026-11-29T10:00:00+01:00', True),  # a Sunday
        ('2026-11-29T10:00:00Z', True),
        ('10:00', None),
        ('2026-13-45T10:00', None),
    ],
)
def test_a_date_of_the_situation_says_the_day(time: str, truth: bool | None) -> None:
    assert judge_rule('No drilling on Sundays.', 'Drill a hole.', {'time': time}) is truth


@pytest.mark.parametrize(
    ('time', 'truth'),
    [('9 pm', True), ('9pm', True), ('9:30 p.m.', True), ('9 am', False), ('21:00', True),
     ('2026-11-27T21:00', True), ('9', None), ('2026-13-45T21:00', None), ('25:00', None)],
)  # fmt: skip
def test_a_time_of_day_has_several_forms(time: str, truth: bool | None) -> None:
    assert judge_rule('No vacuuming after 8 pm.', 'Vacuum the hall.', {'time': time}) is truth


@pytest.mark.parametrize(
    ('rule', 'task', 'situation'),
    [
        ('Only plastic cups are allowed on the terrace.', 'Take a glass to the terrace.', None),
        ('Only the soft gripper is allowed for eggs.', 'Pick up the eggs.',
         {'tool': 'suction gripper'}),
        ('Only wooden spoons are allowed in the pan.', 'Put the metal fork in the pan.', None),
        ('除了水什么都不能倒进加湿器。', '往加湿器里倒茶。', None),
        ('穿了围裙才可以炒菜。', '炒菜。', None),
        ('老王对花生过敏，别放花生酱。', '给小李做三明治，放花生酱。', None),
        ('Do not vacuum during dinner.', 'Vacuum the hall.', None),
        ('Drive slowly when the cook is near.', 'Drive home.', {'people_near': ['cook']}),
    ],
)  # fmt: skip
def test_a_rule_applies_where_what_it_names_is_touched(
    rule: str, task: str, situation: dict[str, Any] | None
) -> None:
    assert judge_rule(rule, task, situation) is True


@pytest.mark.parametrize(
    ('rule', 'task', 'situation'),
    [
        ('Keep the window closed because Grandma gets cold.', 'Open the window.', None),
        ('Only white laundry may go in the hot wash.', 'Put the socks in the hot wash.', None),
        ('午饭时不要吸尘。', '吸尘。', None),
        ('If a child is near, keep the arm low.', 'Raise the arm.', {'people_near': ['son']}),
        ('If a visitor is near, stop.', 'Wave.', {'people_near': ['the neighbour']}),
        ('Drive slowly when the cook is near.', 'Drive to the kitchen.', None),
    ],
)
def test_what_is_unknown_leaves_no_rule_out(
    rule: str, task: str, situation: dict[str, Any] | None
) -> None:
    assert judge_rule(rule, task, situation) is None


@pytest.mark.parametrize(
    ('rule', 'time', 'truth'),
    [
        ('晚上八点一刻以后不要敲门。', '20:50', True),
        ('晚上8:20以后不要敲门。', '20:50', True),
        ('晚上八点四十五分以后不要敲门。', '20:30', False),
        ('晚上8:20到9:00不要敲门。', '20:50', True),
        ('晚上8:20到9:00不要敲门。', '10:00', False),
    ],
)
def test_a_chinese_hour_has_minutes(rule: str, time: str, truth: bool) -> None:
    assert judge_rule(rule, '敲门。', {'time': time}) is truth


@pytest.mark.parametrize(
    ('text', 'days'),
    [
        ('from monday to friday', [0, 1, 2, 3, 4]),
        ('周五到周一', [0, 4, 5, 6]),
        ('on mondays and fridays', [0, 4]),
    ],
)
def test_days_from_one_to_another_are_all_between(text: str, days: list[int]) -> None:
    assert sorted(find_days(text)) == days


@pytest.mark.parametrize(
    ('rule', 'task', 'alone', 'accompanied'),
    [
        ('The front door stays locked unless a carer is with the resident.',
         'Open the front door.', [], ['carer']),
        ('No hot drinks unless a nurse is with Mrs Adler.', 'Serve a hot drink.', [], ['nurse']),
        ("When Bruno isn't there the slicing machine stays off.",
         'Cut the loaf on the slicing machine.', ['Hanna'], ['Bruno']),
        ('Unless Bruno is there, leave the slicing machine alone.',
         'Cut the loaf on the slicing machine.', ['Hanna'], ['Bruno']),
        ('老孙不在，切片机不许开。', '打开切片机切面包。', [], ['老孙']),
    ],
)  # fmt: skip
def test_whose_company_lifts_a_rule_is_no_condition_of_it(
    rule: str, task: str, alone: list[str], accompanied: list[str]
) -> None:
    assert judge_rule(rule, task, {'people_near': alone}) is True
    assert judge_rule(rule, task, {'people_near': accompanied}) is False


@pytest.mark.parametrize(
    ('rule', 'task', 'other'),
    [
        ('Watch out, the oven door is hot.', 'Open the oven door.', 'Wipe the stove.'),
        ('Careful, the oven door handle is loose and hot.', 'Open the oven door.', 'Lock it.'),
        ("Don't touch the stove, it's hot.", 'Wipe the stove.', 'Open the oven door.'),
        ('Anything with chloroform stays in the fume hood.', 'Pour the chloroform into a beaker.',
         'Open the fume hood.'),
        ('Ether stays in the fume hood.', 'Carry the ether to the store room.',
         'Open the fume hood.'),
        ("Guests' suitcases are never left in the corridor.", 'Carry the suitcases to room 305.',
         'Vacuum the corridor.'),
    ],
)  # fmt: skip
def test_how_a_thing_is_and_where_it_stays_are_no_conditions(
    rule: str, task: str, other: str
) -> None:
    assert judge_rule(rule, task, None) is True
    assert judge_rule(rule, other, None) is not True


def test_what_holds_if_a_thing_is_hot_holds_only_then() -> None:
    rule = 'If the plate is hot, use gloves.'
    assert judge_rule(rule, 'Fetch the plate at 60 °C.', None) is True
    assert judge_rule(rule, 'Fetch the plate.', None) is not True


@pytest.mark.parametrize(
    ('rule', 'task'),
    [
        ("Don't lift the anchor unless two people are nearby.", 'Lift the anchor.'),
        ('No swimming pool cleaning with fewer than two people around.', 'Clean the pool.'),
        ('晚上八点以后不准用煤气，除非有两个人在。', '打开煤气。'),
    ],
)
def test_one_who_is_near_may_be_too_few(rule: str, task: str) -> None:
    truths = [
        judge_rule(rule, task, {'people_near': near, 'time': '21:15'}) for near in ([], ['Piotr'])
    ]
    assert truths == [True, None]


@pytest.mark.parametrize(
    ('rule', 'task', 'truth'),
    [
        ('这把梯子报废了，不能再爬。', '爬梯子。', True),
        ('挂黄圈的链子报废了，不能再吊东西。', '用挂黄圈的链子吊发动机。', None),
    ],
)
def test_that_a_thing_is_broken_is_why_it_is_not_to_be_used(
    rule: str, task: str, truth: bool | None
) -> None:
    assert judge_rule(rule, task, {'people_near': []}) is truth


@pytest.mark.parametrize(
    'rule',
    [
        'Never drive faster than 0.5 m/s in corridor B.',
        'Max speed in corridor is 0.4 m/s when visitors are near.',
        'In corridor 3 never exceed 0.5 m/s.',
    ],
)
def test_a_place_without_an_article_is_where_a_rule_holds(rule: str) -> None:
    near = {'people_near': ['visitor']}
    assert judge_rule(rule, 'Drive through the kitchen.', near) is False
    assert judge_rule(rule, 'Drive down the corridor.', near) is True


def test_a_place_that_only_begins_a_name_is_left_as_it_is() -> None:
    for text in ('Hand people in lab coats the pen.', 'Leave what is in lab a while.'):
        assert reword(text) == text


@pytest.mark.parametrize(
    ('rule', 'task'),
    [
        ('Put wet towels in bathroom', 'Carry the wet towels.'),
        ('Put wet towels in the bathroom.', 'Carry the wet towels.'),
        ('Hang your wet towels inside the bathroom, please.', 'Carry the wet towels.'),
        ('Wet towels go in bathroom.', 'Carry the wet towels.'),
        ('Store knives in kitchen when done', 'Pick up the knives.'),
        ('Store knives in the kitchen when done', 'Pick up the knives.'),
        ('Put the knives away in the kitchen, not in the bathroom.', 'Pick up the knives.'),
        ('Put cups in the kitchen and knives in the workshop.', 'Pick up the knives.'),
        ('Knives belong in the kitchen.', 'Pick up the knives.'),
        ('Never leave knives in the bathroom.', 'Pick up the knives.'),
        ('Put the tray in storage when it is empty', 'Carry the tray.'),
    ],
)
def test_a_rule_of_where_things_are_put_is_about_these(rule: str, task: str) -> None:
    assert judge_rule(rule, task) is not False


def test_where_something_is_done_is_where_a_rule_holds() -> None:
    for rule in (
        'Keep your speed below 0.3 m/s in corridor B.',
        'Keep to the right in corridor 3.',
        'Keep the flashing light on in the corridor.',
    ):
        assert judge_rule(rule, 'Drive down the corridor.') is not False
        assert judge_rule(rule, 'Drive through the kitchen.') is False


@pytest.mark.parametrize(
    ('rule', 'task'),
    [
        ('Put knives in the drawer.', 'Wash the knives.'),
        ('Always put knives in the drawer', 'Wash the knives.'),
        ('Scissors go back in the high drawer.', 'Cut the paper with the scissors.'),
        ('Put the glasses in the cupboard.', 'Fetch the glasses.'),
        ('Store acids in the yellow cabinet', 'Fetch the acid.'),
        ('Put the linens in the cabinet of room 3', 'Fold the linens in room 5.'),
        ('Boxes go on the shelf by the rack in bay 2', 'Stack the boxes in bay 3.'),
        ('Take the towels to the basement.', 'Fold the towels.'),
        ('Put the tray in storage when it is empty', 'Carry the tray.'),
        ('Put the tray in the storeroom when it is empty', 'Carry the tray.'),
        ('把刀放进抽屉', '洗刀。'),
        ('空托盘放回仓库。', '端托盘。'),
        ('脏毛巾送到地下室', '叠毛巾。'),
        ('外卖一律搁鞋柜上', '把外卖拿进来。'),
        ('拔下来的钉子放桶里', '拔钉子。'),
    ],
)
def test_where_a_thing_is_put_is_no_condition_beside_it(rule: str, task: str) -> None:
    assert judge_rule(rule, task) is True


@pytest.mark.parametrize(
    ('rule', 'task'),
    [
        ('Put knives in the drawer.', 'Open the drawer.'),
        ('Put the tray in storage when it is empty', 'Go to the kitchen.'),
        ('Take the towels to the basement.', 'Go to the basement.'),
        ('空托盘放回仓库。', '去仓库。'),
    ],
)
def test_what_only_goes_there_is_no_matter_of_such_a_rule(rule: str, task: str) -> None:
    assert judge_rule(rule, task) is False


@pytest.mark.parametrize(
    ('rule', 'task', 'truth'),
    [
        ('Never put knives in the dishwasher.', 'Put the knives in the dishwasher.', True),
        ('Never leave knives in the bathroom.', 'Pick up the knives.', None),
        ('Put the flumox in the drawer', 'Clean the flumox.', None),
        ('Flumoxes go into the tray on bench 2', 'Put the flumoxes on bench one.', None),
        ('不要把刀放到厨房', '把刀放到厨房。', True),
        ('送到病房要轻敲门', '把药送到病房。', True),
        ('Keep noise down in the ward.', 'Mop the ward.', True),
        ('Sheets over 3 kg go in the lift.', 'Carry the 4 kg of sheets upstairs.', True),
        ('Bread goes on the cooling rack.', 'Take the bread out of the oven.', True),
        ('Never leave the kitchen.', 'Drive to the hall.', None),
        ('不得离开厨房', '去大厅。', None),
    ],
)
def test_where_a_thing_must_not_go_is_a_part_of_the_rule(
    rule: str, task: str, truth: bool | None
) -> None:
    assert judge_rule(rule, task) is truth


@pytest.mark.parametrize(
    ('rule', 'task', 'truth'),
    [
        ("Wipe the trolley when it's dirty.", 'Push the trolley.', True),
        ("Wipe the trolley when it's dirty.", 'Go to the kitchen.', False),
        ('Close the window when it is raining.', 'Go to the kitchen.', None),
        ('Take the tray away unless it is full.', 'Carry the tray.', True),
    ],
)
def test_a_thing_may_be_told_by_a_pronoun(rule: str, task: str, truth: bool | None) -> None:
    assert judge_rule(rule, task) is truth


def test_a_tool_that_is_asked_for_is_no_condition() -> None:
    rule = 'For parts under 50 g use the suction gripper.'
    assert judge_rule(rule, 'Grip the 20 g part.', {'tool': 'soft gripper'}) is True
    rule = 'When you use the suction gripper, keep still.'
    assert judge_rule(rule, 'Grip the part.', {'tool': 'soft gripper'}) is False


@pytest.mark.parametrize('how', ['慢行', '别跑', '小声说话', '低速行驶', '尽量少停留'])
def test_a_chinese_place_before_what_to_do_there_is_where_a_rule_holds(how: str) -> None:
    assert read_rule(f'在走廊{how}') == {'place': 'hallway', 'words': '走廊'}


@pytest.mark.parametrize(
    ('rule', 'task', 'truth'),
    [
        ('出车库前先打灯。', '开出车库。', True),
        ('进洁净室前把工具放在门口。', '去洁净室取样品。', True),
        ('搬课桌前先掏桌肚。', '搬课桌。', None),
    ],
)
def test_before_is_a_condition_in_short_chinese_words(
    rule: str, task: str, truth: bool | None
) -> None:
    assert judge_rule(rule, task) is truth


@pytest.mark.parametrize(
    ('rule', 'task', 'truth'),
    [
        ('Never open dryer 2 while the drum turns.', 'Take the shirts out of dryer two.', None),
        ('Gate 4 stays shut while planes taxi.', 'Open gate 4.', None),
        ('Gate 4 stays shut while planes taxi.', 'Open gate 5.', False),
        ('Drive slowly while the tray is full.', 'Drive to the hall.', False),
    ],
)
def test_what_a_thing_does_by_itself_no_task_needs_to_say(
    rule: str, task: str, truth: bool | None
) -> None:
    assert judge_rule(rule, task) is truth
