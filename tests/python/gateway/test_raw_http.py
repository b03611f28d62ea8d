"""Requests that two HTTP parsers could read differently: they are refused before anything is passed on."""

import json

import pytest
from gateway_support import asking, gateway, running

OK = b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
BODY = json.dumps(asking()).encode()
LENGTH = b"content-length: %d\r\n" % len(BODY)
CHUNKED = b"transfer-encoding: chunked\r\n"
ATTACKS = {
    "both framings": OK + LENGTH + CHUNKED + b"\r\n0\r\n\r\n",
    "both framings, chunked first": OK + CHUNKED + LENGTH + b"\r\n0\r\n\r\n",
    "two lengths": OK + LENGTH + b"content-length: 6\r\n\r\n" + BODY,
    "a list of lengths": OK + b"content-length: 5, 6\r\n\r\nhello!",
    "a negative length": OK + b"content-length: -1\r\n\r\n",
    "a length with a sign": OK + b"content-length: +2\r\n\r\n{}",
    "two codings": OK + CHUNKED + b"transfer-encoding: identity\r\n\r\n0\r\n\r\n",
    "an unknown coding": OK + b"transfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
    "a space before the colon": OK + b"content-length : 5\r\n\r\nhello",
    "bare line feeds": OK.replace(b"\r\n", b"\n") + LENGTH.replace(b"\r\n", b"\n") + b"\n" + BODY,
    "a folded header": OK + b"x-a: b\r\n c: d\r\n" + LENGTH + b"\r\n" + BODY,
    "NUL in a header": OK + b"x-a: \x00\r\n" + LENGTH + b"\r\n" + BODY,
    "a carriage return in a header": OK + b"x-a: b\rc: d\r\n" + LENGTH + b"\r\n" + BODY,
    "a line feed in a chunk's extension": OK + CHUNKED + b"\r\n2;\n\r\n{}\r\n0\r\n\r\n",
    "a chunk that is no number": OK + CHUNKED + b"\r\nzz\r\n{}\r\n0\r\n\r\n",
    "a header of 100 KB": OK + b"x-a: " + b"y" * 100_000 + b"\r\n" + LENGTH + b"\r\n" + BODY,
    "2,000 headers": OK + b"".join(b"x-%d: y\r\n" % n for n in range(2000)) + LENGTH + b"\r\n" + BODY,
    "no host": OK.replace(b"host: 127.0.0.1\r\n", b"") + LENGTH + b"\r\n" + BODY,
    "two hosts": OK + b"host: localhost\r\n" + LENGTH + b"\r\n" + BODY,
    "another version": OK.replace(b"HTTP/1.1", b"HTTP/3.7") + LENGTH + b"\r\n" + BODY,
    "a URL as the target": OK.replace(b"/v1/", b"http://192.0.2.1/v1/") + LENGTH + b"\r\n" + BODY,
    "CONNECT": b"CONNECT evil.example:443 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
    "a name in the path": OK.replace(b"/v1/", b"/v1@evil.example/") + LENGTH + b"\r\n" + BODY,
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
}


@pytest.mark.parametrize("name", ATTACKS)
@running
async def test_what_could_be_read_in_two_ways_is_refused(name: str) -> None:
    async with gateway(limits={"header_seconds": 1.0, "body_seconds": 1.0}) as one:
        said = await one.raw(ATTACKS[name])
        assert said == b"" or b"400" <= said.split(b" ")[1] < b"500", said[:200]
        assert one.upstream.seen == []


@running
async def test_the_same_without_the_attack_is_served() -> None:
    async with gateway() as one:
        assert b"tool_calls" in await one.raw(OK + LENGTH + b"connection: close\r\n\r\n" + BODY)
        chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
        assert b"tool_calls" in await one.raw(OK + CHUNKED + b"connection: close\r\n\r\n" + chunked)


@running
async def test_what_follows_a_request_is_no_second_one() -> None:
    """Bytes after a refused request are not read as another request."""
    async with gateway() as one:
        inside = b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n" + LENGTH + b"\r\n" + BODY
        bad = OK + b"content-length: 5\r\ncontent-length: 6\r\n\r\nhello!"
        await one.raw(bad + inside)
        assert one.upstream.seen == []
