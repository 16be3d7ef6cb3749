"""What a question says of time, events, bounds, order and counts, before it is searched."""
