"""Write docs/benchmarks.md from artifacts of `wirecall bench`.

`python scripts/benchmarks_page.py ARTIFACT… > docs/benchmarks.md`; `make benchmarks` makes the artifacts.
Every figure of the page is computed from them; what is said around the figures stands here.
"""

import sys

from wirecall._bench.artifact import BenchError, read
from wirecall._bench.report import Report, markdown, report

HEAD = """\
# Benchmarks

Made by `make benchmarks` from the artifacts of the commands below; no figure is typed by hand.
`wirecall bench report` makes such a page, and one of HTML with plots, of your own artifacts.
"""
KINDS = {
    "offline": """\
**Offline** counts texts. It shows what definitions and calls cost in each format in the
vocabularies that are named, and that each call is read back as it was written. It does not show
whether a model writes a format well, and definitions as JSON are an estimate: how a provider
renders tools for its model is not published. Formats that put nothing around a call would need
something to be found in a text.
""",
    "latency": """\
**Latency** times parsers that are fed the same calls in the same deltas in one run, each checked to
be right first. It shows what a delta costs as a call grows. Peers that parse again from the
beginning with every delta were made for short arguments, and some do other work besides; it does
not show what a server does around its parser.
""",
}
LIVE = """\
## Live models and agents

There are no results of live models here: none has been asked yet. To ask yours, natively and
through `wirecall.wrap`, interleaved, with every request and answer kept:

    pip install 'wirecall[bench]'
    wirecall bench live --models MODEL --reps 3 --ablation no-manual --output live.jsonl
    wirecall bench agent --models MODEL --reps 3 --output agent.jsonl
    wirecall bench report live.jsonl agent.jsonl --html report.html

`--base-url` and `--api` name any endpoint that speaks the OpenAI or Anthropic API; `--dry-run`
shows what would be sent and its price; `--max-usd` stops before more is spent. Keys come from the
environment.
"""


def page(paths: list[str]) -> str:
    """The page, with a section for each artifact."""
    kinds = {read(path).kind for path in paths}
    document = report(paths)
    # The page has a title of its own.
    body = markdown(Report("", document.sections)).partition("\n")[2].lstrip("\n")
    return "\n".join([HEAD, *(said for kind, said in KINDS.items() if kind in kinds), body, LIVE])


if __name__ == "__main__":
    try:
        sys.stdout.write(page(sys.argv[1:]))
    except BenchError as error:
        sys.exit(f"benchmarks_page.py: {error}")
