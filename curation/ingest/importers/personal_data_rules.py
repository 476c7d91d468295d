"""Rules that find personal data in texts: a pattern for each kind, and a check of the matches.

For numbers, a rule often checks the digits (Luhn, modulo 97, check digits of identity numbers). A rule that
mistakes a part number for personal data spoils a good query, so the rules need strong evidence.

- email: local part, @ (or "(at)"), and a domain with a top level.
- card: 14 to 19 digits of a known card issuer that pass the Luhn check, unbroken or in the groups printed on
  cards.
- iban: a known country, the length of this country's IBANs, and the check modulo 97.
- ip: an address of the public internet. Reserved addresses are kept. Four small numbers (a version such as
  4.5.2.1) are also kept unless the word "ip" precedes the numbers.
- mac: six pairs of hexadecimal digits.
- phone: a number with +country or 00country, a trunk 0 with groups, or 3-3-4 digits with brackets, hyphens,
  dots or spaces; also any 7 to 15 digits after a word such as "phone", or 9 to 15 digits in groups. Ten bare
  digits without a word such as "phone" are kept as a part number. Three groups of digits after a trunk 0 in
  an unusual form are also kept.
- national id: an identity number that `python-stdnum` can check.
- key: a known beginning of a secret key (`ghp_`, `AKIA`, `sk-` …), a private key, a JSON web token,
  user:password@ in an address, or a long token whose letters and digits alternate as in random text. Forty
  hexadecimal digits are kept as the hash of a commit.

A number without a check digit counts as personal data only if its shape is rare. Nine bare digits (the Dutch
BSN, a SSN or SIN without hyphens) count as personal data only after the name of the number, because one in
ten random numbers passes the checks. After a word that announces a different kind of number (rfc, ean, part
no, commit), a number is kept if only its shape or check digits suggest personal data. Names, street addresses
and spelled-out numbers are not found.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import pairwise

Check = Callable[[str], bool]
_COMMIT = re.compile("[0-9a-f]{40}")
_OTHER_NUMBER = re.compile(
    r"(?<![^\W_])(?:rfc|iso|din|ieee|ean|upc|gtin|isbn|issn|asin|sku|oem|oe|mpn|p/?n|parts?|model|commit|revision|"
    r"sha-?[0-9]{0,3}|md5|checksum)s?(?: ?(?:no|nr|number|code|hash|#))?[ .:#]{1,3}(?:[0-9]+[ ,./-]{1,2})*$",
    re.IGNORECASE,
)
# Groups as numbering plans print them with blanks: British, Australian, Italian, German mobile.
_PLAN = re.compile(
    r"02[0-9] [0-9]{4} [0-9]{4}|0[13][0-9]{2} [0-9]{3} [0-9]{4}|01[0-9]{3} [0-9]{3} [0-9]{3}"
    r"|07[0-9]{3} [0-9]{3} [0-9]{3}|04[0-9]{2} [1-9][0-9]{2} [0-9]{3}|0[2378] [0-9]{4} [0-9]{4}"
    r"|0[236] [0-9]{3,4} [0-9]{4}|01[5-7][0-9]{1,2} [0-9]{3,4} [0-9]{3,4}"
)
_JOINTS = re.compile(r"[^A-Za-z0-9]")
_A = r"(?<![^\W_])"  # no letter or digit before
_Z = r"(?![^\W_])"  # no letter or digit after
_STRICT_A = rf"{_A}(?<![^\W_][-./,:+])(?<!\.)"  # and not the middle of a part number
_STRICT_Z = rf"{_Z}(?![-./,:+][^\W_])"
_ISSUER = {
    16: "4[0-9]{3}|5[1-5][0-9]{2}|2[2-7][0-9]{2}|6011|65[0-9]{2}|64[4-9][0-9]|35[2-8][0-9]|62[0-9]{2}",
    15: "3[47][0-9]{2}",
    14: "3(?:0[0-5]|[68][0-9])[0-9]",
    19: "4[0-9]{3}|62[0-9]{2}",
}
_CARDS = (
    rf"(?:{_ISSUER[19]})(?:[ -]?[0-9]{{4}}){{3}}[ -]?[0-9]{{3}}",
    rf"(?:{_ISSUER[16]})(?:[ -]?[0-9]{{4}}){{3}}",
    rf"(?:{_ISSUER[15]})[ -]?[0-9]{{6}}[ -]?[0-9]{{5}}",
    rf"(?:{_ISSUER[14]})[ -]?[0-9]{{6}}[ -]?[0-9]{{4}}",
)
_IBANS = (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 "
    "ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 "
    "LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 "
    "QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 "
).split()  # SWIFT's IBAN registry
_IBAN = "|".join(rf"{entry[:2]}[0-9]{{2}}(?:[ -]?[A-Z0-9]){{{int(entry[2:]) - 4}}}{_Z}" for entry in _IBANS)
_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IP = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_PHONE_WORD = (
    r"(?:tele(?:ph|f)one?|tel|(?:cell|mobile|smart)?phone|mobile|mobil|handy|fax|whatsapp|sms|call(?:er|s)?"
    r"|(?:ال)?(?:هاتف|تليفون|تلفون|موبايل|جوال|واتساب)|फ\u093c?ोन|मोबाइल|कॉल|व्हाट्सएप)"
    r"(?: ?(?:number|nummer|num|no|nr))?[ .:#]{0,3}"
)
_KNOWN_KEYS = "|".join(
    [
        r"gh[pousr]_[a-z0-9]{30,}|github_pat_\w{22,}|akia[0-9a-z]{16}|xox[abprs]-[\w-]{10,}|aiza[\w-]{35}",
        r"(?:sk|pk|rk)[-_](?:live|test|proj|ant|svcacct)[-_][\w-]{16,}|sk-[a-z0-9]{20,}|glpat-[\w-]{20,}",
        r"hf_[a-z0-9]{30,}|npm_[a-z0-9]{36}",
    ]
)
_CASELESS, _CAPITAL, _SMALL, DIGIT = map(re.compile, ("[A-Za-z]", "[A-Z]", "[a-z]", "[0-9]"))
SEPARATORS = re.compile(r"[ ./-]")
_SSN = r"(?!000|666|9)[0-9]{3}{}(?!00)[0-9]{2}{}(?!0000)[0-9]{4}"
_MONTH, _DAY = "(?:0[1-9]|1[0-2])", "(?:0[1-9]|[12][0-9]|3[01])"
MAX_PLAIN_LENGTH = 15
"""Length up to which a word cannot be a secret key."""


@dataclass(frozen=True)
class Rule:
    """A rule for personal data: a pattern, and the check that a match must pass.

    The group `it` of the pattern, or the whole match, is replaced.

    digits: texts with fewer digits are not searched. announced: whether a match is kept after a word that
    announces a different kind of number. restarts: whether the search goes on within a match that fails the
    check. For a pattern without a greatest length, the search goes on behind the match; otherwise the time
    would grow with the square of the text's length.
    """

    kind: str
    digits: int
    written: str
    check: Check = bool
    announced: bool = False
    restarts: bool = True

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compile the pattern when a text is first searched, so that the server starts faster."""
        return re.compile(self.written, re.IGNORECASE)

    @property
    def placeholder(self) -> str:
        return f"[{self.kind.partition(':')[0].replace(' ', '-')}]"

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of personal data in a text."""
        group = "it" if "it" in self.pattern.groupindex else 0
        start = 0
        while match := self.pattern.search(text, start):
            start_of_match, end = match.span(group)
            is_personal = self.check(match[group]) and not (
                self.announced and _OTHER_NUMBER.search(text, max(0, start_of_match - 60), start_of_match)
            )
            if is_personal:
                yield start_of_match, end
            start = match.end() if is_personal or not self.restarts else match.start() + 1


def is_iban(account: str) -> bool:
    """Return whether an IBAN has correct check digits (ISO 13616)."""
    characters = SEPARATORS.sub("", account)
    return is_modulo_97(characters[4:] + characters[:4])


def is_public_ip(address: str) -> bool:
    """Return whether an IPv4 address is public and not a version number."""
    return _is_global_ip(address) and sum(int(part) >= 10 for part in address.split(".")) >= 3


def is_public_ip6(address: str) -> bool:
    """Return whether an IPv6 address is global unicast (2000::/3)."""
    return address[:1] in "23" and len(address.split(":")[0]) == 4 and _is_global_ip(address)


def looks_random(token: str) -> bool:
    """Return whether letters and digits alternate in a word as they do in a random secret key.

    Random text changes between letters and digits at 0.40 of its steps (0.47 if hexadecimal), and between
    small letters, capitals and digits at 0.62; names and camel case change at 0.1 to 0.4. A key has 24
    characters or more and changes at 0.25 of its steps, or 20 or more with all three classes and changes at
    0.45.
    """
    if max(map(len, re.split("[+/=]", token))) < 16 or _COMMIT.fullmatch(token):
        return False
    letters_and_digits = _JOINTS.sub("", token)
    digits = sum(sign.isdigit() for sign in letters_and_digits)
    step_count = max(1, len(letters_and_digits) - 1)
    case_blind_changes = _count_changes(_CASELESS.sub("a", letters_and_digits))
    if (
        len(letters_and_digits) >= 24
        and min(digits, len(letters_and_digits) - digits) >= 4
        and case_blind_changes >= 0.25 * step_count
    ):
        return True
    classes = _SMALL.sub("a", _CAPITAL.sub("A", letters_and_digits))
    return (
        len(letters_and_digits) >= 20
        and digits >= 2
        and letters_and_digits.lower() != letters_and_digits != letters_and_digits.upper()
        and _count_changes(classes) >= 0.45 * step_count
    )


def _count_changes(signs: str) -> int:
    """Count the places in a word where two adjacent characters belong to different classes; all digits are
    one class."""
    classes = DIGIT.sub("0", signs)
    return sum(left != right for left, right in pairwise(classes))


def _is_global_ip(address: str) -> bool:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return parsed.is_global and not parsed.is_multicast


def _is_phone(number: str) -> bool:
    """Return whether the digits are as long as a phone number and are not a GS1 article number."""
    digits = re.sub(r"[^0-9]", "", number)
    has_article_length = number.isdigit() and len(digits) in (8, 12, 13, 14)
    return 7 <= len(digits) <= 15 and not (has_article_length and is_article(digits))


def _is_trunk_phone(number: str) -> bool:
    """Return whether groups of digits after a trunk 0 have the length and form of a phone number."""
    groups = re.findall("[0-9]+", number)
    is_short = len(groups[0]) == 2  # such as 06: only in a plan's form, with blanks
    if not 10 <= sum(map(len, groups)) <= 12 or (is_short and re.search("[^0-9 ]", number)):
        return False
    if not is_short and (len(groups) == 2 or re.search("[()/-]", number)):
        return True
    return _PLAN.fullmatch(" ".join(groups)) is not None


def _is_spaced_phone(number: str) -> bool:
    """Return whether digits after a word such as "phone" are a phone number, not years or sizes."""
    groups = re.findall("[0-9]+", number)
    return 9 <= sum(map(len, groups)) <= 15 and not all(
        (len(group) == 4 and (group[:2] in ("19", "20") or group[2:] in ("00", "80")))
        or group in ("64", "128", "256", "512")
        for group in groups
    )


def _has_digit(token: str) -> bool:
    return any(sign.isdigit() for sign in token)


def _has_three_parts(token: str) -> bool:
    return token.count(".") == 2


def make_number_check(*modules: str) -> Callable[[str], bool]:
    """Return a function that uses python-stdnum modules to check a number without separators."""

    def check(number: str) -> bool:
        digits = SEPARATORS.sub("", number).upper()
        return any(import_module(f"stdnum.{module}").is_valid(digits) for module in modules)

    return check


is_card, is_article, is_modulo_97 = map(make_number_check, ("luhn", "ean", "iso7064.mod_97_10"))


NATIONAL_IDS: tuple[tuple[str, str, Callable[[str], bool]], ...] = (
    ("US SSN", f"<A>{_SSN.replace('{}', '-')}<Z>", bool),
    (
        "US SSN",
        r"(?<![^\W_])(?:ssn|social security)(?: number| no)?[ .:#]{0,3}"
        rf"(?P<it>{_SSN.replace('{}', '[ -]?')})<Z>",
        bool,
    ),
    (
        "UK NINO",
        r"<A>(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z](?: ?[0-9]{2}){3} ?[A-D]<Z>",
        bool,
    ),
    ("CA SIN", r"<A>[1-79][0-9]{2}([ -])[0-9]{3}\1[0-9]{3}<Z>", make_number_check("luhn")),
    (
        "ES DNI/NIE",
        "<A>(?:[XYZ]-?[0-9]{7}|[0-9]{8})-?[A-HJ-NP-TV-Z]<Z>",
        make_number_check("es.dni", "es.nie"),
    ),
    (
        "IT codice fiscale",
        "<A>[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]<Z>",
        make_number_check("it.codicefiscale"),
    ),
    (
        "FR NIR",
        rf"<A>[12] ?[0-9]{{2}} ?{_MONTH} ?(?:[0-9]{{2}}|2[AB])(?: ?[0-9]{{3}}){{2}} ?[0-9]{{2}}<Z>",
        make_number_check("fr.nir"),
    ),
    ("DE tax id", r"<A>[1-9][0-9](?:[ /]?[0-9]{3}){3}<Z>", make_number_check("de.idnr")),
    ("PL PESEL", "<A>[0-9]{11}<Z>", make_number_check("pl.pesel")),
    ("BR CPF", r"<A>[0-9]{3}\.?[0-9]{3}\.?[0-9]{3}-?[0-9]{2}<Z>", make_number_check("br.cpf")),
    (
        "SE personnummer",
        rf"<A>(?:19|20)?(?P<it>[0-9]{{2}}{_MONTH}{_DAY}[-][0-9]{{4}})<Z>",
        make_number_check("luhn"),
    ),
    ("CH AHV", r"<A>756(?P<dot>\.?)[0-9]{4}(?P=dot)[0-9]{4}(?P=dot)[0-9]{2}<Z>", make_number_check("ean")),
    # One in ten random numbers passes this check, so the number counts only alone or after its name.
    ("IN Aadhaar", r"^[2-9][0-9]{3}([ -])[0-9]{4}\1[0-9]{4}$", make_number_check("verhoeff")),
    (
        "IN Aadhaar",
        r"(?<![^\W_])aadh?aa?r(?: card)?(?: number| no)?[ .:#]{0,3}"
        r"(?P<it>[2-9][0-9]{3}([ -]?)[0-9]{4}\2[0-9]{4})<Z>",
        make_number_check("verhoeff"),
    ),
)
"""Name, pattern and check of each national id; <A> and <Z> in a pattern stand for the edges of the number."""


# In this order: patterns with a check digit or a distinctive sign come before patterns known by shape only.
RULES = (
    Rule("key", 0, r"(?<=://)[^\s/@:\[\]]+:[^\s/@\[\]]+(?=@)"),
    Rule(
        "key",
        0,
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----\S*(?: [A-Z0-9+/=]{16,})*"
        r"(?: ?-----END [A-Z0-9 ]{0,40}-----)?",
    ),
    Rule("key", 0, rf"{_A}eyJ[\w-]{{8,}}+(?:\.[\w-]{{8,}}+\.[\w-]*+)?", _has_three_parts, restarts=False),
    Rule("key", 1, rf"{_A}(?:{_KNOWN_KEYS})", _has_digit),
    Rule(
        "email",
        0,
        r"(?<![\w.+%-])[\w.+%'-]{1,64}(?:@| ?[(\[]at[)\]] ?)"
        r"(?:[^\W_](?:[\w-]{0,62})\.)+[^\W\d_]{2,24}(?![\w-])",
    ),
    Rule("iban", 8, rf"{_A}(?:{_IBAN})", is_iban),
    *(Rule("card", 14, f"{_A}{form}{_Z}", is_card, announced=True) for form in _CARDS),
    Rule("ip", 4, rf"(?<![\w.]){_IP}(?![\w]|\.[0-9])", is_public_ip),
    Rule(
        "ip",
        4,
        rf"{_A}ip(?: address| adresse| addr)?[ :=]{{1,3}}(?P<it>{_IP})(?![\w]|\.[0-9])",
        _is_global_ip,
    ),
    Rule("ip", 4, r"(?<![\w:.])(?P<it>[23][0-9a-f]{3}:[0-9a-f:]{2,34})(?![\w:])", is_public_ip6),
    Rule("mac", 0, r"(?<![\w:-])[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}(?![\w:-])"),
    *(
        Rule(
            f"national id: {name}",
            6,
            pattern.replace("<A>", _STRICT_A).replace("<Z>", _STRICT_Z),
            check,
            announced=True,
        )
        for name, pattern, check in NATIONAL_IDS
    ),
    Rule("phone", 9, rf"{_A}(?<!\+)\+ ?[1-9](?:[ ./()-]{{0,2}}[0-9]){{8,14}}{_Z}", _is_phone),
    Rule("phone", 9, rf"{_STRICT_A}00[1-9](?:[ ./()-]{{0,2}}[0-9]){{8,12}}{_STRICT_Z}", _is_phone),
    Rule(
        "phone",
        10,
        rf"{_STRICT_A}(?:1[ .-])?(?:\([2-9][0-9]{{2}}\) ?|[2-9][0-9]{{2}}[ .-])"
        rf"[2-9][0-9]{{2}}[ .-][0-9]{{4}}{_STRICT_Z}",
        announced=True,
    ),
    Rule(
        "phone",
        10,
        rf"{_STRICT_A}0[1-9](?:([ .-])[0-9]{{2}})(?:\1[0-9]{{2}}){{3}}{_STRICT_Z}",
        announced=True,
    ),
    Rule(
        "phone",
        10,
        rf"{_STRICT_A}\(?0[1-9][0-9]{{0,4}}\)?(?:(?: ?[/-] ?|[ .])[0-9]{{3,8}}){{1,4}}"
        rf"{_STRICT_Z}(?! [0-9]{{3}})",
        _is_trunk_phone,
        announced=True,
    ),
    Rule("phone", 7, rf"{_A}{_PHONE_WORD}(?P<it>\(?[0-9](?:[./()-]{{0,2}}[0-9]){{6,14}}){_Z}", _is_phone),
    Rule(
        "phone",
        9,
        rf"{_A}{_PHONE_WORD}(?P<it>\(?[0-9](?:[ ./()-]{{0,2}}[0-9]){{8,14}}){_Z}(?! ?[0-9])",
        _is_spaced_phone,
    ),
    Rule(
        "key",
        4,
        r"(?<![A-Za-z0-9])[A-Za-z0-9_-]{24,}(?![A-Za-z0-9])",
        looks_random,
        announced=True,
        restarts=False,
    ),
    Rule("key", 2, r"(?<![A-Za-z0-9])[A-Za-z0-9_+/=-]{20,}", looks_random, announced=True, restarts=False),
)
"""Patterns of personal data, in the order in which they are replaced."""
