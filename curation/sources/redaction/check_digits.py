"""Check digits: the arithmetic that distinguishes card, account and identity numbers from other digits.

Each function takes the bare characters, without spaces or hyphens, and says whether the check holds.
"""

from __future__ import annotations

from collections.abc import Sequence

_VERHOEFF_TIMES = (
    "0123456789 1234067895 2340178956 3401289567 4012395678 5987604321 6598710432 7659821043 8765932104 "
    "9876543210"
).split()
_VERHOEFF_MOVES = (
    "0123456789 1576283094 5803796142 8916043527 9453126870 4286573901 2793806415 7046913258"
).split()
_TENS = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21)
_LETTERS = (*_TENS, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
_TAX_CODE_ODD = dict(zip("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", (*_TENS, *_LETTERS), strict=True))


def luhn(digits: str) -> bool:
    """ISO/IEC 7812-1, annex B: payment cards, Canadian SIN, Swedish personnummer."""
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (doubled + sum(map(int, digits[::-2]))) % 10 == 0


def mod_97(account: str) -> bool:
    """ISO 7064 MOD 97-10 as IBANs use it (ISO 13616): letters are 10 to 35, the first four go last."""
    return int("".join(str(int(character, 36)) for character in account[4:] + account[:4])) % 97 == 1


def gtin(digits: str) -> bool:
    """GS1's check digit: EAN-8, UPC-A, EAN-13, GTIN-14, and the Swiss AHV number."""
    tripled = sum(map(int, digits[-2::-2]))
    return (3 * tripled + sum(map(int, digits[::-2]))) % 10 == 0


def verhoeff(digits: str) -> bool:
    """J. Verhoeff (1969): the Indian Aadhaar."""
    check = 0
    for place, digit in enumerate(reversed(digits)):
        check = int(_VERHOEFF_TIMES[check][int(_VERHOEFF_MOVES[place % 8][int(digit)])])
    return check == 0


def weighted(digits: str, weights: Sequence[int]) -> int:
    """The sum of the first digits, each times its weight."""
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False))


def cpf(digits: str) -> bool:
    """Brazilian CPF: two digits modulo 11; eleven equal digits are none."""
    first, second = (weighted(digits, range(count + 1, 1, -1)) * 10 % 11 % 10 for count in (9, 10))
    return len(set(digits)) > 1 and digits[9:] == f"{first}{second}"


def german_tax_id(digits: str) -> bool:
    """ISO 7064 MOD 11,10, and among the first ten digits one that comes twice or thrice, all others once."""
    times = sorted(map(digits[:10].count, set(digits[:10])))
    product = 10
    for digit in digits[:10]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (
        times[-1] in (2, 3)
        and times[:-1] == [1] * (len(times) - 1)
        and (11 - product) % 10 == int(digits[10])
    )


def pesel(digits: str) -> bool:
    """Polish PESEL: a birth date whose month encodes the century, and one digit modulo 10."""
    weights = (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)
    month, day = int(digits[2:4]) % 20, int(digits[4:6])
    return 1 <= month <= 12 and 1 <= day <= 31 and weighted(digits, weights) % 10 == 0


def dni(code: str) -> bool:
    """Spanish DNI and NIE: the letter is the number modulo 23; a leading X, Y, Z is 0, 1, 2."""
    number = int(code[:-1].replace("X", "0").replace("Y", "1").replace("Z", "2"))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23] == code[-1]


def nir(code: str) -> bool:
    """French NIR: key = 97 - number modulo 97; Corsica's 2A and 2B count as 19 and 18."""
    number = int(code[:-2].replace("2A", "19").replace("2B", "18"))
    return 97 - number % 97 == int(code[-2:])


def tax_code(code: str) -> bool:
    """Italian codice fiscale: the last letter is a sum modulo 26, with a table for the odd places."""
    odd = sum(_TAX_CODE_ODD[character] for character in code[:15:2])
    even = sum(int(character, 36) - (0 if character.isdigit() else 10) for character in code[1:15:2])
    return (odd + even) % 26 == ord(code[15]) - ord("A")
