"""A conformance bench and regression gate for the memory of AI agents."""

__version__ = "0.1.0"
