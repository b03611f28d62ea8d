"""The ways in: HTTP clients, middleware and hooks."""
