"""Reads calls of unknown tools."""

import wirecall._core as core


class UntypedReader:
    """Reads a text again, with a parser that has no tools, so that calls of any name are read.

    It is fed only when a call has failed; each piece of the text is read once.
    """

    def __init__(self, parser: core.Parser) -> None:
        self._parser = parser
        self._fed = 0
        self._ended = False
        # The names and arguments of the calls, by where they are in the text.
        self._calls: dict[tuple[int, int], tuple[str, str]] = {}

    def arguments(
        self, pieces: list[str], error: core.CallError, *, ended: bool, truncated: bool
    ) -> str | None:
        """The arguments of a call that failed, as JSON; None if it is not complete.

        Args:
            pieces: The text up to now.
            ended: Whether this is all of it.
            truncated: Whether it may be cut off there.
        """
        events: list[object] = []
        if not self._ended:
            events += self._parser.feed("".join(pieces[self._fed :]))
            self._fed = len(pieces)
        if ended and not self._ended:
            self._ended = True
            events += self._parser.finish(truncated=truncated)
        for event in events:
            if isinstance(event, core.CallEnd):
                self._calls[event.start, event.end] = event.name, event.arguments
        name, arguments = self._calls.get((error.start, error.end), (None, None))
        return arguments if name == error.name else None
