"""What a code says."""

from typing import NamedTuple


# a named tuple, no dataclass: the window's first paint waits for this module (see ui.design)
class Sentence(NamedTuple):
    """English templates of one code; `{name}` is replaced by the parameter of that name."""

    text: str
    advice: str = ""
