"""A real OpenID Connect provider of the distribution (Debian's glewlwyd), started on a free port with one person.

Its people are asked by its own pages; here `agree` does with its API what these pages do.
"""

from __future__ import annotations

import contextlib
import http.cookiejar
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

SCHEMA = Path("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3")
CLIENT, PERSON, PASSWORD = "tiphys", "li", "correct horse"
CONFIDENTIAL, SECRET = "tiphys-server", "battery: staple/10%"


class Glewlwyd:
    """A running provider; `issuer` is its address."""

    def __init__(self, port: int) -> None:
        self.root = f"http://localhost:{port}/"
        self.issuer = f"{self.root}api/oidc"
        self._admin = self._logged_in("admin", "password")
        self._set_up()

    def agree(self, verification_uri_complete: str, client: str = CLIENT) -> str:
        """Be the person who opens the address, logs in and agrees; where the provider sends them at the end."""
        person = self._logged_in(PERSON, PASSWORD)
        self._call(person, "PUT", f"api/auth/grant/{client}", {"scope": "openid"})
        code = urlsplit(verification_uri_complete).query
        try:
            person.open(f"{self.issuer}/device?{code}&g_continue", timeout=60).close()
        except urllib.error.HTTPError as page:  # its pages are a web server's; the address says how it went
            return str(page.url)
        raise AssertionError("The provider sent the person nowhere.")

    def _set_up(self) -> None:
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        pem = [key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                 serialization.NoEncryption()),
               key.public_key().public_bytes(serialization.Encoding.PEM,
                                             serialization.PublicFormat.SubjectPublicKeyInfo)]
        claims = [{"name": name, "user-property": of, "type": "string", "mandatory": True, "scope": []}
                  for name, of in (("preferred_username", "username"), ("groups", "groups"))]
        self._call(self._admin, "POST", "api/mod/plugin/", {
            "module": "oidc", "name": "oidc", "display_name": "oidc", "parameters": {
                "iss": self.issuer, "jwt-type": "rsa", "jwt-key-size": "256",
                "key": pem[0].decode(), "cert": pem[1].decode(),
                "access-token-duration": 3600, "refresh-token-duration": 3600, "code-duration": 600,
                "auth-type-device-enabled": True, "device-authorization-expiration": 600,
                "device-authorization-interval": 1, "auth-type-code-enabled": True, "auth-type-refresh-enabled": True,
                "allow-non-oidc": False, "subject-type": "public", "jwks-show": True, "claims": claims}})
        self._call(self._admin, "POST", "api/user/", {
            "username": PERSON, "password": PASSWORD, "name": "Li", "enabled": True, "scope": ["openid", "g_profile"],
            "groups": ["lab"]})
        for name, more in ((CLIENT, {"confidential": False}),
                           (CONFIDENTIAL, {"confidential": True, "client_secret": SECRET})):
            self._call(self._admin, "POST", "api/client/", {
                "client_id": name, "name": name, "enabled": True, "scope": ["openid"],
                "authorization_type": ["device_authorization", "code"], "redirect_uri": [f"{self.root}nowhere"],
                **({"token_endpoint_auth_method": ["client_secret_basic", "client_secret_post"]}
                   if more["confidential"] else {}), **more})

    def _logged_in(self, name: str, password: str) -> urllib.request.OpenerDirector:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}),
                                             urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        self._call(opener, "POST", "api/auth/", {"username": name, "password": password})
        return opener

    def _call(self, opener: urllib.request.OpenerDirector, method: str, path: str, body: dict[str, Any]) -> None:
        request = urllib.request.Request(self.root + path, json.dumps(body).encode(),
                                         {"Content-Type": "application/json"}, method=method)
        try:
            opener.open(request, timeout=60).close()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read()[:500]!r}") from error


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Glewlwyd]:
    """Start one in a folder; ends the test where the distribution's package lacks."""
    if shutil.which("glewlwyd") is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("This needs the package glewlwyd.")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    database = folder / "glewlwyd.db"
    with contextlib.closing(sqlite3.connect(database)) as conn:
        conn.executescript(SCHEMA.read_text())
        conn.execute("UPDATE g_user_module_instance SET gumi_parameters = ?", (json.dumps(
            {"use-glewlwyd-connection": True,
             "data-format": {"groups": {"multiple": True, "read": True, "write": True}}}),))
        conn.commit()
    settings = folder / "glewlwyd.conf"
    settings.write_text(_settings(port, database, folder))
    with subprocess.Popen(["glewlwyd", f"--config-file={settings}"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        try:
            _wait(process, port)
            yield Glewlwyd(port)
        finally:
            process.terminate()


def _settings(port: int, database: Path, folder: Path) -> str:
    modules = "".join(f'{kind}_module_path="/usr/lib/glewlwyd/{place}"\n' for kind, place in (
        ("user", "user"), ("client", "client"), ("user_auth_scheme", "scheme"), ("plugin", "plugin")))
    return (f'port={port}\nbind_address="127.0.0.1"\nexternal_url="http://localhost:{port}"\n'
            f'login_url="login.html"\napi_prefix="api"\nlog_mode="file"\nlog_level="WARNING"\n'
            f'log_file="{folder}/glewlwyd.log"\ncookie_secure=0\nadmin_scope="g_admin"\nprofile_scope="g_profile"\n'
            f'{modules}use_secure_connection=false\nsecure_connection_key_file=""\nsecure_connection_pem_file=""\n'
            f'hash_algorithm="SHA512"\n'
            f'database = {{ type = "sqlite3"; path = "{database}"; }};\n')


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    raise AssertionError("glewlwyd did not start.")
