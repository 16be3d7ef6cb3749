"""Rules that a planner must know: their conditions, and what is known of a task."""
