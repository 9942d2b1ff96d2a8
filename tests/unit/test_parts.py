"""The machine's parts: sizes, repetition, order, the real device, the statement, the session."""

import hashlib
import json
import math
import os
import queue
from contextlib import contextmanager
from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from desktop import resources
from desktop.bench import parts_sizes as sizes
from desktop.bench.parts import Tools, measure_parts
from desktop.bench.parts_data import agree, random_block
from desktop.bench.parts_protocol import PartsJob, PartStarted
from desktop.bench.parts_repeat import Repeater
from desktop.bench.parts_tasks import ALL_TESTS, Task, tasks_of
from desktop.bench.protocol import Finished
from desktop.bench.tensors import CannotMeasureError
from desktop.cli import main, parts_show
from desktop.cli.parts import PartsLine
from desktop.errors import BenchError, StatementError
from desktop.identity.envelope import seal
from desktop.identity.signer import Signer
from desktop.network.ledger import Ledger
from desktop.records.events import (
    Devices,
    PartDone,
    PartMissed,
    PartsKnown,
    PartStep,
    Phase,
    Progress,
    RunFailed,
)
from desktop.records.machine import (
    Accelerator,
    Conditions,
    Cpu,
    Device,
    DeviceKind,
    Machine,
    PowerSupply,
)
from desktop.records.parts import (
    Part,
    PartRate,
    Parts,
    PartSkip,
    PartsPlan,
    PartsRequest,
    PartTest,
    Skipped,
)
from desktop.records.request import Curves, Signing
from desktop.records.run import Note
from desktop.rules.ggml_types import size_bytes
from desktop.rules.marks import SIGNS, signs
from desktop.rules.notes import PARTS_WORDS, notes_of_parts
from desktop.rules.parts_rates import (
    READING,
    caches_may_help,
    memory_bandwidth_bytes_s,
    part_rate,
    rates_of,
    work_of,
)
from desktop.rules.parts_words import TESTS, WHY
from desktop.rules.statements import PARTS_TYPE, parts_from_body, parts_payload
from desktop.services.app_services import AppServices
from desktop.services.attempt import Outside
from desktop.services.parts_measurement import PartsMeasurement
from desktop.services.results import kept_parts, newest_parts, verified
from desktop.services.slow import SlowCalls
from desktop.services.turn import measuring_turn

MS, S = 10**6, 10**9
GIB, MIB = 2**30, 2**20
CPU = Device("CPU", "EPYC", DeviceKind.CPU, "CPU", 24 * GIB, 24 * GIB)
CARD = Device("CUDA0", "Tesla T4", DeviceKind.GPU, "CUDA", 15 * GIB, 14 * GIB, "0000:00:1e.0")
SOFTWARE = Device("Vulkan0", "llvmpipe", DeviceKind.SOFTWARE, "Vulkan", 24 * GIB, 24 * GIB)
BLAS = Device("BLAS", "OpenBLAS", DeviceKind.ACCELERATOR, "BLAS")


class TestRates:
    def test_work_is_what_one_pass_does(self):
        assert work_of(PartTest.MATMUL_F16, (4096, 512, 4096, 1)) == 2 * 4096 * 512 * 4096
        assert work_of(PartTest.MATVEC_F16, (4096, 1, 4096, 16)) == 512 * MIB
        for name in ("F16", "Q8_0", "Q6_K", "Q4_K", "Q4_0"):
            test = PartTest(f"matvec_{name.lower()}")
            assert work_of(test, (512, 1, 4096, 3)) == 3 * size_bytes(name, 512 * 4096)
        # 4.5, 8.5 and 6.5625 bits a weight
        assert work_of(PartTest.MATVEC_Q4_0, (4096, 1, 4096, 1)) == 4096 * 4096 * 4.5 / 8
        assert work_of(PartTest.MATVEC_Q4_K, (4096, 1, 4096, 1)) == 4096 * 4096 * 4.5 / 8
        assert work_of(PartTest.MATVEC_Q8_0, (4096, 1, 4096, 1)) == 4096 * 4096 * 8.5 / 8
        assert work_of(PartTest.MATVEC_Q6_K, (4096, 1, 4096, 1)) == 4096 * 4096 * 6.5625 / 8
        assert work_of(PartTest.COPY, (1000,)) == 8000
        assert work_of(PartTest.SMALL_GRAPH, (32,)) == 1

    @pytest.mark.parametrize("shape", [(), (1, 2), (1, 2, 3, 4)])
    def test_a_small_graph_has_one_side(self, shape):
        assert work_of(PartTest.SMALL_GRAPH, shape) is None

    def test_a_shape_of_another_test_has_no_work(self):
        assert work_of(PartTest.COPY, (1, 2, 3, 4)) is None
        assert work_of(PartTest.MATVEC_F16, (4096,)) is None
        # several columns are a product, and rows are whole blocks
        assert work_of(PartTest.MATVEC_F16, (4096, 2, 4096, 1)) is None
        assert work_of(PartTest.MATVEC_Q4_K, (4096, 1, 4097, 1)) is None

    def test_the_rate_is_the_median_of_work_over_time(self):
        times = (10 * MS, 10 * MS, 20 * MS, 10 * MS, 10 * MS, 11 * MS)
        rate = part_rate(Part("CPU", PartTest.MATVEC_F16, 2, 512 * MIB, times))
        assert rate.median == pytest.approx(512 * MIB / 0.010)
        assert rate.spread == pytest.approx(
            (512 * MIB / 0.010 - 512 * MIB / 0.020) / 2 / rate.median
        )
        assert rate.repetitions == 6

    def test_a_small_graph_is_told_in_seconds_a_graph(self):
        rate = part_rate(Part("CPU", PartTest.SMALL_GRAPH, 2, 1000, (4 * MS,), (32,)))
        assert rate == PartRate(
            "CPU", PartTest.SMALL_GRAPH, 2, pytest.approx(4e-6), None, 1, marks=(Note.FEW,)
        )

    def test_the_bandwidth_is_the_most_that_a_devices_memory_gave(self):
        def rate(device, test, value, pass_bytes=512 * MIB):
            return PartRate(device, test, None, value, None, 1, pass_bytes)

        rates = (
            rate("CPU", PartTest.COPY, 20e9),
            rate("CPU", PartTest.MATVEC_F16, 23e9),
            rate("CPU", PartTest.MATMUL_F16, 1e12, None),
            rate("CUDA0", PartTest.COPY, 240e9),
        )
        assert memory_bandwidth_bytes_s(rates, "CPU") == 23e9
        assert memory_bandwidth_bytes_s(rates, "Vulkan0") is None

    def test_rates_that_caches_may_have_helped_are_not_of_memory(self):
        def rate(test, shape):
            return part_rate(Part("CPU", test, 2, work_of(test, shape), (10 * MS,), shape))

        cached = rate(PartTest.MATVEC_Q4_0, sizes.shapes_of(PartTest.MATVEC_Q4_0, GIB)[-1])
        first = rate(PartTest.COPY, sizes.shapes_of(PartTest.COPY, None)[0])
        assert cached.pass_bytes == 135 * MIB
        assert first.pass_bytes == 8 * MIB
        assert caches_may_help(cached)
        assert memory_bandwidth_bytes_s([cached, first], "CPU") is None
        whole = rate(PartTest.COPY, (64 * MIB,))
        assert not caches_may_help(whole)
        assert memory_bandwidth_bytes_s([cached, first, whole], "CPU") == whole.median
        graph = part_rate(Part("CPU", PartTest.SMALL_GRAPH, 2, 1, (5_000,), (32,)))
        assert graph.pass_bytes is None
        assert not caches_may_help(graph)


def limits(pass_ms, least_pass_ms=None, least_bytes=512 * MIB):
    return sizes.Limits(pass_ms * MS, (least_pass_ms or pass_ms) * MS, least_bytes)


class TestSizes:
    @pytest.mark.parametrize("test", PartTest)
    @pytest.mark.parametrize("memory", [None, 0, GIB, 24 * GIB, 140 * GIB])
    def test_they_grow_and_leave_three_quarters_of_the_memory(self, test, memory):
        shapes = sizes.shapes_of(test, memory)
        held = [sizes.held_bytes(test, shape) for shape in shapes]
        assert held == sorted(set(held))
        limit = memory // 4 if memory is not None else GIB
        assert all(h <= limit for h in held[1:])

    def test_the_tests_of_memory_are_the_copy_and_every_matrix_vector_product(self):
        assert set(PartTest) - READING == {PartTest.MATMUL_F16, PartTest.SMALL_GRAPH}

    @pytest.mark.parametrize("test", sorted(READING))
    def test_with_memory_enough_many_caches_are_read(self, test):
        assert sizes.held_bytes(test, sizes.shapes_of(test, 8 * GIB)[-1]) >= 512 * MIB

    def test_a_product_on_a_slow_device_stays_small(self):
        """A large one takes 40 s on a software device (0.4 GFLOP/s)."""
        shapes = sizes.shapes_of(PartTest.MATMUL_F16, None)
        took = round(work_of(PartTest.MATMUL_F16, shapes[0]) / 0.4)
        assert sizes.next_size(PartTest.MATMUL_F16, shapes, 0, took, limits(100)) is None

    def test_a_matrix_vector_test_leaves_the_cache_even_when_it_is_slow_enough(self):
        test = PartTest.MATVEC_F16
        shapes = sizes.shapes_of(test, 8 * GIB)
        at = sizes.next_size(test, shapes, 0, 20 * MS, limits(400))
        assert sizes.held_bytes(test, shapes[at]) == 512 * MIB

    def test_where_that_takes_too_long_it_takes_what_caches_do_not_hold_and_no_less(self):
        """32 MiB take 50 ms: 512 MiB would take 800 ms, 128 MiB 200 ms."""
        test = PartTest.MATVEC_F16
        shapes = sizes.shapes_of(test, 8 * GIB)

        def size(at, least_mib, pass_ms, least_pass_ms):
            took = round(50 * MS * sizes.held_bytes(test, shapes[at]) / (32 * MIB))
            bounds = limits(pass_ms, least_pass_ms, least_mib * MIB)
            found = sizes.next_size(test, shapes, at, took, bounds)
            return None if found is None else sizes.held_bytes(test, shapes[found]) // MIB

        # more time than is usual is taken for what caches do not hold
        assert size(0, 128, 90, 210) == 128
        assert size(0, 512, 90, 900) == 512
        # from there on as far as the usual time reaches
        assert size(2, 128, 410, 600) == 256
        assert size(2, 128, 390, 600) is None
        # rather nothing than a rate of caches
        assert size(0, 128, 90, 190) is None
        assert size(0, 512, 410, 790) is None
        assert not sizes.is_large_enough(test, shapes, 0, 128 * MIB)
        assert sizes.is_large_enough(test, shapes, 2, 128 * MIB)

    def test_without_memory_for_more_the_largest_is_taken_though_caches_may_hold_it(self):
        test = PartTest.MATVEC_F16
        shapes = sizes.shapes_of(test, GIB)
        at = sizes.next_size(test, shapes, 0, 50 * MS, limits(210, 630))
        assert sizes.held_bytes(test, shapes[at]) == 256 * MIB
        assert at == len(shapes) - 1
        assert sizes.is_large_enough(test, shapes, at, 512 * MIB)
        assert not sizes.is_large_enough(test, shapes, at - 1, 512 * MIB)

    def test_fast_memory_is_read_in_gigabytes(self):
        test = PartTest.MATVEC_F16
        shapes = sizes.shapes_of(test, 140 * GIB)
        first = sizes.next_size(test, shapes, 0, 20_000, limits(400))
        # 1.6 TB/s: 320 µs
        assert sizes.held_bytes(test, shapes[first]) == 512 * MIB
        at = sizes.next_size(test, shapes, first, 320_000, limits(400))
        assert sizes.held_bytes(test, shapes[at]) == 4 * GIB
        assert sizes.next_size(test, shapes, at, 2_560_000, limits(400)) is None

    def test_devices_that_share_memory_have_what_is_free_of_it(self):
        assert sizes.usable_bytes(CPU, 3 * GIB) == 3 * GIB
        assert sizes.usable_bytes(SOFTWARE, 3 * GIB) == 3 * GIB
        apple = Device("MTL0", "Apple M4", DeviceKind.GPU, "MTL", 11 * GIB, 11 * GIB)
        assert sizes.usable_bytes(apple, 3 * GIB) == 3 * GIB
        assert sizes.usable_bytes(CARD, 3 * GIB) == 14 * GIB
        assert sizes.usable_bytes(replace(CPU, memory_free_bytes=None), None) is None


class Fake:
    """A device on a clock of its own: `flops`, `bytes_s`, and a fixed cost of a graph."""

    def __init__(self, flops=200e9, bytes_s=20e9, noise=(1.0,), most_bytes=math.inf):
        self.now = 0
        self.flops, self.bytes_s = flops, bytes_s
        self.noise = cycle(noise)
        self.most_bytes = most_bytes
        self.results_right = True
        self.fails = False
        self.sent = []
        self.opened = []
        self.shapes = []

    @contextmanager
    def workload(self, test, shape):
        if sizes.held_bytes(test, shape) > self.most_bytes:
            raise CannotMeasureError(Skipped.MEMORY)
        self.shapes.append(shape)
        self.now += 100 * MS
        yield FakeLoad(self, test, shape)

    @contextmanager
    def open(self, device, threads):
        self.opened.append((device.name, threads))
        if device.name == "broken":
            raise CannotMeasureError(Skipped.FAILED)
        yield self

    def part(self, test, plan=None, share_s=4.5, memory=8 * GIB, longest_s=None):
        task, shares = Task(CPU, 2, test), (share_s, longest_s or share_s)
        return Repeater(
            task,
            self,
            plan or PartsPlan(),
            memory,
            lambda: self.now,
            *(round(s * S) for s in shares),
        ).part()

    def all(self, devices, **job):
        plan = job.pop("plan", PartsPlan(threads=2))
        tools = Tools(lambda: self.now, self.sent.append, self.open)
        measure_parts(PartsJob(plan, 20 * GIB, **job), devices, tools)
        return [m for m in self.sent if not isinstance(m, PartStarted)]


class FakeLoad:
    def __init__(self, device, test, shape):
        self.device, self.test = device, test
        rate = device.flops if test is PartTest.MATMUL_F16 else device.bytes_s
        self.ns = 5_000 if test is PartTest.SMALL_GRAPH else work_of(test, shape) / rate * S

    def compute(self):
        if self.device.fails:
            raise CannotMeasureError(Skipped.FAILED)
        self.device.now += round(self.ns * next(self.device.noise))

    def right(self):
        return self.device.results_right


class TestRepeat:
    def test_steady_values_stop_at_six_and_give_the_devices_rate(self):
        part = Fake().part(PartTest.MATVEC_F16)
        assert len(part.durations_ns) == 6
        assert part.work == 512 * MIB
        assert part_rate(part).median == pytest.approx(20e9, rel=1e-6)

    def test_noise_goes_on_to_the_limit_of_repetitions(self):
        plan = PartsPlan(max_repetitions=12)
        part = Fake(noise=(1.0, 1.3)).part(PartTest.MATVEC_F16, plan)
        assert len(part.durations_ns) == 12

    def test_the_time_ends_it_after_one_repetition_at_least(self):
        fake = Fake(bytes_s=2.5e9)
        part = fake.part(PartTest.MATVEC_F16, share_s=1.0)
        assert 1 <= len(part.durations_ns) < 6
        assert part_rate(part).spread is None
        assert part_rate(part).marks == (Note.FEW,)
        assert fake.now < 2 * S

    def test_it_may_take_longer_to_come_to_six_repetitions_and_to_no_more(self):
        fake = Fake(bytes_s=2.5e9, noise=(1.0, 1.4))
        part = fake.part(PartTest.MATVEC_F16, share_s=1.0, longest_s=5.0)
        assert len(part.durations_ns) == 6
        assert S < fake.now < 4 * S

    def test_what_caches_may_hold_is_no_figure_where_there_was_memory_for_more(self):
        """At 0.05 GB/s 512 MiB take 11 s, 128 MiB 2.7 s; 32 MiB would be measured in 0.7 s."""
        slow = Fake(bytes_s=0.05e9)
        with pytest.raises(CannotMeasureError) as e:
            slow.part(PartTest.MATVEC_F16)
        assert e.value.why is Skipped.TIME
        assert slow.now < 4 * S
        known = PartsPlan(last_level_cache_bytes=32 * MIB)
        part = Fake(bytes_s=0.05e9).part(PartTest.MATVEC_F16, known, share_s=12.0)
        assert sizes.held_bytes(part.test, part.shape) == 128 * MIB
        assert Note.CACHED not in part_rate(part, known, DeviceKind.CPU).marks
        # of a card nobody tells the caches
        assert Note.CACHED in part_rate(part, known, DeviceKind.GPU).marks
        little = Fake(bytes_s=1e9).part(PartTest.MATVEC_F16, known, memory=GIB // 4)
        assert Note.CACHED in part_rate(little, known, DeviceKind.CPU).marks

    def test_one_disturbed_pass_does_not_decide_the_size(self):
        # each size's second pass of five takes a thousand times as long
        disturbed = Fake(noise=(1.0, 1000.0, 1.0, 1.0, 1.0, 1.0))
        part = disturbed.part(PartTest.MATMUL_F16)
        assert part.shape == Fake().part(PartTest.MATMUL_F16).shape

    def test_a_repetition_takes_ten_milliseconds_at_least(self):
        part = Fake(bytes_s=4.8e12).part(PartTest.MATVEC_F16, memory=140 * GIB)
        assert part.shape[0] * part.shape[3] * 4096 * 2 >= 4 * GIB
        assert min(part.durations_ns) >= 10 * MS
        assert part.work % work_of(part.test, part.shape) == 0
        graph = Fake().part(PartTest.SMALL_GRAPH)
        assert (graph.work, graph.durations_ns[0]) == (2000, 10 * MS)

    def test_what_does_not_fit_is_tried_smaller(self):
        fake = Fake(most_bytes=300 * MIB)
        part = fake.part(PartTest.MATVEC_F16)
        assert sizes.held_bytes(part.test, part.shape) == 256 * MIB

    def test_a_device_without_any_memory_is_skipped(self):
        with pytest.raises(CannotMeasureError) as e:
            Fake(most_bytes=0).part(PartTest.COPY)
        assert e.value.why is Skipped.MEMORY

    def test_a_wrong_result_is_no_measurement(self):
        fake = Fake()
        fake.results_right = False
        with pytest.raises(CannotMeasureError) as e:
            fake.part(PartTest.MATMUL_F16)
        assert e.value.why is Skipped.WRONG

    def test_a_product_grows_until_it_takes_fifty_milliseconds(self):
        fake = Fake(flops=200e9)
        part = fake.part(PartTest.MATMUL_F16)
        assert part.shape == (4096, 512, 4096, 1)
        assert min(part.durations_ns) >= 50 * MS


class TestOrder:
    def test_the_processor_is_measured_with_one_thread_and_with_all(self):
        groups = tasks_of([CARD, BLAS, SOFTWARE, CPU], PartsPlan(threads=8))
        assert [(g[0].device.name, g[0].threads, len(g)) for g in groups] == [
            ("CUDA0", None, 8),
            ("Vulkan0", None, 8),
            ("CPU", 1, 3),
            ("CPU", 8, 8),
        ]
        assert len(tasks_of([CPU], PartsPlan(threads=1))) == 1

    def test_every_test_ends_in_a_figure(self):
        fake = Fake()
        done = fake.all([CPU])
        assert [(p.test, p.threads) for p in done[:3]] == [
            (PartTest.MATMUL_F16, 1),
            (PartTest.MATVEC_F16, 1),
            (PartTest.COPY, 1),
        ]
        # what costs next to nothing comes first
        assert [p.test for p in done[3:]] == [PartTest.SMALL_GRAPH, *list(PartTest)[:-1]]
        started = [m for m in fake.sent if isinstance(m, PartStarted)]
        assert [s.index for s in started] == list(range(11))
        assert {s.planned for s in started} == {11}
        assert fake.now < 30 * S

    @pytest.mark.parametrize("cache_bytes", [None, 32 * MIB])
    def test_a_software_device_a_thousand_times_slower_keeps_to_the_time(self, cache_bytes):
        """At 0.2 GB/s a pass over 512 MiB takes 2.7 s, over 128 MiB 0.7 s."""
        fake = Fake(flops=0.4e9, bytes_s=0.2e9, noise=(1.0, 1.4))
        plan = PartsPlan(threads=2, last_level_cache_bytes=cache_bytes)
        done = fake.all([SOFTWARE, CPU], plan=plan)
        assert fake.now < 60 * S
        measured = [p for p in done if isinstance(p, Part)]
        left_out = [p for p in done if isinstance(p, PartSkip)]
        assert {p.test for p in left_out} <= READING
        assert {p.why for p in left_out} <= {Skipped.TIME}
        of_memory = [part_rate(p, plan, DeviceKind.CPU) for p in measured if p.test in READING]
        assert of_memory
        assert not any(map(caches_may_help, of_memory))

    def test_a_device_that_cannot_be_opened_costs_only_itself(self):
        done = Fake().all([replace(CARD, name="broken"), CPU])
        assert done[:8] == [PartSkip("broken", t, None, Skipped.FAILED) for t in ALL_TESTS]
        assert all(isinstance(p, Part) for p in done[8:])
        assert len(done) == 19

    def test_an_error_of_the_backend_is_told(self):
        fake = Fake()
        fake.fails = True
        assert {p.why for p in fake.all([CARD])} == {Skipped.FAILED}

    def test_without_time_nothing_is_guessed(self):
        done = Fake().all([CARD, CPU], plan=PartsPlan(threads=2, time_limit_s=0.0))
        left_out = [p for p in done if p.test is not PartTest.SMALL_GRAPH]
        assert {p.why for p in left_out} == {Skipped.TIME}
        assert len(left_out) == 17

    def test_the_small_graph_is_there_whatever_time_is_left(self):
        fake = Fake()
        done = fake.all([SOFTWARE, CPU], plan=PartsPlan(threads=2, time_limit_s=0.0))
        graphs = [p for p in done if isinstance(p, Part)]
        assert [(p.device, p.test) for p in graphs] == [
            ("Vulkan0", PartTest.SMALL_GRAPH),
            ("CPU", PartTest.SMALL_GRAPH),
        ]
        assert fake.now < S

    def test_devices_that_are_done_are_left_out(self):
        fake = Fake()
        fake.all([CARD, CPU], without=("CUDA0",))
        assert fake.opened == [("CPU", 1), ("CPU", 2)]


class TestData:
    def test_no_number_is_near_zero_and_no_half_is_denormal(self):
        block = random_block(1)
        assert abs(block).min() >= 2**-10
        assert abs(block.astype(np.float16)).min() > np.finfo(np.float16).tiny
        assert (block < 0).mean() == pytest.approx(0.5, abs=0.01)
        assert block.std() == pytest.approx(1, abs=0.01)

    def test_rounding_and_quantization_agree_and_nothing_else_does(self):
        rng = np.random.default_rng(2)
        expected = rng.standard_normal(256, dtype=np.float32) * 64
        noise = rng.standard_normal(256, dtype=np.float32) * 8
        assert agree(expected, expected + noise)
        for wrong in (
            np.zeros(256, np.float32),
            np.full(256, np.nan, np.float32),
            np.full(256, np.inf, np.float32),
            noise,
            -expected,
            np.roll(expected, 1),
        ):
            assert not agree(expected, wrong)


@pytest.fixture
def parts():
    nothing = Conditions(None, None, None, None, None, None)
    return Parts(
        machine=Machine(
            "Linux",
            "Debian 12",
            "x86_64",
            Cpu("AMD EPYC", 1, 2, 1, 2),
            23 * GIB,
            (Accelerator("NVIDIA", "Tesla T4", 15 * GIB, False, "0000:00:1e.0", "550.54"),),
        ),
        engine="llama.cpp",
        engine_version="0.5.0",
        devices=(CARD, CPU),
        plan=PartsPlan(2, 6, 40, 0.025, 50.0),
        parts=(
            Part("CPU", PartTest.MATVEC_Q4_0, 2, 9437184, (400_000, 410_000), (4096, 1, 4096, 1)),
            Part("CUDA0", PartTest.COPY, None, 16_000, (7, 8, 9), (1000,)),
            Part("CPU", PartTest.SMALL_GRAPH, 2, 1000, (5 * MS,), (32,)),
        ),
        before=nothing,
        after=replace(nothing, other_load_percent=1.5),
        started_at="2026-03-04T05:06:07Z",
        skipped=(PartSkip("CUDA0", PartTest.MATMUL_F16, None, Skipped.CRASHED),),
    )


def payload(parts):
    return parts_payload(parts, nonce="0123456789abcdef", signed_at="2026-03-04T05:06:09Z")


def body(parts):
    return json.loads(payload(parts))


class TestStatement:
    GOLDEN_SHA256 = "31c3481f6dc6af5e65410d15394d1a507e0e997a1d65dd14d47f5c807d00a88f"

    def test_read_back_it_is_the_parts_without_what_is_never_signed(self, parts):
        again = parts_from_body(body(parts))
        [card] = parts.machine.accelerators
        assert again == replace(
            parts,
            machine=replace(
                parts.machine, accelerators=(replace(card, pci_address=None, driver=None),)
            ),
            devices=tuple(
                replace(d, memory_free_bytes=None, pci_address=None) for d in parts.devices
            ),
        )
        assert payload(again) == payload(parts)

    def test_the_bytes_of_version_one_never_change(self, parts):
        assert hashlib.sha256(payload(parts)).hexdigest() == self.GOLDEN_SHA256

    def test_the_schema_is_valid_and_the_payload_follows_it(self, parts):
        schema = json.loads(resources.text("schemas/parts.v1.json"))
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(schema)
        validator.validate(body(parts))
        for key in schema["required"]:
            assert not validator.is_valid({k: v for k, v in body(parts).items() if k != key})
        for name, values in (("test", PartTest), ("why", Skipped)):
            known = [
                d["properties"][name]["enum"]
                for d in schema["$defs"].values()
                if name in d.get("properties", {}) and "enum" in d["properties"][name]
            ]
            assert all(k == [v.value for v in values] for k in known)
            assert known

    def test_no_address_of_a_card_is_signed(self, parts):
        assert "1e.0" not in payload(parts).decode()

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("device", "Vulkan7"), ("test", "sudoku"), ("threads", 0), ("work", 0), ("work", 10**18 + 1),
            ("work", 9437185), ("durations_ns", []), ("durations_ns", [0]), ("durations_ns", [-1]),
            ("durations_ns", [10**17]), ("durations_ns", [1] * 1001), ("shape", []), ("shape", [4096]),
            ("shape", [0, 0, 0, 0]), ("shape", [2**41, 1, 1, 1]), ("shape", [1] * 5),
            ("shape", [1, 1, 1, 1]), ("durations_ns", [1.5]), ("work", True),
            # a processor without threads, a matrix-vector product with two columns
            ("threads", None), ("shape", [4096, 2, 4096, 1]),
            # 9.4 MB in 9 ns: above any memory
            ("durations_ns", [400_000, 9]),
        ],
    )  # fmt: skip
    def test_what_others_send_is_checked_field_by_field(self, parts, field, value):
        sent = body(parts)
        sent["parts"][0][field] = value
        with pytest.raises(StatementError) as e:
            parts_from_body(sent)
        assert e.value.code == "bad_envelope"

    def test_no_part_and_a_part_told_twice_are_refused(self, parts):
        sent = body(parts)
        for hostile in (
            {**sent, "parts": []},
            {**sent, "parts": [*sent["parts"], sent["parts"][0]]},
            {**sent, "skipped": [{"device": "CPU", "test": "copy", "why": "mood"}]},
            {**sent, "plan": {**sent["plan"], "threads": 0}},
            {**sent, "engine": {}},
            {},
        ):
            with pytest.raises(StatementError):
                parts_from_body(hostile)

    def test_rates_that_no_hardware_reaches_are_refused(self, parts):
        for part in (
            Part("CPU", PartTest.MATMUL_F16, 2, 2 * 4096**3, (1373,), (4096, 4096, 4096, 1)),
            Part("CPU", PartTest.COPY, 2, 8 * 10**6, (79,), (10**6,)),
            Part("CPU", PartTest.MATVEC_Q8_0, 2, 17_825_792, (178,), (4096, 1, 4096, 1)),
            Part("CPU", PartTest.SMALL_GRAPH, 2, 1001, (1000,), (32,)),
        ):
            slower = replace(part, durations_ns=(part.durations_ns[0] * 2,))
            rest = replace(parts, parts=(slower,))
            assert parts_from_body(body(rest)).parts == (slower,)
            sent = body(rest)
            sent["parts"][0]["durations_ns"] = list(part.durations_ns)
            with pytest.raises(StatementError) as e:
                parts_from_body(sent)
            assert "durations_ns" in str(e.value)

    @pytest.mark.parametrize("shape", [[], [32, 1]])
    def test_a_small_graph_of_another_shape_is_refused(self, parts, shape):
        sent = body(parts)
        sent["parts"][2]["shape"] = shape
        with pytest.raises(StatementError) as e:
            parts_from_body(sent)
        assert e.value.code == "bad_envelope"

    def test_a_part_has_one_thread_or_the_plans(self, parts):
        sent = body(parts)
        sent["parts"][0]["threads"] = 1
        assert parts_from_body(sent).parts[0].threads == 1
        sent["parts"][0]["threads"] = 3
        with pytest.raises(StatementError) as e:
            parts_from_body(sent)
        assert "parts.threads" in str(e.value)

    def test_the_least_repetitions_are_not_more_than_the_most(self, parts):
        sent = body(parts)
        sent["plan"]["min_repetitions"] = 41
        with pytest.raises(StatementError) as e:
            parts_from_body(sent)
        assert "plan.min_repetitions" in str(e.value)

    def test_a_part_has_no_more_repetitions_than_the_plan_allows(self, parts):
        sent = body(parts)
        most = max(len(part["durations_ns"]) for part in sent["parts"])
        sent["plan"] |= {"min_repetitions": 1, "max_repetitions": most}
        parts_from_body(sent)
        sent["plan"]["max_repetitions"] = most - 1
        with pytest.raises(StatementError) as e:
            parts_from_body(sent)
        assert "parts.durations_ns" in str(e.value)

    def test_a_long_name_of_a_device_costs_no_measurement(self, parts):
        long = replace(CARD, name="C" * 300, description="d" * 300)
        renamed = tuple(
            replace(p, device=long.name if p.device == CARD.name else p.device) for p in parts.parts
        )
        found = parts_from_body(
            body(replace(parts, devices=(long, CPU), parts=renamed, skipped=()))
        )
        assert [p.device for p in found.parts] == ["CPU", "C" * 256, "CPU"]
        assert found.devices[0].description == "d" * 256

    @pytest.mark.parametrize(
        ("skip", "field"),
        [
            ({"device": "Vulkan7", "test": "copy"}, "device"),
            ({"device": "CPU", "test": "matvec_q4_0", "threads": 2}, "test"),
            ({"device": "CUDA0", "test": "matmul_f16"}, "test"),
            ({"device": "CUDA0", "test": "matvec_f16", "threads": 2}, "threads"),
            ({"device": "CPU", "test": "copy"}, "threads"),
        ],
    )
    def test_a_reason_is_of_a_listed_device_and_of_a_test_without_a_figure(
        self, parts, skip, field
    ):
        sent = body(parts)
        sent["skipped"].append({**skip, "why": "time"})
        with pytest.raises(StatementError) as e:
            parts_from_body(sent)
        assert f"skipped.{field}" in str(e.value)

    def test_a_card_has_no_threads(self, parts):
        sent = body(parts)
        sent["parts"][1]["threads"] = 4
        with pytest.raises(StatementError) as e:
            parts_from_body(sent)
        assert "parts.threads" in str(e.value)

    def test_a_name_stands_for_one_device(self, parts):
        sent = body(parts)
        sent["engine"]["devices"].append({**sent["engine"]["devices"][0], "description": "T4 too"})
        with pytest.raises(StatementError) as e:
            parts_from_body(sent)
        assert "engine.devices" in str(e.value)

    @pytest.mark.parametrize("field", ["other_load_percent", "battery_percent"])
    def test_percents_end_at_a_hundred(self, parts, field):
        sent = body(parts)
        sent["after"][field] = 100.0
        assert getattr(parts_from_body(sent).after, field) == 100
        sent["after"][field] = 100.5
        with pytest.raises(StatementError) as e:
            parts_from_body(sent)
        assert field in str(e.value)

    def test_what_could_not_be_read_back_is_not_signed(self, parts):
        for bad in (
            replace(parts, parts=()),
            replace(parts, engine_version="x" * 257),
            replace(parts, plan=replace(parts.plan, target_spread=math.nan)),
        ):
            with pytest.raises(StatementError) as e:
                payload(bad)
            assert e.value.code == "cannot_sign"

    def test_the_newest_that_is_kept_is_shown(self, parts, home):
        assert newest_parts(home) == PartsKnown()
        signer = Signer.from_seed(bytes(32))
        for moved in (parts, replace(parts, started_at="2026-03-05T05:06:07Z")):
            envelope = seal(signer, PARTS_TYPE, payload(moved))
            kept = Ledger(home.ledger).keep(envelope, "2026-03-05T05:06:08Z")
        known = newest_parts(home)
        assert known.at == "2026-03-05T05:06:07Z"
        assert known.key_id == signer.key_id
        assert known.rates == rates_of(parts)
        assert (known.skipped, known.devices) == (kept_parts(home).parts.skipped, known.devices)
        assert [d.name for d in known.devices] == [d.name for d in parts.devices]
        checked = verified(home, kept[:12])
        assert checked.run is None
        assert checked.parts.parts == parts.parts

    def test_what_was_kept_last_is_shown_again_in_the_terminal(self, parts, home, capsys):
        assert main(["parts", "--last"]) == 1
        assert "were not measured here yet" in capsys.readouterr().err
        signer = Signer.from_seed(bytes(32))
        kept = Ledger(home.ledger).keep(
            seal(signer, PARTS_TYPE, payload(parts)), "2026-03-05T05:06:08Z"
        )
        assert main(["parts", "--last"]) == 0
        said = capsys.readouterr().out
        assert f"signed ·{signer.key_id[-6:]}, kept as {kept[:12]}" in said
        assert "CPU, 2 threads" in said


class TestNotes:
    """What parts say of themselves follows from what is signed."""

    STEADY = (4 * MS,) * 6

    def part(self, **changes):
        whole = Part(
            "CUDA0", PartTest.MATVEC_F16, None, 512 * MIB, self.STEADY, (4096, 1, 4096, 16)
        )
        return replace(whole, **changes)

    def notes(self, told, **changes):
        calm = replace(told, parts=(self.part(),), after=told.before, skipped=())
        return notes_of_parts(parts_from_body(body(replace(calm, **changes))))

    def test_of_a_quiet_machine_there_are_none(self, parts):
        assert self.notes(parts) == ()
        assert self.notes(parts, after=replace(parts.after, other_load_percent=5.0)) == ()

    def test_each_condition_has_its_note(self, parts):
        busy = replace(parts.after, other_load_percent=5.1)
        battery = replace(parts.before, power_supply=PowerSupply.BATTERY)
        wide = self.part(durations_ns=(4 * MS, 5 * MS) * 3)
        small = self.part(work=32 * MIB, shape=(4096, 1, 4096, 1))
        drawn = self.part(device="Vulkan0")
        for note, changes in (
            (Note.OTHER_LOAD, {"after": busy}),
            (Note.ON_BATTERY, {"before": battery}),
            (Note.ON_BATTERY, {"after": battery}),
            (Note.SPREAD, {"parts": (wide,)}),
            (Note.FEW, {"parts": (self.part(durations_ns=self.STEADY[:5]),)}),
            (Note.CACHED, {"parts": (small,)}),
            (Note.SOFTWARE_DEVICE, {"parts": (drawn,), "devices": (SOFTWARE,)}),
        ):
            assert self.notes(parts, **changes) == (note,)
            assert PARTS_WORDS[note]

    def test_a_software_device_without_a_figure_is_no_matter(self, parts):
        assert self.notes(parts, devices=(CARD, SOFTWARE)) == ()

    def test_the_plans_own_goal_decides(self, parts):
        wide = self.part(durations_ns=(4 * MS, 5 * MS) * 3)
        generous = replace(parts.plan, target_spread=0.2)
        assert self.notes(parts, parts=(wide,), plan=generous) == ()

    def test_marks_stand_at_the_figure_that_they_are_of(self, parts):
        rates = rates_of(replace(parts, parts=(self.part(), self.part(durations_ns=(MS,)))))
        assert [signs(rate.marks) for rate in rates] == ["", "?"]
        assert {signs((mark,)) for mark in SIGNS} == {"!", "?", "c"}

    def test_software_devices_are_held_by_the_processors_caches(self, parts):
        drawn = self.part(device="Vulkan0", work=128 * MIB, shape=(4096, 1, 4096, 4))
        plan = replace(parts.plan, last_level_cache_bytes=32 * MIB)
        told = replace(parts, devices=(SOFTWARE,), plan=plan, parts=(drawn,))
        assert rates_of(told)[0].marks == ()
        larger = replace(plan, last_level_cache_bytes=33 * MIB)
        assert rates_of(replace(told, plan=larger))[0].marks == (Note.CACHED,)
        # a virtual machine is told less than there is
        less = replace(plan, last_level_cache_bytes=MIB)
        assert rates_of(replace(told, plan=less))[0].marks == ()
        halved = replace(drawn, work=64 * MIB, shape=(4096, 1, 4096, 2))
        assert rates_of(replace(told, plan=less, parts=(halved,)))[0].marks == (Note.CACHED,)


GROUPS = ("Vulkan0", "CPU, 1 thread", "CPU, 2 threads")


def step(device, threads, number):
    at = PartStep(device, PartTest.MATVEC_Q4_0, threads, number, 11)
    return Progress(Phase.MEASURING, f"{device} matvec_q4_0", 0.5, 9.0, at)


class TestTerminal:
    @pytest.mark.parametrize(
        ("event", "words"),
        [
            (Progress(Phase.LOADING, None, 0.0, None), "Starting the engine"),
            (Progress(Phase.PREPARING, None, 0.0, None), "Preparing"),
            (step("CPU", 1, 3), "CPU, 1 thread: matrix-vector, Q4_0 (3 of 11)"),
            (step("CPU", 2, 9), "CPU, 2 threads: matrix-vector, Q4_0 (9 of 11)"),
            (step("CUDA0", None, 1), "CUDA0: matrix-vector, Q4_0 (1 of 11)"),
            (Progress(Phase.SIGNING, None, 1.0, None), "Signing"),
        ],
    )
    def test_the_moving_line_speaks_of_parts(self, event, words):
        assert PartsLine(quiet=True).words(event) == words

    def rows(self, capsys):
        """The lines of tests, without what only aligns them."""
        lines = capsys.readouterr().out.splitlines()
        return [" ".join(line.split()) for line in lines if line.strip()]

    def test_figures_to_be_read_with_care_are_marked_and_a_line_says_why(self, parts, capsys):
        cached = Part("CPU", PartTest.COPY, 2, 128 * MIB, (4 * MS,) * 6, (16 * MIB,))
        few = Part("CPU", PartTest.MATVEC_F16, 2, 512 * MIB, (40 * MS,), (4096, 1, 4096, 16))
        whole = replace(few, device="CUDA0", threads=None, durations_ns=(4 * MS,) * 6)
        wide = replace(whole, test=PartTest.SMALL_GRAPH, work=1, shape=(32,))
        wide = replace(wide, durations_ns=(4 * MS, 8 * MS) * 3)
        busy = replace(parts.after, other_load_percent=63.0)
        parts_show.parts(replace(parts, parts=(cached, few, wide, whole), after=busy))
        said = self.rows(capsys)
        assert "CPU, 2 threads copy, F32 33.6 GB/s c ± 0.0 % 6 16,777,216 values, 128 MiB" in said
        assert (
            "CPU, 2 threads matrix-vector, F16 13.4 GB/s ? 1 16 matrices of 4096 × 4096, 512 MiB"  # noqa: RUF001
            in said
        )
        assert "CUDA0 small graph 6,000 µs ! ± 33.3 % 6 32 values" in said
        assert (
            "CUDA0 matrix-vector, F16 134 GB/s ± 0.0 % 6 16 matrices of 4096 × 4096, 512 MiB"  # noqa: RUF001
            in said
        )
        for note in (Note.SPREAD, Note.FEW, Note.CACHED):
            assert f"Note {SIGNS[note]} {PARTS_WORDS[note]}" in said
        told = f"Note {PARTS_WORDS[Note.OTHER_LOAD]}"
        assert any(line.startswith(told[:90]) for line in said)

    def test_one_matrix_is_one(self, parts, capsys):
        parts_show.parts(parts)
        assert any("1 matrix of 4096 × 4096, 9.00 MiB" in row for row in self.rows(capsys))  # noqa: RUF001

    def test_what_has_no_figure_is_told_with_its_reason(self, parts, capsys):
        few = tuple(
            PartSkip("CPU", t, 2, Skipped.TIME) for t in (PartTest.COPY, PartTest.MATVEC_F16)
        )
        parts_show.parts(replace(parts, skipped=(*parts.skipped, *few)))
        said = self.rows(capsys)
        assert "No figure — CUDA0: product, F16: the measuring process ended or fell silent" in said
        assert "No figure — CPU, 2 threads: copy, F32; matrix-vector, F16: not enough time" in said

    @pytest.mark.parametrize("columns", [60, 80, 100, None])
    def test_rows_are_told_apart_at_any_width(self, parts, columns, capsys, monkeypatch):
        monkeypatch.delenv("COLUMNS", raising=False)
        if columns is not None:
            monkeypatch.setenv("COLUMNS", str(columns))
        # the second half of the repetitions takes twice as long
        done = tuple(
            replace(p, durations_ns=p.durations_ns * 3 + tuple(2 * d for d in p.durations_ns) * 3)
            for p in Fake().all([SOFTWARE, CPU])
        )
        parts_show.parts(replace(parts, devices=(SOFTWARE, CPU), parts=done, skipped=()))
        lines = capsys.readouterr().out.splitlines()
        assert columns is None or max(map(len, lines)) <= columns
        assert "…" not in "".join(lines)
        device, found = None, []
        for line in map(str.strip, lines):
            named = next((n for n in GROUPS if line.startswith(n)), None)
            device = named or device
            test = next((t for t in TESTS.values() if f"{t}  " in line), None)
            if test:
                # the test, its median with the unit, the mark, the spread: each whole
                rest = line.partition(test)[2].split()
                assert rest[1] in {"GFLOP/s", "GB/s", "µs"}
                assert rest[2:4] == ["!", "±"]
                found.append((device, test))
        assert found == [
            (group, TESTS[test])
            for group in GROUPS
            for test in (ALONE if group == GROUPS[1] else PartTest)
        ]

    def test_the_order_of_measuring_is_not_the_order_of_reading(self, parts, capsys):
        done = Fake().all([SOFTWARE, CPU])
        parts_show.parts(replace(parts, devices=(SOFTWARE, CPU), parts=tuple(done), skipped=()))
        rows = [
            line
            for line in capsys.readouterr().out.splitlines()
            if TESTS[PartTest.COPY] in line or TESTS[PartTest.SMALL_GRAPH] in line
        ]
        assert [(row.split("  ")[0]) for row in rows] == [
            "Vulkan0", "Vulkan0", "CPU, 1 thread", "CPU, 2 threads", "CPU, 2 threads",
        ]  # fmt: skip
        assert TESTS[PartTest.SMALL_GRAPH] in rows[-1]

    @pytest.mark.parametrize("seconds", ["nan", "inf", "0", "-1", "601"])
    def test_seconds_out_of_range_are_refused(self, home, seconds, capsys):
        assert main(["parts", "--unsigned", f"--seconds={seconds}"]) == 2
        assert "1<=x<=600" in capsys.readouterr().err

    def test_every_test_and_every_reason_has_words(self):
        assert set(TESTS) == set(PartTest)
        assert set(WHY) == set(Skipped)


class FakeWorker:
    """Plays back messages; an error among them is raised."""

    def __init__(self, *messages, pid=None):
        self._messages = messages
        self.pid = pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def messages(self):
        for message in self._messages:
            if isinstance(message, Exception):
                raise message
            yield message


class FakeLoadWindow:
    def __init__(self):
        self.asked = []

    def other_percent(self, pids):
        self.asked.append(set(pids))
        return 12.5


FIRST_PID = 4_000_000
LISTED = Devices("llama.cpp", "1", (CARD, CPU))
COPY = Part("CPU", PartTest.COPY, 2, 8000, (1000,), (1000,))
ALL_ON_CPU = tuple(
    replace(COPY, test=test, threads=threads)
    for threads, tests in ((1, ("matmul_f16", "matvec_f16", "copy")), (2, PartTest))
    for test in map(PartTest, tests)
)
ALL_ON_CARD = tuple(replace(COPY, device="CUDA0", test=t, threads=None) for t in PartTest)
ON_CARD = PartStarted("CUDA0", PartTest.COPY, None, 0, 2)
ON_CPU = PartStarted("CPU", PartTest.COPY, 2, 1, 2)
END = Finished(None, None, None, None)
CRASH = BenchError("worker_crashed", outcome="signal SIGABRT")
ALONE = (PartTest.MATMUL_F16, PartTest.MATVEC_F16, PartTest.COPY)
"""With one thread."""


def crashed(device, threads, tests=ALL_TESTS, but=()):
    return [PartSkip(device, t, threads, Skipped.CRASHED) for t in tests if t not in but]


class TestMeasurement:
    def measurement(self, *workers, **fields):
        self.jobs, self.events = [], []
        left = list(workers)

        def start(job):
            self.jobs.append(job)
            return FakeWorker(*left.pop(0), pid=FIRST_PID + len(self.jobs))

        machine = Machine("Linux", "12", "x86_64", Cpu(None, None, None), None)
        return PartsMeasurement(machine, PartsPlan(threads=2), start, self.events.append, **fields)

    def take(self, *workers):
        found = self.measurement(*workers).take()
        # every statement must be readable
        keys = [(p.device, p.test, p.threads) for p in (*found.parts, *found.skipped)]
        assert len(keys) == len(set(keys))
        return found

    def test_what_the_worker_tells_becomes_parts_and_events(self):
        found = self.take([LISTED, ON_CPU, COPY, END])
        assert (found.engine, found.devices, found.parts) == ("llama.cpp", (CARD, CPU), (COPY,))
        assert [e for e in self.events if isinstance(e, PartDone)] == [
            PartDone(part_rate(COPY), 0.5)
        ]
        assert [e.test for e in self.events if isinstance(e, Progress)] == [None, "CPU copy"]

    def test_progress_counts_the_tests_of_all_devices_over_all_workers(self):
        again = replace(ON_CPU, index=0, planned=11)
        self.take([LISTED, ON_CARD, CRASH], [LISTED, again, *ALL_ON_CPU, END])
        steps = [e.part for e in self.events if isinstance(e, Progress) and e.part]
        assert [(s.device, s.threads, s.number, s.planned) for s in steps] == [
            ("CUDA0", None, 1, 19),
            ("CPU", 2, 9, 19),
        ]

    def test_a_test_without_a_figure_is_told_when_it_ends(self):
        skip = PartSkip("CPU", PartTest.MATMUL_F16, 2, Skipped.MEMORY)
        found = self.take([LISTED, ON_CPU, COPY, skip, END])
        assert found.skipped == (skip,)
        assert PartMissed(skip, 0.5) in self.events

    def test_a_driver_that_ends_the_process_costs_its_device_only(self):
        found = self.take([LISTED, ON_CARD, CRASH], [LISTED, *ALL_ON_CPU, END])
        assert found.parts == ALL_ON_CPU
        assert found.skipped == tuple(crashed("CUDA0", None))
        assert [e.skip for e in self.events if isinstance(e, PartMissed)] == list(found.skipped)
        assert [job.without for job in self.jobs] == [(), ("CUDA0",)]
        assert self.jobs[1].plan.time_limit_s <= 50

    def test_all_that_a_lost_device_has_not_given_is_skipped(self):
        first = replace(COPY, device="CUDA0", threads=None)
        told = PartSkip("CUDA0", PartTest.MATVEC_F16, None, Skipped.MEMORY)
        third = replace(ON_CARD, test=PartTest.MATVEC_Q8_0)
        found = self.take([LISTED, ON_CARD, first, told, third, CRASH], [LISTED, *ALL_ON_CPU, END])
        but = (PartTest.COPY, PartTest.MATVEC_F16)
        assert found.skipped == (told, *crashed("CUDA0", None, but=but))
        assert found.parts == (first, *ALL_ON_CPU)

    def test_a_crash_with_one_thread_skips_the_tests_with_all_of_them_too(self):
        alone = replace(ON_CPU, test=PartTest.MATVEC_F16, threads=1)
        one = replace(COPY, threads=1)
        found = self.take([LISTED, *ALL_ON_CARD, one, alone, CRASH], [LISTED, END])
        assert found.parts == (*ALL_ON_CARD, one)
        assert found.skipped == (
            *crashed("CPU", 1, ALONE, but=(PartTest.COPY,)), *crashed("CPU", 2)
        )  # fmt: skip

    @pytest.mark.parametrize(
        "end",
        [
            CRASH,
            BenchError("worker_hung", seconds=60),
            BenchError("worker_late", seconds=15),
            BenchError("worker_killed"),
        ],
    )
    @pytest.mark.parametrize("begins", [(), (LISTED,)])
    def test_when_the_next_worker_ends_before_any_test_what_there_is_is_kept(self, end, begins):
        found = self.take([LISTED, *ALL_ON_CPU, ON_CARD, CRASH], [*begins, end])
        assert found.parts == ALL_ON_CPU
        assert found.skipped == tuple(crashed("CUDA0", None))
        assert len(self.jobs) == 2

    def test_the_devices_whose_turn_never_came_are_skipped_too(self):
        on_cpu = replace(ON_CPU, test=PartTest.MATVEC_F16)
        listed = replace(LISTED, devices=(CPU, CARD))
        found = self.take([listed, COPY, on_cpu, CRASH], [CRASH])
        assert found.parts == (COPY,)
        assert set(found.skipped) == {
            *crashed("CPU", 1, ALONE),
            *crashed("CPU", 2, but=(PartTest.COPY,)),
            *crashed("CUDA0", None),
        }

    def test_a_crash_before_any_test_of_the_first_worker_is_told(self):
        with pytest.raises(BenchError) as e:
            self.take([LISTED, CRASH])
        assert e.value.code == "worker_crashed"
        assert len(self.jobs) == 1

    def test_a_device_that_is_no_longer_listed_keeps_its_figures(self):
        lost = replace(LISTED, devices=(CPU,))
        found = self.take([LISTED, ALL_ON_CARD[0], ON_CARD, CRASH], [lost, *ALL_ON_CPU, END])
        assert found.devices == (CARD, CPU)
        assert found.parts == (ALL_ON_CARD[0], *ALL_ON_CPU)

    def test_a_device_that_is_complete_is_not_spoilt_by_a_crash_at_its_end(self):
        found = self.take([LISTED, *ALL_ON_CPU, ON_CPU, CRASH], [LISTED, *ALL_ON_CARD, END])
        assert found.skipped == ()
        assert self.jobs[1].without == ("CPU",)

    def test_garbage_of_a_later_worker_is_an_error_all_the_same(self):
        with pytest.raises(BenchError) as e:
            self.take([LISTED, COPY, ON_CARD, CRASH], [BenchError("worker_garbage", line="x")])
        assert e.value.code == "worker_garbage"

    @pytest.mark.parametrize(("knows_ended", "percent"), [(True, 12.5), (False, None)])
    def test_the_load_of_a_lost_worker_is_nobody_elses(self, knows_ended, percent):
        measured = self.measurement(
            [LISTED, ON_CARD, CRASH], [LISTED, *ALL_ON_CPU, END], _knows_ended=knows_ended
        )
        load = FakeLoadWindow()
        assert measured._measure(None, load) == percent
        assert load.asked == ([{os.getpid(), FIRST_PID + 1, FIRST_PID + 2}] if knows_ended else [])

    def test_without_a_loss_the_load_is_known_everywhere(self):
        measured = self.measurement([LISTED, *ALL_ON_CPU, END], _knows_ended=False)
        assert measured._measure(None, FakeLoadWindow()) == 12.5

    def test_devices_that_are_done_are_not_measured_twice(self):
        hung = BenchError("worker_hung", seconds=60)
        found = self.take([LISTED, *ALL_ON_CARD, ON_CPU, hung], [LISTED, END])
        assert found.parts == ALL_ON_CARD
        assert self.jobs[1].without == ("CPU", "CUDA0")

    def test_when_every_device_crashes_the_crash_is_told(self):
        with pytest.raises(BenchError) as e:
            self.take([LISTED, ON_CPU, CRASH], [LISTED, ON_CARD, CRASH], [LISTED, END])
        assert e.value.code == "worker_crashed"

    def test_when_nothing_could_be_measured_it_says_why(self):
        skip = PartSkip("CPU", PartTest.COPY, 2, Skipped.MEMORY)
        with pytest.raises(BenchError) as e:
            self.take([LISTED, ON_CPU, skip, END])
        assert e.value.code == "no_parts"
        assert "CPU: memory" in str(e.value)

    def test_a_worker_that_keeps_talking_is_ended(self):
        again = [LISTED, ON_CPU] * 1000
        with pytest.raises(BenchError) as e:
            self.measurement(again, [LISTED, END], late_s=-100.0).take()
        # it was never silent
        assert e.value.code == "worker_late"
        assert "sign of life" not in str(e.value)

    def test_a_device_that_talks_beyond_its_time_costs_the_others_nothing(self):
        late = BenchError("worker_late", seconds=15)
        found = self.take([LISTED, *ALL_ON_CPU, ON_CARD, late], [LISTED, END])
        assert found.parts == ALL_ON_CPU
        assert found.skipped == tuple(crashed("CUDA0", None))

    def test_an_end_is_never_too_late(self):
        assert self.measurement([]).late_s == 15
        with pytest.raises(BenchError) as e:
            self.measurement([END], late_s=-100.0).take()
        assert e.value.code == "no_parts"

    @pytest.mark.parametrize(
        "told",
        [
            [LISTED, COPY, COPY],
            [LISTED, COPY, PartSkip("CPU", PartTest.COPY, 2, Skipped.TIME)],
            [LISTED, replace(COPY, device="X")],
            [LISTED, PartSkip("X" * 300, PartTest.COPY, None, Skipped.TIME)],
            [LISTED, replace(COPY, threads=3)],
            [COPY],
        ],
    )
    def test_a_test_told_twice_or_never_asked_for_is_garbage(self, told):
        with pytest.raises(BenchError) as e:
            self.take([*told, END])
        assert e.value.code == "worker_garbage"

    def test_a_stop_is_no_crash(self):
        with pytest.raises(BenchError) as e:
            self.take([LISTED, ON_CPU, BenchError("cancelled")])
        assert e.value.code == "cancelled"

    def test_an_engine_that_is_missing_is_told_as_such(self):
        with pytest.raises(BenchError) as e:
            self.take([BenchError("engine_missing", detail="x")])
        assert e.value.code == "engine_missing"


class TestServices:
    @contextmanager
    def services(self, home, **outside):
        events = queue.SimpleQueue()
        made = AppServices(Outside(home, SlowCalls(), "a test", {}, **outside), events.put)
        yield made, lambda: events.get(timeout=20)
        made.shutdown()

    def test_kept_parts_are_read_off_the_callers_thread(self, home):
        with self.services(home) as (services, event):
            services.refresh_parts()
            assert event() == PartsKnown()

    def test_one_measurement_at_a_time(self, home):
        turn = measuring_turn(
            home, "a terminal", wait=False, cancelled=lambda: False, notice=lambda _: None
        )
        with turn, self.services(home) as (services, event):
            services.start_parts(PartsRequest(Signing.UNSIGNED))
            failed = event()
            assert isinstance(failed, RunFailed)
            assert failed.reason.code == "busy"
            assert services.curves() == Curves()

    def test_without_a_key_nothing_is_measured(self, home):
        with self.services(home) as (services, event):
            services.start_parts(PartsRequest(Signing.KEY_FILE, home.data / "not" / "there"))
            assert isinstance(event(), Progress)
            failed = event()
            assert isinstance(failed, RunFailed)
            assert failed.reason.code == "key_file_write"
