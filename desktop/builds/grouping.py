"""From the files of a repository to its builds: single files, and split sets that are whole.

Split sets are named as `llama-gguf-split` names them: `-00001-of-00003.gguf`.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from desktop.builds.names import BuildName
from desktop.builds.quant_labels import is_beside, label_of
from desktop.builds.split_names import PART
from desktop.records.remote import Listing, RemoteBuild, RemoteFile, RepositoryFacts
from desktop.rules.run_limits import MAX_FILES


@dataclass(frozen=True, slots=True)
class _Group:
    """Files that belong together, and their path without the parts' numbers."""

    path: str
    files: tuple[RemoteFile, ...]
    whole: bool
    label: str | None


def group(facts: RepositoryFacts, files: Iterable[RemoteFile]) -> Listing:
    """The builds among the GGUF `files` of the repository of `facts`."""
    files = tuple(files)
    beside = tuple(sorted((f for f in files if is_beside(f.path)), key=lambda f: f.path))
    groups = _groups(f for f in files if not is_beside(f.path))
    whole = [g for g in groups if g.whole]
    labels = Counter(g.label for g in whole)
    builds = [_build(facts, g, alone=labels[g.label] == 1) for g in whole]
    incomplete = tuple(sorted(g.files[0].path for g in groups if not g.whole))
    return Listing(
        facts, tuple(sorted(builds, key=lambda b: (b.size_bytes, b.name))), beside, incomplete
    )


def _groups(files: Iterable[RemoteFile]) -> list[_Group]:
    sets: dict[tuple[str, int], dict[int, RemoteFile]] = {}
    groups = []
    for file in files:
        found = PART.fullmatch(file.path)
        if found is None:
            groups.append(_Group(file.path, (file,), file.size_bytes > 0, label_of(file.path)))
        else:
            parts = sets.setdefault((found["base"], int(found["count"])), {})
            parts[int(found["index"])] = file
    groups += [_set(stem, count, parts) for (stem, count), parts in sets.items()]
    return groups


def _set(stem: str, count: int, parts: dict[int, RemoteFile]) -> _Group:
    files = tuple(parts[number] for number in sorted(parts))
    whole = 0 < count <= MAX_FILES and sorted(parts) == list(range(1, count + 1))
    whole = whole and all(file.size_bytes > 0 for file in files)
    path = f"{stem}.gguf"
    return _Group(path, files, whole, label_of(path))


def _build(facts: RepositoryFacts, found: _Group, *, alone: bool) -> RemoteBuild:
    name = name_in(facts.name, found.label, found.files[0].path, alone=alone)
    return RemoteBuild(name, facts, found.label, found.files)


def name_in(repository: str, label: str | None, path: str, *, alone: bool) -> str:
    """A build of `owner/repo`: by its quantization where that is enough, else by its first file.

    Args:
        repository: `owner/repo`.
        label: its quantization; None: the file does not tell.
        path: of its first file, inside the repository.
        alone: no other build there has that quantization.
    """
    owner, _, repo = repository.partition("/")
    by_label = alone and label is not None
    return str(BuildName(owner, repo, label) if by_label else BuildName(owner, repo, file=path))
