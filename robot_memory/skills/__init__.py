"""Learning from trials: what a skill's results will be, and which params to try next."""
