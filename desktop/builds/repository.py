"""A client of the API of Hugging Face and of its mirrors: models, their files, and a search.

Routes as huggingface_hub asks them (src/huggingface_hub/hf_api.py: `model_info`, `list_repo_tree`,
`list_models`); lists come in pages, each with the address of the next (utils/_pagination.py).
"""

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Final, Self, TypeVar
from urllib.parse import quote

from desktop.builds.endpoints import host_of
from desktop.builds.hub_answers import Query, ask
from desktop.builds.hub_errors import unusable
from desktop.builds.hub_fields import read_facts, read_files
from desktop.builds.hub_session import HubSession
from desktop.builds.names import HUB, BuildName, is_repository
from desktop.builds.reference import Wanted
from desktop.errors import BuildError
from desktop.records.remote import RemoteBuild, RemoteFile, RepositoryFacts

MAX_PAGES: Final = 100
MAX_FILES: Final = 20_000
MOST_FOUND: Final = 100
_MAX_SEARCH: Final = 200
_SEARCHED: Final = ["downloads", "gated", "tags", "cardData", "gguf", "sha"]
_T = TypeVar("_T")


class Hub:
    """One Hugging Face, or mirror of it; close it, or use it in `with`."""

    def __init__(self, endpoint: str = HUB, token: str | None = None) -> None:
        """Ask `endpoint`, with a token where the caller has one.

        Raises:
            BuildError: `hub_address`, or `hub_token` for what cannot be one.
        """
        self.session: Final = HubSession(endpoint, token)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.session.close()

    @property
    def host(self) -> str:
        """As people know it, `huggingface.co`."""
        return host_of(self.session.endpoint)

    def facts(self, name: BuildName) -> RepositoryFacts:
        """What the repository of `name` declares, at the revision of `name`.

        Raises:
            BuildError: see `hub_answers.ask`.
        """
        path = f"/api/models/{_named(name)}"
        if name.revision:
            path += f"/revision/{quote(name.revision, safe='')}"
        reply = ask(self.session, path, {}, name.repository)
        return self._read(read_facts, reply.value)

    def files(self, name: BuildName) -> tuple[RemoteFile, ...]:
        """The GGUF files of the repository, of all folders, at the revision of `name`.

        Raises:
            BuildError: see `hub_answers.ask`.
        """
        path = f"/api/models/{_named(name)}/tree/{quote(name.revision or 'main', safe='')}"
        files: dict[str, RemoteFile] = {}
        for value in self._pages(path, {"recursive": ["1"]}, name.repository):
            for file in self._read(read_files, value):
                if file.path in files:
                    raise unusable(self.host, "it has one file twice")
                files[file.path] = file
            if len(files) > MAX_FILES:
                raise unusable(self.host, f"it has more than {MAX_FILES} files")
        return tuple(files.values())

    def search(self, text: str, most: int = 20) -> tuple[RepositoryFacts, ...]:
        """Repositories with GGUF files whose names hold `text`, most downloaded first.

        Raises:
            BuildError: see `hub_answers.ask`.
        """
        query = {
            "search": [text[:_MAX_SEARCH]],
            "filter": ["gguf"],
            "sort": ["downloads"],
            "direction": ["-1"],
            "limit": [str(min(most, MOST_FOUND))],
            "expand": _SEARCHED,
        }
        value = ask(self.session, "/api/models", query, text[:_MAX_SEARCH]).value
        if not isinstance(value, list):
            raise unusable(self.host, "it is no list of models")
        usable = (v for v in value if isinstance(v, dict) and is_repository(str(v.get("id", ""))))
        return tuple(self._read(read_facts, found) for found in usable)[:most]

    def wanted(self, build: RemoteBuild) -> tuple[Wanted, ...]:
        """What to download for `build`, at the commit that it was listed at.

        Raises:
            BuildError: `hub_no_sum` where a file's checksum is not told.
        """
        facts = build.repository
        found = []
        for file in build.files:
            name = BuildName(facts.owner, facts.repo, file=file.path, revision=facts.commit)
            shown = file.path.rpartition("/")[2]
            if file.sha256 is None:
                raise BuildError("hub_no_sum", name=shown)
            url = name.url(self.session.endpoint) or ""
            found.append(Wanted(url, shown, file.size_bytes, file.sha256))
        return tuple(found)

    def _pages(self, path: str, query: Query, name: str) -> Iterator[object]:
        following: Query | None = query
        for _ in range(MAX_PAGES):
            reply = ask(self.session, path, following or {}, name)
            yield reply.value
            following = reply.following
            if following is None:
                return
        raise unusable(self.host, f"it has more than {MAX_PAGES} pages")

    def _read(self, read: Callable[[object], _T], value: object) -> _T:
        try:
            return read(value)
        except ValueError as e:
            raise unusable(self.host, str(e)) from e


def _named(name: BuildName) -> str:
    """Owner and repository as a part of an address; BuildName may have been made by hand."""
    told = name.repository
    if not is_repository(told):
        raise BuildError("build_not_found", name=told)
    return told
