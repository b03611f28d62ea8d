"""The gateway: tool calls over text for clients in any language, in front of any compatible server.

`wirecall serve` starts it. It needs the extra `serve`. One process, one event loop: items of the Responses
API are remembered in memory, so several processes behind one port would not find each other's.
"""
