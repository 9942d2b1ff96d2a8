"""What dev.py does: environments, the engine's build, the checks. Standard library only."""
