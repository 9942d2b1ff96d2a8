"""bench.engine_log: the engine's accounting, on lines that it really printed."""

import pytest

from desktop.bench.engine_log import MIB, EngineLog, says_out_of_memory
from desktop.bench.ggml import device_kind
from desktop.records.machine import Device, DeviceKind

INFO, WARN, ERROR = 2, 3, 4


def test_buffers_are_summed_over_devices_and_the_largest_context_counts():
    log = EngineLog()
    for line in (
        b"load_tensors:   CPU_Mapped model buffer size =    92.10 MiB\n",
        b"load_tensors:        CUDA0 model buffer size =   100.00 MiB\n",
        b"llama_kv_cache:        CPU KV buffer size =    11.25 MiB\n",
        b"sched_reserve:        CPU compute buffer size =    97.00 MiB\n",
        b"resolve_fused_ops: Flash Attention enabled\n",
    ):
        log.take(INFO, line)
    assert log.weights_bytes == round(92.10 * MIB) + 100 * MIB
    assert log.kv_cache_bytes == round(11.25 * MIB)
    assert log.compute_bytes == 97 * MIB
    assert log.backend == "CPU+CUDA"
    log.take(INFO, b"load_tensors: offloaded 31/31 layers to GPU\n")
    assert log.backend == "CUDA"
    assert log.flash_attention == "enabled"


@pytest.mark.parametrize(
    ("buffers", "offloaded", "devices"),
    [
        ((), False, ()),
        (("CPU_Mapped",), False, ("CPU",)),
        # A31: both cards are named, and only those
        (("CPU_Mapped", "CUDA0", "CUDA1"), True, ("CUDA0", "CUDA1")),
        (("CPU_Mapped", "CUDA_Host", "CUDA0"), False, ("CPU", "CUDA0")),
        # A30: the integrated card beside two others held nothing
        (("ROCm0", "ROCm0", "CPU"), True, ("ROCm0",)),
        (("MTL0_Mapped", "CPU_Mapped"), True, ("MTL0",)),
        # named by the backend alone
        (("OpenCL", "CPU_Mapped"), True, ("GPUOpenCL",)),
        # without a mapped file the processor's part lies in memory that is pinned for the card
        (("Vulkan_Host", "Vulkan0"), False, ("CPU", "Vulkan0")),
    ],
)
def test_the_devices_that_held_weights_are_named(buffers, offloaded, devices):
    log = EngineLog()
    for name in buffers:
        log.take(INFO, b"load_tensors: %s model buffer size = 10.00 MiB" % name.encode())
    if offloaded:
        log.take(INFO, b"load_tensors: offloaded 31/31 layers to GPU\n")
    listed = [
        Device("GPUOpenCL" if name == "OpenCL" else name, "a card", DeviceKind.GPU, backend)
        for name, backend in [
            ("CUDA0", "CUDA"),
            ("CUDA1", "CUDA"),
            ("ROCm0", "ROCm"),
            ("MTL0", "MTL"),
            ("OpenCL", "OpenCL"),
            ("Vulkan0", "Vulkan"),
        ]
    ]
    assert log.devices(listed) == devices


def test_memory_pinned_for_a_card_is_the_processors():
    log = EngineLog()
    for name in (b"Vulkan_Host", b"Vulkan0"):
        log.take(INFO, b"load_tensors: %s model buffer size = 10.00 MiB" % name)
    assert log.backend == "CPU+Vulkan"


def test_caches_of_one_context_add_up_and_the_largest_context_counts():
    log = EngineLog()
    sliding = (
        b"llama_kv_cache: CPU KV buffer size = 5.00 MiB",
        b"x: CPU RS buffer size = 1.00 MiB",
    )
    for lines in ((sliding[0],), (*sliding, sliding[0]), (sliding[1],)):
        log.begin_context()
        for line in lines:
            log.take(INFO, line)
    assert log.kv_cache_bytes == 11 * MIB


def test_scratch_that_is_reserved_anew_is_not_counted_twice():
    log = EngineLog()
    log.begin_context()
    for mib in (10, 30, 20):
        log.take(INFO, b"sched_reserve: CPU compute buffer size = %d.00 MiB" % mib)
    log.take(INFO, b"ctx: CPU  output buffer size = 1.00 MiB")
    assert log.compute_bytes == 31 * MIB


def test_nothing_logged_is_none_not_zero():
    log = EngineLog()
    assert (log.weights_bytes, log.kv_cache_bytes, log.compute_bytes) == (None, None, None)


def test_a_refusal_says_why_without_folders(capfd):
    log = EngineLog()
    log.take(ERROR, b"llama_model_load: error loading model: failed to open '/home/ann/a b.gguf'\n")
    error = log.failure("load_failed", "a b.gguf")
    assert error.code == "load_failed"
    assert "/home/ann" not in str(error)
    assert "a b.gguf" in str(error)
    assert "error loading model" in capfd.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        "ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 5",
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "CUDA error: out of memory",
        "mmap failed: Cannot allocate memory",
    ],
)
def test_words_of_a_failed_allocation(words):
    assert says_out_of_memory(words)


def test_other_words_are_not():
    assert not says_out_of_memory("unknown model architecture: 'nonsense'")


@pytest.mark.parametrize(
    ("ggml_type", "names", "kind"),
    [
        (0, "CPU AMD EPYC", DeviceKind.CPU),
        (1, "Vulkan0 NVIDIA GeForce RTX 4090", DeviceKind.GPU),
        (1, "Vulkan0 llvmpipe (LLVM 15.0.6, 256 bits)", DeviceKind.SOFTWARE),
        (2, "Vulkan0 AMD Radeon 680M (RADV REMBRANDT)", DeviceKind.IGPU),
        (1, "Vulkan0 Microsoft Basic Render Driver", DeviceKind.SOFTWARE),
        (9, "?", DeviceKind.ACCELERATOR),
    ],
)
def test_software_devices_are_named_as_such(ggml_type, names, kind):
    assert device_kind(ggml_type, names) is kind


def test_words_that_a_file_says_of_itself_raise_nothing_into_the_engine():
    log = EngineLog()
    for line in (
        b"print_info: general.name = x CPU model buffer size = 1.2.3 MiB",
        b"x CPU model buffer size = " + b"9" * 5000 + b" MiB",
        b"load_tensors: offloaded " + b"9" * 5000 + b"/1 layers",
    ):
        log.take(INFO, line)
    assert log.weights_bytes is None


@pytest.mark.parametrize(
    ("line", "state"),
    [
        (b"llama_context: Flash Attention was auto, set to enabled\n", "enabled"),
        (b"Flash Attention disabled", "disabled"),
        (b"Flash Attention", None),
        (b"Flash Attention enabled for some", None),
    ],
)
def test_how_the_engine_decided_on_flash_attention(line, state):
    log = EngineLog()
    log.take(INFO, line)
    assert log.flash_attention == state
