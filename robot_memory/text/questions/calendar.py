"""Days, weeks, months and hours of a zone as instants, on days of 23 and 25 hours too."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

from robot_memory.text.questions.model import Window

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Stretch:
    """Hold a window in local time, without zone; `near` is what was named inside it."""

    since: datetime
    until: datetime
    granularity: str
    near: datetime | None = None


class Calendar:
    """Turn local time of a zone into instants, seen from one instant of asking."""

    def __init__(self, now: datetime, zone: ZoneInfo) -> None:
        """Start at an aware instant."""
        self.now = now.astimezone(timezone.utc)
        self.zone = zone
        self.local = now.astimezone(zone).replace(tzinfo=None)
        self.today = self.local.date()

    def find_instant(self, local: datetime, last: bool = False) -> datetime:
        """Return the instant of a local time, the last one where the hour comes twice."""
        return local.replace(tzinfo=self.zone, fold=int(last)).astimezone(timezone.utc)

    def make_window(self, stretch: Stretch) -> Window:
        """Return the instants of a stretch: all of it where its hour comes twice."""
        since = self.find_instant(stretch.since)
        until = self.find_instant(stretch.until, last=stretch.granularity in _SHORT)
        if until <= since:  # inside the hour that a day of 23 hours does not have
            since = until - (stretch.until - stretch.since)
        near = self.find_instant(stretch.near) if stretch.near else None
        return Window(since, until, stretch.granularity, self.zone, near)

    def make_day(self, day: date, days: int = 1, granularity: str = 'day') -> Stretch:
        """Return whole days from a day on."""
        start = datetime.combine(day, time())
        return Stretch(start, start + days * DAY, granularity)

    def make_week(self, weeks_ago: int) -> Stretch:
        """Return the week, Monday to Sunday, so many before this one."""
        monday = self.today - timedelta(days=self.today.weekday() + 7 * weeks_ago)
        return self.make_day(monday, 7, 'week')

    def make_weekend(self, weeks_ago: int) -> Stretch:
        """Return Saturday and Sunday of the week so many before this one."""
        return self.make_day(self.make_week(weeks_ago).since.date() + 5 * DAY, 2, 'weekend')

    def make_month(self, year: int, month: int) -> Stretch:
        """Return a month; one beyond 12 or below 1 is of a later or an earlier year."""
        years, month = divmod(month - 1, 12)
        start = datetime(year + years, month + 1, 1)
        end = datetime(year + years + (month == 11), (month + 1) % 12 + 1, 1)
        return Stretch(start, end, 'month')

    def make_year(self, year: int) -> Stretch:
        """Return a year."""
        return Stretch(datetime(year, 1, 1), datetime(year + 1, 1, 1), 'year')

    def make_past_month(self, month: int, year: int = 0, before: bool = False) -> Stretch:
        """Return the latest month of that number that has begun; with `before`, that is over."""
        if not year:
            ahead = month > self.today.month or (before and month == self.today.month)
            year = self.today.year - ahead
        return self.make_month(year, month)

    def make_past_date(self, month: int, day: int, year: int = 0) -> date:
        """Return the latest day of that name that has begun; ValueError where none has it."""
        if year:
            return date(year, month, day)
        for past in range(9):
            try:
                found = date(self.today.year - past, month, day)
            except ValueError:
                continue
            if found <= self.today:
                return found
        raise ValueError(f'no month {month} has a day {day}')

    def find_day_of_month(self, day: int) -> date:
        """Return the latest day of that number in a month."""
        for past in range(4):
            start = self.make_month(self.today.year, self.today.month - past).since.date()
            try:
                found = start.replace(day=day)
            except ValueError:
                continue
            if found <= self.today:
                return found
        raise ValueError(f'no month has a day {day}')

    def find_weekday(self, weekday: int) -> date:
        """Return the latest such day before today, Monday being 0."""
        return self.today - timedelta(days=(self.today.weekday() - weekday - 1) % 7 + 1)


_SHORT = ('second', 'minute', 'hour')
