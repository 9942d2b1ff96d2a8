"""Golden bytes with every key of version 1 set, and schemas that bound as the readers do."""

import json
import math
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator

from desktop import resources
from desktop.errors import StatementError
from desktop.records.machine import Search
from desktop.records.run import Note
from desktop.rules.statements import parts_from_body, parts_payload, run_from_body, run_payload
from tests.golden import full
from tests.golden.walk import changed, places, resolved

READERS = {"run": run_from_body, "parts": parts_from_body}
WRITERS = {"run": run_payload, "parts": parts_payload}
RECORDS = {"run": full.full_run, "parts": full.full_parts}
SCHEMAS = {name: json.loads(resources.text(f"schemas/{name}.v1.json")) for name in READERS}
NEWEST = {"run": "run.v1.c.json", "parts": "parts.v1.c.json"}
"""With every key that is known today."""
OLDER = {
    "run.v1.json": "run",
    "run.v1.b.json": "run",
    "parts.v1.json": "parts",
    "parts.v1.b.json": "parts",
}
"""As earlier versions wrote them: readable for ever."""
GOLDEN = {name: (full.HERE / file).read_bytes() for name, file in NEWEST.items()}
BODIES = {name: json.loads(told) for name, told in GOLDEN.items()}
VALIDATORS = {name: Draft202012Validator(schema) for name, schema in SCHEMAS.items()}
STAMP = {"nonce", "signed_at"}
"""What the envelope's reader checks."""
MANY = 10_000
BOTH = pytest.mark.parametrize("name", READERS)


def named(places_of):
    return [
        pytest.param(n, place, id=f"{n}:{'.'.join(map(str, place.path))}") for n, place in places_of
    ]


ALL = [(name, place) for name in READERS for place in places(SCHEMAS[name], BODIES[name])]
NUMBERS = named((n, p) for n, p in ALL if p.rule.get("type") in {"integer", "number"})
LISTS = named((n, p) for n, p in ALL if p.rule.get("type") == "array" and p.value)
TEXTS = named((n, p) for n, p in ALL if p.rule.get("type") == "string" and p.path[0] not in STAMP)


@BOTH
def test_the_bytes_with_every_key_never_change(name):
    payload = WRITERS[name](RECORDS[name](), nonce=full.NONCE, signed_at=full.SIGNED_AT)
    assert payload == GOLDEN[name]


@BOTH
def test_read_back_they_are_the_record(name):
    again = READERS[name](BODIES[name])
    told = RECORDS[name]()
    if name == "run":
        # of one repetition a test: notes are computed anew, whatever was signed
        assert again.notes == (Note.FEW, Note.ON_BATTERY, Note.CARDS_UNKNOWN)
        again = replace(again, notes=told.notes)
    assert again == told
    payload = WRITERS[name](again, nonce=full.NONCE, signed_at=full.SIGNED_AT)
    assert payload == GOLDEN[name]


@pytest.mark.parametrize(("file", "name"), OLDER.items())
def test_what_earlier_versions_wrote_is_read_and_written_as_ever(file, name):
    told = (full.HERE / file).read_bytes()
    body = json.loads(told)
    VALIDATORS[name].validate(body)
    again = READERS[name](body)
    if name == "run":
        again = replace(again, notes=tuple(map(Note, body["notes"])))
    assert WRITERS[name](again, nonce=full.NONCE, signed_at=full.SIGNED_AT) == told


@BOTH
def test_what_is_told_is_not_unknown(name):
    body = json.loads(GOLDEN[name])
    machine = body["machine"]
    machine["unknown"] = ["virtual", "cards", "a newer one's word", "cards"]
    assert refused(name, body)
    del machine["virtual"]
    assert READERS[name](body).machine.unknown == (Search.CARDS, Search.VIRTUAL)


@BOTH
def test_they_follow_the_schema_and_no_key_of_it_is_left_out(name):
    schema = SCHEMAS[name]
    VALIDATORS[name].validate(BODIES[name])
    told, known = {}, {}
    for place in places(schema, BODIES[name]):
        if place.rule.get("type") == "object":
            kind = tuple(step for step in place.path if isinstance(step, str))
            told.setdefault(kind, set()).update(place.value)
            known[kind] = set(place.rule["properties"])
    assert told == known


def is_within(name, path, body):
    """Whether the field that stands there is within the reader's bound, whatever else is wrong."""
    field = ".".join(step for step in path if isinstance(step, str))
    try:
        READERS[name](body)
    except StatementError as e:
        detail = str(e.reason.params["detail"])
        bounds = ("is out of range", "is not a number", " items")
        return not (detail.startswith(f"{field} ") and detail.endswith(bounds))
    return True


def refused(name, body):
    try:
        READERS[name](body)
    except StatementError:
        return True
    return False


def beyond(bound, way):
    """The next number after a bound: a float has none of its own beyond 2^53."""
    if isinstance(bound, int) and abs(bound) >= 2**53:
        return bound + way
    return math.nextafter(bound, way * math.inf)


@pytest.mark.parametrize(("name", "place"), NUMBERS)
def test_a_number_one_step_beyond_its_bound_is_refused_by_schema_and_reader(name, place):
    low, high = place.rule["minimum"], place.rule["maximum"]
    whole = place.rule["type"] == "integer"
    for bound, way in ((low, -1), (high, 1)):
        out = bound + way if whole else beyond(bound, way)
        body = changed(BODIES[name], place.path, out)
        assert not VALIDATORS[name].is_valid(body)
        assert refused(name, body), out
        body = changed(BODIES[name], place.path, bound)
        assert VALIDATORS[name].is_valid(body)
        assert is_within(name, place.path, body), bound


@pytest.mark.parametrize(("name", "place"), LISTS)
def test_a_list_longer_than_its_bound_is_refused_by_schema_and_reader(name, place):
    most = place.rule["maxItems"]
    many = [place.value[0]] * (most + 1)
    body = changed(BODIES[name], place.path, many)
    if most < MANY:
        assert not VALIDATORS[name].is_valid(body)
        assert VALIDATORS[name].is_valid(changed(BODIES[name], place.path, many[:-1]))
    assert refused(name, body)
    # as many steps as tokens, and no more: the reader knows how many those are
    if place.path[-1] != "step_ns":
        assert is_within(name, place.path, changed(BODIES[name], place.path, many[:-1]))


@pytest.mark.parametrize(("name", "place"), TEXTS)
def test_a_text_longer_than_its_bound_is_refused_by_schema_and_reader(name, place):
    assert "maxLength" in place.rule or "pattern" in place.rule
    body = changed(BODIES[name], place.path, "x" * 257)
    assert not VALIDATORS[name].is_valid(body)
    assert refused(name, body)


def test_a_rule_is_what_it_refers_to_and_what_it_says_itself():
    schema = {"$defs": {"a": {"minimum": 1}, "b": {"$ref": "#/$defs/a", "maximum": 3}}}
    assert resolved(schema, {"allOf": [{"$ref": "#/$defs/b"}], "maximum": 2}) == {
        "minimum": 1,
        "maximum": 2,
    }
