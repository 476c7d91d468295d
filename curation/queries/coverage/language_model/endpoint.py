"""The endpoint of a language model, as environment variables name it.

    GOLDGRADE_LLM_URL     the endpoint's address, such as https://host/v1, with or without /chat/completions
    GOLDGRADE_LLM_MODEL   the model's name, as the endpoint knows it
    GOLDGRADE_LLM_KEY     the endpoint's key, which is sent as a bearer token
    GOLDGRADE_LLM_PRICES  prices of a million tokens read and written, such as 0.15,0.60
    GOLDGRADE_LLM_CHECK_URL, GOLDGRADE_LLM_CHECK_MODEL, GOLDGRADE_LLM_CHECK_KEY
                          a second endpoint and model, which check what the first model writes

A project stores the model's name with each answer, but never the endpoint's address or key.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from pydantic import SecretStr

from curation.core import web
from curation.core.errors import InputError, refuse_problems

URL = "GOLDGRADE_LLM_URL"
MODEL = "GOLDGRADE_LLM_MODEL"
KEY = "GOLDGRADE_LLM_KEY"
PRICES = "GOLDGRADE_LLM_PRICES"
ROUTE = "/chat/completions"
CHECK_URL, CHECK_MODEL, CHECK_KEY = (name.replace("LLM", "LLM_CHECK") for name in (URL, MODEL, KEY))
TokenPrices = tuple[float, float]
"""Prices of a million tokens read and of a million tokens written, in any currency."""
WAY_OUT = f"{URL} is an address such as https://host/v1, and {MODEL} is the model's name at this address."


def compute_price(prices: TokenPrices | None, read: int, written: int = 0) -> float | None:
    """Compute the price of tokens that the model reads and writes, or return None if no prices are known."""
    return None if prices is None else (read * prices[0] + written * prices[1]) / 1e6


class ModelEndpoint(NamedTuple):
    """The endpoint of a language model. The endpoint's `repr` does not show the key.

    Attributes
    ----------
    url: address of the route for chats.
    prices: prices of tokens; None if the environment has no prices.
    """

    url: str
    model: str
    key: SecretStr
    prices: TokenPrices | None = None

    def without_key(self, text: str) -> str:
        """Remove the secret key from an endpoint's text, because an endpoint may repeat the key."""
        key = self.key.get_secret_value()
        return text.replace(key, "[key]") if key else text


def read_model(environment: Mapping[str, str] | None = None) -> str:
    """Read the model's name from the environment.

    Raises
    ------
    InputError: the environment has no model's name.
    """
    name = _read_setting(environment, MODEL)
    if not name:
        raise InputError(f"{MODEL} is not set; expected the name of a language model.", way_out=WAY_OUT)
    return name


def name_model(environment: Mapping[str, str] | None = None) -> str:
    """Return the name of the language model, with its host if the environment has an address."""
    if not _read_setting(environment, URL):
        return read_model(environment)
    endpoint = find_endpoint(environment)
    return f"{endpoint.model} at {urlsplit(endpoint.url).hostname}"


def read_prices(environment: Mapping[str, str] | None = None) -> TokenPrices | None:
    """Read the prices of tokens from the environment, or return None if the environment has no prices.

    Raises
    ------
    InputError: the prices are not two numbers of at least 0.
    """
    setting = _read_setting(environment, PRICES)
    if not setting:
        return None
    try:
        read, written = (float(part) for part in setting.split(","))
    except ValueError:
        read, written = -1.0, -1.0
    if not (0 <= read < float("inf") and 0 <= written < float("inf")):
        example = "two prices of a million tokens, such as 0.15,0.60"
        raise InputError(f"{PRICES} is {setting!r}; expected {example}.")
    return read, written


def find_endpoint(environment: Mapping[str, str] | None = None) -> ModelEndpoint:
    """Read the language model's endpoint from the environment variables.

    Raises
    ------
    InputError: the address or the model is missing, or a value cannot be used; no error shows the key.
    """
    url = _read_setting(environment, URL)
    key = _read_setting(environment, KEY)
    problems = [] if url else [f"{URL} is not set; expected the address of a language model."]
    if url:
        problems += web.find_address_problems(URL, url, KEY, "https://host/v1")
    refuse_problems([*problems, *web.find_key_problems(KEY, key)], way_out=WAY_OUT)
    route = url.rstrip("/")
    route = route if route.endswith(ROUTE) else route + ROUTE
    return ModelEndpoint(route, read_model(environment), SecretStr(key), read_prices(environment))


def make_check_environment(model: str | None = None) -> dict[str, str]:
    """Make the environment variables of the checking model: the second endpoint and model if they are set,
    otherwise the first.

    The key of one host is never sent to another host.

    Parameters
    ----------
    model: name of the model that checks; None is the model of the environment.
    """
    url = _read_setting(None, CHECK_URL)
    name = model or _read_setting(None, CHECK_MODEL) or _read_setting(None, MODEL)
    key = _read_setting(None, CHECK_KEY if url else KEY)
    settings = {URL: url or _read_setting(None, URL), MODEL: name, KEY: key}
    return settings if url else settings | {PRICES: _read_setting(None, PRICES)}


def find_check_endpoint(model: str | None = None) -> ModelEndpoint:
    """Read the checking model's endpoint from the environment variables (`make_check_environment`)."""
    return find_endpoint(make_check_environment(model))


def _read_setting(environment: Mapping[str, str] | None, name: str) -> str:
    return (os.environ if environment is None else environment).get(name, "").strip()
