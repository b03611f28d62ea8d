"""The APIs whose requests and answers can be rewritten."""
