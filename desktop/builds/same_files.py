"""Whether the files of a build are still those whose bytes its sha256 is of."""

from collections.abc import Iterable
from pathlib import Path

from desktop.builds.hashes import Progress, sha256_of
from desktop.builds.header import shown_name
from desktop.builds.memory import identity
from desktop.builds.split_sets import sum_of
from desktop.errors import BuildError
from desktop.records.build import LocalBuild


def identities(files: Iterable[Path]) -> dict[Path, str]:
    """What is another for each file once it is changed or replaced; without those not there."""
    found = {}
    for file in files:
        try:
            found[file] = identity(file.stat())
        except OSError:
            continue
    return found


def refuse_replaced(local: LocalBuild, progress: Progress | None = None) -> None:
    """Refuse a build whose files hold other bytes than when it was hashed.

    They are read again only where something of them is another: a new link to a file, or a drive
    that numbers its files anew, leaves its bytes as they are.

    Raises:
        BuildError: `build_replaced`; `build_unreadable` where a file is not there any more.
        Whatever `progress` raises, to stop.
    """
    if tuple(identities(local.files).values()) == local.identities:
        return
    try:
        found = sum_of([sha256_of(file, progress) for file in local.files])
    except OSError as e:
        detail = e.strerror or str(e)
        raise BuildError("build_unreadable", name=shown_name(local.path), detail=detail) from e
    if found != local.build.sha256:
        raise BuildError("build_replaced", name=shown_name(local.path))
