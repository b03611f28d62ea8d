"""Calls in the text of an inference server: which format, which tools, and the deltas that the server sends.

Knows no server; `wirecall.integrations._vllm` and `.sglang` are thin layers over it.
"""
