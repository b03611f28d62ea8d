"""vLLM's own tests of tool parsers, with its parsers and with wirecall as each of them.

The tests are in vLLM's source package on PyPI, which is pinned. They are kept in target/servers, not in this
repository. own_tests_vllm_plugin.py changes their conditions: tokenizers need no download; streams end as the
server ends them; calls count in requests without tools; JSON has the spaces of `json.dumps` or of the model.

Prints the figures, and the tests that fail with wirecall by reason. A failure without a reason is an error,
and so are fewer passes than before.
"""

from __future__ import annotations

import re
import sys
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

sys.path.append(str(Path(__file__).resolve().parent))

from own_tests import OwnTests

# After own_tests, which makes them importable.
from downloads import download  # isort: skip
from wirecall_bench.local_model import Download  # isort: skip

VERSION = "0.33.0"
ARCHIVE = Download(
    "https://files.pythonhosted.org/packages/f7/25/aa5684e9c59d6fc75f78926b7f15e8d9adc7de2d9e6e7575b80776ad8169/"
    f"vllm-{VERSION}.tar.gz",
    "f4c33c2503d52bb411146afa9618a4f48bed68912f617e6803ac8d76e4c74112",
)
FOLDER = "tests/tool_parsers"
# Tests of a table of grammars, which no parser of one's own is in.
LEFT_OUT = f"{FOLDER}/test_structural_tag_registry.py"
WANTED = re.compile(
    rf"tests/__init__\.py|{FOLDER}/.*\.py|tests/parser/(engine/)?__init__\.py|.*/replay_harness\.py"
)

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
    # Written last: the files are complete.
    stamp = TESTS.folder / f"vllm-{VERSION}"
    if stamp.is_file():
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = download(ARCHIVE, Path(folder))
        with tarfile.open(archive, mode="r:gz") as files:
            for member in files:
                path = PurePosixPath(member.name)
                inside = PurePosixPath(*path.parts[1:])
                if not member.isfile() or not WANTED.fullmatch(str(inside)):
                    continue
                target = TESTS.folder / inside
                target.parent.mkdir(parents=True, exist_ok=True)
                content = files.extractfile(member)
                assert content is not None
                target.write_bytes(content.read())
    stamp.touch()


TESTS = OwnTests(
    server="vllm",
    fetch=fetch,
    arguments=[FOLDER, "--ignore", LEFT_OUT],
    environment={"VLLM_NO_USAGE_STATS": "1", "VLLM_TARGET_DEVICE": "cpu"},
    prefix=f"{FOLDER}/test_",
    suffix="_tool_parser",
    reasons=REASONS,
    least=862,
)

if __name__ == "__main__":
    sys.exit(TESTS.main())
