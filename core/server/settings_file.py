"""The server's settings: one declared table, from which come the options of `tiphys serve`, what its settings file may
hold, the file that packages install and the page of the documentation.

What the command line says wins over the file, which wins over the default.
"""

import difflib
import os
import textwrap
import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from core.domain.errors import InvalidInput, NotFound, Unavailable
from core.store.regular_file import open_regular

DEFAULT_FILE = Path("/etc/tiphys/server.toml")
"""Read where it exists and nothing else is named; never by a private server."""

_LARGEST = 1024 * 1024
"""Bytes of a settings file."""

SettingValue = str | int | float | bool | tuple[str, ...]


class ServerSetting(msgspec.Struct, frozen=True):
    """One setting. The default fixes its type; `about` is for whoever edits the file. `flag` is the option of
    `tiphys serve` ("" where another command reads it). `choices` are all values, `low` and `high` the bounds."""

    key: str
    default: SettingValue
    about: str
    example: SettingValue
    flag: str = ""
    choices: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 0.0

    def checked(self, value: object, where: str) -> SettingValue:
        """The value as its type. Raises InvalidInput (bad_setting), with `where` it stands."""
        if isinstance(self.default, tuple) and isinstance(value, list) and all(isinstance(v, str) for v in value):
            return tuple(value)
        if isinstance(self.default, float) and type(value) is int:
            value = float(value)
        if type(value) is not type(self.default) or not self._is_within(value):
            raise InvalidInput("bad_setting", f"{where}: {self.key} = {value!r} is not {self.kind}.", key=self.key)
        return value

    def _is_within(self, value: object) -> bool:
        if self.choices:
            return value in self.choices
        return self.high == self.low or not isinstance(value, int | float) or self.low <= value <= self.high

    @property
    def kind(self) -> str:
        """What a value must be, in words."""
        if self.choices:
            return "one of " + ", ".join(f'"{choice}"' for choice in self.choices)
        words = {str: "a text", bool: "true or false", int: "a whole number", float: "a number",
                 tuple: "a list of texts"}
        bounds = f" from {self.low:g} to {self.high:g}" if self.high != self.low else ""
        return words[type(self.default)] + bounds


SERVER_SETTINGS: tuple[ServerSetting, ...] = (
    ServerSetting("host", "127.0.0.1", "The address to listen on: 127.0.0.1 for this computer alone (or a reverse "
                  "proxy on it), 0.0.0.0 or :: for every network.", "0.0.0.0", "--host"),
    ServerSetting("port", 7717, "The port to listen on.", 7717, "--port", low=1, high=65535),
    ServerSetting("names", (), "Further host names under which clients address this server; others are refused, so "
                  "that no web page can reach it under a name of its own.", ("lab.example",), "--name"),
    ServerSetting("address", "", "The address that people use, for invitations, where it is not the server's own: that "
                  "of the reverse proxy in front. Its host name counts as one of names.", "wss://lab.example",
                  "--address"),
    ServerSetting("certificate", "", "PEM file of the TLS certificate; with key. It is read again when it changes.",
                  "/etc/tiphys/tls/server.crt", "--certificate"),
    ServerSetting("key", "", "PEM file of the certificate's key, readable by the server's user.",
                  "/etc/tiphys/tls/server.key", "--key"),
    ServerSetting("self_signed", False, "TLS with a certificate that is made once in the data folder and trusted by "
                  "its fingerprint, which invitations carry.", True, "--self-signed"),
    ServerSetting("plain_text", False, "Listen beyond this computer without TLS: something else (a VPN, a proxy on "
                  "another machine) encrypts.", True, "--plain-text"),
    ServerSetting("trusted_proxies", (), "Addresses or networks of reverse proxies. Only their X-Forwarded-For is "
                  "believed for who is slowed down and what the log says.", ("127.0.0.1", "::1"), "--trusted-proxy"),
    ServerSetting("allow_keys", (), "VAR=URL: agents may send the value of this environment variable to this endpoint; "
                  "remembered in the data folder.", ("OPENAI_API_KEY=https://api.openai.com/v1",), "--allow-key"),
    ServerSetting("idle_minutes", 0.0, "End after so long with nobody connected and nothing at work; 0: never.", 0.0,
                  "--idle-minutes", low=0, high=1e9),
    ServerSetting("connections_of_account", 64, "How many connections one account may have at once.", 64,
                  "--connections-of-account", low=1, high=100_000),
    ServerSetting("log_format", "text", "What the server writes to stderr (the journal): lines for people, or one JSON "
                  "object a line. The file in the data folder's logs is JSON in any case.", "json", "--log-format",
                  choices=("text", "json")),
    ServerSetting("oidc_issuer", "", "The lab's OpenID Connect provider, by which people may log in (device flow). "
                  "Empty: by invitations and tokens alone.", "https://sso.lab.example/realms/lab"),
    ServerSetting("oidc_client", "", "The client that the provider knows this server's people by; the audience of its "
                  "ID tokens.", "tiphys"),
    ServerSetting("oidc_secret_file", "", "File with the secret of this client, where it is a confidential one: the "
                  "server asks the provider then, and no desktop learns it. Not open to everybody.",
                  "/etc/tiphys/oidc.secret"),
    ServerSetting("oidc_scope", "openid profile", "What is asked of the provider, so that its ID tokens hold name and "
                  "groups.", "openid profile groups"),
    ServerSetting("oidc_name", "preferred_username", "The claim that names a person's account here, when it is made.",
                  "email"),
    ServerSetting("oidc_groups", "groups", "The claim that holds a person's groups.", "roles"),
    ServerSetting("oidc_roles", (), "GROUP=ROLE: who of this group logs in has this role (see `tiphys account`); "
                  "*=ROLE: everybody. The first that fits counts; whom none fits is refused.", ("lab-admins=admin",
                                                                                        "*=annotator")),
    ServerSetting("oidc_hours", 168.0, "For how long a log-in is good.", 12.0, low=0.01, high=1e5),
    ServerSetting("backup_folder", "", "Where `tiphys backup --rotate` puts its files; the timer of the package calls "
                  "it each night. Empty: backups in the data folder.", "/var/backups/tiphys"),
    ServerSetting("backups_kept", 14, "How many of these files stay.", 30, low=1, high=10_000),
)

_BY_KEY = {setting.key: setting for setting in SERVER_SETTINGS}


def read_settings(path: Path | None) -> dict[str, SettingValue]:
    """What a settings file says; of None: the usual file's, nothing where there is none.

    Raises NotFound (no_settings_file), Unavailable (settings_unreadable), InvalidInput: bad_settings_file,
    unknown_setting, bad_setting.
    """
    if path is None and not DEFAULT_FILE.exists():
        return {}
    path = path or DEFAULT_FILE
    try:
        table = tomllib.loads(_bytes_of(path).decode())
    except FileNotFoundError:
        raise NotFound("no_settings_file", f"There is no settings file {path}.", path=str(path)) from None
    except OSError as error:
        raise Unavailable("settings_unreadable", f"{path} cannot be read: {error.strerror}.", path=str(path)) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput("bad_settings_file", f"{path} is no TOML: {error}", path=str(path)) from error
    return {key: _setting(key, path).checked(value, str(path)) for key, value in table.items()}


def _bytes_of(path: Path) -> bytes:
    """A device or a pipe is not waited for, and nothing without an end is read to it."""
    handle = open_regular(path, follow=True)
    if handle is None:
        raise InvalidInput("bad_settings_file", f"{path} is no settings file: it is no regular file.", path=str(path))
    with os.fdopen(handle, "rb") as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise InvalidInput("bad_settings_file", f"{path} is no settings file: it has more than {_LARGEST:,} bytes.",
                           path=str(path))
    return data


def setting(values: Mapping[str, SettingValue], key: str) -> SettingValue:
    """The value of a declared setting, or its default."""
    return values.get(key, _BY_KEY[key].default)


def _setting(key: str, path: Path) -> ServerSetting:
    if key not in _BY_KEY:
        near = difflib.get_close_matches(key, _BY_KEY, 1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise InvalidInput("unknown_setting", f"{path}: there is no setting {key!r}.{hint}", key=key, path=str(path))
    return _BY_KEY[key]


def template() -> str:
    """The file that packages install: every setting with what it means, each commented out at its default."""
    parts = ["# Settings of the Tiphys server. A line without # is in force; after a change: systemctl restart "
             "tiphys-server\n# What the command line of `tiphys serve` says wins over this file.\n"]
    for one in SERVER_SETTINGS:
        default = to_toml(one.default)
        example = f"  (for example {to_toml(one.example)})" if one.example != one.default else ""
        parts.append(f"{_comment(one.about)}# {one.kind[0].upper()}{one.kind[1:]}{example}\n#{one.key} = {default}\n")
    return "\n".join(parts)


def to_toml(value: SettingValue) -> str:
    """A value as TOML writes it."""
    return msgspec.json.encode(value).decode()


def _comment(text: str) -> str:
    return textwrap.fill(text, 102, initial_indent="# ", subsequent_indent="# ", break_long_words=False,
                         break_on_hyphens=False) + "\n"


def markdown() -> str:
    """The table of the documentation."""
    head = ["| setting | default | what it is | for example | option of `tiphys serve` |", "|---|---|---|---|---|"]
    return "\n".join([*head, *(row(one, f"{one.about} ({one.kind[0].upper()}{one.kind[1:]}.)")
                               for one in SERVER_SETTINGS)]) + "\n"


def row(one: ServerSetting, about: str) -> str:
    """A setting's row of the table, with what is said about it."""
    flag = f"`{one.flag}`" if one.flag else "–"
    words = about.replace("|", "\\|")
    return f"| `{one.key}` | `{to_toml(one.default)}` | {words} | `{to_toml(one.example)}` | {flag} |"
