"""The order and the figures that a question asks for, as far as what is around them allows."""

from __future__ import annotations

from collections.abc import Sequence

from robot_memory.text.questions.aggregates import FoundAggregate, find_aggregate
from robot_memory.text.questions.anchor_model import FoundAnchor
from robot_memory.text.questions.events import Mention, is_han, locate_quantities
from robot_memory.text.questions.mention_reader import MentionReader
from robot_memory.text.questions.model import Aggregate, Anchor, Order, Window
from robot_memory.text.questions.numbers import parse_number
from robot_memory.text.questions.orders import find_time_order
from robot_memory.text.questions.superlatives import (
    FoundOrder,
    find_measured,
    find_own_quantity,
    find_superlative,
)
from robot_memory.text.questions.tables import load_pattern, load_table
from robot_memory.text.questions.window_reader import mask

_LONG = ('range', 'week', 'weekend', 'month')


class OrderReader(MentionReader):
    """Find by what events are ordered or counted; `times` are where the times stand."""

    times: Sequence[tuple[int, int]] = ()

    def find_order(
        self, anchor: FoundAnchor | None, times: Sequence[tuple[int, int]], window: bool
    ) -> FoundOrder | None:
        """Return the order that a question tells; what stands behind its asking part may not."""
        if self.beside_clock:
            return None
        if self.pair:
            return FoundOrder(self.pair.order, (self.pair.span,))
        if self.compared and self.compared.nearest:
            return FoundOrder(Order('time', True, 1), ())
        if self.target:
            quantity, value, span = self.target
            named = locate_quantities(self.said).get(quantity)
            spans = (span, named) if named else (span,)
            return FoundOrder(Order(quantity, True, 1, near=value), spans)
        taken = [*times, *self.bounds.spans, *((anchor.span,) if anchor else ())]
        behind = [one for one in self.frame.others if one[0] >= self.frame.start]
        order = self._find_order_in(mask(self.said, [*taken, *behind]), anchor, window)
        order = order or self._find_order_in(mask(self.said, taken), anchor, window)
        return order or self._find_elapsed()

    def find_of_last(self, found: FoundOrder | None) -> int:
        """Return of how many of the newest one is asked for: the hardest of the last five."""
        if found is None or found.order.by in ('time', 'count') or found.order.take != 1:
            return 0
        last = find_time_order(mask(self.said, (*found.spans, *self.times)), self.mentions)
        if last is None or last.order.skip or not last.order.descending:
            return 0
        return last.order.take if last.order.take and last.order.take > 1 else 0

    def _asks_unit(self, highest: FoundOrder) -> bool:
        """Say whether what was most is asked in its unit: how many grams the lightest had."""
        unit = load_pattern('orders', 'unit', 'asked').search(self.said)
        return bool(unit and self.cues.past and highest.order.by in locate_quantities(unit[0]))

    def _find_elapsed(self) -> FoundOrder | None:
        """Return the order of what is asked how long it is past: how long since it was pushed."""
        if self.elapsed is None or not any(m.kinds for m in self.mentions):
            return None
        return FoundOrder(Order('time', True, 1), (self.elapsed,))

    def _find_order_in(
        self, folded: str, anchor: FoundAnchor | None, window: bool
    ) -> FoundOrder | None:
        named = any(not m.happening for m in self.mentions)
        habit = self.cues.present and not named
        highest = find_superlative(folded, self.mentions)
        found = find_time_order(folded, self.mentions)
        one = found is not None and found.order.take == 1 and not found.weak
        named = named or bool(highest and self._asks_unit(highest))
        asked = highest and folded.startswith('how ', highest.spans[0][0])
        if found and asked:  # which joint overheated last, and how hot did it get
            highest = None
        if highest and (named or window or not highest.weak) and not habit:
            return found if one and highest.weak else highest
        measured = find_measured(folded, self.mentions) if found is None else None
        strong = any(not (m.weak or m.happening) for m in self.mentions)
        if measured and (window or strong or (named and self.cues.past)) and not habit:
            return measured
        if found is None or (found.weak and not (named or window or anchor)):
            return None
        return None if habit and not self.cues.past else found

    def find_own_kind(self, order: FoundOrder | None) -> list[str]:
        """Return the kind and label of what alone has the quantity that is asked for."""
        quantity = order.order.by if order else ''
        quantity = next((one.quantity for one in self.bounds.bounds), quantity)
        known: dict[str, list[str]] = load_table('orders')['own_kind']
        return known.get(quantity, [])

    def find_each(
        self,
        order: FoundOrder | None,
        aggregate: FoundAggregate | None,
        window: Window | None,
    ) -> str:
        """Return of each of what the first is asked for: the hardest push of each day."""
        each = load_pattern('orders', 'each', 'any').search(self.said)
        counted = aggregate and not set(aggregate.spans) <= set(aggregate.group)
        if order is None or not each or counted:
            return ''
        group = aggregate.aggregate.group if aggregate else ''
        days = load_pattern('orders', 'each', 'days').search(self.folded)
        listed = window and (window.pieces or (days and window.granularity in _LONG))
        return group or ('day' if listed else '')

    def find_loosely(self) -> tuple[FoundOrder | None, FoundAggregate | None]:
        """Return an order or a count of what only its meaning names: the last thermal trip."""
        if self.is_always() or not self.signs.intersection(('order', 'count')):
            return None, None
        aggregate = find_aggregate(mask(self.said, self.times))
        if aggregate and aggregate.aggregate.function == 'count' and self.cues.past:
            return None, aggregate
        order = find_time_order(mask(self.said, self.times), self.mentions)
        if order is None and (match := load_pattern('orders', 'loose', 'any').search(self.said)):
            newest = bool(match['newest'] or match['han'])
            order = FoundOrder(Order('time', newest, 1), (match.span(),))
        return order, None

    def imply_order(
        self, bounding: Anchor | None, used: Sequence[Mention], window: Window | None
    ) -> FoundOrder | None:
        """Return the order that goes without saying: nearest to the anchor, the latest stop."""
        if bounding and bounding.relation in ('before', 'after'):
            that = used and load_pattern('orders', 'counted', 'that').search(
                self.folded, max(0, used[0].start - 3), used[0].start
            )
            if that:  # 急停之前的那次标定: there is one
                return FoundOrder(Order('time', bounding.relation == 'before', 1), (that.span(),))
            return FoundOrder(Order('time', bounding.relation == 'before', self._count(used)), ())
        filed = load_pattern('events', 'recording', 'asked').search(self.folded)
        why = used and window is None and (self.asks_why() or filed)
        return FoundOrder(Order('time', True), ()) if why else None

    def _count(self, used: Sequence[Mention]) -> int | None:
        """Return how many of the first event are asked for: the three contacts before ..."""
        if not used:
            return None
        counted = load_pattern('orders', 'counted', 'en')
        match = counted.search(self.folded, max(0, used[0].start - 30), used[0].start)
        return int(parse_number(match['count'])) or None if match else None

    def find_aggregate(self, dated: bool) -> FoundAggregate | None:
        """Return a figure over events; of a count it must be said what is counted."""
        if self.pair:
            order, span = self.pair.order, self.pair.span
            apart = FoundAggregate(Aggregate('difference', order.by), (span,), ())
            return apart if self.pair.apart else None
        if self.cues.asked or self.cues.future:
            return None
        found = find_aggregate(
            mask(self.said, (*self.bounds.spans, *self.times)), find_own_quantity(self.mentions)
        )
        han = is_han(self.folded) and not self.cues.past
        weak = self.mentions and not dated and all(m.weak for m in self.mentions)
        certain = found is not None and found.aggregate.function in ('median', 'std')
        times = load_pattern('orders', 'unit', 'times').search(self.said)
        han = han and not self.bounds.bounds and times is None
        if weak and not certain and (han or self.is_always()):
            return None  # how many boxes a pallet takes
        if not (self.cues.past or dated) and load_pattern('orders', 'others', 'en').search(
            self.said
        ):
            return None
        if found and any(
            b.figure and b.quantity == found.aggregate.quantity for b in self.bounds.bounds
        ):
            return None  # 'contacts with a mean force over 5 N'
        if found is None or self.file or any(not m.happening or m.plural for m in self.mentions):
            return found
        strong = any(not (m.weak or m.happening) for m in self.mentions)
        spread = found.aggregate.function in ('mean', 'median', 'std') and strong
        return found if found.aggregate.quantity and (dated or spread) else None

    def is_always(self) -> bool:
        """Say whether it is asked how things always are, and of nothing that has been."""
        return self.cues.present and (is_han(self.folded) or not self.cues.past)
