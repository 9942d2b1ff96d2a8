"""Looking through folders of strangers with limits: on depth, on entries, on time, on complaints.

Everything here only lists, asks for sizes, and opens regular files for reading.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from desktop.builds.on_disk.complaints import Complaints
from desktop.builds.on_disk.here import is_folder
from desktop.builds.on_disk.kinds import Headers
from desktop.builds.on_disk.limits import Limits, said
from desktop.errors import BuildError
from desktop.own_files import never_a_pipe
from desktop.records.on_disk import FoundFile


class Look(Complaints):
    """One search of one program's folders."""

    def __init__(self, program: str, limits: Limits, headers: Headers | None = None) -> None:
        super().__init__(program, limits.complaints)
        self._limits, self._headers = limits, headers or Headers()
        self._until = limits.now() + limits.seconds
        self._left = limits.entries
        self._stopped = False

    def files(self, root: Path, depth: int | None = None) -> Iterator[Path]:
        """Files and links to files below `root`, hidden ones left out; none where it is not there.

        Each real folder is entered once, so links in a circle end; a link is followed to elsewhere,
        but not to what `root` lies in. `depth` counts folders.
        """
        seen: set[tuple[int, int]] = set()
        most = self._limits.depth if depth is None else depth
        waiting, links = [(root, most)], list[tuple[Path, int]]()
        while (waiting or links) and not self._stopped:
            # links last: a folder is known by its own name, not by that of a link to it
            folder, deeper = waiting.pop() if waiting else links.pop()
            if not self._enter(folder, seen, root):
                continue
            folders: list[tuple[Path, int]] = []
            for entry in self._entries(folder):
                if not self._is_folder(entry):
                    yield Path(entry.path)
                elif deeper > 0:
                    (links if entry.is_symlink() else folders).append(
                        (Path(entry.path), deeper - 1)
                    )
                elif depth is None:
                    self.tell("on_disk_deep", Path(entry.path))
            waiting.extend(reversed(folders))

    def folders(self, root: Path) -> Iterator[Path]:
        """Folders in `root` itself and links to such, in order; none where it is not there."""
        if is_folder(root):
            yield from (Path(e.path) for e in self._entries(root) if self._is_folder(e))

    def read_small(self, path: Path) -> bytes | None:
        """All of a small file; None, and told, where it cannot be read or is too large."""
        try:
            with open(path, "rb", opener=never_a_pipe) as file:
                data = file.read(self._limits.small_bytes + 1)
        except (OSError, ValueError) as e:
            self.tell("on_disk_unreadable", path, detail=said(e))
            return None
        if len(data) > self._limits.small_bytes:
            self.tell("on_disk_manifest", path, detail="it is too large")
            return None
        return data

    def found(self, path: Path, name: str, claim: str | None = None) -> Iterator[FoundFile]:
        """The file at `path` where it is a regular file that holds a language model; else none.

        Told is why, but of what is GGUF and no build: projectors, adapters, models of images.

        Args:
            path: where the program looks for it.
            name: what its users call it.
            claim: its sha256, as the program says.
        """
        if self._late() and self._over(path.parent):
            return
        try:
            found = path.stat()
            if not stat.S_ISREG(found.st_mode):
                self.tell("on_disk_unreadable", path, detail="it is not a file")
                return
            is_one = self._headers.is_build(path, found)
            label = self._headers.quantization(path, found)
        except FileNotFoundError:
            self.tell("on_disk_missing", path)
        except (OSError, ValueError) as e:
            self.tell("on_disk_unreadable", path, detail=said(e))
        except BuildError as e:
            self.tell("on_disk_bad", path, detail=e.reason.text())
        else:
            if is_one:
                yield FoundFile(self.program, name, path, found.st_size, claim, label)

    def _enter(self, folder: Path, seen: set[tuple[int, int]], root: Path) -> bool:
        try:
            found = folder.stat()
        except FileNotFoundError:
            return False
        except (OSError, ValueError) as e:
            self.tell("on_disk_unreadable", folder, detail=said(e))
            return False
        key = (found.st_dev, found.st_ino)
        if key in seen or not stat.S_ISDIR(found.st_mode):
            return False
        seen.add(key)
        # a link to what the program's folder lies in leads out of it: to a home, to all of a drive
        inside = folder == root or not folder.is_symlink()
        return inside or not root.resolve().is_relative_to(folder.resolve())

    def _entries(self, folder: Path) -> list["os.DirEntry[str]"]:
        """What is in a folder, by name, as far as the limits reach."""
        found: list[os.DirEntry[str]] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._left -= 1
                    if self._over(folder):
                        break
                    if not entry.name.startswith("."):
                        found.append(entry)
        except OSError as e:
            self.tell("on_disk_unreadable", folder, detail=said(e))
        return sorted(found, key=lambda entry: entry.name)

    def _late(self) -> bool:
        return self._limits.now() > self._until

    def _over(self, folder: Path) -> bool:
        """Whether no more is listed; told once. What was listed is used while there is time."""
        if not self._stopped and (self._left < 0 or self._late()):
            self._stopped = True
            self.tell("on_disk_limit", folder)
        return self._stopped

    def _is_folder(self, entry: "os.DirEntry[str]") -> bool:
        try:
            return entry.is_dir()
        except OSError:  # a link in a circle
            return False
