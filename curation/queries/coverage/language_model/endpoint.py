"""The endpoint of a language model: where it is, which model, and the key, from the environment alone.

    GOLDGRADE_LLM_URL     such as https://host/v1; /chat/completions is added where it is missing
    GOLDGRADE_LLM_MODEL   the model's name, as the endpoint knows it
    GOLDGRADE_LLM_KEY     sent as a bearer token; without it none is sent
    GOLDGRADE_LLM_PRICES  prices of a million tokens read and written, such as 0.15,0.60

A project stores the model's name with what the model answered, and neither address nor key.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from pydantic import SecretStr

from curation.core.errors import InputError, refuse_problems
from curation.core.web import address_problems, key_problems

URL, MODEL, KEY, PRICES = (
    "GOLDGRADE_LLM_URL",
    "GOLDGRADE_LLM_MODEL",
    "GOLDGRADE_LLM_KEY",
    "GOLDGRADE_LLM_PRICES",
)
ROUTE = "/chat/completions"
WAY_OUT = f"{URL} is an address such as https://host/v1, {MODEL} the model's name there."


class TokenPrices(NamedTuple):
    """Prices of a million tokens, in the currency of the person who set them."""

    read: float
    written: float


class ModelEndpoint(NamedTuple):
    """Where a model is asked; the key shows in no text of this.

    Attributes
    ----------
    url: of the route that takes a chat.
    prices: None where nobody set them.
    """

    url: str
    model: str
    key: SecretStr
    prices: TokenPrices | None = None

    def without_key(self, text: str) -> str:
        """The text with the key left out, which an endpoint may have repeated."""
        key = self.key.get_secret_value()
        return text.replace(key, "[key]") if key else text


def model_name(environment: Mapping[str, str] | None = None) -> str:
    """The model that the environment names.

    Raises
    ------
    InputError: it names none.
    """
    found = _value(environment, MODEL)
    if not found:
        raise InputError(f"{MODEL} is not set; expected the name of a language model.", way_out=WAY_OUT)
    return found


def model_at(environment: Mapping[str, str] | None = None) -> str:
    """The model with its host, as people read it before anything is sent; without an address the model."""
    named = find_endpoint(environment).url if _value(environment, URL) else ""
    return f"{model_name(environment)}{f' at {urlsplit(named).hostname}' if named else ''}"


def prices_set(environment: Mapping[str, str] | None = None) -> TokenPrices | None:
    """The prices that the environment names.

    Raises
    ------
    InputError: they are not two numbers from 0 on.
    """
    given = _value(environment, PRICES)
    if not given:
        return None
    try:
        read, written = (float(part) for part in given.split(","))
    except ValueError:
        read, written = -1.0, -1.0
    if not (0 <= read < float("inf") and 0 <= written < float("inf")):
        raise InputError(
            f"{PRICES} is {given!r}; expected two prices of a million tokens, such as 0.15,0.60."
        )
    return TokenPrices(read, written)


def find_endpoint(environment: Mapping[str, str] | None = None) -> ModelEndpoint:
    """The endpoint that the environment names.

    Raises
    ------
    InputError: the address or the model is missing, or one of the values cannot be used; the key is not
        repeated.
    """
    url, key = _value(environment, URL), _value(environment, KEY)
    problems = [] if url else [f"{URL} is not set; expected the address of a language model."]
    if url:
        problems += address_problems(URL, url, KEY, "https://host/v1")
    refuse_problems([*problems, *key_problems(KEY, key)], way_out=WAY_OUT)
    route = url.rstrip("/")
    route = route if route.endswith(ROUTE) else route + ROUTE
    return ModelEndpoint(route, model_name(environment), SecretStr(key), prices_set(environment))


def _value(environment: Mapping[str, str] | None, name: str) -> str:
    return (os.environ if environment is None else environment).get(name, "").strip()
