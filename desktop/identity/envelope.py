"""Seal statements and verify them: Ed25519 over the DSSE v1 encoding. See docs/adr/0002."""

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from desktop.errors import StatementError
from desktop.identity.signer import Signer
from desktop.records.statement import Envelope, Statement
from desktop.rules.dsse import check, from_json, pae, parse_payload, statement_id, to_json

__all__ = ["from_json", "seal", "to_json", "verify"]

_THIS = "This"


def seal(signer: Signer, payload_type: str, payload: bytes) -> Envelope:
    """Sign the exact bytes of `payload`.

    Args:
        signer: the key.
        payload_type: a versioned media type, `application/vnd.gram.run.v1+json`.
        payload: UTF-8 text of one JSON object, at most 1 MB.

    Raises:
        StatementError: `bad_envelope` when `verify` would refuse what it says.
    """
    signature = signer.sign(pae(payload_type, payload))
    envelope = Envelope(payload_type, payload, ((signer.key_id, signature),))
    check(envelope, _THIS)
    parse_payload(payload, _THIS)
    return envelope


def verify(envelope: Envelope, *, signers: int = 1) -> Statement:
    """What the envelope says, once every one of its signatures has been found to fit.

    Args:
        envelope: as read by `from_json`.
        signers: how many keys sign this type of statement. Another number is refused, so that
            nobody can put a key of theirs before the author's. `key_id` is the first.

    Raises:
        StatementError: `bad_signature`, or `bad_envelope` when its shape or payload is wrong.
    """
    check(envelope, _THIS)
    if len(envelope.signatures) != signers:
        detail = f"it has {len(envelope.signatures)} signatures instead of {signers}"
        raise StatementError("bad_envelope", name=_THIS, detail=detail)
    signed = pae(envelope.payload_type, envelope.payload)
    for key_id, signature in envelope.signatures:
        _verify_one(key_id, signature, signed)
    return Statement(
        id=statement_id(envelope.payload),
        key_id=envelope.signatures[0][0],
        payload_type=envelope.payload_type,
        body=parse_payload(envelope.payload, _THIS),
    )


def _verify_one(key_id: str, signature: bytes, signed: bytes) -> None:
    try:
        VerifyKey(bytes.fromhex(key_id)).verify(signed, signature)
    except BadSignatureError as e:
        raise StatementError("bad_signature", key=key_id[-6:]) from e
