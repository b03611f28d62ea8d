"""`wirecall serve` as a process of its own, as a user starts it."""

import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Self

COMMAND = str(Path(sys.executable).with_name("wirecall"))
ROUTES = str(Path(__file__).with_name("routes.toml"))
STARTING = 60  # seconds, on a busy machine
STOPPING = 30


class Gateway:
    """The gateway in front of an upstream, until the block ends. `url` is without `/v1`."""

    def __init__(self, upstream: str) -> None:
        command = [COMMAND, "serve", "--upstream", upstream, "--config", ROUTES]
        command += ["--port", "0", "--admin-port", "0"]
        self.log: list[str] = []  # lines of stderr
        self.url = ""
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        self._reader = threading.Thread(target=self._read, name="gateway log", daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        end = time.monotonic() + STARTING
        while not self.url:
            if time.monotonic() > end or self._process.poll() is not None:
                self._end(kill=True)
                raise RuntimeError("wirecall serve does not start:\n" + "".join(self.log))
            if found := re.search(r"^wirecall serve: (http://\S+)/v1 ", "".join(self.log), re.MULTILINE):
                self.url = found[1]
            time.sleep(0.02)
        return self

    def __exit__(self, *_: object) -> None:
        """Ends it with SIGTERM. It must end properly, and without an exception in its log."""
        code = self._end(kill=False)
        assert code == 0, f"exit code {code}:\n" + "".join(self.log)
        assert "Traceback" not in "".join(self.log), "".join(self.log)

    def check(self) -> None:
        assert self._process.poll() is None, "wirecall serve has ended:\n" + "".join(self.log)

    def _end(self, *, kill: bool) -> int:
        if not kill:
            self._process.terminate()
        try:
            return self._process.wait(0 if kill else STOPPING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()
        finally:
            self._reader.join(STOPPING)
            assert self._process.stderr is not None
            self._process.stderr.close()

    def _read(self) -> None:
        assert self._process.stderr is not None
        self.log.extend(self._process.stderr)
