"""What is wrong with an installation, and what cures it; nothing is changed by looking."""
