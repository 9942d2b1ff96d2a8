"""Meters, their sampler, and the energy of a window of time."""
