"""What Prometheus reads. The label is the route, never the client's model, tool or key."""

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

from wirecall._apis.registry import api_named
from wirecall._text.record import Record

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
# More is a fault of the upstream, and a float may not hold it.
_MOST_TOKENS = 1 << 40


class Metrics:
    """The gateway's metrics. Their names are stable; docs/gateway.md lists them."""

    def __init__(self) -> None:
        # Series that say when each other series began.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self._requests = self._counter("requests", "Requests with a route.", "route", "api", "outcome")
        self._calls = self._counter("calls", "Calls that clients got.", "route")
        self._repairs = self._counter("repairs", "Calls that were repaired, by what.", "route", "repair")
        self._errors = self._counter("call_errors", "Calls that could not be read.", "route", "kind")
        self._retries = self._counter("retries", "Requests that were sent again.", "route", "reason")
        self._tokens = self._counter("tokens", "Tokens that upstreams report.", "route", "direction")
        self._refused = self._counter("refused", "Requests refused before they had a route.", "reason")
        self.streams = Gauge(
            "wirecall_streams", "Requests that are running.", ["route"], registry=self.registry
        )
        self._open = self._histogram("open_seconds", "The time to rewrite a request.")
        self._first = self._histogram("first_byte_seconds", "From a request to the head of its answer.")

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(f"wirecall_{name}", about, labels, registry=self.registry)

    def _histogram(self, name: str, about: str) -> Histogram:
        return Histogram(f"wirecall_{name}", about, ["route"], registry=self.registry, buckets=_SECONDS)

    def text(self) -> bytes:
        return generate_latest(self.registry)

    def refused(self, reason: str) -> None:
        self._refused.labels(reason).inc()

    def opened(self, route: str, seconds: float) -> None:
        self._open.labels(route).observe(seconds)

    def first_byte(self, route: str, seconds: float) -> None:
        self._first.labels(route).observe(seconds)

    def ended(self, route: str, api: str, outcome: str) -> None:
        self._requests.labels(route, api, outcome).inc()

    def recorded(self, route: str, record: Record) -> None:
        """Counts what an exchange was."""
        api = api_named(record.api)
        self.ended(route, record.api, record.outcome)
        for attempt in record.attempts:
            if attempt.reason != "first":
                self._retries.labels(route, attempt.reason).inc()
            for event in attempt.events:
                if event.kind == "call":
                    self._calls.labels(route).inc()
                elif event.kind == "error":
                    self._errors.labels(route, event.error).inc()
                for repair in event.repairs:
                    self._repairs.labels(route, repair).inc()
            said = {"usage": attempt.usage}
            self._tokens.labels(route, "input").inc(min(api.input_tokens(said), _MOST_TOKENS))
            self._tokens.labels(route, "output").inc(min(api.output_tokens(said), _MOST_TOKENS))
