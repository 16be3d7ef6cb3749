"""The web viewer: what the robot remembers, on pages that read without JavaScript."""
