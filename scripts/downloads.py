"""Pinned downloads for scripts: files that are complete and have the right SHA-256 checksum, or an error."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import requests

# It may not be installed.
sys.path.append(str(Path(__file__).resolve().parents[1] / "benches" / "src"))

from wirecall_bench.local_model import Download
from wirecall_bench.progress import progress

# Seconds without an answer after which a download fails.
TIMEOUT = 60
MEGABYTE = 1_000_000


class DownloadError(Exception):
    """A file could not be downloaded, or is not the pinned one."""


def download(file: Download, folder: Path) -> Path:
    """A file with the right checksum, in a folder. What an earlier run downloaded is not downloaded again."""
    target = folder / file.name
    if target.is_file() and sha256_of(target) == file.sha256:
        return target
    folder.mkdir(exist_ok=True)
    partial = partial_of(target)
    start = partial.stat().st_size if partial.is_file() else 0
    headers = {"Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        with requests.get(file.url, headers=headers, stream=True, timeout=TIMEOUT) as response:
            # The partial file may have all bytes already.
            if response.status_code != requests.codes.requested_range_not_satisfiable:
                response.raise_for_status()
                save(response, partial, start)
    except requests.RequestException as error:
        raise DownloadError(f"{file.url} could not be downloaded: {reason(error)}.") from error
    check_sum(partial, file.sha256, file.url)
    partial.replace(target)
    return target


def save(response: requests.Response, partial: Path, start: int) -> None:
    """Write the answer to a request for the bytes of a file after `start`. A server may send all of them."""
    if response.status_code != requests.codes.partial_content:
        start = 0
    total = start + int(response.headers.get("Content-Length", 0))
    done = start // MEGABYTE
    mode = "ab" if start else "wb"
    what = f"Downloading {partial.name.partition('-')[0]} (MB)"
    with partial.open(mode) as stream, progress(total // MEGABYTE, what, done=done) as shown:
        for chunk in response.iter_content(1 << 16):
            stream.write(chunk)
            reached = stream.tell() // MEGABYTE
            shown.step(reached - done)
            done = reached


def reason(error: requests.RequestException) -> str:
    """Why a request failed, without the addresses of objects that requests puts into its messages."""
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"the server answered with status {error.response.status_code}"
    if isinstance(error, requests.Timeout):
        return f"there was no answer for {TIMEOUT} seconds"
    if isinstance(error, requests.exceptions.ProxyError):
        return "the proxy does not answer; check HTTPS_PROXY"
    if isinstance(error, requests.exceptions.SSLError):
        return f"its certificate could not be verified ({error})"
    if isinstance(error, requests.ConnectionError):
        return "the connection failed; is the network reachable?"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection ended early"
    return str(error)


def check_sum(path: Path, expected: str, name: str) -> None:
    """Raises an error, and deletes the file, if the checksum is wrong."""
    found = sha256_of(path)
    if found != expected:
        path.unlink()
        raise DownloadError(
            f"{name} does not have the pinned checksum and was deleted (SHA-256 {found}, pinned {expected})."
        )


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def partial_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")
