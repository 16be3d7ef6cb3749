"""How the memory is, told: for a watchdog, for Prometheus, for a person, in the log."""
