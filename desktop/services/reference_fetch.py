"""The download of the reference build, as the person's settings of builds want downloads."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from desktop.builds.control import Control
from desktop.builds.hashes import Progress
from desktop.builds.preferences import read_preferences
from desktop.builds.reference import Fetch, Wanted
from desktop.builds.transfer import download
from desktop.machine.metered import metered
from desktop.paths import Paths
from desktop.services.fetching import limit_of, refuse_metered


def fetch_as_set(
    paths: Paths,
    environment: Mapping[str, str],
    asks_first: Callable[[Mapping[str, str]], bool] = lambda found: metered(found).asks_first,
) -> Fetch:
    """What brings the reference build where a run needs it and nobody can be asked.

    Args:
        paths: whose settings: the limit of speed, and whether a metered connection may be used.
        environment: as `machine.metered` reads it.
        asks_first: whether the connection is paid by what it carries.

    Returns:
        As `download`, which raises `download_metered` too.
    """

    def fetch(wanted: Wanted, target: Path, progress: Progress) -> None:
        preferences, _ = read_preferences(paths.settings)
        is_metered = partial(asks_first, environment)
        refuse_metered(preferences, is_metered, wanted.name, wanted.size_bytes)
        download(wanted, target, progress, Control(limit_of(preferences)))

    return fetch
