"""All shared types: frozen dataclasses with the unit in the name. Missing is None, never 0."""
