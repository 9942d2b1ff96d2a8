"""What a signed run says: all of it, nothing more, the same bytes, and read back whole."""

import hashlib
import json
import time
from dataclasses import fields, is_dataclass, replace
from enum import Enum

import pytest
from jsonschema import Draft202012Validator

from desktop import resources
from desktop.errors import Reason, StatementError
from desktop.identity.envelope import from_json, seal, to_json, verify
from desktop.identity.signer import Signer
from desktop.records.build import Build
from desktop.records.energy import Energy, MeterFacts, MeterKind, Scope, Source
from desktop.records.machine import (
    Accelerator,
    Conditions,
    Cpu,
    Device,
    DeviceKind,
    Machine,
    MemoryModules,
    PowerSupply,
    Thermal,
)
from desktop.records.run import EngineFacts, MemoryHeld, Note, Plan, Rate, Repetition, Run
from desktop.records.statement import Statement
from desktop.rules.rates import rate_of
from desktop.rules.signed_text import build_name, clean, short_or_none
from desktop.rules.statements import RUN_TYPE, result_row, run_from_body, run_payload

GIB = 2**30
NONCE = "0123456789abcdef0123456789abcdef"
AT = "2026-03-04T05:06:07Z"


def repetition(test, start_ns, tokens, *, warmup=False, ns=1_000_000_000):
    steps = (ns // tokens,) * tokens if test.startswith("tg") else ()
    return Repetition(test, warmup, start_ns, start_ns + ns, tokens, steps)


REPETITIONS = (
    repetition("pp512", 5_000_000_000_000, 512, warmup=True),
    *(repetition("pp512", 5_002_000_000_000 + i * 10**9, 512, ns=10**9 + i) for i in range(6)),
    repetition("tg128", 5_020_000_000_000, 128, warmup=True),
    *(repetition("tg128", 5_022_000_000_000 + i * 10**9, 128, ns=2 * 10**9 + i) for i in range(6)),
)


def meter(**changes):
    facts = MeterFacts(
        "CPU load",
        Source.MODELLED,
        MeterKind.INSTANTANEOUS,
        Scope.PACKAGE,
        "detail",
        (Reason("modelled_guest", {"cores": 4}),),
    )
    return replace(facts, **changes)


@pytest.fixture
def run():
    conditions = Conditions(PowerSupply.BATTERY, 81.5, "performance", -3.25, 2.0, 9_000_000_000)
    return Run(
        build=Build(
            "hf.co/ggml-org/gemma-3-1b-it-GGUF:Q4_K_M",
            "ab" * 32,
            806_058_240,
            "gemma3",
            "Gemma 3 1B",
            "Q4_K_M",
            999_885_952,
            32768,
        ),
        machine=Machine(
            "Linux",
            "Debian 12",
            "x86_64",
            Cpu("AMD Ryzen 7 7840U w/ Radeon 780M", 8, 16, 1),
            int(31.2 * GIB),
            (Accelerator("NVIDIA", "Tesla T4", 15 * GIB, False, "0000:00:1e.0", "550.54"),),
            "kvm",
        ),
        engine=EngineFacts(
            "llama.cpp",
            "b5200",
            "CUDA",
            (Device("CUDA0", "Tesla T4", DeviceKind.GPU, "CUDA", 15 * GIB, 14 * GIB),),
            8,
            "enabled",
            -1,
        ),
        plan=Plan(threads=8),
        repetitions=REPETITIONS,
        rates=(Rate("pp512", 1.0, None, 1.0, 1),),
        memory=MemoryHeld(800_000_000, 22_000_000, None, 1_900_000_000),
        energy=(
            ("pp512", Energy(90.5, 0.99, None, meter())),
            ("tg128", Energy(384.0, 1.0, 7.5, meter())),
        ),
        before=conditions,
        after=replace(conditions, temperature_c=None, power_supply=None, battery_percent=None),
        started_at=AT,
        notes=(Note.ON_BATTERY, Note.MODELLED_ENERGY),
    )


def payload(run):
    return run_payload(run, nonce=NONCE, signed_at=AT)


def body(run):
    return json.loads(payload(run))


def refused(code, call, *args, **named):
    with pytest.raises(StatementError) as caught:
        call(*args, **named)
    assert caught.value.code == code
    return str(caught.value)


def test_read_back_it_is_the_run_without_what_is_never_signed(run):
    zero = REPETITIONS[0].start_ns
    moved = tuple(
        replace(r, start_ns=r.start_ns - zero, end_ns=r.end_ns - zero) for r in REPETITIONS
    )
    [card], [device] = run.machine.accelerators, run.engine.devices
    expected = replace(
        run,
        machine=replace(
            run.machine,
            ram_bytes=31 * GIB,
            accelerators=(replace(card, pci_address=None, driver=None),),
        ),
        engine=replace(run.engine, devices=(replace(device, memory_free_bytes=None),)),
        repetitions=moved,
        rates=(rate_of("pp512", moved), rate_of("tg128", moved)),
        energy=tuple(
            (t, replace(e, meter=replace(e.meter, detail="", formulas=()))) for t, e in run.energy
        ),
    )
    again = run_from_body(body(run))
    assert again == expected
    assert payload(again) == payload(run)


def test_it_is_canonical_and_survives_signing(run):
    text = payload(run)
    same = json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert text == same.encode()
    sealed = seal(Signer.from_seed(bytes(32)), RUN_TYPE, text)
    statement = verify(from_json(to_json(sealed), "f"))
    assert run_from_body(statement.body) == run_from_body(body(run))


def told_more(run):
    """The same run on a machine that tells all that it can, on cards that were chosen."""
    modules = MemoryModules("LPDDR5X", 7500, 8, 4)
    cpu = replace(run.machine.cpu, instruction_sets=("avx2", "avx512f"))
    cards = (
        Accelerator("Apple", "Apple M4 Max", 96 * GIB, True, gpu_cores=40),
        Accelerator("NVIDIA", "NVIDIA GeForce RTX 3080", 10 * GIB, False, external=True),
    )
    state = replace(run.before, thermal=Thermal.THROTTLED, display_attached=False)
    machine = replace(run.machine, cpu=cpu, accelerators=cards, modules=modules)
    return replace(
        run, machine=machine, plan=replace(run.plan, devices=("CUDA0", "CUDA1")), before=state
    )


def test_all_that_a_machine_tells_comes_back(run):
    more = told_more(run)
    Draft202012Validator(SCHEMA).validate(body(more))
    again = run_from_body(body(more))
    assert again.machine == replace(more.machine, ram_bytes=31 * GIB)
    assert again.plan == more.plan
    assert again.before == more.before


GOLDEN_SHA256 = "7ecd77174f59e3d58245001ba0f627ceb20b9cabc2f0940469cc864dcf9720ba"


def test_the_bytes_of_version_one_never_change(run):
    assert hashlib.sha256(payload(run)).hexdigest() == GOLDEN_SHA256


SCHEMA = json.loads(resources.text("schemas/run.v1.json"))


def test_the_schema_is_valid_and_the_payload_follows_it(run):
    Draft202012Validator.check_schema(SCHEMA)
    validator = Draft202012Validator(SCHEMA)
    validator.validate(body(run))
    validator.validate(body(bare(run)))
    for key in SCHEMA["required"]:
        assert not validator.is_valid({k: v for k, v in body(run).items() if k != key})
    assert not validator.is_valid({**body(run), "host": "x"})


def bare(run):
    """A run of a machine that tells almost nothing."""
    nothing = Conditions(None, None, None, None, None, None)
    return replace(
        run,
        build=replace(run.build, model_name=None, quantization=None, context_trained=None),
        machine=Machine("Linux", "6.1", "riscv64", Cpu(None, None, None), None),
        engine=replace(run.engine, devices=(), flash_attention=None),
        memory=MemoryHeld(None, None, None, None),
        repetitions=(Repetition("pp512", True, 0, 10**9, 512),),
        energy=(),
        before=nothing,
        after=nothing,
        notes=(),
    )


def test_missing_stays_missing(run):
    again = run_from_body(body(bare(run)))
    assert again == replace(bare(run), rates=())
    assert "null" not in payload(bare(run)).decode()


HOST, USER, SERIAL, MAC = "lagerhaus-7", "wilhelmina", "SN4711-0815", "00:1b:44:11:3a:b7"
HOME = f"/home/{USER}/models"
IPV6 = "fe80::1ff:fe23:4567:890a"
GPU_ID = "GPU-8f6d3a52-1b2c-4d5e-8f90-a1b2c3d4e5f6"
PLANTS = (
    f"{HOME}/", f"C:\\Users\\{USER}\\{HOST}\\", f"\\\\{HOST}\\share\\{SERIAL}\\", f"~/{USER}/{SERIAL}/",
    f"/Users/{USER} {HOST}/x/", f"/dev/disk/by-id/{SERIAL}/", f"{MAC} ", f"{GPU_ID} ", "0000:3b:00.0 ",
    MAC.upper().replace(":", "-") + " ", f"../../home/{USER}/models/", f"./home/{USER}/", f"~{USER}/models/",
    f"..\\..\\Users\\{USER}\\", f"C:Users\\{USER}\\", f"{HOST}.local:50052 ", f"{HOST}:50052 ",
    f"{HOST}.example.org:8080 ", f"nas.{HOST}.lan ", f"{USER}@{HOST}:/srv/", f"{USER}@{HOST}.org ",
    f"models/home/{USER}/", f"{IPV6} ", f"{IPV6}%eth0 ", "2001:db8:0:1:abc1:1:2:3 ", "::ffff:10.9.8.7 ",
    "10.9.8.7:50052 ",
)  # fmt: skip
SECRETS = (
    HOST, USER, SERIAL, MAC, MAC.upper().replace(":", "-"), GPU_ID, "3b:00", "home", "Users", IPV6,
    "eth0", "abc1", "50052", "8080", "10.9.8.7", "ffff",
)  # fmt: skip
NEVER_SIGNED = {"pci_address", "driver", "detail"}
FORMAL = {"sha256", "test", "started_at"}


def planted(value, plant, name=""):
    """`value` with the plant in front of every text that machine, driver or file could fill."""
    if is_dataclass(value):
        changes = {f.name: planted(getattr(value, f.name), plant, f.name) for f in fields(value)}
        return replace(value, **changes)
    if isinstance(value, tuple):
        return tuple(planted(v, plant, name) for v in value)
    if not isinstance(value, str) or isinstance(value, Enum) or name in FORMAL:
        return value
    return f"{plant}{HOST} {USER} {SERIAL}" if name in NEVER_SIGNED else plant + value


@pytest.mark.parametrize("plant", PLANTS)
def test_nothing_that_names_owner_place_or_serial_is_signed(run, plant):
    dirty = planted(replace(run, energy=()), plant)
    dirty = replace(dirty, energy=tuple((t, planted(e, plant)) for t, e in run.energy))
    assert plant + "Tesla T4" in repr(dirty).replace("\\\\", "\\")
    text = payload(dirty).decode()
    found = [s for s in SECRETS if s in text]
    assert not found, found
    again = run_from_body(json.loads(text))
    left = "models/" if plant.startswith("models/") else ""
    assert again.machine.accelerators[0].name == f"{left}Tesla T4"
    assert again.engine.devices[0].description == f"{left}Tesla T4"


@pytest.mark.parametrize(
    ("name", "signed"),
    [
        ("hf.co/ggml-org/gemma-3-1b-it-GGUF:Q4_K_M", "hf.co/ggml-org/gemma-3-1b-it-GGUF:Q4_K_M"),
        ("hf.co/owner/repo", "hf.co/owner/repo"),
        ("hf.co/owner/repo/../../home/eva/x.gguf", "x.gguf"),
        ("SmolLM2-135M.Q4_1.gguf", "SmolLM2-135M.Q4_1.gguf"),
        ("/home/eva/my models/größe 模型.gguf", "größe 模型.gguf"),
        ("models/x.gguf", "x.gguf"),
        ("C:\\Users\\Eva Maria\\x.gguf", "x.gguf"),
        ("C:x.gguf", "x.gguf"),
        ("\\\\server\\eva\\x.gguf", "x.gguf"),
        ("file:///home/eva/x.gguf", "x.gguf"),
        ("gemma3:1b", "gemma3:1b"),
        ("a\nb\x1b[31m.gguf", "a b [31m.gguf"),
        ("x\udcff.gguf", "x .gguf"),
    ],
)
def test_a_build_is_named_without_its_folders(name, signed):
    assert build_name(name) == signed


@pytest.mark.parametrize(
    "text",
    [
        "AMD Ryzen 7 7840U w/ Radeon 780M", "NVIDIA A100-SXM4-80GB/PCIe", "llvmpipe (LLVM 15.0.6, 256 bits)",
        "Intel(R) Core(TM) i7-1185G7 @ 3.00GHz", "Apple M3 Max", "b5200 (1a2b3c4d)", "10.0.22631.3447",
        "AMD Radeon RX 7900 XTX (RADV NAVI31)", "Snapdragon(R) X Elite - X1E80100", "modelled: W/core",
        "NVIDIA GeForce RTX 3080/PCIe/SSE2", "AMD Radeon HD 8200 / R3 Series", "Cortex-A76@2.4GHz",
        "gemma3:1b", "qwen2.5:72", "CUDA:0", "31.0.101.5590", "ggml::backend", "12:34:56", "a ~5 W",
        "Debian GNU/Linux 12 (bookworm), kernel 6.1.0", "meta-llama/Llama-3.2-1B",
    ],
)  # fmt: skip
def test_honest_names_stay_as_they_are(text):
    assert clean(text) == text


@pytest.mark.parametrize(
    ("text", "signed"),
    [
        ("RPC0[gpu-box.lan:50052]", "RPC0"), ("RPC[192.168.1.5:50052]", "RPC"),
        ("RPC0 [fe80::1ff:fe23:4567:890a]:50052", "RPC0"), ("RPC0 [fe80::1%eth0]", "RPC0"),
        ("RPC0 [::1]", "RPC0"), ("AMD Radeon [Navi 31]", "AMD Radeon [Navi 31]"),
    ],
)  # fmt: skip
def test_hosts_in_brackets_are_taken_out(text, signed):
    assert clean(text) == signed


@pytest.mark.parametrize(
    "text",
    [
        "/home/eva", "C:\\Users\\eva", "home/eva", "fe80::1", "::1", "eva@atelier.example", "atelier:50052",
        "[fe80::1]:22", "00:11:22:33:44:55",
    ],
)  # fmt: skip
def test_a_text_that_is_only_a_place_is_no_name(run, text):
    assert clean(text) == ""
    signed = body(replace(run, machine=replace(run.machine, os_version=text, virtual=text)))
    assert signed["machine"]["os_version"] == "unknown"
    assert "virtual" not in signed["machine"]


@pytest.mark.parametrize(
    ("told", "signed"),
    [
        ("../../home/eva/models/Smol", "Smol"), ("models/eva/Smol", "Smol"), ("a/eva/Smol/", "Smol"),
        ("D:\\eva\\Smol", "Smol"), ("meta-llama/Llama-3", "meta-llama/Llama-3"), ("Smol", "Smol"),
    ],
)  # fmt: skip
def test_of_a_path_that_a_converter_took_for_a_title_its_last_part_is_signed(run, told, signed):
    sent = body(replace(run, build=replace(run.build, model_name=told)))
    assert sent["build"]["model_name"] == signed


def test_a_name_of_the_hub_stays_whatever_its_owner_is_called(run):
    for name in ("hf.co/home/users:2024", "hf.co/users/x.local"):
        assert body(replace(run, build=replace(run.build, name=name)))["build"]["name"] == name


@pytest.mark.parametrize(
    "text", ["a" * 4096, "a." * 2048, "a/" * 2048, "home/" * 819, "::" * 2048, "[a:" * 1365]
)
def test_the_longest_text_is_cleaned_quickly(text):
    begun = time.process_time()
    short_or_none(text)
    assert time.process_time() - begun < 1


@pytest.mark.parametrize("name", ["", "/", "/home/eva/", "C:\\"])
def test_a_build_without_a_name_is_not_signed(run, name):
    refused("cannot_sign", payload, replace(run, build=replace(run.build, name=name)))


def test_what_could_not_be_read_back_is_not_signed(run):
    first, *rest = run.repetitions
    still = replace(first, end_ns=first.start_ns)
    for bad in (
        replace(run, engine=replace(run.engine, version="x" * 257)),
        replace(run, engine=replace(run.engine, version="/" * 100_000)),
        replace(run, build=replace(run.build, sha256="AB" * 32)),
        replace(run, repetitions=(still, *rest)),
        replace(run, started_at="yesterday"),
    ):
        refused("cannot_sign", payload, bad)
    refused("cannot_sign", run_payload, run, nonce="short", signed_at=AT)
    refused("cannot_sign", run_payload, run, nonce=NONCE, signed_at="2026-03-04 05:06:07")


@pytest.mark.parametrize("energy_j", [float("nan"), float("inf"), -1.0, 2e12, 1.3e6])
def test_an_energy_that_no_machine_draws_costs_only_itself(run, energy_j):
    first, (test, energy) = run.energy
    signed = body(replace(run, energy=(first, (test, replace(energy, energy_j=energy_j)))))
    assert [e["test"] for e in signed["energy"]] == [first[0]]


@pytest.mark.parametrize("idle_w", [float("nan"), float("inf"), -1.0, 1e19])
def test_an_idle_power_that_no_machine_draws_is_missing(run, idle_w):
    first, (test, energy) = run.energy
    signed = body(replace(run, energy=(first, (test, replace(energy, idle_w=idle_w)))))
    assert "idle_w" not in signed["energy"][1]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("battery_percent", -1.0), ("battery_percent", float("nan")), ("battery_percent", 101.0),
        ("governor", "x" * 5000), ("temperature_c", 900.0), ("temperature_c", float("inf")),
        ("other_load_percent", 100.5), ("memory_available_bytes", -5),
        ("memory_available_bytes", 10**400),
    ],
)  # fmt: skip
def test_an_odd_condition_is_missing_and_costs_nothing_else(run, field, value):
    signed = body(replace(run, before=replace(run.before, **{field: value})))
    expected = body(run)
    expected["before"].pop(field)
    assert signed == expected


def test_odd_facts_of_a_machine_cost_nothing_else(run):
    cpu = Cpu("n" * 5000, 0, -1, 0, 0, ("avx",) * 300)
    card = Accelerator("NVIDIA", "T" * 300, -5, False, gpu_cores=0)
    machine = replace(
        run.machine, cpu=cpu, os_version="v" * 300, ram_bytes=10**400, accelerators=(card,) * 300,
        modules=MemoryModules("D" * 300, True, 0, -1),
    )  # fmt: skip
    engine = replace(
        run.engine, devices=(replace(run.engine.devices[0], description="/" * 100_000),)
    )
    signed = body(replace(run, machine=machine, engine=engine))
    assert signed["machine"]["os_version"] == "v" * 256
    assert signed["machine"]["cpu"] == {"instruction_sets": ["avx"] * 64}
    assert "ram_gib" not in signed["machine"]
    assert len(signed["machine"]["accelerators"]) == 256
    assert signed["machine"]["accelerators"][0] == {
        "vendor": "NVIDIA", "name": "T" * 256, "integrated": False
    }  # fmt: skip
    assert signed["machine"]["modules"] == {"kind": "D" * 256}
    assert signed["engine"]["devices"][0]["description"] == "unknown"


def test_what_is_cut_had_its_folders_and_addresses_taken_out_first(run):
    long = "x" * 250 + f" {GPU_ID}" + f" {HOME}/model"
    signed = body(replace(run, machine=replace(run.machine, os_version=long)))
    assert signed["machine"]["os_version"] == "x" * 250 + " model"[:6]


@pytest.mark.parametrize("texts", [["\x1b]0;pwned\x07"], ["a" * 257], ["avx"] * 65])
@pytest.mark.parametrize("field", ["instruction_sets", "devices", "notes"])
def test_texts_of_a_list_are_short_printable_and_few(run, field, texts):
    sent = body(run)
    holder = {"instruction_sets": sent["machine"]["cpu"], "devices": sent["plan"]}.get(field, sent)
    holder[field] = texts
    assert field in refused("bad_envelope", run_from_body, sent)


@pytest.mark.parametrize(("at", "tokens", "least_ns"), [(0, 512, 51_200), (7, 128, 128_000)])
def test_a_repetition_that_no_hardware_reaches_is_refused(run, at, tokens, least_ns):
    sent = {**body(run), "energy": []}
    sent["repetitions"][at] |= {"duration_ns": least_ns, "step_ns": []}
    assert sent["repetitions"][at]["n_tokens"] == tokens
    run_from_body(sent)
    sent["repetitions"][at]["duration_ns"] = least_ns - 1
    assert "duration_ns" in refused("bad_envelope", run_from_body, sent)


def test_what_others_send_is_checked_field_by_field(run):
    def change(path, value):
        changed = body(run)
        *way, last = path.split(".")
        target = changed
        for step in way:
            target = target[int(step)] if step.isdigit() else target[step]
        target[last] = value
        return changed

    for path, value in (
        ("plan.threads", None), ("plan.threads", "8"), ("plan.threads", True), ("plan.threads", 8.0),
        ("plan.threads", 0), ("plan.threads", 2**63), ("plan.gpu_layers", -2), ("plan", []),
        ("plan.tests", {}), ("plan.tests.0.n_gen", -1), ("plan.target_spread", "x"),
        ("plan.target_spread", 10**400), ("repetitions.0.duration_ns", 0), ("repetitions.0.warmup", 1),
        ("repetitions.0.n_tokens", 0), ("repetitions.3.step_ns", [1, "x"]), ("repetitions", [3]),
        ("build.name", "x" * 257), ("build.name", "a\x1b[2J"), ("build.sha256", "AB" * 32),
        ("engine.devices.0.kind", "quantum"), ("energy.0.meter.source", "guess"),
        ("before.power_supply", "sun"), ("started_at", "2026"), ("machine.ram_gib", 0),
        ("repetitions", []), ("energy.0.covered", 0), ("energy.0.covered", -0.5),
        ("energy.0.covered", 1.01), ("energy.0.covered", float("nan")), ("energy.0.covered", 5e-324),
        ("energy.0.energy_j", -1), ("energy.0.energy_j", float("inf")), ("energy.0.energy_j", 1e13),
        ("energy.0.test", "tg64"), ("energy.0.test", "tg128.x"), ("repetitions.0.n_tokens", 2**40),
        ("repetitions.0.duration_ns", 2**62), ("repetitions.0.start_ns", 2**62),
        ("repetitions.3.step_ns", [1] * 513), ("repetitions.3.step_ns", [2**62]),
        ("plan.tests.0.n_prompt", 2**40), ("plan.tests", [{"n_prompt": 1, "n_gen": 0}] * 257),
        ("machine.ram_gib", 2**62), ("machine.ram_gib", 2**20 + 1),
        ("before.temperature_c", -101), ("before.temperature_c", 200.5),
        ("energy.0.covered", 9e-7), ("energy.0.energy_j", 1e6), ("energy.1.idle_w", 2e5),
        ("started_at", "9999-99-99T99:99:99Z"), ("started_at", "2026-02-30T00:00:00Z"),
    ):  # fmt: skip
        message = refused("bad_envelope", run_from_body, change(path, value))
        assert path.split(".")[-1] in message
    refused("bad_envelope", run_from_body, {})


def test_energy_needs_a_timed_repetition_of_its_test_and_is_there_once(run):
    sent = body(run)
    hostile = [
        {**sent, "repetitions": [r for r in sent["repetitions"] if r["warmup"]]},
        {**sent, "repetitions": []},
        {**sent, "energy": [*sent["energy"], sent["energy"][0]]},
    ]
    for each in hostile:
        refused("bad_envelope", run_from_body, each)


def test_repetitions_are_limited_in_number(run):
    sent = body(run)
    one = {**sent["repetitions"][1], "step_ns": []}
    plan = {**sent["plan"], "max_repetitions": 2_000}
    most = {**sent, "plan": plan, "energy": [], "repetitions": [one] * 2_000}
    assert run_from_body(most).rates[0].repetitions == 2_000
    most |= {"repetitions": [one] * 2_001, "plan": plan | {"max_repetitions": 2_001}}
    assert "repetitions" in refused("bad_envelope", run_from_body, most)


def contradictions(sent):
    """Bodies of which each says two things that cannot both be true, and the field that is named."""
    tests, first = sent["plan"]["tests"], sent["repetitions"][1]
    plan = lambda **changes: {**sent, "plan": {**sent["plan"], **changes}}  # noqa: E731
    again = lambda **changes: {  # noqa: E731
        **sent, "repetitions": [*sent["repetitions"], {**first, **changes}]
    }  # fmt: skip
    yield again(n_tokens=262_144, step_ns=[]), "n_tokens"
    yield again(n_tokens=511), "n_tokens"
    yield again(test="tg[red on white]"), "repetitions.test"
    yield again(test="t" * 250), "repetitions.test"
    yield again(test="pp16", n_tokens=16), "repetitions.test"
    yield again(step_ns=[first["duration_ns"], 1]), "step_ns"
    yield plan(tests=[*tests, tests[0]]), "plan.tests"
    yield plan(tests=[{**tests[0], "n_gen": 4}, tests[1]]), "n_gen"
    yield plan(min_repetitions=31), "min_repetitions"
    yield plan(max_repetitions=5, min_repetitions=1), "repetitions"
    yield plan(warmups=0), "repetitions"


def test_a_run_that_contradicts_itself_is_refused(run):
    for hostile, field in contradictions(body(run)):
        assert field in refused("bad_envelope", run_from_body, hostile)


@pytest.mark.parametrize("energy_j", [0, 1e-300, 9e-7, 0.05])
def test_no_energy_at_all_is_not_believed(run, energy_j):
    # 0.05 J over 6 s are 8 mW
    sent = body(run)
    sent["energy"][0]["energy_j"] = energy_j
    assert "energy_j" in refused("bad_envelope", run_from_body, sent)
    first, *rest = run.energy
    stood_still = (first[0], replace(first[1], energy_j=energy_j))
    signed = body(replace(run, energy=(stood_still, *rest)))
    assert [e["test"] for e in signed["energy"]] == ["tg128"]


def test_notes_are_computed_anew_and_not_believed(run):
    sent = body(run)
    for said in ([], ["synthetic_build", "ran_on_cpu_only"]):
        assert run_from_body({**sent, "notes": said}).notes == run.notes
    sent["build"]["synthetic"] = True
    assert Note.SYNTHETIC in run_from_body(sent).notes


def test_a_statement_of_many_tests_and_repetitions_is_read_quickly(run):
    sent = {**body(run), "energy": []}
    tests = [{"n_prompt": 0, "n_gen": i + 1} for i in range(256)]
    sent["plan"] |= {"tests": tests, "max_repetitions": 2_000, "warmups": 2_000}
    one = {"duration_ns": 10**8, "start_ns": 0, "step_ns": [], "warmup": False}
    sent["repetitions"] = [
        {**one, "test": f"tg{i % 256 + 1}", "n_tokens": i % 256 + 1} for i in range(2_000)
    ]
    begun = time.process_time()
    assert len(run_from_body(sent).rates) == 256
    assert time.process_time() - begun < 1
    # as it was written to cost twenty seconds: one test, named 256 times
    sent["plan"]["tests"] = [tests[3]] * 256
    sent["repetitions"] = [{**one, "test": "tg4", "n_tokens": 4}] * 2_000
    begun = time.process_time()
    assert "twice" in refused("bad_envelope", run_from_body, sent)
    assert time.process_time() - begun < 1


def test_a_test_without_tokens_is_refused(run):
    sent = body(run)
    sent["plan"]["tests"][0] = {"n_prompt": 0, "n_gen": 0}
    assert "without tokens" in refused("bad_envelope", run_from_body, sent)


def test_a_later_minor_version_can_still_be_read(run):
    later = body(run)
    later["new"] = {"x": 1}
    later["build"]["licence"] = "MIT"
    later["notes"] = [*later["notes"], "a_note_of_tomorrow", 7]
    assert run_from_body(later) == run_from_body(body(run))


def row(run):
    found = run_from_body(body(run))
    return result_row(Statement("cd" * 32, "ef" * 32, RUN_TYPE, {}), found)


def test_the_row_of_a_result(run):
    shown = row(run)
    assert (shown.id, shown.key_id, shown.at) == ("cd" * 32, "ef" * 32, AT)
    assert shown.engine == "llama.cpp b5200, CUDA"
    assert shown.prompt_tok_s == pytest.approx(512, rel=1e-6)
    assert shown.generation_tok_s == pytest.approx(64, rel=1e-6)
    assert shown.generation_spread is not None
    assert shown.energy_per_token_j == pytest.approx(384.0 / (6 * 128))
    assert shown.energy_source == "modelled (CPU load)"


def test_the_row_names_a_sensor_and_leaves_out_what_is_not_there(run):
    sensor = Energy(768.0, 1.0, None, meter(name="NVML", source=Source.SENSOR))
    assert row(replace(run, energy=(("tg128", sensor),))).energy_source == "sensor (NVML)"
    shown = row(bare(run))
    assert shown.prompt_tok_s is None
    assert shown.generation_tok_s is None
    assert shown.energy_per_token_j is None
    assert shown.energy_source is None
