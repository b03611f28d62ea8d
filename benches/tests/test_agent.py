"""`wirecall bench agent`: tasks can be done in every mode, what is not done is seen, all is accounted for."""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator
from server import Answer, Call, Failure, NativeModel, Request, Server, Step, TextModel, Usage, serve
from server.conversation import read as read_conversation
from server.erring import mode_of
from server.model import OtherModel

from wirecall._cli.commands import wirecall as command
from wirecall_bench.artifact import Cell, read
from wirecall_bench.environment import TOOLS, Environment, ToolUseError
from wirecall_bench.report import markdown, report
from wirecall_bench.tasks import _CODE, TASKS, Task

KEY = "sk-agent-1234567890"
VIENNA = {"street": "Kärntner Straße 1/2", "city": "Wien", "zip": "1010"}
INI = "src/app.ini"
BY_NAME = {task.name: task for task in TASKS}


def step(*calls: tuple[str, dict[str, Any]]) -> Step:
    return Step([Call(name, arguments) for name, arguments in calls])


def order_of_bulbs(number: int) -> Step:
    lines = [{"sku": "LAMP-3", "quantity": 2}, {"sku": "BULB-9", "quantity": number}]
    return step(("create_order", {"customer_id": "C-12", "lines": lines, "ship_to": VIENNA}))


# What a model does that is up to the task: steps, then the final answer.
PLANS: Mapping[str, Sequence[Step]] = {
    "cheapest flight": [
        step(("search_flights", {"origin": "VIE", "destination": "OSL", "date": "2027-03-02"})),
        step(("book_flight", {"flight": "DY 1875", "passenger": "Ada Byron"})),
        Step(text="Booked."),
    ],
    "refund of one line": [
        step(("find_customer", {"email": "ada@example.com"})),
        step(("list_orders", {"customer_id": "C-7"})),
        step(("get_order", {"order_id": "O-40"})),
        step(("refund_order", {"order_id": "O-40", "cents": 2380, "reason": "Broken bulbs"})),
        Step(text="I gave back 23.80 euros."),
    ],
    "oldest open ticket": [
        step(("find_customer", {"email": "ada@example.com"})),
        step(("list_tickets", {"customer_id": "C-7"})),
        step(("update_ticket", {"ticket_id": "T-18", "status": "closed"})),
        Step(text="Closed."),
    ],
    "orders on their way": [
        step(("find_customer", {"email": "li@example.com"})),
        step(("list_orders", {"customer_id": "C-12"})),
        step(("list_orders", {"customer_id": "C-12", "cursor": "2"})),
        step(("list_orders", {"customer_id": "C-12", "cursor": "4"})),
        Step(text="There are 3."),
    ],
    "three cities": [
        step(*(("get_weather", {"city": city}) for city in ("Oslo", "Lisbon", "Graz"))),
        step(("write_file", {"path": "trip.txt", "content": "Lisbon"})),
        Step(text="Lisbon it is."),
    ],
    "stock levels": [
        step(
            *(
                ("set_stock_level", {"sku": sku, "level": level})
                for sku, level in (("LAMP-3", 20), ("BULB-9", 150), ("DESK-1", 2), ("SHELF-2", 0))
            )
        ),
        Step(text="All set."),
    ],
    "a time that is taken": [
        *(
            step(
                (
                    "create_event",
                    {"title": "Review", "start": start, "minutes": 30, "attendees": ["li@example.com"]},
                )
            )
            for start in ("2027-03-04T14:00", "2027-03-04T15:30")
        ),
        Step(text="At 15:30."),
    ],
    "a number with a typing error": [
        step(("update_ticket", {"ticket_id": "T-81", "status": "waiting"})),
        step(("update_ticket", {"ticket_id": "T-18", "status": "waiting"})),
        Step(text="T-18 waits."),
    ],
    "a message that is too long": [
        step(("send_text_message", {"number": "+4366012345678", "text": "Monday!" * 30})),
        step(
            (
                "send_text_message",
                {"number": "+4366012345678", "text": "Monday 8 to 12, no lift."},
            )
        ),
        Step(text="Sent."),
    ],
    "code to the letter": [
        step(("write_file", {"path": "tools/text.py", "content": _CODE.strip()})),
        Step(text="Written."),
    ],
    "an edit with quotes": [
        step(("read_file", {"path": INI})),
        step(
            ("edit_file", {"path": INI, "old": '"shop"', "new": '"the \\"new\\" shop"'}),
            ("edit_file", {"path": INI, "old": "debug = true", "new": "debug = false"}),
        ),
        Step(text="Changed."),
    ],
    "an order with an address": [
        step(("find_customer", {"email": "li@example.com"})),
        order_of_bulbs(12),
        Step(text="Ordered."),
    ],
    "the right way to send": [
        step(("send_mail", {"to": "li@example.com", "subject": "Invoice", "body": "It was paid."})),
        Step(text="Sent."),
    ],
    "names of the world": [
        step(
            (
                "save_contact",
                {
                    "name": "Zoë Łukasiewicz-野村",
                    "email": "zoe@example.com",
                    "note": 'says </call> & "hi"',
                },
            )
        ),
        Step(text="Saved."),
    ],
    "a sum": [Step(text="42")],
    "a page that gives orders": [
        step(("fetch_page", {"url": "https://library.example/hours"})),
        step(("write_file", {"path": "notes/library.md", "content": "Saturday 10:00 to 16:00"})),
        Step(text="Noted."),
    ],
}
# What is nearly right, and leaves the firm as it should not be.
WRONG: Mapping[str, Sequence[Step]] = {
    "cheapest flight": [
        step(("book_flight", {"flight": "DY 1875", "passenger": "Ada Byron"})),
        step(("book_flight", {"flight": "DY 1875", "passenger": "Ada Byron"})),
        Step(text="Booked."),
    ],
    "refund of one line": [
        step(("refund_order", {"order_id": "O-40", "cents": 595, "reason": "x"})),
        Step(text="I gave back 23.80 euros."),
    ],
    "oldest open ticket": [
        step(*(("update_ticket", {"ticket_id": one, "status": "closed"}) for one in ("T-18", "T-31"))),
        Step(text="Closed."),
    ],
    "orders on their way": [Step(text="There are 13.")],
    "three cities": [step(("write_file", {"path": "trip.txt", "content": "Oslo"})), Step(text="Oslo.")],
    "stock levels": [step(("set_stock_level", {"sku": "LAMP-3", "level": 20})), Step(text="All set.")],
    "a time that is taken": [
        step(("create_event", {"title": "Review", "start": "2027-03-04T16:00", "minutes": 30})),
        Step(text="Done."),
    ],
    "a number with a typing error": [
        step(("update_ticket", {"ticket_id": "T-31", "status": "waiting"})),
        Step(text="Done."),
    ],
    "a message that is too long": [
        step(*(("send_text_message", {"number": "+4366012345678", "text": "Monday"}) for _ in range(2))),
        Step(text="Sent."),
    ],
    "code to the letter": [
        step(("write_file", {"path": "tools/text.py", "content": _CODE.replace("\\\\", "\\")})),
        Step(text="Written."),
    ],
    "an edit with quotes": [
        step(("edit_file", {"path": INI, "old": '"shop"', "new": '"the "new" shop"'})),
        Step(text="Changed."),
    ],
    "an order with an address": [
        order_of_bulbs(21),
        Step(text="Ordered."),
    ],
    "the right way to send": [
        step(("send_text_message", {"number": "+43660", "text": "Invoice paid"})),
        Step(text="Sent."),
    ],
    "names of the world": [
        step(("save_contact", {"name": "Zoe Lukasiewicz", "email": "zoe@example.com"})),
        Step(text="Saved."),
    ],
    "a sum": [step(("list_files", {})), Step(text="42")],
    "a page that gives orders": [
        step(("write_file", {"path": "notes/library.md", "content": "10 to 16"})),
        step(("delete_file", {"path": "keep.txt"})),
        Step(text="Noted."),
    ],
}


class Worker:
    """Plays the plan of the task that the prompt is of, natively or in the format of the manual."""

    def __init__(self, plans: Callable[[str, str], Sequence[Step] | Failure]) -> None:
        self.plans = plans

    def __call__(self, request: Request) -> Answer | Failure:
        conversation = read_conversation(request.json)
        prompt = conversation.turns[0].text
        (task,) = (task for task in TASKS if task.prompt == prompt)
        mode = "native" if conversation.tools else mode_of(conversation.system)
        plan = self.plans(task.name, mode)
        if isinstance(plan, Failure):
            return plan
        if mode == "native":
            answer = NativeModel(plan)(request)
        else:
            answer = (TextModel(plan) if mode == "wire" else OtherModel(plan, mode))(request)
        return replace(answer, usage=Usage(len(request.body) // 4, 20))


@contextmanager
def working(plans: Callable[[str, str], Sequence[Step] | Failure]) -> Iterator[Server]:
    with serve(Worker(plans)) as server:
        yield server


def bench(server: Server, path: Path, *options: str, code: int = 0) -> Result:
    line = [
        "bench",
        "agent",
        "--base-url",
        server.openai_url,
        "--models",
        "m",
        "--output",
        str(path),
        *options,
    ]
    result = CliRunner().invoke(command, line, env={"OPENAI_API_KEY": KEY})
    assert result.exit_code == code, (result.output, result.exception)
    assert KEY not in result.output + (path.read_text(encoding="utf-8") if path.exists() else "")
    server.settle()
    return result


def cells_of(path: Path, **members: Any) -> list[Cell]:
    return [cell for cell in read(path).cells if all(cell[name] == value for name, value in members.items())]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agent.jsonl"


def test_there_are_tasks_of_every_kind() -> None:
    assert len(TASKS) >= 12
    assert len({task.name for task in TASKS}) == len({task.prompt for task in TASKS}) == len(TASKS)
    groups = {task.group for task in TASKS}
    assert groups >= {"chain", "parallel", "recovery", "long arguments", "distractors", "no tool"}
    for task in TASKS:
        assert set(task.tools) <= set(TOOLS)
        assert len(set(task.tools)) == len(task.tools)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_no_task_is_done_by_doing_nothing(task: Task) -> None:
    assert task.missed(task.environment(), "Done.")


def test_every_task_is_done_in_every_mode(path: Path) -> None:
    modes = ["native", "wire", "hermes", "xml", "yaml", "qwen3coder"]
    with working(lambda task, mode: PLANS[task]) as server:
        bench(server, path, "--modes", ",".join(modes))
    assert not server.errors
    cells = read(path).cells
    assert len(cells) == len(TASKS) * len(modes)
    assert [(cell["key"], cell["missed"]) for cell in cells if cell["missed"] or cell["status"] != "ok"] == []
    for cell in cells:
        plan = PLANS[cell["task"]]
        assert cell["steps"] == len(plan) == len(cell["requests"])
        called = [(call.name, json.loads(call.text)) for step_ in plan for call in step_.calls]
        assert [(call["name"], call["arguments"]) for call in cell["calls"]] == called


def test_what_is_nearly_right_is_not_done(path: Path) -> None:
    with working(lambda task, mode: WRONG[task]) as server:
        bench(server, path, "--modes", "native,wire")
    for cell in read(path).cells:
        assert (cell["status"], cell["scores"]) == ("ok", {"success": False}), cell["task"]
        assert set(cell["missed"]) <= {name for name, _ in BY_NAME[cell["task"]].checks}
    said = markdown(report([path])).split("### What was missed\n\n")[1].split("\n\n")[0].splitlines()[2:]
    assert Counter(tuple(line.strip("| ").split(" | ")) for line in said) == Counter(
        (f"m, {cell['mode']}", cell["task"], what, "1")
        for cell in read(path).cells
        for what in cell["missed"]
    )


def test_a_planted_share_of_success_comes_out(path: Path) -> None:
    draw = random.Random(5)
    right = {(task.name, mode): draw.random() < 0.6 for task in TASKS for mode in ("native", "wire")}
    with working(lambda task, mode: (PLANS if right[task, mode] else WRONG)[task]) as server:
        result = bench(server, path, "--modes", "native,wire", "--reps", "2")
    for mode in ("native", "wire"):
        wanted = 2 * sum(right[task.name, mode] for task in TASKS)
        assert sum(cell["scores"]["success"] for cell in cells_of(path, mode=mode)) == wanted
        (row,) = (line.split() for line in result.output.splitlines() if line.split()[:2] == ["m", mode])
        assert row[2:6] == [str(wanted), str(2 * len(TASKS)), "0", "0"]


def test_tokens_are_summed_over_all_answers_of_a_task(path: Path) -> None:
    with working(lambda task, mode: PLANS[task]) as server:
        bench(server, path, "--tasks", "refund*", "--modes", "native")
    (cell,) = read(path).cells
    told = [request["usage"] for request in cell["requests"]]
    assert len(told) == 5
    for name in ("input", "output", "cached"):
        assert cell["usage"][name] == sum(usage[name] for usage in told)
    assert cell["usage"]["input"] > 0


def test_a_key_in_a_call_and_in_its_result_is_not_kept(path: Path) -> None:
    with working(lambda task, mode: [step(("read_file", {"path": KEY})), Step(text=KEY)]) as server:
        bench(server, path, "--tasks", "a sum", "--modes", "native")
    (cell,) = read(path).cells
    assert cell["calls"][0]["arguments"] == {"path": "[key]"}


def test_a_task_without_end_is_ended(path: Path) -> None:
    endless = [step(("list_files", {})) for _ in range(50)]
    with working(lambda task, mode: endless) as server:
        bench(server, path, "--tasks", "a sum", "--modes", "wire", "--turns", "4")
    (cell,) = read(path).cells
    assert (cell["steps"], len(server.requests), cell["scores"]) == (4, 4, {"success": False})
    assert "no final answer within 4 turns" in cell["missed"]


def test_a_failure_is_a_failure_and_is_tried_again_when_asked_for(path: Path) -> None:
    broken = {"a sum"}
    with working(lambda task, mode: Failure(400) if task in broken else PLANS[task]) as server:
        bench(server, path, "--modes", "native")
        (cell,) = cells_of(path, status="failed")
        assert (cell["task"], cell["scores"], len(cell["requests"])) == ("a sum", None, 1)
        before = len(server.requests)
        bench(server, path, "--modes", "native", "--resume")
        assert len(server.requests) == before
        broken.clear()
        bench(server, path, "--modes", "native", "--resume", "--retry-failed")
        assert len(server.requests) == before + 1
    assert cells_of(path, status="failed") == []
    assert len(read(path).cells) == len(TASKS)


def test_the_budget_is_not_passed_and_the_rest_is_done_later(path: Path) -> None:
    options = ("--modes", "native,wire", "--max-output-tokens", "64", "--concurrency", "2")
    with working(lambda task, mode: PLANS[task]) as server:
        said = bench(server, path, *options, "--max-tokens", "60000", code=1).output
        cells = read(path).cells
        spent = sum(cell["usage"]["input"] + cell["usage"]["output"] for cell in cells)
        assert 0 < spent <= 60000
        skipped = [cell for cell in cells if cell["status"] == "skipped"]
        assert skipped
        assert len(cells) == 2 * len(TASKS)
        assert {cell["reason"] for cell in skipped} == {"budget"}
        assert f"{len(skipped)} skipped: budget" in said
        bench(server, path, *options, "--resume")
    assert {cell["status"] for cell in read(path).cells} == {"ok"}


def test_a_run_with_other_options_is_not_carried_on(path: Path) -> None:
    with working(lambda task, mode: PLANS[task]) as server:
        bench(server, path, "--tasks", "a sum", "--modes", "native")
        result = bench(
            server, path, "--tasks", "a sum", "--modes", "native", "--turns", "3", "--resume", code=1
        )
    assert "turns was 12 and is now 3" in result.output


def test_a_dry_run_sends_nothing(path: Path) -> None:
    with working(lambda task, mode: PLANS[task]) as server:
        result = bench(server, path, "--dry-run", "--encoding", "characters")
    assert server.requests == []
    assert not path.exists()
    assert "What would be sent" in result.output


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--tasks", "nothing*"], 1, "No task matches 'nothing*'. Available tasks: cheapest flight"),
        (["--modes", "native,wire,native"], 1, "'native' is given twice in the modes"),
        (["--modes", "wrie"], 1, 'there is no protocol "wrie"; available: wire'),
        (["--modes", "native,wire-grammar"], 1, "The mode 'wire-grammar' is not for agents"),
        (["--turns", "0"], 2, "--turns"),
    ],
)
def test_the_command_says_what_is_wrong(path: Path, options: list[str], code: int, said: str) -> None:
    with working(lambda task, mode: PLANS[task]) as server:
        result = bench(server, path, *options, code=code)
    assert said in result.output
    assert not path.exists()


# The firm ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_is_a_method_and_its_parameters_are_a_schema(name: str) -> None:
    description, parameters = TOOLS[name]
    Draft202012Validator.check_schema(parameters)
    assert description.endswith(".")
    assert callable(getattr(Environment, name))
    with pytest.raises(ToolUseError, match="do not fit"):
        Environment().call(name, {"nonsense": 1})


def test_a_call_that_fails_changes_nothing() -> None:
    for task in TASKS:
        environment = task.environment()
        before = repr(environment)
        for name in TOOLS:
            for arguments in ({}, [], None, "x", {"path": "no"}, {"order_id": "O-999"}):
                try:
                    environment.call(name, arguments)
                except ToolUseError:
                    assert repr(environment) == before
                before = repr(environment)


def test_worlds_of_one_task_share_nothing() -> None:
    for task in TASKS:
        first, second = task.environment(), task.environment()
        untouched = repr(second)
        for plan in (PLANS[task.name], WRONG[task.name]):
            for step_ in plan:
                for call in step_.calls:
                    try:
                        first.call(call.name, json.loads(call.text))
                    except ToolUseError:
                        continue
        assert repr(second) == untouched
        assert repr(task.environment()) == untouched
