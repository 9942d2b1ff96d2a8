"""How a secret key is written, in a key file and in the keychain: one line of versioned JSON.

The public key stands beside the seed, so that one damaged digit is an error and not a new identity.
"""

import contextlib
import json
import re
import secrets

from desktop.identity.signer import SEED_BYTES, Signer
from desktop.rules.strict_json import parse_object

VERSION = 1
_HEX = re.compile(r"[0-9a-f]{64}")


def new_key_text() -> str:
    """The line of a fresh random key, without a line end."""
    seed = secrets.token_bytes(SEED_BYTES)
    key_id = Signer.from_seed(seed).key_id
    return json.dumps({"gram_key": VERSION, "key_id": key_id, "seed": seed.hex()})


def read_key_text(text: str) -> Signer:
    """The key in a line.

    Raises:
        ValueError: damaged, or of a version that this Gram does not know; the message is English
            and, with its causes, holds nothing of the text.
    """
    body = _parse(text)
    if body.get("gram_key") != VERSION:
        raise ValueError("its version is not one that this Gram knows")
    seed = body.get("seed")
    if not isinstance(seed, str) or not _HEX.fullmatch(seed):
        raise ValueError("its seed is not 64 hex digits")
    signer = Signer.from_seed(bytes.fromhex(seed))
    if body.get("key_id") != signer.key_id:
        raise ValueError("its two halves do not belong together")
    return signer


def _parse(text: str) -> dict[str, object]:
    """Raise outside of the handler: the reader's own error carries the text, and so the secret."""
    with contextlib.suppress(ValueError):
        return parse_object(text)
    raise ValueError("it is not a line of JSON")
