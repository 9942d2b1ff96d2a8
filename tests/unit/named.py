"""A build by its name, as sessions get it: located, then read and hashed."""

from desktop.paths import Paths
from desktop.records.build import LocalBuild
from desktop.services.named_builds import identify_build, locate_build


def named_build(paths: Paths, text: str) -> LocalBuild:
    return identify_build(paths, locate_build(paths, text))
