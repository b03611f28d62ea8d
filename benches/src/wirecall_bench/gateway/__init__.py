"""Load for `wirecall serve`, and what it costs: measurements (`make bench-gateway`) and a soak.

The upstream and each gateway are processes of their own, so the processor's time of a gateway can be told
from that of the load. Requires Linux: memory is read from /proc.
"""
