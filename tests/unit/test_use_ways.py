"""How to run a build with llama-server, Ollama and LM Studio."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from desktop.cli.foreign import shown
from desktop.records.offers import UseWay
from desktop.records.on_disk import FoundPlace
from desktop.records.run import Plan
from desktop.records.use import UseFacts, UseSettings
from desktop.rules.shell_words import command_line, in_turn, word
from desktop.rules.use_llama_server import settings_words
from desktop.rules.use_names import short_name
from desktop.rules.use_ways import ways_of

HELP = Path(__file__).parents[1] / "captures" / "llama_server_help.txt"
SHELLS = [shell for shell in ("sh", "dash", "bash", "zsh", "ksh") if shutil.which(shell)]
NAMES = [
    "plain.gguf",
    "two  words.gguf",
    'it\'s "quoted".gguf',
    "$HOME `id` $(id) ${x}.gguf",
    "100% %d %s !x #y & ; | < > ( ) { } [a-z] * ? ~.gguf",
    "back\\slash \\n \\0101 \\c.gguf",
    "-m --help.gguf",
    "übung Ω 模型 🦙.gguf",
    "tab\there.gguf",
    "line\nbreak 7.gguf",
    "line\nbreak\\n'q\".gguf",
    "escape\x1b[2J\x07.gguf",
    "turned \u202egpj.gguf",
    "hidden\u200b 1.gguf",
    "no utf-8 \udcff\udc80.gguf",
    "tag \U000e0041.gguf",
    "מודל \\ 5 نموذج ١٢.gguf",
    "pile e\u0301\u0301\u0301\u0301\u0301\u0301.gguf",
    "mark e\u0301.gguf",
    "ends\n",
]
ON_DISK = [n for n in NAMES[:-1] if not (sys.platform == "darwin" and "\udcff" in n)]
"""APFS takes UTF-8 only. The last is no build's name for LM Studio."""
OPTIONS = "--gpu max --context-length 4096"
posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX shells and file names")


def facts(*files, **changes):
    given = {
        "name": "hf.co/owner/tiny-GGUF:Q4_K_M",
        "size_bytes": 4_920_000_000,
        "system": "linux",
        "settings": UseSettings(4096, 8),
        "repository": "owner/tiny-GGUF",
        "quantization": "Q4_K_M",
    }
    paths = files or (PurePosixPath("/models/tiny.gguf"),)
    return UseFacts(files=tuple(paths), **{**given, **changes})


def ways(told: UseFacts) -> dict[str, UseWay]:
    return {way.program: way for way in ways_of(told)}


def codes(way: UseWay) -> list[str]:
    return [reason.code for reason in way.steps]


@posix
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", NAMES)
def test_a_posix_shell_gives_back_each_word(shell, name):
    line = command_line(("x", name, f"/a/{name}"), "linux")
    script = f"set -- {line}\nprintf '%s\\0' \"$@\""
    run = subprocess.run([shell, "-c", os.fsencode(script)], capture_output=True, check=True)
    assert run.stdout == b"".join(os.fsencode(w) + b"\0" for w in ("x", name, f"/a/{name}"))


@pytest.mark.parametrize("name", [n for n in NAMES if not n.endswith("\n")])
@pytest.mark.parametrize("system", ["linux", "win32"])
def test_what_is_pasted_is_what_is_seen(name, system):
    written = word(name, system)
    assert written.isprintable()
    assert shown(written) == written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (r"C:\models\a.gguf", r"C:\models\a.gguf"),
        (r"C:\my models\a.gguf", r"'C:\my models\a.gguf'"),
        (r"C:\O'Neil\a.gguf", r"'C:\O''Neil\a.gguf'"),
        (
            "C:\\it\u2019s \u2018so\u201a\u201b",
            "'C:\\it\u2019\u2019s \u2018\u2018so\u201a\u201a\u201b\u201b'",
        ),
        ("$env:x `n %PATH% @(1).gguf", "'$env:x `n %PATH% @(1).gguf'"),
        ("CUDA0,CUDA1", "'CUDA0,CUDA1'"),
        ("a\u202eb", "('' + 'a' + [char]0x202E + 'b')"),
        ("\u200ba'", "('' + [char]0x200B + 'a''')"),
        ("a\U000e0041", "('' + 'a' + [char]::ConvertFromUtf32(0xE0041))"),
        ("", "''"),
    ],
)
def test_words_of_powershell(text, written):
    assert word(text, "win32") == written


def test_commands_of_powershell_run_one_after_the_other():
    assert in_turn(["a", "b", "c"], "win32") == "a; if ($?) { b; if ($?) { c } }"


def answers(tmp_path: Path, failing: str = "") -> dict[str, str]:
    """Stand-ins for the programs: each writes down what it was given."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for program in ("llama-server", "ollama", "lms"):
        path = folder / program
        status = 1 if program == failing else 0
        path.write_text(
            "#!/bin/sh\n"
            f'{{ printf "%s\\0" {program} "$@"; printf "\\0"; }} >> "$SEEN"\nexit {status}\n'
        )
        path.chmod(0o755)
    return {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path / "home"),
        "SEEN": str(tmp_path / "seen"),
    }


def seen(tmp_path: Path) -> list[list[str]]:
    calls = (tmp_path / "seen").read_bytes().split(b"\0\0")
    return [[os.fsdecode(w) for w in call.split(b"\0")] for call in calls if call]


def run(command: str, environment: dict[str, str]) -> int:
    return subprocess.run(
        ["sh", "-c", os.fsencode(command)], env=environment, capture_output=True, check=False
    ).returncode


@posix
@pytest.mark.parametrize("name", ON_DISK)
def test_the_programs_are_given_the_file_that_is_meant(tmp_path, name):
    environment, path = answers(tmp_path), tmp_path / name
    path.touch()
    found = ways(facts(path))
    for way in found.values():
        assert not way.command or run(way.command, environment) == 0
    calls = seen(tmp_path)
    server = calls[0]
    assert server[:3] == ["llama-server", "-m", str(path)]
    linked = ["lms", "import", "--symbolic-link", "--user-repo", "owner/tiny-GGUF", str(path)]
    assert calls[-2:] == [
        linked,
        ["lms", "load", f"owner/tiny-GGUF/{name}", "--exact", *shlex.split(OPTIONS)],
    ]


@posix
def test_nothing_is_loaded_that_was_not_linked(tmp_path):
    environment = answers(tmp_path, failing="lms")
    assert run(ways(facts())["LM Studio"].command, environment) == 1
    assert [call[1] for call in seen(tmp_path)] == ["import"]


@posix
def test_a_blob_gets_a_name_that_lm_studio_takes(tmp_path):
    environment, blob = answers(tmp_path), tmp_path / "it's a store" / "sha256-ab"
    blob.parent.mkdir()
    blob.write_bytes(b"GGUF")
    place = FoundPlace("Ollama", "llama3.2:3b", blob)
    told = facts(blob, name="llama3.2:3b", repository=None, quantization=None, places=(place,))
    assert run(ways(told)["LM Studio"].command, environment) == 0
    link = tmp_path / "home/.lmstudio/models/local/llama3.2-3b/llama3.2-3b.gguf"
    assert link.resolve() == blob
    assert seen(tmp_path)[0][:3] == ["lms", "load", "local/llama3.2-3b/llama3.2-3b.gguf"]


def words_of(settings: UseSettings) -> str:
    return " ".join(settings_words(settings))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "-ngl all"),
        ({"gpu_layers": 20, "layers": 32}, "-ngl 20"),
        ({"gpu_layers": 0}, "-ngl 0"),
        ({"gpu_layers": 0, "cards": False}, "-ngl 0 -dev none"),
        ({"experts_on_host": 12}, "-ngl all --n-cpu-moe 12"),
        ({"devices": ("CUDA0", "CUDA1")}, "-dev CUDA0,CUDA1 -ngl all"),
    ],
)
def test_llama_server_runs_as_gram_measures(changes, words):
    settings = replace(UseSettings(8192, 6, n_batch=1024, n_ubatch=256), **changes)
    assert words_of(settings) == (
        f"-c 8192 {words} -t 6 -b 1024 -ub 256 -fa auto -np 1 --cache-ram 0 --fit off"
    )


def test_the_settings_are_those_of_a_measurement():
    settings, plan = UseSettings(4096, 8), Plan()
    assert (settings.n_batch, settings.n_ubatch) == (plan.n_batch, plan.n_ubatch)
    polled = " ".join(options_of(HELP.read_text())["--poll"].split())
    assert f"default: {plan.poll})" in polled


def test_llama_server_answers_this_machine_only():
    command = ways(facts())["llama-server"].command
    assert command.endswith("--host 127.0.0.1 --port 8080")


def options_of(text: str) -> dict[str, str]:
    """Of a help: each spelling of an option, with its whole entry."""
    found: dict[str, str] = {}
    for entry in re.split(r"\n(?=-)", text):
        head = re.match(r"(--?[a-zA-Z][\w-]*,?\s+)+", entry)
        found |= dict.fromkeys(re.findall(r"--?[\w-]+", head[0]) if head else (), entry)
    return found


def test_llama_server_has_these_options_and_values():
    known = options_of(HELP.read_text())
    settings = UseSettings(4096, 8, 20, 32, 12, ("CUDA0",))
    used = [*settings_words(settings), *settings_words(replace(settings, cards=False))]
    used += ["-m", "--host", "--port"]
    names = {text for text in used if text.startswith("-")}
    assert names <= set(known)
    assert len(names) == 14
    flat = {name: " ".join(known[name].split()) for name in names}
    assert "'all'" in flat["-ngl"]
    assert "none = don't offload" in flat["-dev"]
    assert "[on|off|auto]" in flat["-fa"]
    assert "0 - disable" in flat["--cache-ram"]
    assert "[on|off]" in flat["--fit"]
    assert "(default: 127.0.0.1)" in flat["--host"]


def test_llama_server_names_the_first_part_of_a_split_set():
    parts = [PurePosixPath(f"/m/a-0000{n}-of-00002.gguf") for n in (1, 2)]
    way = ways(facts(*parts))["llama-server"]
    assert "-m /m/a-00001-of-00002.gguf" in way.command
    assert "00002-of" not in way.command
    assert "use_llama_split" in codes(way)


def ollama_reads(text: str) -> list[tuple[str, str]]:
    """A Modelfile as Ollama's own parser takes it (`parser/parser.go`, ParseFile)."""
    found: list[tuple[str, str]] = []
    for line in re.split(r"[\r\n]", text):
        name, _, value = line.partition(" ")
        if not name:
            continue
        shown = "".join(c for c in value if c.isprintable() or c == "\t").strip()
        if len(shown) > 1 and shown[0] == shown[-1] == '"':
            shown = shown[1:-1]
        found.append((name, shown))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_ollama_reads_the_file_that_is_meant_or_is_not_offered(name):
    path = PurePosixPath("/my models") / name
    way = ways(facts(path))["Ollama"]
    if way.command:
        assert ollama_reads(way.file)[0] == ("FROM", str(path))
    else:
        assert not way.file
        assert codes(way)[0] == "use_ollama_name"
        assert not name.isprintable() or "\\" in name


@pytest.mark.parametrize("name", ["a:b.gguf", "back\\slash.gguf", "new\nline.gguf"])
def test_what_ollama_cannot_take_is_said_with_what_is_left(name):
    way = ways(facts(PurePosixPath("/m") / name))["Ollama"]
    assert codes(way) == ["use_ollama_name", "use_ollama_download"]


def test_spaces_at_the_end_of_a_name_are_kept_for_ollama():
    way = ways(facts(PurePosixPath("/m/a.gguf ")))["Ollama"]
    assert way.file.startswith('FROM "/m/a.gguf "\n')


def test_ollama_runs_what_it_keeps_by_its_own_name_and_without_a_copy():
    place = FoundPlace("Ollama", "llama3.2:3b", Path("/store/sha256-ab"))
    settings = UseSettings(4096, 8, gpu_layers=20, layers=28)
    way = ways(facts(name="llama3.2:3b", places=(place,), settings=settings, repository=None))[
        "Ollama"
    ]
    assert ollama_reads(way.file) == [
        ("FROM", "llama3.2:3b"),
        ("PARAMETER", "num_ctx 4096"),
        ("PARAMETER", "num_gpu 20"),
        ("PARAMETER", "num_thread 8"),
        ("PARAMETER", "num_batch 512"),
    ]
    assert way.command == (
        "ollama create gram-llama3.2-3b -f Modelfile &&\nollama run gram-llama3.2-3b"
    )
    assert "use_ollama_kept" in codes(way)
    assert not {"use_ollama_copy", "use_ollama_download"} & set(codes(way))


def test_the_second_copy_and_the_second_download_are_told():
    way = ways(facts())["Ollama"]
    told = {reason.code: reason.text() for reason in way.steps}
    assert told["use_ollama_copy"] == (
        "Ollama copies the build into its own store: 4.92 GB more of the disk."
    )
    assert "`ollama run hf.co/owner/tiny-GGUF:Q4_K_M`" in told["use_ollama_download"]
    assert "downloads it again: 4.92 GB" in told["use_ollama_download"]


def test_without_cards_no_program_uses_one():
    found = ways(facts(settings=UseSettings(4096, 8, cards=False)))
    assert "-ngl 0 -dev none" in found["llama-server"].command
    assert "PARAMETER num_gpu 0\n" in found["Ollama"].file
    assert "--gpu off" in found["LM Studio"].command


@pytest.mark.parametrize(("layers", "value"), [(None, "999"), (0, "0"), (7, "7")])
def test_ollama_is_told_the_layers(layers, value):
    way = ways(facts(settings=UseSettings(4096, 8, gpu_layers=layers)))["Ollama"]
    assert f"PARAMETER num_gpu {value}\n" in way.file


def test_ollama_places_experts_itself_and_that_is_said():
    settings = UseSettings(4096, 8, experts_on_host=12, devices=("CUDA1",))
    way = ways(facts(settings=settings))["Ollama"]
    assert "num_gpu" not in way.file
    assert {"use_ollama_experts", "use_ollama_cards"} <= set(codes(way))


def test_a_split_set_is_given_to_each_program_whole():
    parts = [PurePosixPath(f"/m/a-0000{n}-of-00002.gguf") for n in (1, 2)]
    found = ways(facts(*parts))
    assert [value for name, value in ollama_reads(found["Ollama"].file) if name == "FROM"] == [
        *map(str, parts)
    ]
    assert "use_ollama_split" in codes(found["Ollama"])
    assert "use_ollama_download" not in codes(found["Ollama"])
    assert found["LM Studio"].command.count("lms import") == len(parts)
    assert "lms load owner/tiny-GGUF/a-00001-of-00002.gguf" in found["LM Studio"].command


def test_what_lm_studio_keeps_is_loaded_and_not_linked():
    path = Path("/home/me/.lmstudio/models/owner/tiny-GGUF/tiny-Q4.gguf")
    told = facts(places=(FoundPlace("LM Studio", "hf.co/owner/tiny-GGUF:Q4", path),))
    way = ways(told)["LM Studio"]
    assert way.command == (f"lms load owner/tiny-GGUF/tiny-Q4.gguf --exact {OPTIONS}")
    assert not {"use_lms_link", "use_lms_folder"} & set(codes(way))


def test_what_lies_elsewhere_in_lm_studio_is_chosen_from_its_list():
    path = Path("/home/me/.lmstudio/models/tiny-Q4.gguf")
    way = ways(facts(places=(FoundPlace("LM Studio", "tiny-Q4.gguf", path),)))["LM Studio"]
    assert way.command == f"lms load {OPTIONS}"
    assert "use_lms_list" in codes(way)
    assert "use_lms_choose" not in codes(way)


@pytest.mark.parametrize(
    ("layers", "share"), [(None, "max"), (0, "off"), (33, "max"), (40, "max"), (20, "0.606")]
)
def test_lm_studio_is_told_a_share_of_the_layers(layers, share):
    way = ways(facts(settings=UseSettings(4096, 8, layers, 32)))["LM Studio"]
    assert f"--gpu {share} " in way.command


@pytest.mark.parametrize("layers", [1, 24, 32, 61, 94, 126])
def test_the_share_is_never_of_more_layers_than_fit(layers):
    for count in range(1, layers + 1):
        way = ways(facts(settings=UseSettings(4096, 8, count, layers)))["LM Studio"]
        found = re.search(r"--gpu (\S+)", way.command)
        assert found
        assert round(float(found[1]) * layers) <= count


def test_without_the_number_of_layers_the_count_is_set_by_hand():
    way = ways(facts(settings=UseSettings(4096, 8, 20)))["LM Studio"]
    assert "--gpu" not in way.command
    assert "GPU Offload: 20 layers." in [reason.text() for reason in way.steps]


def test_on_windows_links_are_hard_and_the_shell_is_said():
    path = PureWindowsPath(r"C:\Users\Ann O'Neil\tiny.gguf")
    found = ways(facts(path, system="win32"))
    assert found["LM Studio"].command == (
        "lms import --hard-link --user-repo owner/tiny-GGUF 'C:\\Users\\Ann O''Neil\\tiny.gguf'"
        "; if ($?) { lms load owner/tiny-GGUF/tiny.gguf --exact --gpu max --context-length 4096 }"
    )
    assert all(codes(way)[0] == "use_powershell" for way in found.values())
    assert "FROM C:\\Users\\Ann O'Neil\\tiny.gguf\n" in found["Ollama"].file
    assert "use_lms_hard_link" in codes(found["LM Studio"])


def test_on_windows_a_blob_is_linked_under_a_name_of_a_build():
    blob = PureWindowsPath(r"D:\my store\blobs\sha256-ab")
    told = facts(blob, name="llama3.2:3b", system="win32", repository=None, quantization=None)
    folder = ".lmstudio/models/local/llama3.2-3b"
    assert ways(told)["LM Studio"].command == (
        f"New-Item -ItemType Directory -Force -Path (Join-Path $HOME {folder}); if ($?) {{ "
        f"New-Item -ItemType HardLink -Path (Join-Path $HOME {folder}/llama3.2-3b.gguf) "
        "-Target 'D:\\my store\\blobs\\sha256-ab'; if ($?) { lms load "
        "local/llama3.2-3b/llama3.2-3b.gguf --exact --gpu max --context-length 4096 } }"
    )


@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_every_sentence_can_be_said_and_none_holds_a_path(system):
    parts = [PurePosixPath(f"/secret/a-0000{n}-of-00002.gguf") for n in (1, 2)]
    settings = UseSettings(4096, 8, 20, 32, 12, ("CUDA0",))
    every = [*ways_of(facts(*parts, system=system, settings=settings))]
    every += ways_of(facts(PurePosixPath("/secret/sha256-ab"), system=system, name="x/y:z"))
    said = [f"{reason.text()} {reason.advice()}" for way in every for reason in way.steps]
    assert len(said) > len(every)
    assert not [text for text in said if "secret" in text or "{" in text]


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("llama3.2:3b", "llama3.2-3b"),
        ("hf.co/owner/repo:Q4_K_M", "repo-q4_k_m"),
        ("My Model (1)-00001-of-00003.gguf", "my-model-1"),
        ("模型.gguf", "build"),
        ("../..", "build"),
        ("-x" * 99, "x" + "-x" * 29),
        ("hf.co/owner/repo:sub/Tiny-Q4_0.gguf", "repo-sub-tiny-q4_0"),
    ],
)
def test_short_names_are_plain(name, short):
    assert short_name(facts(name=name, repository=None)) == short
    assert short_name(facts(name=name, digits="a1b2c3")) == f"{short}-a1b2c3"


@pytest.mark.parametrize("name", ["q\nSYSTEM evil", "a b", "-x", "a\rb", ""])
def test_a_name_that_ollama_would_not_take_writes_no_lines_of_its_own(name):
    blob = Path("/store/sha256-ab")
    way = ways(facts(blob, name=name, places=(FoundPlace("Ollama", name, blob),)))["Ollama"]
    assert way.file.startswith(f"FROM {blob}\nPARAMETER num_ctx 4096\n")
    assert "SYSTEM" not in way.file
    assert "use_ollama_kept" not in codes(way)


def test_ollama_downloads_no_build_by_a_label_that_others_may_have():
    way = ways(facts(name="hf.co/o/r:base-Q4_0.gguf", repository="o/r", quantization=None))
    assert "use_ollama_download" not in codes(way["Ollama"])


def test_files_of_one_name_in_two_folders_have_two_places_in_lm_studio():
    found = [
        ways(facts(name=f"hf.co/o/r:{label}/model.gguf", repository="o/r"))["LM Studio"].command
        for label in ("Q4_0", "Q8_0")
    ]
    assert "--user-repo local/r-q4_0-model " in found[0]
    assert "--user-repo local/r-q8_0-model " in found[1]
