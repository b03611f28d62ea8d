"""vLLM's own tests of tool parsers, with its parsers and with wirecall as each of them.

The tests are in vLLM's source package on PyPI, which is pinned. They are kept in target/servers, not in this
repository. own_tests_vllm_plugin.py changes their conditions: tokenizers need no download; streams end as the
server ends them; calls count in requests without tools; JSON has the spaces of `json.dumps` or of the model.

Prints the figures, and the tests that fail with wirecall by reason. A failure without a reason is an error,
and so are fewer passes than before.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path, PurePosixPath

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))

from downloads import DownloadError, download

# After downloads, which makes wirecall_bench importable.
from wirecall_bench.local_model import Download

ROOT = Path(__file__).resolve().parents[2]
VERSION = "0.33.0"
ARCHIVE = Download(
    "https://files.pythonhosted.org/packages/f7/25/aa5684e9c59d6fc75f78926b7f15e8d9adc7de2d9e6e7575b80776ad8169/"
    f"vllm-{VERSION}.tar.gz",
    "f4c33c2503d52bb411146afa9618a4f48bed68912f617e6803ac8d76e4c74112",
)
FOLDER = ROOT / "target" / "servers" / "vllm-tests"
# Written last: the files are complete.
STAMP = FOLDER / f"vllm-{VERSION}"
PYTHON = ROOT / ".venv-servers" / "vllm" / "bin" / "python"
TESTS = "tests/tool_parsers"
# Tests of a table of grammars, which no parser of one's own is in.
LEFT_OUT = f"{TESTS}/test_structural_tag_registry.py"
WANTED = re.compile(
    rf"tests/__init__\.py|{TESTS}/.*\.py|tests/parser/(engine/)?__init__\.py|.*/replay_harness\.py"
)
# A test that vLLM marks as failing with its own parser has passed, too, if it passes.
PASSED = ("passed", "xpassed")
# With wirecall: fewer are an error, even if there is a reason for each failure.
LEAST = 861
SECONDS = 1800

PRIVATE = "reads private attributes or methods of vLLM's parser"
DELTAS = "fixes how calls are cut into deltas, which the API does not"
ENDLESS = "does not end its stream, as the server does, and wirecall closes a call when it is complete"
SPACE = "expects other whitespace beside calls"
DROPPED = "expects text beside calls, or markers without calls, to be dropped; wirecall loses no text"
REPAIRED = "expects a repair that wirecall does not make"
CUT = "expects a cut call to be a call, or its text; wirecall drops it, and the finish reason says so"
UNKNOWN = "expects unknown tools, or arguments that the schema lacks, to be refused; wirecall passes them on"
VALUES = "expects another value where the text and the schema do not agree"
GRAMMAR = "expects vLLM's grammars, or none; wirecall has its own"
MOCK = "its request is a mock without the methods of requests"
VARIANT = "expects a second form of calls, which wirecall's format does not have"
OTHER_FORM = "expects calls in a form that the request does not name to be refused; wirecall reads all forms"
PROSE = "expects JSON inside prose to be a call; wirecall reads it as text"

# For each file, patterns of the tests that differ.
REASONS: dict[str, dict[str, str]] = {
    "apertus": {"text_before": SPACE, "incomplete": CUT, "missing_tool_suffix": ENDLESS},
    "deepseekv31": {"multiple_tools": DROPPED},
    "deepseekv32": {
        "content_before|delimiter_preserved": SPACE,
        "wrapper_repaired": REPAIRED,
        "number_param|null_coerced|conversion_fallbacks": VALUES,
    },
    "deepseekv4": {
        "extract_tool_calls$": SPACE,
        "not_recognized": "expects the marker of DeepSeek-V3.2 to be text",
        "is_recovered|arguments_wrapper": REPAIRED,
        "registry": GRAMMAR,
    },
    "dots": {
        "json_fallback|complete_json": VARIANT,
        "unknown_tool": UNKNOWN,
        "malformed_block|stray_end": DROPPED,
        "partial_opening": PRIVATE,
    },
    "functiongemma": {
        "text_before": SPACE,
        "ParseArguments|BufferDelta": PRIVATE,
        "skip_special_tokens_disabled": MOCK,
    },
    "gemma4": {"text_before": SPACE, "test_incomplete": CUT, "malformed|mixed": REPAIRED},
    "granite4": {"complex": SPACE},
    "granite": {r"test_parallel_tool_calls\[True\]": DELTAS},
    "hermes": {"until_eos": CUT},
    "hunyuan_a13b": {r"tool now\. \]": SPACE, "expected_tool_calls4": DROPPED},
    "jamba": {"single_tool": SPACE, "parallel": DELTAS},
    "k2_horizon": {
        "xml_default|named_tool_resolves": PRIVATE,
        "request_format|mismatched": OTHER_FORM,
        "unknown": UNKNOWN,
        "required|tool_choice2": GRAMMAR,
        "incomplete": CUT,
    },
    "kimi_k2": {
        "invalid_json": REPAIRED,
        "invalid_funcall_id": UNKNOWN,
        "noise|content_after": DROPPED,
        "skip_special_tokens": MOCK,
    },
    "kimi_k3_named_tool_choice": {"": GRAMMAR},
    "lfm2": {
        "parallel_calls_streaming": DELTAS,
        "content_after": SPACE,
        "set_arg|nested_": REPAIRED,
        "leading_zero": VALUES,
        "echoed": DROPPED,
        "timeout": PRIVATE,
    },
    "llama3_json": {
        "simple|surrounding": PROSE,
        "timeout": PRIVATE,
    },
    "llama4_pythonic": {"parallel": DELTAS, "timeout": PRIVATE},
    "minicpm5xml": {
        "surrounding_text|interleaved": DROPPED,
        "space|sentencepiece|wrapped_arguments$|alias": REPAIRED,
        "unknown_tool|case_sensitive|extra_arguments|still_validate": UNKNOWN,
        "incomplete": CUT,
    },
    "minimax_m2": {"content_before": SPACE, "params": VALUES},
    "minimax_m3": {"required": GRAMMAR, "nested": REPAIRED},
    "olmo3": {"timeout": PRIVATE},
    "phi4mini": {"parallel": DELTAS},
    "poolside_v1": {"structured_outputs": GRAMMAR, "responses_request": PRIVATE},
    "pythonic": {"parallel": DELTAS, "timeout": PRIVATE},
    "qwen3coder": {"registry": GRAMMAR},
    "step3p5": {"mixed_content": DROPPED},
    "xlam": {
        "code_block$|code_block\\]$": PROSE,
        "preprocess|list_structure": PRIVATE,
        "incremental": DELTAS,
    },
}


def fetch() -> None:
    """Put vLLM's tests into target/servers."""
    if STAMP.is_file():
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = download(ARCHIVE, Path(folder))
        with tarfile.open(archive, mode="r:gz") as files:
            for member in files:
                path = PurePosixPath(member.name)
                inside = PurePosixPath(*path.parts[1:])
                if not member.isfile() or not WANTED.fullmatch(str(inside)):
                    continue
                target = FOLDER / inside
                target.parent.mkdir(parents=True, exist_ok=True)
                content = files.extractfile(member)
                assert content is not None
                target.write_bytes(content.read())
    STAMP.touch()


def outcomes(parsers: str) -> dict[str, str]:
    """The outcome of each test."""
    results = FOLDER.parent / f"vllm-tests-{parsers}.json"
    results.unlink(missing_ok=True)
    here = Path(__file__).resolve()
    plugins = ["-p", "no:cacheprovider", "-p", f"{here.stem}_plugin"]
    # Not the settings of this repository.
    options = [*plugins, "-q", "-c", os.devnull, "--rootdir", "."]
    log = results.with_suffix(".log")
    with log.open("w", encoding="utf-8") as output:
        subprocess.run(
            [str(PYTHON), "-m", "pytest", *options, "-W", "ignore", TESTS, "--ignore", LEFT_OUT],
            cwd=FOLDER,
            env=os.environ
            | {
                "PYTHONPATH": os.pathsep.join([str(FOLDER), str(here.parent)]),
                "OWN_TESTS_PARSERS": parsers,
                "OWN_TESTS_RESULTS": str(results),
                "HF_HUB_OFFLINE": "1",
                "VLLM_NO_USAGE_STATS": "1",
                "OMP_NUM_THREADS": "1",
                "VLLM_TARGET_DEVICE": "cpu",
            },
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
    if not results.is_file():
        sys.exit(f"pytest did not run; see {log}")
    found = json.loads(results.read_text(encoding="utf-8"))
    return {test: result["outcome"] for test, result in found.items()}


def reason_of(test: str) -> str | None:
    """Why a test fails with wirecall."""
    file, _, name = test.partition("::")
    slug = Path(file).stem.removeprefix("test_").removesuffix("_tool_parser")
    for pattern, reason in REASONS.get(slug, {}).items():
        if re.search(pattern, name):
            return reason
    return None


def report(parsers: str) -> bool:
    """Run the tests and print what they say. Whether they are as expected."""
    found = outcomes(parsers)
    kinds = Counter(found.values())
    passed = sum(kinds[kind] for kind in PASSED)
    failed = kinds["failed"] + kinds["xfailed"]
    print(
        f"{parsers}: {passed + failed} tests, {passed} passed, {failed} failed, {kinds['skipped']} skipped. "
        f"vLLM marks tests as failing with its own parsers: {kinds['xpassed']} of them passed, "
        f"{kinds['xfailed']} failed."
    )
    if parsers == "built-in":
        return kinds["failed"] == 0
    grouped: dict[str, list[str]] = {}
    for test, outcome in found.items():
        if outcome in ("failed", "xfailed"):
            grouped.setdefault(reason_of(test) or "", []).append(test.removeprefix(f"{TESTS}/test_"))
    for reason, tests in sorted(grouped.items(), key=lambda item: -len(item[1])):
        print(f"\n{len(tests)}: {reason or 'NO REASON KNOWN'}")
        for test in tests:
            print(f"    {test}")
    if passed < LEAST:
        print(f"\nFewer tests passed than before, which were {LEAST}.")
    return "" not in grouped and passed >= LEAST


def main() -> int:
    options = argparse.ArgumentParser(description="Run vLLM's own tests of tool parsers.")
    options.add_argument("--parsers", choices=["built-in", "wirecall"], help="whose; both if not given")
    chosen = options.parse_args().parsers
    try:
        fetch()
    except DownloadError as error:
        print(f"{error} vLLM's own tests are skipped.")
        return 1
    explained = [report(parsers) for parsers in ([chosen] if chosen else ["built-in", "wirecall"])]
    return 0 if all(explained) else 1


if __name__ == "__main__":
    sys.exit(main())
