"""JSON as `json.dumps` writes it, for tests that compare arguments as text."""


class Spaced:
    """JSON in pieces, with a space after each colon and comma, as `json.dumps` has it.

    Many tests compare arguments as text.
    """

    def __init__(self) -> None:
        self._in_string = self._escaped = False

    def of(self, piece: str) -> str:
        made = []
        for letter in piece:
            made.append(letter)
            if self._escaped:
                self._escaped = False
            elif letter == '"':
                self._in_string = not self._in_string
            elif self._in_string:
                self._escaped = letter == "\\"
            elif letter in ":,":
                made.append(" ")
        return "".join(made)
