"""SGLang's own tests of tool call detectors, with its detectors and with wirecall as each of them.

No package of SGLang has the tests, so they come from its repository, with pinned checksums, and are kept in
target/servers; none of them is part of this repository. They are some weeks older than SGLang 0.5.23.
own_tests_sglang_plugin.py has the conditions: a tokenizer that needs no download, JSON with the spaces of
`json.dumps`, and calls that are held in formats whose tests read each delta as a whole call.

Prints the figures, and each test that fails with wirecall under the reason. A failure without a reason is an
error, and so are fewer passes than before.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))

from own_tests import HERE, OwnTests

# After own_tests, which makes them importable.
from downloads import download  # isort: skip
from wirecall_bench.local_model import Download  # isort: skip

_COMMIT = "8905cbd42f4a27dbecad6487cd3904278756fef8"
_ADDRESS = f"https://raw.githubusercontent.com/sgl-project/sglang/{_COMMIT}/test/registered/"
CHECKSUMS = HERE / "locks" / "sglang-tests.sha256"

PRIVATE = "reads private attributes or methods of SGLang's detector"
MARKERS = "asks whether a text has markers of calls; wirecall reads each text with its tools"
SPACE = "expects other whitespace beside calls"
DELTAS = "fixes how calls and text are cut into deltas, which the API does not"
UNKNOWN = "expects calls of unknown tools or arguments to be refused; wirecall passes them on"
UNREAD = "expects a call that cannot be read to vanish; wirecall keeps the text"
CUT = "expects a cut call to be text; wirecall drops it, and the finish reason says so"
FRAMING = "expects markers to be removed that are not part of a call; wirecall keeps them as text"
REPAIRED = "expects a repair that wirecall does not make"
GRAMMAR = "expects SGLang's grammars; wirecall has its own"
OLDER = "fails with SGLang 0.5.23, too, which is newer than the test"

# For each file, patterns of the tests that differ.
REASONS: dict[str, dict[str, str]] = {
    "function_call_parser": {
        "Inkling.*(malformed|collide)": UNREAD,
        "mismatched_header|falls_back_when_native": OLDER,
        "control_alphabet": FRAMING,
        "has_tool_call": MARKERS,
        "structur|StructureConstraint": GRAMMAR,
        "invalid_tool_call|unknown_function": UNKNOWN,
        "missing_arguments": "expects a call without arguments to be refused",
        "escaped_json|invalid_then_valid": REPAIRED,
        "multiple_tool_calls$|tool_call_completion|tool_call_id": PRIVATE,
        "Pythonic.*streaming|normal_text_before|text_before|Gemma4.*multiple_calls": SPACE,
        "compact_args_format|partial_tool_call": DELTAS,
    },
    "hermes": {"has_tool_call": MARKERS, "streaming": SPACE, "structure_info": GRAMMAR},
    "hunyuan": {"has_tool_call": MARKERS, "unknown": UNKNOWN, "structure_info": GRAMMAR},
    "kimik2": {
        "has_tool_call": MARKERS,
        "test_(detect_and_parse|streaming)_bare_counter|also_starts_at_index_0": REPAIRED,
        "BareCounterParsing|state_reset|mid_drain": PRIVATE,
        "left_angle": DELTAS,
        "no_leak": FRAMING,
        "malformed_json": "expects arguments that are not valid JSON to be sent",
    },
    "llama32": {
        "convert": PRIVATE,
        "has_tool_call": MARKERS,
        "text_before": SPACE,
        "structure_info": GRAMMAR,
    },
    "minicpm5": {"unknown|case_sensitive": UNKNOWN, "incomplete": CUT, "streaming": SPACE},
    "minimax_m3": {"has_tool_call": MARKERS, "Malformed": CUT},
    "mistral": {
        "extract": PRIVATE,
        "has_tool_call": MARKERS,
        "invalid_json": UNREAD,
        "text": SPACE,
        "structure_info": GRAMMAR,
    },
    "poolside_v1": {
        "has_tool_call": MARKERS,
        "text": SPACE,
        "unknown": UNKNOWN,
        "structure_info": GRAMMAR,
        "key": REPAIRED,
    },
}


def files() -> list[Download]:
    """The files with tests."""
    lines = CHECKSUMS.read_text(encoding="utf-8").splitlines()
    return [Download(_ADDRESS + path, sha256) for sha256, _, path in (line.partition("  ") for line in lines)]


def fetch() -> None:
    """Put SGLang's tests into target/servers."""
    TESTS.folder.mkdir(parents=True, exist_ok=True)
    for file in files():
        download(file, TESTS.folder)


TESTS = OwnTests(
    server="sglang",
    fetch=fetch,
    arguments=[file.name for file in files()],
    environment={"SGLANG_TEST_MAX_RETRY": "0"},
    prefix="test_",
    suffix="_detector",
    reasons=REASONS,
    least=335,
)

if __name__ == "__main__":
    sys.exit(TESTS.main())
