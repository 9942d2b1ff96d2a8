"""Arithmetic that app and hub share: pure, no I/O."""
