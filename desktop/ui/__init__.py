"""Everything that is Qt."""
