"""The world that the generated robot lives in: its things, places and people, and how it talks."""

from __future__ import annotations

PEOPLE = (
    'Anna', 'Priya', 'Jonas', 'Tomás', 'Fatima', 'Ben', 'Mei', 'Olga', 'Kwame', 'Lucia',
    'Mr. Haddad', 'Dr. Weiss', 'the night shift', 'Sven',
)  # fmt: skip

THINGS: dict[str, tuple[str, ...]] = {
    'mug': ('blue', 'red', 'white enamel', 'chipped', 'travel'),
    'bottle': ('half-full glass', 'empty glass', 'plastic', 'brown medicine', 'steel'),
    'tray': ('aluminium', 'green plastic', 'wet', 'blister', 'paper pulp'),
    'crate': ('red', 'blue', 'wooden', 'folding'),
    'bracket': ('left', 'right', 'galvanised', 'raw'),
    'flange': ('DN 40', 'DN 50', 'DN 65', 'brass'),
    'bearing': ('6204', '6205', 'greased', 'ceramic'),
    'housing': ('gearbox', 'pump', 'magnesium', 'printed'),
    'battery pack': ('6-cell', '8-cell', 'swollen', 'new'),
    'test tube': ('capped', 'open', 'frozen', 'warm'),
    'light bulb': ('frosted', 'clear', 'candle-shaped'),
    'egg': ('raw', 'boiled', 'duck'),
    'cable drum': ('full', 'nearly empty', 'plywood'),
    'paint can': ('one-litre', 'five-litre', 'dented'),
    'tile': ('glazed', 'unglazed', 'marble'),
    'lens': ('coated', 'uncoated', 'fisheye'),
    'hose clamp': ('16 mm', '20 mm', '25 mm'),
    'carton': ('juice', 'milk', 'egg'),
    'sponge': ('dry', 'soaked', 'yellow'),
    'book': ('hardcover', 'paperback', 'spiral-bound'),
    'circuit board': ('bare', 'populated', 'lacquered'),
    'sack': ('cement', 'flour', 'potting soil'),
    'knob': ('knurled', 'rubber', 'chrome'),
    'vase': ('crystal', 'terracotta', 'narrow'),
    'pane': ('4 mm', '6 mm', 'tempered'),
    'plug': ('Schuko', 'M12', 'banana'),
    'spring': ('long', 'short', 'conical'),
    'wrench': ('adjustable', '10 mm', '13 mm'),
}
"""What is gripped, and the kinds of it."""

GRIPS = (
    'The {thing} needs {a} N of grip force; at {b} N it slips out of the fingers.',
    'Grip force for the {thing}: {a} N with the silicone pads, found at try {n}.',
    'Picking up the {thing} works with {a} N, less than {b} N lets it rotate.',
    '{a} N holds the {thing} even in a fast swing, measured {n} times.',
    'To lift the {thing}, close the fingers with {a} N and rise at {n} mm/s.',
    'We settled on {a} N for the {thing} after {n} drops with {b} N.',
)
GRIP_QUESTIONS = (
    'How much grip force does the {thing} need?',
    'How hard should the gripper squeeze the {thing}?',
    'With how many newtons is the {thing} held?',
    'What force is right for picking up the {thing}?',
)

ITEMS = (
    'hex keys', 'torque wrench', 'isopropanol', 'calibration board', 'spare suction cups',
    'first aid kit', 'label rolls', 'feeler gauges', 'dial indicator', 'heat gun', 'cable ties',
    'safety glasses', 'ear plugs', 'M4 washers', 'M5 washers', 'M6 washers', 'left-hand gloves',
    'right-hand gloves', 'teach pendant holder', 'deburring knife', 'thread locker',
    'silicone grease', 'lithium grease', 'fuses of 2 A', 'fuses of 10 A', 'hand scanner',
    'barcode stickers', 'vacuum generator', 'spare finger pads', 'shrink tube', 'wire strippers',
    'crimping pliers', 'side cutters', 'multimeter', 'oscilloscope probe', 'camera cable',
    'spirit level', 'dust cloths', 'fire blanket', 'packing tape', 'stretch foil', 'box cutter',
    'stapler', 'door wedge', 'key of the pallet truck', 'spare wheel', 'caster brake',
    'tow strap', 'charging adapter', 'tape measure', 'chalk line', 'magnet rod', 'tweezers',
    'pipette tips', 'petri dishes', 'cotton swabs', 'distilled water', 'coffee filters',
    'tea towels', 'dish brush', 'can opener', 'bread knife', 'cat food', 'light switch covers',
    'spare keys of the lab', 'visitor badges', 'yellow vests', 'broom', 'dustpan', 'step stool',
    'extension cord', 'air hose', 'blow gun', 'pressure gauge', 'O-rings', 'gasket paper',
    'copper paste', 'solder wire', 'flux pen', 'desoldering braid', 'heat sink paste',
    'lens paper', 'spare laser diode', 'encoder disc', 'brake pads', 'timing belt',
)  # fmt: skip

CONTAINERS = (
    'drawer {n} of the tool cart', 'drawer {n} of the grey cabinet', 'shelf B{n} in the store',
    'shelf C{n} in the store', 'shelf D{n} in the store', 'locker {n} by the entrance',
    'bin {n} under the packing table', 'compartment {n} of the service van',
    'hook {n} of the shadow board', 'box {n} on the mezzanine', 'cupboard {n} in the tea kitchen',
    'crate {n} beside the compressor',
)  # fmt: skip

LOCATIONS = (
    'The {item}: in {place}.',
    '{person} moved the {item} to {place}.',
    'You find the {item} in {place}, not where the sign says.',
    'Put the {item} back into {place} when done.',
    'Since the audit the place of the {item} is {place}.',
    'Saw the {item} in {place} while looking for something else.',
)
LOCATION_QUESTIONS = (
    'Where did the {item} go?',
    'Where do we keep the {item}?',
    'Where can I find the {item}?',
    'In which place should I look for the {item}?',
)

MACHINES: dict[str, tuple[tuple[str, str, int, int], ...]] = {
    'press {n}': (('ram speed', 'mm/s', 20, 180), ('die temperature', 'degrees', 40, 210)),
    'conveyor {n}': (('belt speed', 'mm/s', 80, 900), ('light barrier height', 'mm', 30, 400)),
    'oven {n}': (('door opening angle', 'degrees', 30, 120), ('cooling time', 'min', 5, 90)),
    'screwdriver {n}': (('tightening torque', 'N cm', 40, 900), ('idle speed', 'rpm', 200, 1900)),
    'lift table {n}': (('working height', 'mm', 620, 1400), ('rated load', 'kg', 50, 900)),
    'dispenser {n}': (('bead width', 'mm', 2, 19), ('needle distance', 'mm', 1, 14)),
    'vacuum pump {n}': (('set point', 'mbar', 60, 850), ('oil change interval', 'h', 100, 2400)),
    'light {n}': (('exposure', 'ms', 2, 60), ('ring brightness', 'percent', 5, 100)),
    'door {n}': (('closing force', 'N', 12, 140), ('hold-open time', 's', 3, 45)),
    'charging dock {n}': (('contact height', 'mm', 110, 340), ('charge current', 'A', 4, 48)),
}
"""Machines, and what is set on each: name, unit, least and most."""

SETTINGS = (
    'On {machine} the {what} is {value} {unit}.',
    '{what} of {machine}: {value} {unit}, as {person} measured it.',
    'Set the {what} on {machine} to {value} {unit}; anything else ends in rejects.',
    'We run {machine} with a {what} of {value} {unit}.',
    '{machine} was changed to a {what} of {value} {unit} after the trial in week {n}.',
)
SETTING_QUESTIONS = (
    'What is the {what} of {machine}?',
    'Which {what} is set on {machine}?',
    '{machine}: {what}?',
    'To how many {unit} is the {what} on {machine} set?',
)

WORK = {
    'r': ('was replaced', 'replaced', 'swap'),
    'c': ('was recalibrated', 'recalibrated', 'calibrate'),
    'w': ('was cleaned', 'cleaned', 'wipe off'),
    'g': ('was greased', 'greased', 'lubricate'),
    'f': ('got new firmware', 'updated', 'flash'),
    'i': ('was inspected', 'inspected', 'check'),
    'b': ('broke', 'broken', 'break'),
}
"""What happens to a part: as told, as asked, and in another word."""
SUBJECTS = {
    'wrist camera': 'rcwfb', 'left finger pad': 'rwi', 'right finger pad': 'rwi',
    'force sensor': 'rcfib', 'lidar': 'rcwfb', 'joint 2 brake': 'rgib', 'joint 4 gearbox': 'rgib',
    'joint 6 seal': 'rgib', 'tool changer': 'rcwgib', 'suction cup holder': 'rwib',
    'battery of the base': 'rwib', 'rear bumper': 'rwib', 'drive wheel': 'rwgib',
    'emergency stop button': 'rib', 'safety scanner': 'rcwfib', 'air filter': 'rwi',
    'controller fan': 'rwgib', 'teach pendant cable': 'rib', 'camera on the mast': 'rcwfib',
    'microphone array': 'rcwfib', 'docking contacts': 'rwi', 'depth camera': 'rcwfib',
    'cable guide': 'rwgib', 'speaker': 'rcib', 'wifi antenna': 'rib', 'base plate': 'rwi',
    'label printer': 'rcwfib', 'light curtain': 'rcwib', 'turntable bearing': 'rwgib',
    'torque screwdriver': 'rcgib', 'wheel encoder': 'rcwib', 'arm controller': 'rfib',
}  # fmt: skip
"""Parts, and what may happen to each."""
EVENTS = (
    'The {subject} {done} on {date}.',
    '{date}: the {subject} {done}, {person} did it.',
    'On {date} the {subject} {done}; downtime {n} min.',
    'The {subject} {done} during the service of {date}.',
)
BROKE = (
    'The {subject} {done} on {date}.',
    '{date}: the {subject} {done} in the middle of a run.',
    'On {date} the {subject} {done}; downtime {n} min.',
)

STATIONS = (
    'press 2', 'press 4', 'the packing table', 'the sorting belt', 'the glazing line',
    'the wash station', 'the tea kitchen', 'rack 7', 'the turntable', 'the X-ray booth',
    'the loading bay', 'the assembly jig', 'the oven door', 'the scale', 'the pharmacy window',
    'the mezzanine', 'the test bench', 'the paint booth',
)  # fmt: skip
CAUSES = (
    ('the suction cup had a tear', 'a new cup solved it'),
    ('a film of oil covered it', 'wiping first helps'),
    ('the finger pads were worn smooth', 'new pads hold'),
    ('its pose was estimated 14 mm too far left', 'a second view corrects that'),
    ('the belt was still coasting', 'wait 0.8 s after the stop'),
    ('its centre of mass lies far from the handle', 'grasp nearer to the middle'),
    ('the wrist turned while the fingers were still closing', 'hold the wrist until they stop'),
    ('glare hid its edge from the camera', 'dim the ring light'),
    ('the air pressure had sunk to 3.9 bar', 'check the compressor first'),
    ('its label had come off and covered the nozzle', 'approach from the other side'),
    ('a second one stuck to it', 'shake once before lifting'),
    ('the path led too near to the pillar', 'raise the via point'),
    ('someone had put it there upside down', 'look at the underside first'),
    ('condensation made it slippery', 'dry it with the blow gun'),
    ('the tool frame was the one of the other gripper', 'load the frame with the tool'),
    ('the operator leaned into the light curtain', 'resume from the hover pose'),
    ('the gripper lost its homing', 'home it after every restart'),
    ('its lid was not screwed on', 'press on the lid before lifting'),
)
FAILURES = (
    'Dropped the {thing} at {place}: {cause}; {cure}.',
    'The pick of the {thing} at {place} failed because {cause}.',
    'At {place} the {thing} fell from {n} cm, {cause}; {cure}.',
    'Lost the {thing} over {place} on {date}, {cause}.',
    'Third miss with the {thing} at {place}. Reason: {cause}. Cure: {cure}.',
)
FAILURE_QUESTIONS = (
    'Why was the {thing} dropped at {place}?',
    'What went wrong with the {thing} at {place}?',
    'For what reason did handling the {thing} fail at {place}?',
)

WISHES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ('{p} takes parts at {v} height.', '{p} likes things handed over at {v} height.',
     'How high should parts be handed to {p}?', ('waist', 'chest', 'elbow', 'eye')),
    ('{p} drinks {v}.', 'Bring {p} {v} at ten.',
     'What does {p} like to drink?', ('green tea', 'coffee without sugar', 'oat milk cocoa',
                                       'sparkling water', 'tomato juice', 'decaf')),
    ('{p} wants labels to face {v}.', 'For {p}, turn every label towards {v}.',
     'Which way should labels point for {p}?', ('the aisle', 'the wall', 'the window', 'up')),
    ('{p} finds the arm too fast above {v} percent.', '{p} asked for at most {v} percent speed.',
     'What speed does {p} accept?', ('20', '35', '50', '65', '80')),
    ('{p} is addressed in {v}.', 'Speak {v} with {p}.',
     'In which language should I talk to {p}?', ('Spanish', 'German', 'Hindi', 'Arabic',
                                                  'Portuguese', 'Polish')),
    ('{p} eats lunch at {v}, do not disturb then.', '{p} is away for lunch from {v} on.',
     "When is {p}'s lunch break?", ('11:30', '12:00', '12:45', '13:15')),
    ('{p} sorts screws by {v}.', 'Screws for {p} are to be sorted by {v}.',
     'How does {p} want screws sorted?', ('length', 'diameter', 'head', 'coating')),
    ('{p} wants to be told {v} before the arm moves.', 'Warn {p} {v} before any motion.',
     'How early must {p} be warned of a motion?', ('two seconds', 'five seconds',
                                                    'ten seconds')),
    ('{p} prefers the {v} gripper.', 'When {p} is on duty, mount the {v} gripper.',
     'Which gripper does {p} favour?', ('two-finger', 'three-finger', 'vacuum', 'soft')),
    ('{p} stores finished parts on the {v} pallet.',
     'Finished parts of {p} go onto the {v} pallet.',
     'On which pallet do the finished parts of {p} belong?', ('left', 'right', 'front', 'rear')),
)  # fmt: skip
"""What people wish: two ways of saying it, how one asks, and the values."""

PERMITS: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...], str], ...] = (
    ('The {s} may go into the dishwasher.', 'May the {s} go into the dishwasher?',
     ('The {s} must not go into the dishwasher.', 'Never wash the {s} in the dishwasher.'),
     ('ladle', 'enamel jug', 'cutting board', 'pressure cooker lid', 'wooden spoon', 'beaker'),
     'What must not be washed in the dishwasher?'),
    ('The {s} can be stacked.', 'Can the {s} be stacked?',
     ('The {s} cannot be stacked.', 'Do not stack the {s}.'),
     ('grey bins', 'euro boxes', 'honeycomb panels', 'wire baskets', 'film canisters',
      'cake domes'), 'Which containers cannot be stacked?'),
    ('The {s} sticks to the magnet.', 'Does the {s} stick to the magnet?',
     ('The {s} does not stick to the magnet.', 'No magnet holds the {s}.'),
     ('stainless scraper', 'iron weight', 'brass nut', 'chrome vanadium bit', 'titanium screw',
      'nickel strip'), 'What does the magnet not hold?'),
    ('The base may enter the {s}.', 'May the base enter the {s}?',
     ('The base must not enter the {s}.', 'Keep the base out of the {s}.'),
     ('server room', 'cold store', 'archive', 'prayer room', 'boiler room', 'clean room',
      'music room', 'nursery'), 'Which rooms must the base not enter?'),
    ('The {s} tolerates wet wiping.', 'Does the {s} tolerate wet wiping?',
     ('The {s} does not tolerate wet wiping.', 'Wipe the {s} only dry, never wet.'),
     ('touch screen', 'oiled worktop', 'slate board', 'linoleum', 'cork wall', 'glass shelf'),
     'What must not be wiped wet?'),
    ('It is fine to carry the {s} upside down.', 'May the {s} be carried upside down?',
     ('The {s} must never be carried upside down.', 'Do not turn the {s} over while carrying.'),
     ('aquarium pump', 'seed box', 'toner cartridge', 'acid jar', 'microscope', 'ant farm'),
     'What must not be carried upside down?'),
    ('The {s} opens without a badge.', 'Does the {s} open without a badge?',
     ('The {s} does not open without a badge.', 'Without a badge the {s} stays shut.'),
     ('north gate', 'south gate', 'bicycle cellar', 'roof door', 'sample freezer', 'van bay'),
     'What stays shut without a badge?'),
)  # fmt: skip
"""What is allowed of some things and not of others, and how one asks for it."""

TWINS: tuple[tuple[str, str, tuple[tuple[str, ...], ...]], ...] = (
    ('The {0} door of cabinet {1} jams and needs a pull of {v} N.',
     'How hard must one pull at the {0} door of cabinet {1}?',
     (('left', 'right'), ('1', '2', '3', '4', '5'))),
    ('Magazine {0}, slot {1}: {v} blanks left at the last count.',
     'How many blanks are in slot {1} of magazine {0}?',
     (('A', 'B', 'C'), ('3', '4', '7', '8'))),
    ('Arm {0}, joint {1}: backlash {v} arc minutes.',
     'What backlash does joint {1} of arm {0} have?',
     (('1', '2', '3'), ('2', '3', '5', '6'))),
    ('The {0} cable of robot {1} is {v} cm long.',
     'How long is the {0} cable of robot {1}?',
     (('power', 'camera', 'signal'), ('one', 'two', 'four', 'five'))),
    ('Fixture {0} holds the part with {v} N when the {1} clamp is closed.',
     'With how many newtons does the {1} clamp of fixture {0} hold?',
     (('12', '13', '21', '31'), ('upper', 'lower'))),
    ('Tag {0} on the {1} wall stands {v} mm too high.',
     'By how much is tag {0} on the {1} wall too high?',
     (('11', '17', '71', '77'), ('north', 'south', 'east'))),
    ('The {0} lamp at gate {1} blinks {v} times when a pallet is wrong.',
     'How often does the {0} lamp at gate {1} blink?',
     (('red', 'amber', 'green'), ('1', '2', '6'))),
    ('From dock {0} to dock {1} the base needs {v} s.',
     'How long does the base take from dock {0} to dock {1}?',
     (('1', '2', '3', '4'), ('1', '2', '3', '4'))),
)  # fmt: skip
"""Sentences that differ in one word or number, and what is asked of one of them."""

ORDERS = (
    'set the {thing} down at {place}', 'bring me the {thing} from {place}',
    'take the {thing} away from {place}', 'wipe the {thing} and leave it at {place}',
    'hold the {thing} over {place} until I say stop', 'scan the {thing} at {place} twice',
)  # fmt: skip

FRAMES = ('tool0', 'left_gripper', 'right_gripper', 'wrist_3_link', 'base_bumper')
CAMERAS = ('wrist_cam', 'mast_cam', 'dock_cam', 'overhead')
JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow', 'wrist_1', 'wrist_2', 'wrist_3')
WHERE = (
    'upper left', 'top', 'upper right', 'left', 'centre', 'right', 'lower left', 'bottom',
    'lower right',
)  # fmt: skip
COLOURS = ('red', 'orange', 'yellow', 'green', 'blue', 'violet', 'brown', 'white', 'black')
MONTHS = (
    'January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September',
    'October', 'November', 'December',
)  # fmt: skip

CHINESE_GRIPS = (
    '抓{thing}需要{a}牛的力，{b}牛会滑。',
    '{thing}用{a}牛夹持最稳，试了{n}次。',
    '夹{thing}时把力设成{a}牛，超过{b}牛会变形。',
)
CHINESE_THINGS = (
    '红色马克杯 蓝色马克杯 玻璃茶壶 竹筷子 鸡蛋 豆腐盒 不锈钢碗 瓷勺 药瓶 试管 '
    '电池 齿轮 轴承 泡沫箱 纸箱 矿泉水瓶 遥控器 眼镜盒 香蕉 橙子'
).split()
CHINESE_ITEMS = (
    '备用保险丝 内六角扳手 万用表 清洁布 防护手套 标签纸 润滑油 充电线 说明书 密封圈 '
    '急救包 胶带 剪刀 螺母 滤网 雨衣 钥匙串 手电筒 酒精 吸尘器'
).split()
CHINESE_PLACES = (
    '工具车第{n}个抽屉 仓库{n}号货架 门口{n}号柜子 茶水间第{n}层隔板 {n}号工位下面的箱子 '
    '维修车第{n}格'
).split()

ABSENT = {
    'unknown': (
        'When does the swimming pool open?', 'Which drone battery is the newest?',
        'How deep may the underwater camera dive?', 'Who feeds the goldfish?',
        'What is the recipe of the mushroom soup?', 'Where is the piano tuner?',
        'At what angle does the solar panel stand?', 'How many sheep are on the meadow?',
        'What did the milking robot report?', 'Which satellite link is used on the ship?',
        'How is the violin bow tightened?', 'When was the elevator shaft painted?',
        'Does the snow plough need chains?', 'Which vaccine is in the ice box?',
        'How often is the sauna heated?', 'Where does the helicopter land?',
        '无人机的螺旋桨什么时候更换？', '游泳池的水温是多少？', '谁负责喂金鱼？',
        '太阳能板装在哪里？',
    ),
    'off topic': (
        'What is the capital of Peru?', 'Who won the chess championship?',
        'How do I file my tax return?', 'Which novel begins with a train journey?',
        'Why is the sky blue?', 'Explain the offside rule.', 'How old is the universe?',
        'Which wine goes with trout?', 'Translate good night into Latin.',
        'Is the stock market up today?', '珠穆朗玛峰有多高？', '李白写过哪些诗？',
        '今天的股票涨了吗？',
    ),
}  # fmt: skip
"""What nothing in the store answers."""
