"""National identity numbers: those whose form and check distinguish them from part numbers and prices.

A form without a check digit is taken only where its shape is rare (the hyphens of a US social security
number, the letters of a British national insurance number). Nine bare digits (the Dutch BSN, a SSN or SIN
without hyphens) are not looked for unless the words say so: one number in ten passes their checks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module

SEPARATORS = re.compile(r"[ ./-]")
_SSN = r"(?!000|666|9)[0-9]{3}{}(?!00)[0-9]{2}{}(?!0000)[0-9]{4}"


def valid_number(*modules: str) -> Callable[[str], bool]:
    """Whether one of these modules of python-stdnum takes a number, without its separators."""

    def check(number: str) -> bool:
        bare = SEPARATORS.sub("", number).upper()
        return any(import_module(f"stdnum.{module}").is_valid(bare) for module in modules)

    return check


_MONTH, _DAY = "(?:0[1-9]|1[0-2])", "(?:0[1-9]|[12][0-9]|3[01])"

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
    ("CA SIN", r"<A>[1-79][0-9]{2}([ -])[0-9]{3}\1[0-9]{3}<Z>", valid_number("luhn")),
    ("ES DNI/NIE", "<A>(?:[XYZ]-?[0-9]{7}|[0-9]{8})-?[A-HJ-NP-TV-Z]<Z>", valid_number("es.dni", "es.nie")),
    (
        "IT codice fiscale",
        "<A>[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]<Z>",
        valid_number("it.codicefiscale"),
    ),
    (
        "FR NIR",
        rf"<A>[12] ?[0-9]{{2}} ?{_MONTH} ?(?:[0-9]{{2}}|2[AB])(?: ?[0-9]{{3}}){{2}} ?[0-9]{{2}}<Z>",
        valid_number("fr.nir"),
    ),
    ("DE tax id", r"<A>[1-9][0-9](?:[ /]?[0-9]{3}){3}<Z>", valid_number("de.idnr")),
    ("PL PESEL", "<A>[0-9]{11}<Z>", valid_number("pl.pesel")),
    ("BR CPF", r"<A>[0-9]{3}\.?[0-9]{3}\.?[0-9]{3}-?[0-9]{2}<Z>", valid_number("br.cpf")),
    (
        "SE personnummer",
        rf"<A>(?:19|20)?(?P<it>[0-9]{{2}}{_MONTH}{_DAY}[-][0-9]{{4}})<Z>",
        valid_number("luhn"),
    ),
    ("CH AHV", r"<A>756(?P<dot>\.?)[0-9]{4}(?P=dot)[0-9]{4}(?P=dot)[0-9]{2}<Z>", valid_number("ean")),
    # Its check passes one in ten of any three groups of four: alone in a text, or after its name.
    ("IN Aadhaar", r"^[2-9][0-9]{3}([ -])[0-9]{4}\1[0-9]{4}$", valid_number("verhoeff")),
    (
        "IN Aadhaar",
        r"(?<![^\W_])aadh?aa?r(?: card)?(?: number| no)?[ .:#]{0,3}"
        r"(?P<it>[2-9][0-9]{3}([ -]?)[0-9]{4}\2[0-9]{4})<Z>",
        valid_number("verhoeff"),
    ),
)
"""Name, pattern (<A> and <Z> are the edges), and what its bare characters must fulfil."""
