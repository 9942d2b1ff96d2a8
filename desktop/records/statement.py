"""Signed statements."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Envelope:
    """A DSSE v1 envelope: the exact payload bytes and their signatures."""

    payload_type: str
    payload: bytes
    signatures: tuple[tuple[str, bytes], ...]
    """Pairs of key id (64 hex digits of the Ed25519 public key) and signature (64 bytes)."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A verified envelope: its id, its signer, and what it says."""

    id: str
    """sha256 of the payload, hex."""
    key_id: str
    payload_type: str
    body: dict[str, object]

    @property
    def short_key(self) -> str:
        """`·acbe75`."""
        return f"·{self.key_id[-6:]}"


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One kept statement."""

    id: str
    payload_type: str
    envelope_json: str
    kept_at: str
    """RFC 3339, UTC."""
