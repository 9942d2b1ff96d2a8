"""Gram: measure language models on your own machine, sign what you found, share it."""

__version__ = "0.1.0"
