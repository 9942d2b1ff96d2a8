"""The text of DSSE v1 envelopes: what is signed, and their JSON. No cryptography here.

Source: the DSSE v1 protocol (github.com/secure-systems-lab/dsse, protocol.md and envelope.md).
"""

import base64
import binascii
import hashlib
import re

from desktop.errors import StatementError
from desktop.records.statement import Envelope
from desktop.rules.strict_json import dump_canonical, parse_object

MAX_BYTES = 1_000_000
"""The longest envelope that is read, and the longest payload that is signed."""
MAX_SIGNATURES = 8
SIGNATURE_BYTES = 64
_KEY_ID = re.compile(r"[0-9a-f]{64}")
_MAX_TYPE_BYTES = 256


def pae(payload_type: str, payload: bytes) -> bytes:
    """The bytes that are signed: `DSSEv1 LEN(type) type LEN(body) body`, lengths in bytes."""
    kind = payload_type.encode("utf-8")
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def statement_id(payload: bytes) -> str:
    """sha256 of the exact payload, 64 hex digits."""
    return hashlib.sha256(payload).hexdigest()


def to_json(envelope: Envelope) -> str:
    """The standard DSSE JSON of an envelope, on one line; the payload's bytes are not touched."""
    return dump_canonical(
        {
            "payload": _encode(envelope.payload),
            "payloadType": envelope.payload_type,
            "signatures": [{"keyid": k, "sig": _encode(s)} for k, s in envelope.signatures],
        }
    )


def from_json(text: str, name: str, max_bytes: int = MAX_BYTES) -> Envelope:
    """The envelope in `text`; its signatures are not yet verified. Unknown fields are ignored.

    Args:
        text: standard DSSE JSON.
        name: what errors call it: a file's name.
        max_bytes: the longest text that is read.

    Raises:
        StatementError: `bad_envelope`: too long, not JSON, base64 that is not strict, a missing
            field, or a key id that is malformed, missing or there twice.
    """
    try:
        if len(text) > max_bytes or len(text.encode("utf-8")) > max_bytes:
            raise ValueError(f"it is longer than {max_bytes} bytes")  # noqa: TRY301 - one exit
        return _checked(_envelope(parse_object(text)))
    except ValueError as e:
        raise StatementError("bad_envelope", name=name, detail=_said(e)) from e


def check(envelope: Envelope, name: str) -> None:
    """Refuse an envelope whose shape is wrong, whatever its signatures say.

    Raises:
        StatementError: `bad_envelope`, with `name` in its sentence.
    """
    try:
        _checked(envelope)
    except ValueError as e:
        raise StatementError("bad_envelope", name=name, detail=_said(e)) from e


def parse_payload(payload: bytes, name: str) -> dict[str, object]:
    """What a payload says.

    Raises:
        StatementError: `bad_envelope`: not UTF-8, or not one strict JSON object.
    """
    try:
        return parse_object(payload.decode("utf-8"))
    except ValueError as e:
        raise StatementError("bad_envelope", name=name, detail=f"its payload: {_said(e)}") from e


def _envelope(body: dict[str, object]) -> Envelope:
    signatures = body.get("signatures")
    if not isinstance(signatures, list):
        raise ValueError("it has no list of signatures")  # noqa: TRY004 - one kind of error
    return Envelope(
        _text(body, "payloadType"),
        _decode(_text(body, "payload"), "payload"),
        tuple(_signature(s) for s in signatures),
    )


def _signature(item: object) -> tuple[str, bytes]:
    if not isinstance(item, dict):
        raise ValueError("a signature is not an object")  # noqa: TRY004 - one kind of error
    return _text(item, "keyid"), _decode(_text(item, "sig"), "sig")


def _text(body: dict[str, object], field: str) -> str:
    value = body.get(field)
    if not isinstance(value, str):
        raise ValueError(f"it has no {field}")  # noqa: TRY004 - one kind of error
    return value


def _checked(envelope: Envelope) -> Envelope:
    keys = [key for key, _ in envelope.signatures]
    if not 1 <= len(keys) <= MAX_SIGNATURES:
        raise ValueError(f"it has {len(keys)} signatures")
    if len(set(keys)) != len(keys):
        raise ValueError("a key signed it twice")
    if not all(_KEY_ID.fullmatch(key) for key in keys):
        raise ValueError("a key id is not 64 hex digits")
    if any(len(signature) != SIGNATURE_BYTES for _, signature in envelope.signatures):
        raise ValueError(f"a signature is not {SIGNATURE_BYTES} bytes long")
    if not 1 <= len(envelope.payload_type.encode("utf-8")) <= _MAX_TYPE_BYTES:
        raise ValueError("its payload type is empty or too long")
    if not envelope.payload_type.isprintable():
        raise ValueError("its payload type has characters that are not shown")
    if len(envelope.payload) > MAX_BYTES:
        raise ValueError(f"its payload is longer than {MAX_BYTES} bytes")
    return envelope


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _decode(text: str, field: str) -> bytes:
    """Only the one canonical spelling: else one envelope would have many texts."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as e:
        raise ValueError(f"its {field} is not base64") from e
    if _encode(data) != text:
        raise ValueError(f"its {field} is not canonical base64")
    return data


def _said(error: ValueError) -> str:
    return "it is not UTF-8" if isinstance(error, UnicodeError) else str(error)
