"""The envelope: golden bytes, an independent verifier, and everything that must be refused."""

import base64
import json
import random

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from desktop.errors import StatementError
from desktop.identity.envelope import from_json, seal, to_json, verify
from desktop.identity.signer import Signer
from desktop.records.statement import Envelope
from desktop.rules.dsse import pae, statement_id

TYPE = "application/vnd.gram.run.v1+json"
PAYLOAD = '{"a":1,"name":"Grüße 🦙"}'.encode()
SEED = bytes(range(32))
KEY_ID = "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8"
GOLDEN = (
    '{"payload":"eyJhIjoxLCJuYW1lIjoiR3LDvMOfZSDwn6aZIn0=",'
    '"payloadType":"application/vnd.gram.run.v1+json","signatures":[{"keyid":"' + KEY_ID + '",'
    '"sig":"3xa8wTILouvKGqHdUKxyvc3hn8yZnz+wTFRuoEf1nvOJZk6kcCZ9TfPfnjbGDqa/wbezNIr+3G2OiuHhQl57AA=="}]}'
)


@pytest.fixture
def signer():
    return Signer.from_seed(SEED)


@pytest.fixture
def envelope(signer):
    return seal(signer, TYPE, PAYLOAD)


def refused(code, call, *args):
    with pytest.raises(StatementError) as caught:
        call(*args)
    assert caught.value.code == code
    return str(caught.value)


def independent_pae(payload_type, payload):
    kind = payload_type.encode()
    parts = ["DSSEv1", str(len(kind)), kind, str(len(payload)), payload]
    return b" ".join(p if isinstance(p, bytes) else p.encode() for p in parts)


def test_the_bytes_of_version_one_never_change(envelope):
    assert to_json(envelope) == GOLDEN
    assert (
        statement_id(PAYLOAD) == "8c6d26eedb4298fe81de74ad041d41b7abac138c643b2f4330c9f06f8e75e530"
    )


def test_an_independent_library_accepts_the_signature(envelope):
    public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(KEY_ID))
    public.verify(envelope.signatures[0][1], independent_pae(TYPE, PAYLOAD))
    with pytest.raises(InvalidSignature):
        public.verify(envelope.signatures[0][1], independent_pae(TYPE, PAYLOAD + b" "))


def test_lengths_count_bytes_and_not_characters():
    assert pae("typ/ü", "é".encode()) == b"DSSEv1 6 typ/\xc3\xbc 2 \xc3\xa9"
    assert pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )


def test_a_type_outside_ascii_survives(signer):
    sealed = seal(signer, "x/größe+json", PAYLOAD)
    again = from_json(to_json(sealed), "f")
    assert again == sealed
    assert verify(again).payload_type == "x/größe+json"


@pytest.mark.parametrize("kind", ["x/y\n\x1b[2Jholds", "x/\x9b31m", "x/\u202eabc", "x\x7f"])
def test_a_type_that_would_move_a_terminal_is_refused(signer, kind):
    assert "not shown" in refused("bad_envelope", seal, signer, kind, PAYLOAD)
    signed = Envelope(kind, PAYLOAD, ((signer.key_id, signer.sign(pae(kind, PAYLOAD))),))
    assert "not shown" in refused("bad_envelope", verify, signed)
    assert "not shown" in refused("bad_envelope", from_json, to_json(signed), "f")


def test_verify_says_who_and_what(envelope):
    statement = verify(from_json(to_json(envelope), "f"))
    assert statement.key_id == KEY_ID
    assert statement.short_key == "·5531b8"
    assert statement.id == statement_id(PAYLOAD)
    assert statement.body == {"a": 1, "name": "Grüße 🦙"}


@given(st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.booleans())))
def test_json_keeps_every_byte(body):
    payload = json.dumps(body, indent=1).encode()  # not canonical: kept as it is all the same
    sealed = seal(Signer.from_seed(SEED), TYPE, payload)
    text = to_json(sealed)
    assert from_json(text, "f").payload == payload
    assert to_json(from_json(text, "f")) == text
    assert verify(from_json(text, "f")).body == body


def flipped(data, rng):
    place = rng.randrange(len(data))
    return data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :]


def test_one_changed_bit_is_refused(envelope):
    rng = random.Random(7)
    [(key_id, signature)] = envelope.signatures
    for _ in range(60):
        key = flipped(bytes.fromhex(key_id), rng).hex()
        refused("bad_signature", verify, Envelope(TYPE, flipped(PAYLOAD, rng), envelope.signatures))
        refused(
            "bad_signature", verify, Envelope(TYPE, PAYLOAD, ((key_id, flipped(signature, rng)),))
        )
        refused("bad_signature", verify, Envelope(TYPE, PAYLOAD, ((key, signature),)))
        kind = flipped(b"abc/def", rng).decode("latin-1")
        code = "bad_signature" if kind.isprintable() else "bad_envelope"
        refused(code, verify, Envelope(kind, PAYLOAD, envelope.signatures))


def test_the_border_between_type_and_payload_cannot_move(signer):
    sealed = seal(signer, "a", b'{"b":1}')
    moved = Envelope('a 7 {"b":1}', b"", sealed.signatures)
    refused("bad_signature", verify, moved)


def test_nobody_adds_a_key_of_theirs(envelope, signer):
    other = Signer.from_seed(bytes(32))
    extra = (other.key_id, other.sign(pae(TYPE, PAYLOAD)))
    both = Envelope(TYPE, PAYLOAD, (extra, *envelope.signatures))
    assert "2 signatures instead of 1" in refused("bad_envelope", verify, both)
    assert verify(both, signers=2).key_id == other.key_id


def test_every_signature_must_fit(envelope):
    other = Signer.from_seed(bytes(32))
    wrong = (other.key_id, other.sign(b"something else"))
    both = Envelope(TYPE, PAYLOAD, (*envelope.signatures, wrong))
    with pytest.raises(StatementError) as caught:
        verify(both, signers=2)
    assert caught.value.code == "bad_signature"


@pytest.mark.parametrize(
    ("payload", "word"),
    [
        (b"[]", "object"),
        (b"", "JSON"),
        (b'{"a":1,"a":2}', "twice"),
        (b'{"x":{"a":1,"a":1}}', "twice"),
        (b'{"a":NaN}', "NaN"),
        (b'{"a":-Infinity}', "Infinity"),
        (b'{"a":1e999}', "too large"),
        (b'{"a":' + b"[" * 40 + b"]" * 40 + b"}", "deeper"),
        (b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}", "deeper"),
        (b'{"a":"\\ud800"}', "surrogate"),
        (b'{"a":"\xff"}', "UTF-8"),
        ('{"a":1}'.encode("utf-16"), "UTF-8"),
        (b"\xef\xbb\xbf{}", "JSON"),
        (b'{"a":"' + b"x" * 1_000_000 + b'"}', "longer"),
        (b'{"a":' + b"9" * 5000 + b"}", "more than 400 digits"),
        (b'{"a":[-' + b"9" * 100_000 + b"]}", "more than 400 digits"),
    ],
)
def test_payloads_that_two_readers_could_read_differently_are_refused(signer, payload, word):
    assert word in refused("bad_envelope", seal, signer, TYPE, payload)
    signature = signer.sign(pae(TYPE, payload))
    signed = Envelope(TYPE, payload, ((signer.key_id, signature),))
    assert word in refused("bad_envelope", verify, signed)


def changed(**fields):
    body = json.loads(GOLDEN)
    return json.dumps({**body, **fields})


SIGNATURE = json.loads(GOLDEN)["signatures"][0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{}",
        "\ud800",
        "GGUF\x00\x01",
        GOLDEN[:-20],
        GOLDEN + GOLDEN,
        GOLDEN.replace('"payloadType"', '"payload"'),
        changed(payload=None),
        changed(payload=7),
        changed(payload="e30"),
        changed(payload="e31="),
        changed(payload="e3 0="),
        changed(payload="e30=\n"),
        changed(payload="_-8="),
        changed(payload="é"),
        changed(payloadType=""),
        changed(payloadType="x" * 300),
        changed(signatures=[]),
        changed(signatures={}),
        changed(signatures=["x"]),
        changed(signatures=[SIGNATURE, SIGNATURE]),
        changed(signatures=[SIGNATURE] * 9),
        changed(signatures=[{"sig": SIGNATURE["sig"]}]),
        changed(signatures=[{**SIGNATURE, "keyid": ""}]),
        changed(signatures=[{**SIGNATURE, "keyid": KEY_ID.upper()}]),
        changed(signatures=[{**SIGNATURE, "keyid": KEY_ID[:-1]}]),
        changed(signatures=[{**SIGNATURE, "keyid": KEY_ID + "\n"}]),
        changed(signatures=[{**SIGNATURE, "sig": base64.b64encode(b"x" * 63).decode()}]),
    ],
)
def test_what_is_no_envelope_is_refused_by_name(text):
    assert "letter.json" in refused("bad_envelope", from_json, text, "letter.json")


def test_unknown_fields_are_ignored_and_size_is_limited(envelope):
    assert from_json(changed(later=1), "f") == envelope
    assert "longer than 100" in refused("bad_envelope", from_json, GOLDEN, "f", 100)


def test_a_key_that_is_no_point_of_the_curve_is_a_bad_signature(envelope):
    for key_id in ("00" * 32, "ff" * 32, "01" + "00" * 31):
        refused("bad_signature", verify, Envelope(TYPE, PAYLOAD, ((key_id, bytes(64)),)))


def test_a_signer_shows_no_secret(signer):
    assert signer.short == "·5531b8"
    shown = repr(signer) + str(signer)
    assert SEED.hex() not in shown
    assert "SigningKey" not in shown
    with pytest.raises(ValueError, match="32 bytes"):
        Signer.from_seed(b"short")
