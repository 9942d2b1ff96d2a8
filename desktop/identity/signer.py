"""A key that signs. The secret stays inside: it is in no repr, no comparison and no error."""

from dataclasses import dataclass, field

from nacl.signing import SigningKey

SEED_BYTES = 32


@dataclass(frozen=True, slots=True)
class Signer:
    """An Ed25519 key. `key_id` is the public key, 64 hex digits."""

    key_id: str
    _key: SigningKey = field(repr=False, compare=False)

    @classmethod
    def from_seed(cls, seed: bytes) -> "Signer":
        """The key of a secret seed.

        Raises:
            ValueError: the seed is not 32 bytes long.
        """
        if len(seed) != SEED_BYTES:
            raise ValueError(f"a seed has {SEED_BYTES} bytes")
        key = SigningKey(seed)
        return cls(bytes(key.verify_key).hex(), key)

    @property
    def short(self) -> str:
        """`·acbe75`, as people see it."""
        return f"·{self.key_id[-6:]}"

    def sign(self, message: bytes) -> bytes:
        """The 64 bytes of the Ed25519 signature of `message`."""
        return self._key.sign(message).signature
