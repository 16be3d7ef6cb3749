"""Questions to the table of events: conditions, windows, pages, aggregates; nothing writes."""
