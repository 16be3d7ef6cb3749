"""What is inferred from an insight: category, confidence, tags, files."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from waiting import ending_work

from robot_memory.text.categories import CATEGORIES, PROTECTED, classify

DOCUMENTED = [
    ('constraint', 'Must never exceed 15N grip force'),
    ('preference', 'Prefer approach from left side'),
    ('worldview', 'ONNX is faster than Ollama for small models'),
    ('tradeoff', 'Speed vs accuracy: use 10Hz for real-time'),
    ('root_cause', 'Failure caused by sensor drift'),
    ('decision', 'Chose PID over MPC for simplicity'),
    ('pattern', 'Every time humidity > 80%, grip fails'),
    ('postmortem', 'Lesson: always calibrate before new session'),
    ('gotcha', 'Pitfall: joint limits not checked in sim'),
    ('observation', 'Found that red cups require more force'),
    ('code', 'General technical notes'),
    ('constraint', '抓取力不得超过 15N'),
    ('preference', '优先从左侧接近'),
    ('worldview', 'ONNX 对小模型比 Ollama 更快'),
    ('tradeoff', '速度与精度:实时场景使用 10Hz'),
    ('root_cause', '故障由传感器漂移引起'),
    ('decision', '为了简化选择 PID 而非 MPC'),
    ('pattern', '每当湿度 > 80%,抓取就会失败'),
    ('postmortem', '教训:新会话前务必先校准'),
    ('gotcha', '陷阱:仿真中未检查关节限位'),
    ('observation', '发现红色杯子需要更大的力'),
    ('code', '一般性技术笔记'),
]
TRIGGERS = [
    ('constraint', 'must always'), ('constraint', 'never'), ('constraint', 'forbidden'),
    ('preference', 'prefer left over right'), ('preference', 'recommended to use'),
    ('worldview', 'suction is better than fingers'), ('worldview', 'from now on'),
    ('tradeoff', 'tradeoff'), ('tradeoff', 'pros and cons'), ('tradeoff', 'vs'),
    ('root_cause', 'caused by'), ('root_cause', 'because'), ('root_cause', 'root cause'),
    ('decision', 'chose'), ('decision', 'decided'), ('decision', 'instead of'),
    ('pattern', 'every time'), ('pattern', 'whenever'), ('pattern', 'recurring'),
    ('postmortem', 'lesson'), ('postmortem', 'postmortem'),
    ('gotcha', 'gotcha'), ('gotcha', 'pitfall'), ('gotcha', 'trap'),
    ('observation', 'found that'), ('observation', 'discovered'), ('observation', 'noticed'),
]  # fmt: skip
NATURAL = [
    ('constraint', 'Do not drive onto the ramp while the arm is extended'),
    ('constraint', 'Gripper must be closed before the arm retracts'),
    ('constraint', "Don't touch the hot plate"),
    ('constraint', 'Always home the arm before the first motion'),
    ('constraint', 'Entering the welding cell is prohibited while the light is red'),
    ('constraint', 'The arm should never move faster than 0.25 m/s near people'),
    ('constraint', 'The wrist camera has to be uncovered before scanning'),
    ('constraint', 'Payload shall not exceed 5 kg'),
    ('constraint', 'Please do not open drawer 3'),
    ('constraint', '机器人必须在人进入时停止'),
    ('constraint', '禁止在充电时移动底盘'),
    ('constraint', '严禁手臂进入围栏以外的区域'),
    ('constraint', '速度不能超过 0.5 m/s'),
    ('constraint', '请勿触碰玻璃柜'),
    ('constraint', '抓取前务必先检查夹爪'),
    ('constraint', '千万不要在湿地面上急停'),
    ('preference', 'It is best to approach mugs by the handle'),
    ('preference', 'Recommend a suction cup for flat boxes'),
    ('preference', 'The operator prefers quiet motion in the evening'),
    ('preference', 'Maria likes her coffee on the left side of the desk'),
    ('preference', '建议使用吸盘抓取平面箱子'),
    ('preference', '最好从上方抓取瓶子'),
    ('preference', '推荐用低速接近玻璃制品'),
    ('worldview', 'Suction works better than fingers on cardboard'),
    ('worldview', 'Lidar is more reliable than stereo in the dark'),
    ('worldview', 'From now on the north dock is the home position'),
    ('worldview', 'MoveIt outperforms our own planner in clutter'),
    ('worldview', '吸盘比夹爪更适合纸箱'),
    ('worldview', '激光雷达在黑暗中优于相机'),
    ('worldview', '从现在开始北侧充电桩是默认位置'),
    ('tradeoff', 'Trade-off between update rate and CPU load'),
    ('tradeoff', 'Higher gain at the cost of overshoot'),
    ('tradeoff', 'Pros and cons of a second camera'),
    ('tradeoff', '在速度和稳定之间权衡'),
    ('tradeoff', '以续航为代价换取速度'),
    ('tradeoff', '精度与延迟:跟踪用 30Hz'),
    ('root_cause', 'The drop happened due to a worn finger pad'),
    ('root_cause', 'Localization jumped because the map was outdated'),
    ('root_cause', 'Backlash in joint 4 causes the jitter'),
    ('root_cause', 'The reason for the timeout was a full disk'),
    ('root_cause', '因为镜头脏了,检测失败'),
    ('root_cause', '皮带松动导致定位误差'),
    ('root_cause', '根本原因是电源电压不稳'),
    ('decision', 'Decided to use the rear camera for docking'),
    ('decision', 'We switched to Cyclone DDS on the arm computer'),
    ('decision', 'Use the handle instead of the rim'),
    ('decision', 'Went with a two-finger gripper'),
    ('decision', '决定采用双指夹爪'),
    ('decision', '导航改用 MPPI 控制器'),
    ('pattern', 'Whenever the door is open, the draft moves the curtain'),
    ('pattern', 'The gripper always slips on wet glass'),
    ('pattern', 'Battery usually drops quickly on Mondays'),
    ('pattern', 'The arm tends to overshoot at high speed'),
    ('pattern', 'The lidar never sees the glass door'),
    ('pattern', '每次下雨后地面都会打滑'),
    ('pattern', '夹爪总是在冷启动后偏移'),
    ('pattern', '走廊下午经常有人'),
    ('postmortem', 'Lessons learned from the fallen pallet: check the strap'),
    ('postmortem', 'In hindsight the approach angle was wrong'),
    ('postmortem', 'Next time calibrate the wrist camera first'),
    ('postmortem', '复盘:昨天的碰撞是地图过期'),
    ('postmortem', '下次要先清空托盘'),
    ('gotcha', 'Watch out: tf lookup fails silently on a stale clock'),
    ('gotcha', 'Gotcha - the driver swaps x and y'),
    ('gotcha', 'The default QoS is a classic trap'),
    ('gotcha', 'Beware of the low shelf behind the door'),
    ('gotcha', '小心:门后有台阶'),
    ('gotcha', '踩坑:驱动里 x 和 y 反了'),
    ('gotcha', '注意:仿真时钟没有启动'),
    ('observation', 'Noticed that the floor near the sink is wet'),
    ('observation', 'The cup turned out to be empty'),
    ('observation', 'Measured 3.2 mm of play in the wrist'),
    ('observation', '0.2 m/s works best on carpet'),
    ('observation', 'grip_force=12.5N optimal for cylindrical objects'),
    ('observation', 'grip_force=11.0N optimal (recalibrated)'),
    ('observation', 'Optimal grip force is 8 N for eggs'),
    ('observation', 'Camera exposure 20 ms gives best results'),
    ('observation', '相机曝光设为 20 ms 效果最好'),
    ('observation', 'Picking from the bin failed 3 of 10 times'),
    ('preference', 'Avoid the left corridor at noon'),
    ('preference', '避免从左侧接近'),
    ('constraint', 'Speed limit in the corridor is 0.5 m/s'),
    ('observation', '注意到水槽附近的地面是湿的'),
    ('observation', '实测手腕间隙 3.2 毫米'),
    ('observation', '夹持力 12.5N 对圆柱体最佳'),
    ('code', 'Charging dock is at the north wall'),
    ('code', 'Joint 3 has a range of 270 degrees'),
    ('code', '充电桩在北墙边'),
]
FALSE_FRIENDS = [
    ('code', 'The tray is a trapezoid'),
    ('code', 'Put mustard next to the sauce'),
    ('code', 'Nevertheless the cup is full'),
    ('code', 'Never mind the last message'),
    ('code', 'A shallow bowl stands on shelf 2'),
    ('code', 'The robot never reached the goal'),
    ('code', 'The trap door is in room 4'),
    ('code', 'Open the project in VS Code'),
    ('code', 'Foundation bolts are M12'),
    ('code', 'Objects heavier than 5 kg go to shelf 1'),
    ('code', 'The wheels do not slip on concrete'),
    ('code', 'File not found'),
    ('code', 'The lessee has the key to the store'),
    ('code', 'recommended_speed.yaml holds the speeds'),
    ('code', '优先级为 3 的任务在队列里'),
    ('code', '减速比例为 1:50'),
    ('code', '路面有些坑洼'),
    ('code', '速度取决于负载'),
    ('code', '特别重的箱子在货架三'),
]
LABELLED = [
    ('postmortem', 'Lesson: the drop was caused by a worn pad'),
    ('postmortem', 'Postmortem: we chose the wrong gripper because the map was old'),
    ('gotcha', 'Gotcha: the driver is faster than the controller'),
    ('gotcha', 'Trap: every time the clock jumps, tf loses its buffer'),
    ('gotcha', 'Pitfall: prefer no default QoS'),
    ('postmortem', '教训:因为地图过期,机器人撞了门'),
    ('postmortem', '复盘:我们选择了错误的夹爪'),
    ('gotcha', '陷阱:每次重启后时钟都会跳'),
    ('constraint', 'Lesson: at most 15 N on the blue cup'),
]
LIMITS = [
    ('constraint', 'Maximum payload is 5 kg'),
    ('constraint', 'Keep at least 50 cm away from Li'),
    ('constraint', 'At most 15 N on the blue cup'),
    ('constraint', 'When Li is near, move no faster than 0.25 m/s'),
    ('constraint', 'The speed near people is at most 0.25 m/s'),
    ('constraint', '15 N max on the blue cup'),
    ('constraint', '最大速度0.25米每秒'),
    ('constraint', '离人至少半米'),
    ('constraint', '玻璃杯最多用8牛'),
    ('code', 'The screw is at least 5 mm long'),
    ('code', 'The drawer opens at most 30 cm'),
    ('code', 'It took no more than two tries'),
    ('code', 'The battery lasts up to 4 hours'),
    ('code', 'The maximum speed of the conveyor is 2 m/s'),
    ('code', '这根螺丝至少五毫米长'),
    ('code', '电池最多能用4小时'),
]
PRECEDENCE = [
    ('constraint', 'Lesson: never move before homing'),
    ('root_cause', 'Chose PID because it is simple'),
    ('worldview', 'Found that suction is better than fingers'),
    ('pattern', 'Noticed that every time the door opens the map shifts'),
    ('tradeoff', 'Found a tradeoff: speed vs force'),
    ('constraint', '发现必须先校准'),
]


@pytest.mark.parametrize(
    ('category', 'insight'),
    [*DOCUMENTED, *TRIGGERS, *NATURAL, *FALSE_FRIENDS, *PRECEDENCE, *LABELLED, *LIMITS],
)
def test_an_insight_gets_the_category_a_reader_would_give_it(category: Any, insight: Any) -> None:
    assert classify(insight).category == category
    assert classify(insight.upper()).category == category


def test_the_categories_stand_in_documented_order_and_three_are_protected() -> None:
    assert tuple(dict(DOCUMENTED)) == CATEGORIES
    assert {'constraint', 'postmortem', 'gotcha'} == PROTECTED


@pytest.mark.parametrize(
    ('insight', 'confidence'),
    [
        ('grip_force=12.5N optimal for cylindrical objects', 0.85),
        ('Found that red cups require more force', 0.85),
        ('Must never exceed 15N grip force', 0.95),
        ('Failure caused by sensor drift', 0.80),
        ('Failure caused by a drift of 0.3 mm', 0.85),
        ('Failure caused by joint_3', 0.80),
        ('Failure was probably caused by sensor drift', 0.60),
        ('General technical notes', 0.70),
        ('The dock may be at the north wall, not sure', 0.50),
        ('可能由传感器漂移引起', 0.60),
        ('不可能由传感器漂移引起', 0.80),
        ('Do not enter while a person might be inside', 0.95),
    ],
)
def test_confidence_follows_the_category_the_figures_and_the_doubts(
    insight: str, confidence: float
) -> None:
    assert classify(insight).confidence == confidence


def test_no_confidence_but_a_constraints_is_out_of_reach_of_consolidation() -> None:
    for category, insight in [*DOCUMENTED, *NATURAL]:
        assert (classify(insight).confidence >= 0.95) == (category == 'constraint')


@pytest.mark.parametrize(
    ('insight', 'tags'),
    [
        ('Noticed a recurring slip', ('pattern', 'observation', 'grasp')),
        ('grip_force=12.5N optimal', ('observation', 'force', 'grasp')),
        ('发现夹爪总是打滑', ('pattern', 'observation', 'grasp', 'gripper')),
        ('Failure caused by sensor drift', ('root_cause', 'calibration', 'sensor')),
        ('Never drive to the dock in the dark', ('constraint', 'navigation', 'environment')),
        ('General technical notes', ('code',)),
    ],
)
def test_tags_are_the_category_then_other_matching_ones_then_the_subject(
    insight: str, tags: tuple[Any, ...]
) -> None:
    assert classify(insight).tags == tags


@pytest.mark.parametrize(
    ('insight', 'files'),
    [
        ('Edit src/foo/bar.py, config.yaml', ('src/foo/bar.py', 'config.yaml')),
        ('loads robot.urdf.xacro', ('robot.urdf.xacro',)),
        ('see nav.launch.py.', ('nav.launch.py',)),
        ('修改config/params.yaml后重启', ('config/params.yaml',)),
        ('`./a/b.cpp:12` and b.cpp', ('./a/b.cpp', 'b.cpp')),
        ('package://ur/a.stl in CMakeLists.txt', ('package://ur/a.stl', 'CMakeLists.txt')),
        ('the Makefile and docker/Dockerfile', ('Makefile', 'docker/Dockerfile')),
        ('a.yaml and again a.yaml', ('a.yaml',)),
        ('topic /joint_states at 12.5 Hz, e.g. in sim', ()),
        ('see https://example.org/x.py', ()),
        ('profile of the file system', ()),
        ('grip_force=12.5N optimal for cylindrical objects', ()),
    ],
)  # fmt: skip
def test_files_are_found_where_they_are_named(insight: str, files: tuple[Any, ...]) -> None:
    assert classify(insight).scope_files == files


@given(st.text(st.characters(), max_size=400))
def test_any_text_has_a_category_of_the_table_and_a_confidence(text: str) -> None:
    found = classify(text)
    assert found.category in CATEGORIES
    assert found.tags[0] == found.category
    assert len(set(found.tags)) == len(found.tags)
    assert 0.3 < found.confidence <= 0.95


@pytest.mark.parametrize(
    'unit', ['a.', '1.', '1 ', 'is er ', 'x=', 'vs ', 'a/', '/a.py', '比', '由 ', '越']
)
def test_no_long_text_takes_long(unit: str) -> None:
    with ending_work():
        classify(unit * (200_000 // len(unit)))


@pytest.mark.parametrize(
    'text',
    [
        'Keep in mind that the screws are in drawer 4.',
        'Bear in mind the mill is on floor two.',
        "Don't forget, the screws are in drawer 4.",
        'Do not forget that Mrs. Petrov speaks hardly any English.',
    ],
)
def test_what_is_to_be_remembered_is_no_rule_for_that(text: str) -> None:
    assert classify(text).category == 'code'


@pytest.mark.parametrize(
    'text',
    [
        "Don't forget to close the gate.",
        "Don't forget, never lift the tank alone.",
        'Keep in mind that the press must not run empty.',
        'Mind the step at the dock.',
    ],
)
def test_a_rule_that_is_to_be_remembered_is_one(text: str) -> None:
    assert classify(text).category in PROTECTED


@pytest.mark.parametrize(
    'text',
    [
        'Legend has it that nobody may enter the tower.',
        'I was told never to trust that scale.',
        'The fridge keeps 4 degrees or less.',
        'The cup must weigh about 300 g.',
        '有邻居说这里不许停车。',
        '测试中手臂最远伸到0.9米。',
        '包裹太重了，至少12公斤。',
    ],
)
def test_hearsay_and_what_things_measure_are_no_rules(text: str) -> None:
    assert classify(text).category != 'constraint'


@pytest.mark.parametrize(
    'text',
    [
        'Two boxes per trip is the most you carry.',
        'Pull the plug prior to cleaning the slicer.',
        'Fill the kettle up to the mark and no further.',
        '走廊限速0.6米每秒。',
        '靠近鱼缸别近于30厘米。',
        '经过摇篮时速度不超过0.1米每秒。',
        '打开离心机前至少等5秒。',
    ],
)
def test_limits_in_other_words_are_rules(text: str) -> None:
    assert classify(text).category == 'constraint'


@pytest.mark.parametrize(
    'text',
    [
        'Rule: cups go left',
        'Constraint: the lid sits on the pan',
        '规则：玻璃杯放上层',
        '安全规定: 戴手套',
    ],
)
def test_a_label_of_rules_decides(text: str) -> None:
    assert classify(text).category == 'constraint'
    assert classify(text, is_rule=False).category == 'constraint'
