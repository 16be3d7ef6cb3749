"""Answering a question: from a copy in memory, or from the file alone; the answer is the same."""
