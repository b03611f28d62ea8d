"""Put tiktoken's o200k_base and cl100k_base into the directory of TIKTOKEN_CACHE_DIR.

tiktoken downloads these files from a host that some networks block. The PyPI package litellm contains the
same files, so this script downloads one pinned wheel, extracts the files and does not install it. Run it as
`python scripts/fetch_vocabularies.py DIRECTORY`. If it fails, it prints the reason, and the tests that count
tokens are skipped.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

WHEEL = "litellm==1.80.0"  # a pure wheel of 10 MB; newer ones are four times as large
WHEEL_SHA256 = "fd0009758f4772257048d74bf79bb64318859adb4ea49a8b66fdbc718cd80b6e"
# tiktoken's cache names a file after the SHA-1 of its URL.
O200K = "fb374d419588a4632f3f557e76b4b70aebbca790"
CL100K = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
# The hashes that tiktoken itself checks.
SHA256 = {
    O200K: "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    CL100K: "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}


def intact(path: Path, name: str) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == SHA256[name]


def main() -> int:
    directory = Path(sys.argv[1])
    missing = [name for name in SHA256 if not intact(directory / name, name)]
    if not missing:
        return 0
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        requirement = Path(temporary, "requirement.txt")
        requirement.write_text(f"{WHEEL} --hash=sha256:{WHEEL_SHA256}\n", encoding="utf-8")
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        download = ["download", "--no-deps", "--only-binary=:all:", "--require-hashes"]
        if subprocess.run([*pip, *download, "-d", temporary, "-r", str(requirement)], check=False).returncode:
            print(f"vocabularies: {WHEEL} could not be downloaded; tests that count tokens are skipped")
            return 1
        with zipfile.ZipFile(next(Path(temporary).glob("*.whl"))) as wheel:
            for name in missing:
                target = directory / name
                partial = target.with_suffix(".part")
                partial.write_bytes(wheel.read(f"litellm/litellm_core_utils/tokenizers/{name}"))
                if not intact(partial, name):
                    partial.unlink()
                    print(f"vocabularies: {name} is not the pinned file; tests that count tokens are skipped")
                    return 1
                partial.replace(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
