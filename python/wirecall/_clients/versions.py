"""Checks that a framework or an SDK is installed and new enough."""

import re


def require(package: str, oldest: str, found: str | None = None) -> None:
    """Raises if `package` cannot be used.

    Args:
        oldest: The first version that works.
        found: The installed version, if the package itself says it.

    Raises:
        ImportError: It is not installed, or too old.
    """
    remedy = f"install it with: pip install '{package}>={oldest}'"
    if found is None:
        # Slow to import, and not needed to import `wirecall`.
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
    """The numbers of a release; what follows them (a pre-release) is ignored."""
    release = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, release.group().split("."))) if release else ()
