"""Where a frame was at a stamp: by a tree of transforms, or unknown with the reason in words."""

from __future__ import annotations

import math
from typing import Any

from amounts import few_or_many
from hypothesis import given, settings
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

from robot_memory.detectors import Pose, PoseHistory, PoseLookup, TransformTree
from robot_memory.detectors.poses import IDENTITY
from robot_memory.detectors.transforms import MAX_FRAMES


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
