"""What every HTTP server of the memory shares: the port, who may come in, and its limits."""
