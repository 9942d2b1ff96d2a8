"""What things are called on the screen."""

from desktop.records.build import Build

_HUB = "hf.co/"


def build_title(build: Build) -> str:
    """A build's short title.

    The repository's name where it comes from a hub: what a file says of itself is often a training
    run's working title. Else what the file says, else its own name.
    """
    if build.name.startswith(_HUB):
        repository = build.name.rsplit("/", 1)[-1].split(":")[0]
        return repository.removesuffix("-GGUF").removesuffix("-gguf") or build.name
    return build.model_name or build.name
