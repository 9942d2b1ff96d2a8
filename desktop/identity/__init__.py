"""The key of this gram, and signed envelopes."""
