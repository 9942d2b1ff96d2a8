"""Rehearsals: which files are made, what is in them, what follows from their times, what is left."""

import os
import queue
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import gguf
import numpy as np
import pytest

from desktop.builds.describe import describe
from desktop.builds.filler import can_fill, filling
from desktop.builds.header import read_header
from desktop.builds.rehearsal_file import (
    can_rehearse,
    make_rehearsal,
)
from desktop.builds.rehearsal_folder import rehearsal_folder, sweep
from desktop.errors import BenchError, BuildError, GramError
from desktop.estimate.catalogue import find
from desktop.estimate.rehearsal import (
    MAX_FILE_BYTES,
    Depth,
    RehearsalPlan,
    plan_rehearsal,
    whole_seconds,
)
from desktop.estimate.sizes import from_header, weights_of
from desktop.network.ledger import Ledger
from desktop.records.events import Phase, Progress, RehearsalFinished
from desktop.records.model import Attention
from desktop.records.rehearsal import RehearsalRequest
from desktop.rules.ggml_types import BLOCKS
from desktop.rules.short_models import blocks_of, shortened
from desktop.services.attempt import Outside
from desktop.services.estimate_tables import quants
from desktop.services.profiles import models
from desktop.services.rehearsals import RehearsalSession, named_build, sweep_left
from desktop.services.slow import SlowCalls
from desktop.services.turn import measuring_turn

PLENTY = 50_000_000_000
ROOT = Path(__file__).parents[2]


def model(name):
    return find(name, models())


def quant(label):
    return find(label, quants())


def plan_of(name, label="Q4_K_M", room=PLENTY):
    return plan_rehearsal(model(name), quant(label), room)


class TestPlan:
    def test_a_small_model_is_rehearsed_whole(self):
        plan = plan_of("smollm2-135m-instruct", "Q8_0")
        assert [len(d.picked) for d in plan.depths] == [30]
        assert plan.depths[0].active_bytes == plan.active_bytes

    def test_a_large_one_by_a_few_layers_from_all_over_it(self):
        plan = plan_of("llama-3.1-8b-instruct")
        shallow, deep = plan.depths
        assert 1 <= len(shallow.picked) < len(deep.picked) <= 8
        assert max(deep.picked) - min(deep.picked) >= 20
        assert deep.file_bytes <= MAX_FILE_BYTES < plan.active_bytes

    def test_hybrids_keep_their_pattern(self):
        whole = model("qwen3.5-9b")
        plan = plan_of("qwen3.5-9b")
        for depth in plan.depths:
            short = shortened(whole, depth.picked)
            by_kind = {g.attention: g.layers for g in short.groups}
            assert by_kind[Attention.RECURRENT] == 3 * by_kind[Attention.FULL]

    def test_dense_first_layers_of_mixtures_are_in_every_file(self):
        plan = plan_of("ernie-4.5-21b-a3b-thinking", "Q4_0")
        assert all(0 in d.picked for d in plan.depths)

    @pytest.mark.parametrize(
        ("name", "label"),
        [("gpt-oss-20b", "MXFP4"), ("granite-4.0-h-micro", "Q4_K_M"), ("gemma-3-12b-it", "Q4_0")],
    )
    def test_every_sort_of_attention_is_in_every_file(self, name, label):
        whole = model(name)
        sorts = {g.attention for g in whole.groups}
        assert len(sorts) > 1
        for depth in plan_of(name, label).depths:
            assert {g.attention for g in shortened(whole, depth.picked).groups} == sorts

    @pytest.mark.parametrize("found", models(), ids=lambda m: m.id)
    def test_every_model_of_the_catalogue_has_a_plan_or_a_reason(self, found):
        plan, code = _plan_or_code(found, quant("Q4_K_M"))
        if plan is None:
            assert code in {"rehearsal_unknown", "rehearsal_too_large"}
            return
        assert 1 <= len(plan.depths) <= 2
        assert all(d.file_bytes <= MAX_FILE_BYTES for d in plan.depths)
        sizes = [d.active_bytes for d in plan.depths]
        assert sizes == sorted(set(sizes))

    def test_no_room_is_a_reason_with_both_sizes(self):
        with pytest.raises(GramError) as e:
            plan_of("llama-3.1-8b-instruct", room=100_000_000)
        assert e.value.code == "rehearsal_too_large"
        assert e.value.reason.params["free_gb"] == 0.1
        assert e.value.reason.params["need_gb"] > 0.9

    def test_a_format_of_another_engine_is_a_reason(self):
        with pytest.raises(GramError) as e:
            plan_of("llama-3.1-8b-instruct", "AWQ 4-bit")
        assert e.value.code == "rehearsal_unknown"

    def test_layers_that_are_not_there_cannot_be_picked(self):
        with pytest.raises(ValueError, match="no layers"):
            shortened(model("smollm2-135m-instruct"), (0, 30))

    def test_blocks_are_the_shortest_rows_that_repeat(self):
        lead, *blocks = blocks_of(model("qwen3.5-9b"))
        assert lead == ()
        assert blocks[0] == (0, 1, 2, 3)
        assert len(blocks) == 8


class TestWhole:
    SHALLOW, DEEP = Depth((0, 1), 200, 0), Depth((0, 1, 2, 3), 300, 0)

    def plan(self, *depths, whole=1000):
        return RehearsalPlan(model("smollm2-135m-instruct"), quant("Q4_0"), "Q4_0", whole, depths)

    def test_what_is_linear_in_bytes_is_found_exactly(self):
        def seconds(size):
            return 0.005 + 1e-5 * size

        times = [[seconds(d.active_bytes)] * 6 for d in (self.SHALLOW, self.DEEP)]
        span = whole_seconds(self.plan(self.SHALLOW, self.DEEP), times)
        assert span.middle == pytest.approx(seconds(1000))
        assert span.low < span.middle < span.high

    def test_the_further_it_is_carried_the_wider(self):
        times = [[0.010, 0.011, 0.010], [0.020, 0.019, 0.020]]
        near = whole_seconds(self.plan(self.SHALLOW, self.DEEP, whole=400), times)
        far = whole_seconds(self.plan(self.SHALLOW, self.DEEP, whole=4000), times)
        assert far.high / far.low > near.high / near.low > 1.1

    def test_on_a_machine_that_varies_another_run_may_differ_as_much(self):
        calm, varied = ([0.0100, 0.0101] * 3, [0.0085, 0.0116] * 3)
        plan = self.plan(self.DEEP, whole=300)
        quiet, busy = whole_seconds(plan, [calm]), whole_seconds(plan, [varied])
        assert quiet.high / quiet.low < 1.25
        assert busy.low < 0.0085
        assert busy.high > 0.0116

    def test_a_whole_one_is_what_was_measured(self):
        span = whole_seconds(self.plan(self.DEEP, whole=300), [[0.010, 0.012, 0.011]])
        assert span.middle == 0.011

    def test_more_layers_that_took_no_longer_are_noise(self):
        with pytest.raises(GramError) as e:
            whole_seconds(self.plan(self.SHALLOW, self.DEEP), [[0.02], [0.01]])
        assert e.value.code == "rehearsal_noisy"


class TestFiles:
    @pytest.mark.parametrize(
        ("name", "label"),
        [
            ("smollm2-135m-instruct", "Q4_K_M"),
            ("gemma-3-270m-it", "Q4_K_M"),
            ("qwen3.5-0.8b", "Q4_0"),
            ("lfm2-350m", "Q8_0"),
            ("granite-3.1-1b-a400m-instruct", "IQ4_XS"),
        ],
    )
    def test_the_file_holds_what_the_plan_counted(self, tmp_path, name, label):
        picked = (0, *range(4, 8))
        path = tmp_path / "r.gguf"
        whole = model(name)
        make_rehearsal(path, whole, quant(label).file_type, picked, lambda _d, _t: None)
        found = from_header(read_header(path))
        weights = weights_of(whole, quant(label))
        parts = [p for p in weights.parts if p.layer in {None, *picked}]
        assert found.capacity_bytes == sum(p.bytes for p in parts)
        assert found.active_bytes == sum(p.active_bytes for p in parts)
        assert path.stat().st_size >= found.capacity_bytes

    @pytest.mark.parametrize("kind", [k for k in BLOCKS if can_fill(k)])
    def test_weights_are_random_small_and_finite(self, kind):
        block = BLOCKS[kind]
        size = 300_000 // block.block_bytes * block.block_bytes
        data = b"".join(bytes(piece) for piece in filling(kind, size))
        assert len(data) == size
        assert len(set(data[: 4096 * 4])) > 60  # no run of zeros that a device could skip
        values = _values(kind, np.frombuffer(data, np.uint8))
        assert np.isfinite(values).all()
        assert 1e-4 < np.abs(values).mean() < 1.0
        assert abs(values.mean()) < 0.3 * np.abs(values).mean()

    def test_types_without_a_filling_are_refused(self):
        assert not can_rehearse(model("smollm2-135m-instruct"), "IQ1_M")
        assert not can_rehearse(model("smollm2-135m-instruct"), None)
        with pytest.raises(ValueError, match="IQ1_M"):
            list(filling("IQ1_M", 56))

    def test_what_was_made_for_a_rehearsal_is_no_build(self, tmp_path):
        path = tmp_path / "r.gguf"
        make_rehearsal(path, model("smollm2-135m-instruct"), "Q4_0", (0,), lambda _d, _t: None)
        with pytest.raises(BuildError) as e:
            describe(path)
        assert e.value.code == "rehearsal_no_result"

    def test_stopped_in_the_middle_leaves_nothing(self, tmp_path):
        def stop(done, _total):
            if done > 1_000_000:
                raise BenchError("cancelled")

        path = tmp_path / "r.gguf"
        with pytest.raises(BenchError):
            make_rehearsal(path, model("smollm2-135m-instruct"), "Q4_0", (0, 1), stop)
        assert not list(tmp_path.iterdir())

    @pytest.mark.skipif(
        sys.platform != "linux" or os.geteuid() != 0, reason="mounting needs root on Linux"
    )
    def test_a_full_disk_is_told_and_left_empty(self, tmp_path):
        with small_disk(tmp_path, 4096) as folder, pytest.raises(BuildError) as e:
            make_rehearsal(
                folder / "r.gguf", model("smollm2-135m-instruct"), "Q4_0", (0,), lambda _d, _t: None
            )
        assert e.value.code == "build_write"
        assert "space" in str(e.value)


KILLED = """
import os, sys
from desktop.builds.rehearsal_file import make_rehearsal
from desktop.builds.rehearsal_folder import rehearsal_folder
from desktop.paths import default_paths
from desktop.estimate.catalogue import find
from desktop.services.profiles import models
def progress(done, total):
    if done > 3_000_000:
        os.write(1, b"made\\n")
        sys.stdin.read()
paths = default_paths().ensure()
path = rehearsal_folder(paths) / "r.gguf"
make_rehearsal(path, find("smollm2-135m-instruct", models()), "Q4_0", (0, 1), progress)
"""


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX's")
def test_what_a_killed_program_left_is_swept(home):
    command = [sys.executable, "-c", KILLED]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stdout.readline() == b"made\n"
        process.send_signal(signal.SIGKILL)
    assert list(rehearsal_folder(home).iterdir())
    sweep(home)
    assert not rehearsal_folder(home).exists()


class TestNames:
    def test_a_build_is_named_by_exact_keys(self):
        found, kind = named_build("llama-3.2-1b-instruct:Q4_K_M")
        assert (found.id, kind.id) == ("llama-3.2-1b-instruct", "q4_k_m")

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("", "rehearsal_name"),
            (" ", "rehearsal_name"),
            (":", "rehearsal_name"),
            (":Q4_K_M", "rehearsal_name"),
            ("llama", "rehearsal_name"),
            ("llama:Q4_K_M", "rehearsal_name"),
            ("llama-3.2-1b-instruct", "rehearsal_no_quant"),
            ("llama-3.2-1b-instruct:", "rehearsal_no_quant"),
            ("llama-3.2-1b-instruct: ", "rehearsal_no_quant"),
            ("llama-3.2-1b-instruct:Q9", "quant_unknown"),
            ("llama-3.2-1b-instruct:Q4_K_M:Q4_0", "quant_unknown"),
            ("llama-3.2-1b-instruct:MXFP4", "estimate_mixtures_only"),
        ],
    )
    def test_anything_else_is_told(self, text, code):
        with pytest.raises(GramError) as e:
            named_build(text)
        assert e.value.code == code

    @pytest.mark.parametrize("text", ["llama-3.2-1b-instruct", "llama-3.2-1b-instruct:Q9"])
    def test_a_model_without_a_known_quantization_gets_the_labels_that_there_are(self, text):
        """The model's own name is no advice for who has written it."""
        with pytest.raises(GramError) as e:
            named_build(text)
        advice = e.value.reason.advice()
        assert "Near" not in advice
        assert all(f" {label}" in advice for label in ("Q4_K_M", "IQ2_XS", "BF16"))
        # no file of llama.cpp, and no file of a dense model
        assert not any(label in advice for label in ("FP8", "AWQ", "MXFP4"))

    def test_near_names_are_suggested(self):
        with pytest.raises(GramError) as e:
            named_build("llama-3.2-1b-instrukt:Q4_0")
        assert "llama-3.2-1b-instruct" in str(e.value)


@pytest.mark.engine
class TestSession:
    @pytest.fixture
    def session(self, home):
        slow = SlowCalls()
        events = queue.SimpleQueue()

        def make(build, *, post=events.put, fault=None):
            outside = Outside(home, slow, "a test", os.environ, fault)
            return RehearsalSession(RehearsalRequest(build, threads=1, tokens=8), outside, post)

        yield make
        slow.shutdown()

    def test_a_speed_without_a_download_and_nothing_signed_or_left(self, session, home, events):
        end = session("smollm2-135m-instruct:Q4_0", post=events.append).run()
        assert isinstance(end, RehearsalFinished)
        found = end.rehearsal
        assert found.low_tok_s < found.middle_tok_s < found.high_tok_s
        assert found.depths[0].layers == found.layers == 30
        assert len(found.depths[0].token_s) == 6
        assert found.backend == "CPU"
        assert not rehearsal_folder(home).exists()
        assert Ledger(home.ledger).entries() == [] or not home.ledger.exists()
        fractions = [e.fraction for e in events if isinstance(e, Progress)]
        assert fractions == sorted(fractions)
        assert {e.phase for e in events if isinstance(e, Progress)} == {
            Phase.PREPARING, Phase.MEASURING,
        }  # fmt: skip

    def test_a_crash_of_the_engine_leaves_no_file(self, session, home):
        with pytest.raises(BenchError) as e:
            session("smollm2-135m-instruct:Q4_0", fault="crash").run()
        assert e.value.code == "worker_crashed"
        assert not rehearsal_folder(home).exists()

    def test_stop_while_measuring_ends_it_and_leaves_no_file(self, session, home):
        running = None

        def stop(event):
            if isinstance(event, Progress) and event.phase is Phase.MEASURING:
                running.cancel()

        running = session("smollm2-135m-instruct:Q4_0", post=stop)
        with pytest.raises(BenchError) as e:
            running.run()
        assert e.value.code == "cancelled"
        assert not rehearsal_folder(home).exists()


@pytest.fixture
def events():
    return []


@contextmanager
def small_disk(folder, size_kb):
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size_kb}k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def _plan_or_code(found, kind):
    try:
        return plan_rehearsal(found, kind, PLENTY), None
    except GramError as e:
        return None, e.code


def _values(kind, data):
    if kind == "BF16":
        return (data.view("<u2").astype(np.uint32) << 16).view(np.float32)
    raw = gguf.GGMLQuantizationType[kind]
    return gguf.quants.dequantize(data, raw)


def test_who_looks_what_fits_tidies_up_unless_somebody_measures(home):
    left = rehearsal_folder(home) / "r.gguf"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"x")
    measuring = measuring_turn(
        home, "a test", wait=False, cancelled=lambda: False, notice=lambda _: None
    )
    with measuring:
        sweep_left(home)
        assert left.exists()
    sweep_left(home)
    assert not left.parent.exists()
    sweep_left(home)
