"""Numbers as the descriptions of events say them."""

BANDS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def format_number(value: float) -> str:
    """Return a number with one decimal from 1 on, and with two digits below."""
    return f'{value:.1f}' if abs(value) >= 0.95 or not value else f'{value:.2g}'


def format_band(value: float, unit: str) -> str:
    """Return the round number that a value is over, as one asks for it: ' over 5 N', or ''."""
    passed = [band for band in BANDS if band <= value]
    return f' over {passed[-1]} {unit}' if passed else ''


def join_words(words: list[str]) -> str:
    """Return words as a list that ends in 'and'."""
    return ' and '.join([', '.join(words[:-1]), words[-1]] if len(words) > 1 else words)


def format_duration(seconds: float) -> str:
    """Return a time in the largest unit of which it is two or more: '90 s', '3.5 hours'."""
    for length, unit in ((86400, 'days'), (3600, 'hours'), (60, 'minutes')):
        if seconds >= 2 * length:
            return f'{seconds / length:.1f} {unit}'
    return f'{seconds:.0f} s'
