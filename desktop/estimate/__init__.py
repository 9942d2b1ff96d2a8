"""What fits and how fast it would run: pure arithmetic, never a measurement."""
