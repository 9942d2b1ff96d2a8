"""Names of builds from the names of repositories and files."""

from pathlib import PurePath

from desktop.builds.names import BuildName, is_repository
from desktop.builds.quant_labels import is_beside, label_of
from desktop.builds.split_names import whole_path


def is_gguf(path: PurePath) -> bool:
    """Whether a file is called as builds are: no projector, no statistics."""
    return path.name.lower().endswith(".gguf") and not is_beside(path.name)


def hub_name(owner: str, repo: str, file: str) -> str:
    """A file of a repository as users write it: `hf.co/owner/repo:Q4_K_M`, else with the file.

    Of what cannot be a repository, the file's name alone.
    """
    if not is_repository(f"{owner}/{repo}"):
        return file.rpartition("/")[2]
    return str(BuildName(owner, repo, label_of(whole_path(file)), file))
