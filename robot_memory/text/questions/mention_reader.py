"""Which of the events that a question names are asked for, and which are not."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from robot_memory.text.questions.anchor_reader import AnchorReader
from robot_memory.text.questions.events import Mention, Span
from robot_memory.text.questions.model import Order
from robot_memory.text.questions.superlatives import fits
from robot_memory.text.questions.tables import load_pattern, load_table
from robot_memory.text.questions.window_reader import is_inside, mask


class MentionReader(AnchorReader):
    """Choose among the events that a question names; `said` is its asking part."""

    said: str

    def mask_frame(self) -> str:
        """
        Return the folded text without the sentences before the part that asks.

        What a colon announces belongs to it, and so do they where it names no event of its own.
        """
        own = any(m.kinds and m.start >= self.frame.start for m in self.mentions)
        if self.frame.points_back or not own:
            return self.folded
        return mask(self.folded, self.frame.sentences)

    def mask_event_times(self) -> str:
        """
        Return the folded text without the times that are not of what is asked for.

        These are 'today' where it is counted back from it, and those of sentences before a
        question for what always holds.
        """
        back = load_pattern('orders', 'order', 'back').search(self.folded)
        other = load_pattern('times', 'around', 'other').search(self.folded)
        always = self.cues.present or self.cues.asked or self.cues.future
        others = self.frame.sentences if always and not self.cues.past else ()
        spans = [one.span() for one in (back, other) if one]
        return mask(self.folded, [*others, *spans])

    def leave_events(self, span: Span) -> list[Mention]:
        """
        Return the events that are asked for beside those of an anchor at a span.

        One before it of the same label only tells of it: 相机断线，断线前的最后一个动作.
        """
        inside = {label for one in self.mentions if is_inside(one, span) for label in one.labels}
        outside = [one for one in self.mentions if not is_inside(one, span)]
        asked = [
            one
            for one in outside
            if not (one.end <= span[0] and one.labels and inside.issuperset(one.labels))
        ]
        return asked if any(one.kinds for one in asked) else outside

    def leave_frame(self) -> list[Mention]:
        """Return the events that the asking part names; those before it where it names none."""
        asked = [m for m in self.mentions if m.start >= self.frame.start]
        return (
            self.mentions if self.frame.points_back or not any(m.kinds for m in asked) else asked
        )

    def choose_mentions(self, says: bool) -> list[Mention]:
        """Return the events that are asked for; ordinary words name one only beside more."""
        named = [m for m in self.mentions if m.kinds and not self.is_excluded(m)]
        named = named or [m for m in self.mentions if m.kinds]
        named = [m for m in named if not self._is_included(m, named)]
        boxes = any('palletizing' in m.labels for m in named)
        named = [m for m in named if not (boxes and self._is_weighed(m))]
        tasks = any('task' in m.kinds and m.labels for m in named)
        ended = any('session' in m.kinds for m in named)
        named = [m for m in named if not ((tasks or ended) and self._is_failure(m))] or named
        named = [m for m in named if not (tasks and self._is_stuck(m))] or named
        faults = any('fault' in m.kinds and not (m.yields or m.weak) for m in named)
        named = [m for m in named if not (m.yields and faults)]
        named = self._find_heads(named) or named
        named = [m for m in named if 'session' not in m.kinds or not self._is_place(m, named)]
        strong = [m for m in named if not m.weak]
        general = {kind for m in strong if not m.labels for kind in m.kinds}
        more = [m for m in named if m.weak and m.labels and general.intersection(m.kinds)]
        more += [m for m in named if m.weak and m not in more and self._is_beside(m, strong)]
        if strong and says and more:
            chosen = {*strong, *more}
            return [m for m in named if m in chosen and (m.labels or m.kinds[0] != 'task')]
        if not strong:
            stopped = self.asks_why() and not says
            return [m for m in named if says or (stopped and m.kinds[0] == 'fault')]
        same = {kind for m in strong if m.labels for kind in m.kinds}
        return [m for m in strong if m.labels or not same or not same.isdisjoint(m.kinds)]

    def _is_included(self, mention: Mention, named: Sequence[Mention]) -> bool:
        """Say whether a sort is only named as one of all: 所有任务(换工具也算)."""
        every = any(not m.labels and set(mention.kinds) <= set(m.kinds) for m in named)
        if not (every and mention.labels):
            return False
        return any(is_inside(mention, one) for one in self.find_included())

    def find_included(self) -> list[Span]:
        """Return where it is said that some count as all do."""
        found = load_pattern('events', 'either', 'included').finditer(self.folded)
        return [one.span() for one in found]

    def _is_beside(self, weak: Mention, strong: Sequence[Mention]) -> bool:
        """Say whether an ordinary word stands beside a name of its sort: grip losses and stops."""
        joined = load_pattern('events', 'either', 'listed')
        return any(
            weak.labels
            and one.labels
            and not set(weak.kinds).isdisjoint(one.kinds)
            and joined.fullmatch(self.folded, min(one.end, weak.end), max(one.start, weak.start))
            for one in strong
        )

    def _find_heads(self, named: Sequence[Mention]) -> list[Mention]:
        """
        Return the events that a clause or a question word marks as those that are asked for.

        Of a Chinese relative clause it is what stands behind it, 跟夹具相撞的那次停机, and
        of a question that names several kinds the one beside its word: which box, 是哪箱.
        """
        head = load_pattern('events', 'head', 'zh')
        heads = [m for m in named if head.search(self.folded, max(0, m.start - 6), m.start)]
        asking, final = (load_pattern('events', 'head', name) for name in ('asking', 'final'))
        heads = heads or [
            m
            for m in named
            if asking.search(self.folded, max(0, m.start - 24), m.start)
            or (self.folded[m.start - 1 : m.start] == '的' and final.match(self.folded, m.end))
        ]
        heads = [m for m in heads if 'session' not in m.kinds or not self._is_place(m, named)]
        kinds = {kind for one in heads for kind in one.kinds}
        return [m for m in named if m in heads or not kinds.isdisjoint(m.kinds)] if heads else []

    def _is_place(self, session: Mention, named: Sequence[Mention]) -> bool:
        """Say whether a session is only where something was: in which shift did it overheat."""
        others = any('session' not in m.kinds and not m.weak for m in named)
        owned = load_pattern('events', 'head', 'place_of').search(self.folded, 0, session.start)
        if owned and any('session' not in m.kinds for m in named):
            return True
        before = load_pattern('events', 'head', 'place').search(self.folded, 0, session.start)
        behind = load_pattern('events', 'head', 'place_behind').match(self.folded, session.end)
        return others and bool(before or behind)

    def leave_unfit(self, used: list[Mention], order: Order | None) -> list[Mention]:
        """Return events without those that have not what is ordered by or bounded: no speed."""
        quantities = [order.by] if order and order.by not in ('time', 'count') else []
        quantities += [one.quantity for one in self.bounds.bounds]
        known = load_table('orders')['own_kind']
        for quantity in quantities:
            fit = [one for one in used if fits((one,), quantity)]
            used = fit if fit or quantity in known else used
        return used

    def leave_weighed(self, used: list[Mention]) -> list[Mention]:
        """Return events without the verb that asks for the mass of others: what boxes weigh."""
        boxes = any('palletizing' in one.labels for one in used)
        return [one for one in used if not (boxes and self._is_weighed(one))]

    def is_habit(self, used: Sequence[Mention]) -> bool:
        """Say whether it is asked how things are: into which bore does the longest peg go."""
        habit = load_pattern('events', 'habit', 'en').search(self.folded) is not None
        return habit and all(m.weak for m in used)

    def _is_failure(self, mention: Mention) -> bool:
        """Say whether a word for any fault tells how tasks ended: failures of screws."""
        words = self.folded[mention.start : mention.end]
        named = load_pattern('events', 'head', 'outcome').search(words) is not None
        return mention.kinds == ('fault',) and not mention.labels and named

    def _is_weighed(self, mention: Mention) -> bool:
        """Say whether a verb asks for the mass of what another word names: what boxes weigh."""
        return self.folded.startswith('weigh', mention.start) and mention.labels == ('weight',)

    def _is_stuck(self, mention: Mention) -> bool:
        """Say whether a word for a stall tells how a task failed: the door got stuck."""
        words = self.folded[mention.start : mention.end]
        return 'stall' in mention.labels and 'stall' not in words

    def join_labels(self, used: Sequence[Mention]) -> tuple[str, ...]:
        """Return the labels asked for; none where all of their kind are: pushes or contacts."""
        for one, other in itertools.pairwise(used):
            general = one if not one.labels else other
            named = other if general is one else one
            joined = load_pattern('events', 'either', 'en').fullmatch(
                self.folded, one.end, other.start
            )
            if joined and not general.labels and set(named.kinds) <= set(general.kinds):
                return ()
        return tuple(dict.fromkeys(label for m in used for label in m.labels))

    def is_excluded(self, mention: Mention) -> bool:
        """Say whether an event is named as one that is not asked for."""
        before = self.folded[max(0, mention.start - 24) : mention.start]
        if any(load_pattern('events', 'excluded', one).search(before) for one in ('en', 'zh')):
            return True
        behind = load_pattern('events', 'excluded', 'behind')
        return behind.match(self.folded[mention.end : mention.end + 24]) is not None

    def asks_held(self, used: Sequence[Mention]) -> bool:
        """Say whether it is asked which tool was on: that of the last change until then."""
        changes = bool(used) and all(m.labels == ('tool change',) for m in used)
        return changes and load_pattern('events', 'tool', 'held').search(self.folded) is not None

    def asks_ever(self) -> bool:
        """Say whether it is asked if anything was ever of what is named: 停过机吗."""
        if self.cues.asked or self.cues.future or not any(m.kinds for m in self.mentions):
            return False
        names = ('experienced', 'fared')
        return any(load_pattern('events', one, 'any').search(self.folded) for one in names)

    def asks_why(self) -> bool:
        """Say whether the cause of what has been is asked for."""
        why = load_pattern('events', 'why', 'en').search(self.folded)
        return self.cues.past and why is not None
