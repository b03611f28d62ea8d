"""Whether a framework or an SDK is there, and new enough."""

import re


def require(package: str, oldest: str, extra: str, found: str | None = None) -> None:
    """Raises where `package` cannot be used.

    Args:
        oldest: The first version that works.
        extra: Ours, that installs it.
        found: The version that is there, where the package says it itself.

    Raises:
        ImportError: It is not installed, or too old.
    """
    remedy = f"install it with: pip install 'wirecall[{extra}]'"
    if found is None:
        # Slow to import, and not needed where `wirecall` is imported.
        from importlib import metadata

        try:
            found = metadata.version(package)
        except metadata.PackageNotFoundError:
            raise ImportError(f"{package} is not installed; {remedy}", name=package) from None
    if _numbers(found) < _numbers(oldest):
        raise ImportError(
            f"{package} {found} is too old for wirecall: {oldest} or newer is needed; {remedy}", name=package
        )


def _numbers(version: str) -> tuple[int, ...]:
    """The release's numbers, which come first; what follows (a pre-release) is not looked at."""
    release = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, release.group().split("."))) if release else ()
