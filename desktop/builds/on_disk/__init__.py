"""Builds that other programs keep here: found and read in place, never written, moved or locked."""
