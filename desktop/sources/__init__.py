"""Thin, time-limited readers of what the system and drivers tell: raw in, raw out."""
