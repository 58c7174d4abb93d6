"""A local-first memory for coding agents and assistants."""

__version__ = "0.1.0"
