"""Which format a server takes, and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from neutral_suite import FIXTURES, row
from wirecall import FAMILIES, PROTOCOLS, Format, ToolError
from wirecall._serving.choice import Model, choose_format, is_parser_name, named_format, parser_names
from wirecall._serving.settings import Settings, read_settings
from wirecall._tools.formats.description import built_in

QWEN = Model((("--model", "Qwen/Qwen3-8B"),))
ACME_TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}"
    "{% for call in message.tool_calls %}"
    "<do>{{ call.function.name }} {{ call.function.arguments | tojson }}</do>"
    "{% endfor %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def test_the_models_name_gives_the_format_of_each_fixture() -> None:
    for fixture in FIXTURES:
        chosen = choose_format(Model((("the model", fixture.models[0]),)), parser="wirecall")
        assert chosen.format == built_in(row(fixture)), fixture.models[0]


def test_each_format_has_a_parser_of_its_name() -> None:
    names = parser_names()
    assert names[0] == "wirecall"
    assert len(names) == len(set(names))
    assert {named_format(name) for name in names[1:]} >= {*FAMILIES, *PROTOCOLS}
    for name in names[1:]:
        assert choose_format(QWEN, parser=name).format == built_in(str(named_format(name)))


def test_other_names_are_not_of_wirecall() -> None:
    assert not any(map(is_parser_name, [None, "hermes", "wirecaller", "Wirecall"]))
    assert named_format("hermes_wirecall") is None


def test_the_order_of_what_decides(tmp_path: Path) -> None:
    file = tmp_path / "acme.toml"
    Format(name="acme", call="<do>{name} {arguments}</do>").save(file)
    reasons = {
        choose_format(QWEN, parser="wirecall_glm-4.7", setting=str(file), prompted=True),
        choose_format(QWEN, parser="wirecall", setting=str(file), prompted=True),
        choose_format(QWEN, parser="wirecall", prompted=True),
        choose_format(QWEN, parser="wirecall"),
    }
    assert {(chosen.format.name, chosen.reason) for chosen in reasons} == {
        ("glm-4.7", "the parser wirecall_glm-4.7"),
        ("acme", f"WIRECALL_FORMAT={file}"),
        ("wire", "the prompt teaches it"),
        ("hermes", "--model Qwen/Qwen3-8B"),
    }


def test_later_names_count_if_earlier_ones_are_unknown() -> None:
    names = (("the model", "/models/current"), ("--served-model-name", "Qwen3-8B"))
    assert choose_format(Model(names)).reason == "--served-model-name Qwen3-8B"


def test_a_checkpoint_decides_where_names_do_not(tmp_path: Path) -> None:
    folder = tmp_path / "acme-7b"
    folder.mkdir()
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"chat_template": ACME_TEMPLATE}), encoding="utf-8"
    )
    chosen = choose_format(Model((("the model", str(folder)),)))
    assert chosen.reason == f"the checkpoint in the model {folder}"
    chosen = choose_format(Model((("the model", "acme-7b"),), {"chat_template": ACME_TEMPLATE}))
    assert chosen.reason == "the chat template"


def test_an_unknown_model_is_an_error_that_says_what_was_tried() -> None:
    model = Model(
        (("the model", "acme-7b"), ("the tokenizer", "acme-7b")), {"chat_template": "{{ messages }}"}
    )
    with pytest.raises(ToolError) as info:
        choose_format(model, parser="wirecall")
    message = str(info.value)
    assert message.startswith(
        "the format of the model's calls is not known; name it: the parser wirecall_FORMAT"
    )
    assert message.count("acme-7b") <= 3
    assert "the tokenizer: no format was found" in message
    assert "\n" not in message


def test_nothing_known_is_an_error() -> None:
    with pytest.raises(ToolError, match="nothing, because the model has no name"):
        choose_format(Model())


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("hermies", "WIRECALL_FORMAT=hermies is not the name of a format"),
        ("no/such.toml", r"WIRECALL_FORMAT=no/such.toml cannot be read: No such file"),
        ("{folder}", "is not the name of a format"),
        ("{folder}/bad.toml", r"bad\.toml"),
        ("{folder}/bad.json", r"bad\.json"),
    ],
)
def test_a_setting_that_cannot_work_is_an_error(setting: str, message: str, tmp_path: Path) -> None:
    for suffix in ("toml", "json"):
        (tmp_path / f"bad.{suffix}").write_text("call =", encoding="utf-8")
    with pytest.raises(ToolError, match=message):
        choose_format(QWEN, setting=setting.replace("{folder}", str(tmp_path)))


def test_settings() -> None:
    assert read_settings({}) == Settings()
    assert read_settings({"WIRECALL_FORMAT": "", "WIRECALL_CALLS": ""}) == Settings()
    assert read_settings({"WIRECALL_FORMAT": "hermes", "WIRECALL_CALLS": "held"}) == Settings("hermes", True)
    with pytest.raises(ToolError, match="WIRECALL_CALLS is 'hold'; it must be one of 'streamed', 'held'"):
        read_settings({"WIRECALL_CALLS": "hold"})
