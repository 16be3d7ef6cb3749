"""Where a thing was at a stamp: exact, interpolated, or unknown with the reason in words."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Any

import pytest
import recordings
from amounts import few_or_many
from hypothesis import given, settings
from hypothesis import strategies as st
from narrowing import require

from robot_memory.core.errors import InvalidArgument
from robot_memory.detectors import Pose, PoseHistory, PoseLookup, TransformTree
from robot_memory.detectors.poses import IDENTITY, LIMIT
from robot_memory.detectors.transforms import MAX_FRAMES
from robot_memory.ingest.messages import decode, read_stamp

START_NS = 10**18
SECOND = 10**9
NO_TURN = (0.0, 0.0, 0.0, 1.0)
ORIGIN = (0.0, 0.0, 0.0)


def ns(seconds: float) -> int:
    return START_NS + round(seconds * SECOND)


def about_z(angle: float) -> tuple[float, float, float, float]:
    return 0.0, 0.0, math.sin(angle / 2), math.cos(angle / 2)


def history(*seconds: float, **more: Any) -> PoseHistory:
    """Return a history of poses that move at 2 m/s along x, at these times in s."""
    poses = PoseHistory('/tcp_pose', **more)
    for at in seconds:
        poses.add(ns(at), 'world', (2 * at, 1.0, -3.0), NO_TURN)
    return poses


def x_of(place: PoseLookup) -> float:
    assert place.pose is not None, place.reason
    return place.pose.position[0]


def same(pose: Pose | None, other: Pose, tolerance: float = 1e-9) -> bool:
    """Tell whether two poses are one; q and -q are the same orientation."""
    assert pose is not None
    cosine = sum(a * b for a, b in zip(pose.orientation, other.orientation, strict=True))
    near = math.dist(pose.position, other.position) <= tolerance
    return near and abs(cosine) == pytest.approx(1, abs=tolerance)


def test_a_steady_motion_is_met_between_its_poses() -> None:
    poses = history(*(step / 10 for step in range(11)))
    for step in range(1000):
        place = poses.look_up(ns(step / 1000))
        assert place.frame_id == 'world' and not place.reason
        assert place.pose is not None
        assert place.pose.position == pytest.approx((2 * step / 1000, 1.0, -3.0), abs=1e-9)


def test_a_steady_turn_is_met_between_its_poses_also_through_half_a_turn() -> None:
    rate = 7.0
    poses = PoseHistory('/pose')
    for step in range(11):
        poses.add(ns(step / 5), 'map', ORIGIN, about_z(rate * step / 5))
    for step in range(200):
        wanted = Pose(ORIGIN, about_z(rate * step / 100))
        assert same(poses.look_up(ns(step / 100)).pose, wanted)


def test_the_turn_is_the_short_way_when_a_quaternion_changes_its_sign() -> None:
    poses = PoseHistory('/pose')
    poses.add(ns(0), 'map', ORIGIN, about_z(0.2))
    poses.add(ns(0.1), 'map', ORIGIN, tuple(-part for part in about_z(0.4)))
    assert same(poses.look_up(ns(0.05)).pose, Pose(ORIGIN, about_z(0.3)))


def test_a_pose_at_the_stamp_itself_is_given_as_it_came() -> None:
    poses = PoseHistory('/pose')
    for step in range(50):
        poses.add(ns(step / 3), 'map', (step / 7, 0.1, 0.3), NO_TURN)
    for step in range(50):
        assert poses.look_up(ns(step / 3)).pose == Pose((step / 7, 0.1, 0.3), NO_TURN)


def test_beyond_the_ends_the_nearest_pose_counts_within_the_tolerance_and_none_after() -> None:
    poses = history(1.0, 1.1)
    assert x_of(poses.look_up(ns(0.75))) == 2.0
    assert x_of(poses.look_up(ns(1.35))) == 2.2
    assert poses.look_up(ns(1.35) + 1).pose is None
    assert poses.look_up(ns(1.0) - SECOND // 4 - 1).pose is None
    assert poses.look_up(ns(4.3)).reason == 'the nearest pose on /tcp_pose is 3.2 s away'
    assert poses.look_up(0).reason == 'the nearest pose on /tcp_pose is 1000000001 s away'


def test_nothing_is_interpolated_across_a_gap() -> None:
    poses = history(0.0, 0.5, 1.1)
    assert x_of(poses.look_up(ns(0.26))) == pytest.approx(0.52)
    assert x_of(poses.look_up(ns(0.7))) == 1.0
    assert x_of(poses.look_up(ns(0.9))) == 2.2
    place = poses.look_up(ns(0.8))
    assert place.pose is None
    assert place.reason == 'the nearest pose on /tcp_pose is 0.3 s away'


def test_the_tolerance_is_what_was_set() -> None:
    assert x_of(history(0.0, 4.0, tolerance_s=2.0).look_up(ns(1.0))) == pytest.approx(2.0)
    assert history(0.0, 1.0, tolerance_s=0).look_up(ns(0.5)).pose is None
    assert x_of(history(0.0, 1.0, tolerance_s=0).look_up(ns(1.0))) == 2.0


@pytest.mark.parametrize('wrong', [-1, math.nan, math.inf, 'long', None, True, 10**400])
def test_a_tolerance_that_is_none_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidArgument, match='0 to 3600 seconds'):
        PoseHistory('/pose', wrong)
    with pytest.raises(InvalidArgument, match='0 to 3600 seconds'):
        TransformTree(wrong)


def test_before_the_first_pose_that_is_said() -> None:
    assert history().look_up(ns(0)) == PoseLookup(None, '', 'no pose received on /tcp_pose yet')


def test_poses_in_different_frames_are_not_mixed() -> None:
    poses = PoseHistory('/pose')
    poses.add(ns(0), '/odom', (1.0, 0.0, 0.0), NO_TURN)
    poses.add(ns(0.2), 'map', (50.0, 0.0, 0.0), NO_TURN)
    assert poses.look_up(ns(0.09)) == PoseLookup(Pose((1.0, 0.0, 0.0), NO_TURN), 'odom')
    assert poses.look_up(ns(0.11)) == PoseLookup(Pose((50.0, 0.0, 0.0), NO_TURN), 'map')


def test_the_order_in_which_poses_come_does_not_matter() -> None:
    shuffled = history(0.0, 0.4, 0.2, 0.1, 0.3)
    sorted_ = history(0.0, 0.1, 0.2, 0.3, 0.4)
    assert len(shuffled) == 5
    for step in range(41):
        assert shuffled.look_up(ns(step / 100)) == sorted_.look_up(ns(step / 100))


def test_the_first_pose_of_a_stamp_counts_and_the_next_is_counted() -> None:
    poses = history(0.0, 0.1)
    for at in (0.0, 0.1):
        poses.add(ns(at), 'world', (9.0, 9.0, 9.0), NO_TURN)
    assert x_of(poses.look_up(ns(0.1))) == 0.2
    assert poses.ignored == {'repeated stamp': 2}


def test_a_recording_that_starts_over_starts_the_history_anew() -> None:
    poses = history(5.0, 5.1, 4.2)
    assert len(poses) == 3 and not poses.ignored
    poses.add(ns(4.0), 'world', (8.0, 0.0, 0.0), NO_TURN)
    assert len(poses) == 1 and poses.newest_ns == ns(4.0)
    assert poses.ignored == {'the clock went back': 1}
    assert poses.look_up(ns(5.0)).reason == 'the nearest pose on /tcp_pose is 1 s away'


def test_what_is_no_pose_is_counted_by_its_reason_and_changes_nothing() -> None:
    poses = history(0.0)
    for position, orientation in [
        ((math.nan, 0, 0), NO_TURN),
        ((0, math.inf, 0), NO_TURN),
        (ORIGIN, (0, 0, 0, math.nan)),
        (ORIGIN, (0, 0, 0, 0)),
        (ORIGIN, (0, 0, 1)),
        ((0, 0), NO_TURN),
    ]:
        poses.add(ns(0.1), 'world', position, orientation)
    for stamp in (0, -1, 2**63):
        poses.add(stamp, 'world', ORIGIN, NO_TURN)
    assert len(poses) == 1
    assert poses.ignored == {
        'position or orientation is not a number': 3,
        'orientation is zero': 1,
        'position is not three or orientation not four numbers': 2,
        'no stamp': 3,
    }


def test_quaternions_are_made_of_length_one() -> None:
    poses = PoseHistory('/pose')
    poses.add(ns(0), 'map', ORIGIN, (10, -20, 20, 40))
    assert poses.look_up(ns(0)).pose == Pose(ORIGIN, (0.2, -0.4, 0.4, 0.8))


def test_what_is_forgotten_is_gone_and_the_rest_answers_as_before() -> None:
    poses, whole = (history(*(step / 10 for step in range(100))) for _ in range(2))
    poses.drop_before(ns(5.05))
    assert len(poses) == 50
    for step in range(505, 1020):
        assert poses.look_up(ns(step / 100)) == whole.look_up(ns(step / 100))
    assert poses.look_up(ns(4.5)).pose is None
    poses.drop_before(ns(100))
    assert len(poses) == 1


def test_a_history_that_nobody_prunes_is_bounded_and_still_true() -> None:
    poses = PoseHistory('/pose')
    for step in range(3 * LIMIT):
        poses.add(ns(step / 500), 'map', (step / 500, 0.0, 0.0), NO_TURN)
        assert len(poses) < LIMIT
    assert poses.ignored == {'thinned out, the history was full': 3 * LIMIT - len(poses)}
    for step in range(0, 3 * LIMIT, 7):
        place = poses.look_up(ns(step / 500))
        assert x_of(place) == pytest.approx(step / 500, abs=1e-9)
    assert poses.look_up(ns(3 * LIMIT / 500 - 1)).pose == Pose(
        (3 * LIMIT / 500 - 1, 0, 0), NO_TURN
    )


def arm() -> TransformTree:
    """Return map -> odom -> base_link -> tool0 (the last one static), moving for 2 s."""
    tree = TransformTree()
    tree.add(0, 'base_link', 'tool0', (0.5, 0.0, 1.0), about_z(math.pi / 2), True)
    for step in range(21):
        at = step / 10
        tree.add(ns(at), 'map', 'odom', (10.0, 0.0, 0.0), about_z(math.pi / 2), False)
        tree.add(ns(at), '/odom', '/base_link', (3 * at, 0.0, 0.0), about_z(0.8 * at), False)
    return tree


def test_a_chain_of_transforms_is_met_in_closed_form() -> None:
    tree = arm()
    for step in range(201):
        at = step / 100
        turn = math.pi / 2 + 0.8 * at
        wanted = Pose(
            (10.0 + 0.5 * math.cos(turn), 3 * at + 0.5 * math.sin(turn), 1.0),
            about_z(turn + math.pi / 2),
        )
        place = tree.look_up('map', 'tool0', ns(at))
        assert place.frame_id == 'map' and not place.reason
        assert same(place.pose, wanted)
        back = tree.look_up('tool0', 'map', ns(at))
        assert back.frame_id == 'tool0'
        assert same(back.pose, wanted.invert())


def test_two_branches_meet_in_their_common_frame() -> None:
    tree = arm()
    tree.add(0, 'base_link', 'camera', (0.0, 2.0, 0.0), NO_TURN, True)
    place = tree.look_up('camera', 'tool0', ns(50))
    assert same(place.pose, Pose((0.5, -2.0, 1.0), about_z(math.pi / 2)))
    assert tree.look_up('/map', '/camera', ns(1)) == tree.look_up('map', 'camera', ns(1))


def test_a_frame_is_at_the_origin_of_itself_only_where_it_is_known() -> None:
    assert arm().look_up('map', 'map', ns(1)) == PoseLookup(IDENTITY, 'map')
    place = TransformTree().look_up('map', 'map', ns(1))
    assert place == PoseLookup(None, 'map', "unknown tf frame 'map'")


def test_a_frame_that_nobody_tells_of_is_named() -> None:
    tree = arm()
    assert tree.look_up('map', 'gripper', ns(1)).reason == "unknown tf frame 'gripper'"
    assert tree.look_up('earth', 'tool0', ns(1)).reason == "unknown tf frame 'earth'"
    assert tree.look_up('map', '', ns(1)).reason == "unknown tf frame ''"


def test_frames_in_two_trees_are_named() -> None:
    tree = arm()
    tree.add(0, 'cell', 'table', ORIGIN, NO_TURN, True)
    place = tree.look_up('cell', 'tool0', ns(1))
    assert place.pose is None and place.frame_id == 'cell'
    assert place.reason == "tf frames 'tool0' and 'cell' are not connected"


def test_a_transform_too_far_in_time_is_named_where_the_chain_needs_it() -> None:
    tree = arm()
    place = tree.look_up('map', 'tool0', ns(3))
    assert place.reason == "the nearest transform of 'base_link' on tf is 1 s away"
    assert tree.look_up('tool0', 'map', ns(3)).reason == place.reason
    assert tree.look_up('base_link', 'tool0', ns(3)).pose is not None


def test_a_loop_is_said_and_does_not_hang() -> None:
    tree = arm()
    tree.add(0, 'a', 'b', ORIGIN, NO_TURN, True)
    tree.add(0, 'b', 'c', ORIGIN, NO_TURN, True)
    tree.add(0, 'c', 'a', ORIGIN, NO_TURN, True)
    assert tree.look_up('map', 'b', ns(1)).reason == "tf has a cycle at 'b'"
    assert tree.look_up('c', 'tool0', ns(1)).reason == "tf has a cycle at 'c'"


def test_of_two_parents_the_one_at_the_stamp_counts() -> None:
    tree = TransformTree()
    for step in range(20):
        parent = 'table' if step < 10 else 'gripper'
        tree.add(ns(step / 10), parent, 'cup', (step, 0.0, 0.0), NO_TURN, False)
    assert x_of(tree.look_up('gripper', 'cup', ns(1.9))) == 19
    assert x_of(tree.look_up('table', 'cup', ns(0.5))) == 5
    assert tree.look_up('table', 'cup', ns(1.9)).pose is None
    tree.add(0, 'tray', 'cup', (7.0, 0.0, 0.0), NO_TURN, True)
    assert x_of(tree.look_up('tray', 'cup', ns(99))) == 7
    assert tree.look_up('gripper', 'cup', ns(1.9)).pose is None


def test_a_static_frame_that_moves_after_all_is_no_longer_static() -> None:
    tree = arm()
    tree.add(ns(1), 'base_link', 'tool0', (4.0, 0.0, 0.0), NO_TURN, False)
    assert x_of(tree.look_up('base_link', 'tool0', ns(1))) == 4.0
    assert tree.look_up('base_link', 'tool0', ns(2)).pose is None


def test_transforms_that_are_none_are_counted() -> None:
    tree = arm()
    tree.add(ns(3), '', 'x', ORIGIN, NO_TURN, False)
    tree.add(ns(3), 'x', '/', ORIGIN, NO_TURN, True)
    tree.add(ns(3), 'x', '/x', ORIGIN, NO_TURN, True)
    tree.add(ns(3), 'map', 'x', ORIGIN, (0, 0, 0, 0), True)
    tree.add(0, 'map', 'tool0', ORIGIN, NO_TURN, False)
    assert tree.ignored == {
        'no frame name': 2,
        'frame is its own parent': 1,
        'orientation is zero': 1,
        'no stamp': 1,
    }
    assert tree.look_up('map', 'x', ns(3)).reason == "unknown tf frame 'x'"
    assert tree.look_up('map', 'tool0', ns(1)).pose is not None


def test_frames_are_bounded_and_silent_ones_are_forgotten() -> None:
    tree = TransformTree()
    tree.add(0, 'map', 'fixed', ORIGIN, NO_TURN, True)
    for person in range(MAX_FRAMES + 5):
        tree.add(ns(0), 'map', f'person_{person}', ORIGIN, NO_TURN, False)
    assert tree.ignored == {'too many frames': 6}
    tree.drop_before(ns(59))
    assert tree.look_up('map', 'person_1', ns(0)).pose is not None
    tree.drop_before(ns(61))
    assert tree.look_up('map', 'person_1', ns(0)).reason == "unknown tf frame 'person_1'"
    tree.add(ns(61), 'map', 'person_new', ORIGIN, NO_TURN, False)
    assert tree.look_up('fixed', 'person_new', ns(61)).pose == IDENTITY


numbers = st.floats(-100, 100)
quaternions = st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: math.hypot(*q) > 0.1)


@st.composite
def unit_poses(draw: Any) -> Pose:
    turn = draw(quaternions)
    length = math.hypot(*turn)
    return Pose(draw(st.tuples(*[numbers] * 3)), tuple(part / length for part in turn))


@given(unit_poses(), unit_poses())
def test_a_pose_and_its_inverse_are_none(pose: Any, other: Any) -> None:
    assert same(pose @ pose.invert(), IDENTITY, 1e-8)
    assert same(pose.invert() @ pose, IDENTITY, 1e-8)
    assert same(pose.invert().invert(), pose, 1e-8)
    assert same((pose @ other).invert(), other.invert() @ pose.invert(), 1e-8)


@given(unit_poses(), unit_poses(), st.floats(0, 1))
def test_what_is_interpolated_lies_between(pose: Any, other: Any, share: Any) -> None:
    def angle(a: Pose, b: Pose) -> float:
        cosine = sum(p * q for p, q in zip(a.orientation, b.orientation, strict=True))
        return 2 * math.acos(min(1.0, abs(cosine)))

    between = pose.interpolate(other, share)
    ways = zip(pose.position, between.position, other.position, strict=True)
    for one, middle, end in ways:
        assert min(one, end) - 1e-9 <= middle <= max(one, end) + 1e-9
    assert math.hypot(*between.orientation) == pytest.approx(1)
    assert angle(pose, between) == pytest.approx(share * angle(pose, other), abs=1e-6)
    assert angle(between, other) == pytest.approx((1 - share) * angle(pose, other), abs=1e-6)


@given(unit_poses(), unit_poses(), unit_poses())
def test_a_tree_gives_what_its_chain_says(one: Any, two: Any, three: Any) -> None:
    tree = TransformTree()
    tree.add(ns(0), 'a', 'b', one[0], one[1], False)
    tree.add(ns(0), 'b', 'c', two[0], two[1], False)
    tree.add(0, 'a', 'd', three[0], three[1], True)
    place = tree.look_up('d', 'c', ns(0))
    assert same(place.pose, three.invert() @ one @ two, 1e-8)
    assert same(tree.look_up('c', 'd', ns(0)).pose, require(place.pose).invert(), 1e-8)


names = st.sampled_from(['', '/', 'a', '/a', 'b', 'c', 'd', 'e', '\ud800', '机器人'])
stamps = st.integers(-2, 3 * SECOND) | st.integers(-(2**64), 2**64)
anything = st.floats() | st.integers(-(10**20), 10**20)
rows = st.lists(anything, min_size=3, max_size=4)


@settings(max_examples=few_or_many(50, 200), deadline=None)
@given(
    st.lists(st.tuples(stamps, names, names, rows, rows, st.booleans()), max_size=30),
    st.lists(st.tuples(names, names, stamps), max_size=10),
    stamps,
)
def test_no_message_and_no_question_however_wrong_raises(
    messages: Any, questions: Any, horizon: Any
) -> None:
    tree, poses = TransformTree(), PoseHistory('/pose')
    for stamp, parent, child, translation, rotation, static in messages:
        tree.add(stamp, parent, child, translation, rotation, static)
        tree.add(stamp, parent, child, translation[:3], [0, 0, 0, 1], static)
        poses.add(stamp, parent, translation, rotation)
    for step in range(2):
        for fixed_frame, frame, stamp in questions:
            for place in (tree.look_up(fixed_frame, frame, stamp), poses.look_up(stamp)):
                assert (place.pose is None) == bool(place.reason)
                if place.pose is not None:
                    assert all(map(math.isfinite, (*place.pose[0], *place.pose[1])))
        if not step:
            tree.drop_before(horizon)
            poses.drop_before(horizon)


def test_a_recorded_tool_is_between_its_poses_at_the_stamps_of_its_wrenches() -> None:
    poses = PoseHistory('/tcp_pose')
    positions, wrenches = {}, []
    bag = recordings.shared('bags/cmu_push_wood_patch')
    for topic, kind, _, raw in recordings.messages_of(bag):
        if topic == '/wrench':
            wrenches.append(read_stamp(raw))
        elif topic == '/tcp_pose':
            message, stamp = decode(raw, kind), read_stamp(raw)
            p, q = message.pose.position, message.pose.orientation
            positions[stamp] = (p.x, p.y, p.z)
            poses.add(stamp, message.header.frame_id, (p.x, p.y, p.z), (q.x, q.y, q.z, q.w))
    assert len(poses) == len(positions) == 11046
    assert len(wrenches) == 33331
    order = sorted(positions)
    for stamp in wrenches:
        place = poses.look_up(stamp)
        assert place.frame_id == 'base' and not place.reason
        at = bisect_left(order, stamp)
        ends = [positions[s] for s in order[max(0, at - 1) : at + 1]]
        for low, value, high in zip(
            map(min, *ends) if len(ends) > 1 else ends[0],
            require(place.pose).position,
            map(max, *ends) if len(ends) > 1 else ends[0],
            strict=True,
        ):
            assert low - 1e-12 <= value <= high + 1e-12
