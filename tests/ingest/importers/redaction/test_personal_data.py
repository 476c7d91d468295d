"""Personal data: what is found, what must stay, and that nothing found is ever left."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.characters import normalise_query
from curation.ingest.importers.personal_data import _SUSPECT, redact
from curation.ingest.importers.personal_data_rules import RULES, looks_random
from tests.support import examples

FOUND = {
    "mail john.o'neil+shop@example.co.uk now": "mail [email] now",
    '"jürgen.müller@firma.de"': '"[email]"',
    "info (at) example.org": "[email]",
    "who is ｊｏｅ＠ｅｘａｍｐｌｅ．ｃｏｍ": "who is [email]",
    "joe\u200b@exam\u00adple.com": "[email]",
    "4111111111111111": "[card]",
    "visa 4111 1111 1111 1111 123": "visa [card] 123",
    "5500-0000-0000-0004 declined": "[card] declined",
    "1234 4111 1111 1111 1111": "1234 [card]",
    "amex 3782 822463 10005": "amex [card]",
    "4111\t1111\u00a01111  1111": "[card]",
    "DE89 3704 0044 0532 0130 00 deutsche bank": "[iban] deutsche bank",
    "gb29nwbk60161331926819": "[iban]",
    "where is 81.2.69.160": "where is [ip]",
    "http://158.18.1.181:80/demo": "http://[ip]:80/demo",
    "my ip 4.5.2.1": "my ip [ip]",
    "2a00:1450:4001:81b::200e": "[ip]",
    "00:1A:2b:3C:4D:5E vendor": "[mac] vendor",
    "call +49 (0)170 1234567": "call [phone]",
    "+14155550132": "[phone]",
    "0049 30 901820": "[phone]",
    "who called (415) 555-0132": "who called [phone]",
    "1-800-555-0199": "[phone]",
    "415 555 0132": "[phone]",
    "0170/1234567": "[phone]",
    "01 42 68 53 00 paris": "[phone] paris",
    "020 7946 0958": "[phone]",
    "phone number 4155550132": "phone number [phone]",
    "phone 415 555 0132": "phone [phone]",
    "call 98765 43210 now": "call [phone] now",
    "whatsapp 98765 43210": "whatsapp [phone]",
    "call ٩٨٧٦٥ ٤٣٢١٠": "call [phone]",
    "phone ९८७६५४३२१०": "phone [phone]",
    "هاتف ٠١٠١٢٣٤٥٦٧٨": "هاتف [phone]",
    "फ\u093cोन ९८७६५ ४३२१०": "फ\u093cोन [phone]",
    "-----BEGIN RSA PRIVATE KEY-----": "[key]",
    "sk-abcdEFGH1234ijklMNOP5678": "[key]",
    "glpat-ab12CD34ef56GH78ij90": "[key]",
    "ssn 078 05 1121": "ssn [national-id]",
    "219-09-9998": "[national-id]",
    "AB 12 34 56 C": "[national-id]",
    "dni 12345678Z": "dni [national-id]",
    "x1234567l": "[national-id]",
    "RSSMRA85T10A562S": "[national-id]",
    "2 55 08 14 168 025 38": "[national-id]",
    "steuer-id 86 095 742 719": "steuer-id [national-id]",
    "pesel 44051401359": "pesel [national-id]",
    "cpf 529.982.247-25": "cpf [national-id]",
    "811218-9876": "[national-id]",
    "756.9217.0769.85": "[national-id]",
    "sin 130-692-544": "sin [national-id]",
    "2341 2341 2346": "[national-id]",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a": "[key]",
    "AKIAIOSFODNN7EXAMPLE access denied": "[key] access denied",
    "https://joe:s3cret@example.org/x": "https://[key]@example.org/x",
    "d41d8cd98f00b204e9800998ecf8427e": "[key]",
    "f47ac10b-58cc-4372-a567-0e02b2c3d479": "[key]",
    "VK7JG-NPHTM-C97JM-9MPGT-3V66T": "[key]",
    "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3": "token [key]",
    "3q2+7wF8Zk9/YpXbT1sVh0LmRc5uJd8a=": "[key]",
}
KEPT = (
    """
006R90321|WD40EFRX|593-10239|016-2014-00|010-01689-00 garmin|HYDE 09373 9373|78.6969.9463.7 lamp
4210201367758|0095205603217|ean 4006381333931|9780306406157|isbn 0-306-40615-2|0312345678
192.168.1.1|10.0.0.1 admin|127.0.0.1 refused|255.255.255.0|powerchute v4.5.2.1|windows 10.0.19041.1
chrome 89.0.4389.114|std::vector::push_back|10:30:45|iphone 11 64 gb|nokia 3310 phone|samsung sm-g988b
1920 x 1080|3840 x 2160 - 4.57 m|july 4 1997|2026-11-20|20261120|1997-2001|price 1,299.00|$19.99
hp laserjet 1150 1200 x 1200 dpi|android 10.0 5000 mah|HX436C17FB3AK2/16|S26391-F796-L800
C3200n/C5100/5150n/C5300n/C5200/C5400|HL-5250DN/HL-5270DN/HL-5280DW|rog-strix-rtx2070-o8g-gaming
http.server.BaseHTTPRequestHandler|test_utf8_decoder_handles_surrogates_2|@property decorator|foo @ bar
pneumonoultramicroscopicsilicovolcanoconiosis|supercalifragilistic 2000|route 66|area 51|3.14159265358979
0402 0603 0805 1206 capacitor kit|bosch 0986 494 104|rfc 2616 7230 7231 7232 7233 7234 7235|06.4441.6030
9fceb02d0ae598e95dc970b74767f19372d61af8|PSF-2U-1200W-80PLUS-GOLD|mobile 1920 1080 2400|phone 3310 2000
4111111111111112|DE88370400440532013000|000-12-3456|12345678A|sk-learn|error 0x80070005|{CAPS LOCK}
phone 128 256 512
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


@pytest.mark.parametrize(("text", "expected"), FOUND.items())
def test_personal_data_is_replaced_by_its_kind(text, expected):
    assert redact(text).text == expected


@pytest.mark.parametrize("text", KEPT)
def test_part_numbers_versions_prices_and_dates_stay_as_they_are(text):
    assert redact(text) == (text, Counter())


def test_kinds_are_counted_and_national_ids_told_apart():
    redacted = redact("a@b.com, c@d.org and 219-09-9998")
    assert redacted.kinds == {"email": 2, "national id: US SSN": 1}


@pytest.mark.parametrize(
    ("text", "empty"),
    [("<a@b.com>", True), ("a@b.com 4111111111111111", True), ("mail a@b.com", False), ("!", False)],
)
def test_a_text_of_nothing_else_is_known(text, empty):
    assert redact(text).is_empty is empty


def test_a_text_with_nothing_in_it_keeps_its_every_character():
    text = "  Ｆｕｌｌ  width\u00a0 ½  na\u200bïve  "
    assert redact(text).text == text


PIECES = st.sampled_from(
    [
        *FOUND,
        *KEPT,
        *"0123456789 .-/@:+()[]",
        "4111",
        "1111",
        "555-0132",
        "a.b",
        ".com",
        "ip ",
        "ß",
        "\u200b",
        "DE",
    ]
)


@pytest.mark.slow
@given(st.lists(PIECES, max_size=8).map("".join) | st.text(max_size=40))
@settings(max_examples=examples(400))
def test_nothing_that_a_rule_finds_is_left_and_a_second_time_changes_nothing(text):
    once = redact(text).text
    assert redact(once) == (once, Counter())
    assert not any(list(rule.spans(once)) for rule in RULES)
    assert not redact(normalise_query(once)).kinds


@given(st.lists(PIECES, max_size=3).map("".join) | st.text("0123456789abcdefx-.:@()[ \t_/", max_size=40))
@settings(max_examples=examples(600))
def test_no_pattern_matches_a_text_that_is_not_worth_a_look(text):
    if text.isascii() and not _SUSPECT.search(text):
        assert not any(list(rule.spans(form)) for form in (text, " ".join(text.split())) for rule in RULES)


@given(st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=40, max_size=64))
@settings(max_examples=examples(200), derandomize=True)
def test_only_text_as_mixed_as_a_key_is_random(token):
    assert not looks_random("".join(sorted(token)))
    assert not looks_random(token.translate(dict.fromkeys(map(ord, "0123456789"))))


@pytest.mark.slow
def test_real_product_numbers_titles_and_queries_lose_nothing(shared):
    with gzip.open(shared / "chorus_icecat" / "products.jsonl.gz") as file:
        products = [json.loads(line) for line in islice(file, 0, None, 4)]
    texts = [product.get(field) or "" for product in products for field in ("title", "name")]
    texts += [ean for product in products for ean in product.get("ean") or []]
    queries = json.loads((shared / "esci_us" / "esci_us_queryset.json").read_text())
    texts += [query["queryText"] for query in queries["querySetQueries"]]
    with (shared / "chorus_icecat" / "Broad_Query_Set_rated.csv").open() as file:
        texts += {row["query"] for row in csv.DictReader(file)}
    assert [text for text in set(texts) if redact(text).kinds] == []


def test_the_excite_log_loses_five_addresses_and_two_hosts(shared):
    lines = (shared / "excite_log" / "excite-small.log").read_text(encoding="utf-8").splitlines()
    counts = sum((redact(text).kinds for text in {line.split("\t")[2] for line in lines}), Counter())
    assert counts == {"email": 5, "ip": 2}
