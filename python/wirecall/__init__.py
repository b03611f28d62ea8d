"""Tool calls in a compact wire format."""
