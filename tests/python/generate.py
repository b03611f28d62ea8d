"""Random messages for a toolset: good calls, near misses, and noise made of the format's own alphabet.

rng = random.Random(seed)
tools = toolset(rng)
print(message(rng, tools))
"""

import json
import random
import re
from typing import Any

from generate_values import (
    ODD_KEYS,
    PLAIN_KEYS,
    TEXTS,
    TOOL_NAMES,
    Schema,
    anything,
    arguments,
    integer,
    number,
    schema,
    text,
    toolset,
    value,
)

__all__ = ["arguments", "message", "schema", "toolset", "value"]

OPEN, CLOSE = "<call>", "</call>"
BARE_KEY = re.compile(r"[A-Za-z_$#][^\x00-\x20\x7f-\x9f=.\[\]{}\"'<,`]{0,63}")
QUOTES = "\"'"
BARE_VALUE = re.compile(r"[A-Za-z][A-Za-z0-9_./:-]*")

# fmt: off
WS = (
    " ", " ", " ", " ", "  ", "\n", "\n  ", "\t", "\r\n", "\r", "",
)
PROSE = (
    "", "", " ", "\n", "Let me look.\n", "a < b", "<", "<cal", "</call>", "I write <call> for a call. ",
    "<call>name ", "<call> name </call>", "<think>", "</think>", "```\n", "\u65e5\u672c\U0001f600",
    "<call>x=1</call>", '<call>"x"</call>', "<call></call>", "&lt;call&gt;", "<CALL>", "</cal",
    "< call>", "\ud800", "\udc00x", "<call><call>", "[call]", "<call ", "<call >", "<tool_call>",
)
ALPHABET = (
    "<call>", "<call>", "</call>", "</call>", "</call>", " ", " ", " ", " ", "\n", "\t", "\r\n", "=", "=",
    "=", '"', '"', '"', "'", "'", "{", "}", "[", "]", ",", ",", ":", ".", '\\', '\\"', "\\'", "\\n",
    "\\u0041", "\\ud83d", "<json>", "</json>", "```json\n", "```", "<think>", "</think>", "<tool-result",
    "<tool-error", "<", ">", "/", "<call", "</cal", "1", "42", "-0.5", "5.0", "1e5", "01", "true", "True",
    "false", "null", "None", "a", "b", "\xe9", "\U0001f600", "\x00", "\xa0", "\x85", "\ufeff", "\ud83d",
    "[0]", "[1]", "[00]", "a=", "b=", "a=1", "b=2", "c", "_", "-", ";", "/>", "</call >", "</CALL>",
    "(", ")", "|", '""', '"', ": ", "<CALL>", "[call]", "&lt;call&gt;", "<call ", "<tool_call>",
    "[/call]", "</tool_call>", "name=", "“", "”", "‘", "’", '"""', "&quot;", "<<", "</CALL>",
    '["a"]', "functions.", "None", "Null", "json", "call", ". ", "a\"</call>\n<call>",
)
BODIES = (
    "{}", "{}", "{}", "{}", "{}", "<json>{}</json>", "<json>\n{}\n</json>\n", "```json\n{}\n```", "``` {}```",
    "<json>{}", "```{}",
)
EQUALS = (
    "=", "=", "=", "=", "=", "=", "=", " =", "= ", " = ", "=\n", "", ":", ": ", ": ", " : ", ":=",
)
BETWEEN = (
    " ", " ", " ", " ", " ", "  ", "\n", ", ", ", ", ",", ",\n", "", " , ", ". ", " and ", "\n\n",
)
SPELLED = (
    "+5", ".5", "5.", "-.5", "+.5e1", "+5.0", "+", "-.", "+05", "1e999", "-1e400", "+1e400", "1e-999",
)
ENDS = (
    "</call>", "</call>", "</call>", "</call>", "</call>", "</call>", "\n", "", "\n</call>", "</cal", "/>",
    ",</call>", "</call >", ";</call>", " ></call>", "/></call>",
)
# Openings in other spellings, and what may be between one and a tool's name.
OPENINGS = (
    "<CALL>", "<call >", "<call ", "<call name=", '<call name="', "[call]", "&lt;call&gt;", "<tool_call>",
    "<tool_call>\n", '<call>"', "<call>name=", '<call>{"name":"', "<call>functions.",
    "<CALL>", "<Call>", "<call >", "<call>'", "<call>functions.", "<call>tools.",
    "<call>`", "<call>\n", "<call>(", "<call>json ", "<call>a.",
)
# What opens and closes code.
MARKDOWN = (
    "`", "`", "``", "```", "~~~", "```\n", "\n```\n", "\n~~~~ x\n", "\n> ```", "\n    ````", "\n~~~~\r\n",
)
# fmt: on


def message(rng: random.Random, tools: dict[str, Schema]) -> str:
    """What a model might write, or a fuzzer."""
    parts = []
    if rng.random() < 0.05:
        parts.append(rng.choice(("<think>", "<think>hm <call>f</call>", " <think>")) + text(rng))
        parts.append(rng.choice(("</think>", "</think>\n", "")))
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        parts.append(rng.choice(PROSE) if rng.random() < 0.5 else "")
        parts.append(rng.choice((good_call, good_call, near_miss, near_miss, near_miss, soup))(rng, tools))
    parts.append(rng.choice(PROSE) if rng.random() < 0.5 else "")
    if rng.random() < 0.03:
        parts.insert(rng.randrange(len(parts)), rng.choice(("<tool-result", '<tool-error name="x">')))
    result = "".join(parts)
    if rng.random() < 0.45:
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            result = mutated(rng, result, tools)
    if rng.random() < 0.08:
        result = result.replace(OPEN, rng.choice(OPENINGS), 1)
    if rng.random() < 0.2:
        result = result[: rng.randrange(len(result) + 1)]
    return result


# Calls ----------------------------------------------------------------------------------------


def with_code(rng: random.Random, message: str) -> str:
    """The message with Markdown anywhere in it."""
    for _ in range(rng.randrange(1, 7)):
        at = rng.randrange(len(message) + 1)
        message = message[:at] + rng.choice(MARKDOWN) + message[at:]
    return message


def tool_of(rng: random.Random, tools: dict[str, Schema]) -> tuple[str, Schema]:
    """A tool to call, seldom one that is not there."""
    if not tools or rng.random() < 0.04:
        name = rng.choice(TOOL_NAMES)
        return name, tools.get(name, {})
    name = rng.choice(list(tools))
    made = tools[name]
    if rng.random() < 0.05:
        name = rng.choice(
            (name.upper(), name.replace("_", "-"), name.capitalize(), name + "_", name.replace("_", ""))
        )
    return name, made


def good_call(rng: random.Random, tools: dict[str, Schema]) -> str:
    """A call as the encoder could write it."""
    name, of = tool_of(rng, tools)
    given = arguments(rng, of)
    if rng.random() < 0.25:
        body = compact(given)
    else:
        pairs = [
            pair for key, item in given.items() for pair in pairs_of(key_segment(key), item, of, of, key, 1)
        ]
        body = " ".join(pairs)
    return f"{OPEN}{name} {body}{CLOSE}" if body else OPEN + name + CLOSE


def compact(item: Any) -> str:
    return json.dumps(item, ensure_ascii=False, separators=(",", ":"))


def key_segment(key: str) -> str:
    return key if BARE_KEY.fullmatch(key) else quoted(key, '"')


def quoted(content: str, quote: str) -> str:
    return quote + content.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote


def pairs_of(written: str, item: Any, parent: Any, root: Schema, key: str, depth: int) -> list[str]:
    """One argument as pairs: dotted keys where the schema declares them."""
    of = resolved(parent, root).get("properties", {}).get(key, {})
    declared = resolved(of, root).get("properties", {})
    if isinstance(item, dict) and item and depth < 4 and all(name in declared for name in item):
        return [
            pair
            for name, inner in item.items()
            for pair in pairs_of(f"{written}.{key_segment(name)}", inner, of, root, name, depth + 1)
        ]
    return [f"{written}={written_value(item)}"]


def resolved(of: Any, root: Schema) -> Schema:
    """The schema that its `$ref` refers to."""
    if not isinstance(of, dict):
        return {}
    if "$ref" not in of:
        return of
    target: Any = root
    for step in of["$ref"].split("/")[1:]:
        target = target[step]
    return resolved(target, root)


def written_value(item: Any) -> str:
    if not isinstance(item, str):
        return compact(item)
    if BARE_VALUE.fullmatch(item) and item not in ("true", "false", "null"):
        return item
    return quoted(item, "'" if item.count('"') > item.count("'") else '"')


# Near misses ----------------------------------------------------------------------------------------


def near_miss(rng: random.Random, tools: dict[str, Schema]) -> str:
    """A call written sloppily: any key in any style with any value, the sloppier the higher `mess` is."""
    mess = rng.choice((0.05, 0.1, 0.2, 0.4))
    name, of = tool_of(rng, tools)
    if rng.random() < mess:
        name = rng.choice(('"{}"', "'{}'", "`{}`", "{}:", "{},", "functions.{}", "tools.{}:")).format(name)
    out = OPEN + (rng.choice(WS) if rng.random() < mess else "") + name + (rng.choice(WS) or " ")
    if rng.random() < 0.1:
        return out.rstrip() + keywords(rng, of, mess) + (rng.choice(ENDS) if rng.random() < mess else CLOSE)
    if rng.random() < 0.2:
        body = relaxed(rng, arguments(rng, of) if rng.random() > mess else anything(rng))
        out += rng.choice(BODIES).replace("{}", body)
    else:
        used: set[str] = set()
        for _ in range(rng.choice((1, 1, 2, 2, 3, 4))):
            key, field = sloppy_key(rng, of, mess)
            if key in used and rng.random() > mess:
                continue
            used.add(key)
            equals = rng.choice(EQUALS) if rng.random() < mess else "="
            between = rng.choice(BETWEEN) if rng.random() < 2 * mess else " "
            out += key + equals + sloppy_value(rng, field, of, mess) + between
    return out + (rng.choice(ENDS) if rng.random() < 2 * mess else CLOSE)


def keywords(rng: random.Random, of: Schema, mess: float) -> str:
    """Arguments as Python writes them."""
    pairs = []
    for key, item in arguments(rng, of).items():
        written = key if rng.random() > mess else rng.choice((quoted(key, '"'), key + " "))
        content = relaxed(rng, item)
        if rng.random() < mess:
            content = rng.choice(
                (repr(item), content.replace("[", "(").replace("]", ")"), sloppy_value(rng, {}, of, mess))
            )
        pairs.append(written + (rng.choice(EQUALS) if rng.random() < mess else "=") + content)
    between = rng.choice((", ", ",", ",\n", " ")) if rng.random() < mess else ", "
    opening, closing = (
        ("(", ")")
        if rng.random() > mess / 2
        else rng.choice((("( ", " )"), ("(", ",)"), ("(", "]"), ("({", "})")))
    )
    return opening + between.join(pairs) + closing


def sloppy_key(rng: random.Random, of: Schema, mess: float = 0.2) -> tuple[str, Any]:
    """A key for some field of the schema, and the field's schema as far as it is known."""
    written = ""
    at: Any = of
    for depth in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        at = resolved(at, of)
        for word in ("anyOf", "oneOf"):
            if word in at:
                at = resolved(rng.choice(at[word]), of)
        kinds = at.get("type")
        if kinds == "array" and written:
            index = rng.choice((0, 1, 1, 2, 5)) if rng.random() < mess else 0
            written += rng.choice((f"[{index}]", f"[{index}]", f"[{index}]", f".{index}", f"[0{index}]"))
            at = at.get("items", {})
            continue
        names = list(at.get("properties", {}))
        if depth and not names and rng.random() < 0.7:
            break
        known = names and rng.random() > mess / 2
        name = rng.choice(names) if known else rng.choice((*PLAIN_KEYS, *PLAIN_KEYS, *ODD_KEYS))
        at = at.get("properties", {}).get(name, {})
        if written and rng.random() < mess / 4:
            written += f"[{quoted(name, rng.choice(QUOTES))}]"
        else:
            written += ("." if written else "") + styled(rng, name, mess)
    return written, at


def styled(rng: random.Random, name: str, mess: float) -> str:
    choice = rng.random()
    if choice > mess:
        return key_segment(name)
    choice /= mess
    if choice < 0.25:
        return name
    if choice < 0.45:
        return quoted(name, rng.choice("'\""))
    if choice < 0.7:
        return re.sub("(?<=[a-z])([A-Z])", r"_\1", name).lower()
    return rng.choice((name.upper(), name.title(), name.replace("_", "-"), name.replace("_", ""), name + "_"))


def sloppy_value(rng: random.Random, of: Any, root: Schema, mess: float) -> str:
    """The field's value in some style, or any other."""
    item = value(rng, of, root)
    if rng.random() < mess / 2:
        other = (
            anything(rng),
            integer(rng),
            number(rng),
            "5",
            "True",
            "NULL",
            "a,b, c",
            "5.0",
            "1e2",
            *SPELLED,
        )
        item = rng.choice(other)
    if isinstance(item, (dict, list)):
        if isinstance(item, list) and rng.random() < mess / 2:
            return quoted(compact(item), rng.choice(QUOTES))
        if isinstance(item, list) and rng.random() < mess / 2:
            return "(" + ", ".join(relaxed(rng, inner) for inner in item) + ")"
        if isinstance(item, list) and rng.random() < 0.4:
            return rng.choice((",", ",", ", ")).join(str(inner) for inner in item)
        return relaxed(rng, item)
    content = item if isinstance(item, str) else compact(item)
    quote = rng.choice('""\'')
    choice = rng.random()
    if choice > 1.5 * mess:
        return written_value(item)
    choice /= 1.5 * mess
    if choice < 0.3:
        return content
    if choice < 0.5:
        return quote + content + quote
    if choice < 0.6:
        return quoted(content, quote)
    if choice < 0.8:
        odd = (
            "",
            f"“{content}”",
            f"‘{content}’",
            3 * quote + content + 3 * quote,
            "None",
            f'{quote}He said "hi" to me{quote}',
            "New York",
            "b c d",
            "a,b",
            "5.0",
            quote + content,
        )
        return rng.choice(odd)
    near = (content.title(), content.upper(), content + ",x", f"[{content}]", f"{{{content}}}", content * 2)
    return rng.choice(near)


def relaxed(rng: random.Random, item: Any, depth: int = 0) -> str:
    """JSON, with liberties."""
    loose = rng.random() < 0.35
    blank = rng.choice(("", "", " ", "\n")) if loose else ""
    trailing = "," if loose and rng.random() < 0.2 else ""
    if isinstance(item, dict):
        members = [
            (relaxed_string(rng, key, loose), relaxed(rng, inner, depth + 1)) for key, inner in item.items()
        ]
        if loose and members and rng.random() < 0.2:
            members.append(rng.choice(members))
        return (
            "{"
            + blank
            + ("," + blank).join(f"{key}:{blank}{inner}" for key, inner in members)
            + trailing
            + "}"
        )
    if isinstance(item, list):
        return (
            "["
            + blank
            + ("," + blank).join(relaxed(rng, inner, depth + 1) for inner in item)
            + trailing
            + "]"
        )
    if isinstance(item, str):
        return relaxed_string(rng, item, loose)
    if loose and rng.random() < 0.4:
        return rng.choice((str(item), f'"{item}"', f"'{item}'", f"{compact(item)}x", "01", "+1", ".5", "NaN"))
    return compact(item)


def relaxed_string(rng: random.Random, content: str, loose: bool) -> str:
    if not loose:
        return json.dumps(content, ensure_ascii=rng.random() < 0.1)
    return rng.choice((compact(content), f"'{content}'", f'"{content}"', content, quoted(content, "'")))


# Noise ----------------------------------------------------------------------------------------


def token(rng: random.Random, tools: dict[str, Schema]) -> str:
    choice = rng.random()
    if choice < 0.6:
        return rng.choice(ALPHABET)
    if choice < 0.8:
        name, of = tool_of(rng, tools)
        return rng.choice((name, sloppy_key(rng, of)[0], sloppy_key(rng, of)[0] + "="))
    return rng.choice((*PLAIN_KEYS, *ODD_KEYS, *TEXTS))


def soup(rng: random.Random, tools: dict[str, Schema]) -> str:
    """Tokens of the format in any order, mostly after the beginning of a call."""
    start = OPEN + tool_of(rng, tools)[0] + " " if rng.random() < 0.8 else ""
    return start + "".join(token(rng, tools) for _ in range(rng.randrange(25)))


def mutated(rng: random.Random, source: str, tools: dict[str, Schema]) -> str:
    """One thing deleted, doubled, put in or swapped: a character, or a token."""
    pieces = list(source) if rng.random() < 0.5 else re.findall(r"</?call>|\w+|\s+|.", source, re.DOTALL)
    if not pieces:
        return token(rng, tools)
    at = rng.randrange(len(pieces))
    other = rng.randrange(len(pieces))
    choice = rng.randrange(5)
    if choice == 0:
        del pieces[at]
    elif choice == 1:
        pieces.insert(at, pieces[at])
    elif choice == 2:
        pieces.insert(at, token(rng, tools))
    elif choice == 3:
        pieces[at], pieces[other] = pieces[other], pieces[at]
    else:
        pieces[at] = token(rng, tools)
    return "".join(pieces)
