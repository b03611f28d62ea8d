"""Calls in the text of an inference server: which format, which tools, and the deltas that the server sends.

Knows no server; `wirecall.integrations._vllm` and `._sglang` are thin layers over it.
"""
