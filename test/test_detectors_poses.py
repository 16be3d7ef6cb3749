"""Where a thing was at a stamp: exact, interpolated, or unknown with the reason in words."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Any

import pytest
import recordings
from hypothesis import given
from hypothesis import strategies as st
from narrowing import require
from poses import (
    NO_TURN,
    ORIGIN,
    SECOND,
    about_z,
    ns,
    same,
    unit_poses,
    x_of,
)

from robot_memory.core.errors import InvalidArgument
from robot_memory.detectors import Pose, PoseHistory, PoseLookup, TransformTree
from robot_memory.detectors.poses import IDENTITY, LIMIT
from robot_memory.ingest.messages import decode, read_stamp


def history(*seconds: float, **more: Any) -> PoseHistory:
    """Return a history of poses that move at 2 m/s along x, at these times in s."""
    poses = PoseHistory('/tcp_pose', **more)
    for at in seconds:
        poses.add(ns(at), 'world', (2 * at, 1.0, -3.0), NO_TURN)
    return poses


@given(unit_poses())
def test_the_axes_turn_what_is_given_in_a_pose(pose: Pose) -> None:
    for place, axis in enumerate(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))):
        turned = (Pose((0.0, 0.0, 0.0), pose.orientation) @ Pose(axis, NO_TURN)).position
        assert [row[place] for row in pose.axes] == pytest.approx(turned, abs=1e-9)


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
