"""Measure one build in a child process."""
