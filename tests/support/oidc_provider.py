"""An OpenID Connect provider that runs on this machine: code flow with PKCE, RS256, and faults on demand."""

from __future__ import annotations

import base64
import hashlib
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any
from urllib.parse import urlencode

import uvicorn
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

CLIENT, SECRET = "goldgrade", "the client's own secret"


class Provider:
    """Lets whoever comes choose an account. `changes` are made to the claims, or the key is another."""

    def __init__(self, accounts: dict[str, bool]) -> None:
        self.accounts = accounts
        self.key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})
        self.foreign_key = RSAKey.generate_key(2048, {"kid": "one"})
        self.changes: dict[str, Any] = {}
        self.forged = False
        self.url = ""
        self.exchanged = 0
        self.signed_out = 0
        self.hinted = 0
        self._codes: dict[str, dict[str, str]] = {}
        self.app = Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._discovery),
                Route("/authorize", self._authorize),
                Route("/chosen", self._chosen),
                Route("/token", self._token, methods=["POST"]),
                Route("/jwks", self._jwks),
                Route("/end", self._end),
            ]
        )

    def reset(self) -> None:
        """Tell the truth again."""
        self.changes, self.forged = {}, False
        self.exchanged = self.signed_out = self.hinted = 0

    async def _discovery(self, request: Request) -> Response:
        names = {"authorization": "authorize", "token": "token", "end_session": "end"}
        return JSONResponse(
            {
                "issuer": self.url,
                **{f"{name}_endpoint": f"{self.url}/{path}" for name, path in names.items()},
                "jwks_uri": f"{self.url}/jwks",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            }
        )

    async def _authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        fits = (
            asked.get("client_id") == CLIENT
            and asked.get("response_type") == "code"
            and asked.get("code_challenge_method") == "S256"
            and {"openid", "email"} <= set(asked.get("scope", "").split())
            and all(asked.get(name) for name in ("state", "nonce", "code_challenge", "redirect_uri"))
        )
        if not fits:
            return PlainTextResponse("misshapen request", 400)
        links = "".join(
            f'<p><a href="{escape("/chosen?" + urlencode({**asked, "account": account}))}">{account}</a></p>'
            for account in self.accounts
        )
        return HTMLResponse(f"<title>Provider</title><h1>Choose an account</h1>{links}")

    async def _chosen(self, request: Request) -> Response:
        asked = dict(request.query_params)
        code = secrets.token_urlsafe()
        self._codes[code] = asked
        return RedirectResponse(
            f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"
        )

    async def _token(self, request: Request) -> Response:
        form = await request.body()
        fields = dict(pair.split("=", 1) for pair in form.decode().split("&"))
        asked = self._codes.pop(fields.get("code", ""), None)  # a code is good for once
        basic = base64.b64decode(request.headers["authorization"].removeprefix("Basic ")).decode()
        client_id, _, secret = basic.partition(":")
        challenge = base64.urlsafe_b64encode(hashlib.sha256(fields["code_verifier"].encode()).digest())
        right = (
            asked is not None
            and (client_id, secret.replace("+", " ").replace("%27", "'")) == (CLIENT, SECRET)
            and challenge.rstrip(b"=").decode() == asked["code_challenge"]
        )
        if asked is None or not right:
            return JSONResponse({"error": "invalid_grant"}, 400)
        self.exchanged += 1
        token = self._id_token(asked)
        return JSONResponse(
            {"access_token": secrets.token_urlsafe(), "token_type": "Bearer", "id_token": token}
        )

    def _id_token(self, asked: dict[str, str]) -> str:
        now, account = int(time.time()), asked["account"]
        claims = {
            "iss": self.url,
            "sub": account,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            "email": account,
            "email_verified": self.accounts[account],
            **self.changes,
        }
        key = self.foreign_key if self.forged else self.key
        return jwt.encode({"alg": "RS256", "kid": "one"}, claims, key)

    async def _jwks(self, request: Request) -> Response:
        return JSONResponse({"keys": [self.key.as_dict(private=False)]})

    async def _end(self, request: Request) -> Response:
        self.signed_out += 1
        self.hinted += request.query_params.get("id_token_hint", "").count(".") == 2
        return RedirectResponse(request.query_params["post_logout_redirect_uri"])


@contextmanager
def running(provider: Provider) -> Iterator[Provider]:
    """Serve the provider from a thread, at a free port of this machine."""
    config = uvicorn.Config(
        provider.app, host="127.0.0.1", port=0, ws="none", log_level="warning", lifespan="off"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started:
        assert time.monotonic() < deadline, "the provider did not start within 20 s"
        time.sleep(0.02)
    provider.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        yield provider
    finally:
        server.should_exit = True
        thread.join()
