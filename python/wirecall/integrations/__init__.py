"""Frameworks that need more than `wirecall.wrap`: one module for each, none imported before it is used."""
