"""Put tiktoken's o200k_base where TIKTOKEN_CACHE_DIR will look for it.

tiktoken fetches that file from a host a closed network cannot reach. The PyPI package litellm carries the
same file, so one pinned wheel is downloaded, never installed, and the file taken out of it. Run as
`python scripts/fetch_o200k.py DIRECTORY`; a failure is reported, and the tests that count tokens skip.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

WHEEL = "litellm==1.80.0"  # a pure wheel of 10 MB; the newer ones are four times that
WHEEL_SHA256 = "fd0009758f4772257048d74bf79bb64318859adb4ea49a8b66fdbc718cd80b6e"
# tiktoken's cache names a file by the SHA-1 of its address.
NAME = "fb374d419588a4632f3f557e76b4b70aebbca790"
SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"  # tiktoken itself says so


def intact(path: Path) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == SHA256


def main() -> int:
    directory = Path(sys.argv[1])
    target = directory / NAME
    if intact(target):
        return 0
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        requirement = Path(temporary, "requirement.txt")
        requirement.write_text(f"{WHEEL} --hash=sha256:{WHEEL_SHA256}\n", encoding="utf-8")
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        download = ["download", "--no-deps", "--only-binary=:all:", "--require-hashes"]
        if subprocess.run([*pip, *download, "-d", temporary, "-r", str(requirement)], check=False).returncode:
            print(f"o200k_base: {WHEEL} could not be downloaded; tests that count tokens will skip")
            return 1
        with zipfile.ZipFile(next(Path(temporary).glob("*.whl"))) as wheel:
            partial = target.with_suffix(".part")
            partial.write_bytes(wheel.read(f"litellm/litellm_core_utils/tokenizers/{NAME}"))
    if not intact(partial):
        partial.unlink()
        print("o200k_base: the file is not the one that was pinned; tests that count tokens will skip")
        return 1
    partial.replace(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
