"""Formats that are described at run time, or inferred from a chat template."""
