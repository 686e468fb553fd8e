"""`tiphys serve`: the session server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core import logs
from core.cli.allow import allow_key
from core.cli.number import Number, Whole
from core.cli.output import emit, json_option, say
from core.server.serve import Server, ServeSettings, run
from core.server.settings_file import SERVER_SETTINGS, ServerSetting, SettingValue, read_settings, setting, template
from core.store.home import Home

if TYPE_CHECKING:
    from core.server.id_tokens import LogInRules

PRIVATE_IDLE_MINUTES = 15.0
"""Time enough to open a window again that crashed; later the server starts with it."""


def _setting_options(command: Callable[..., None]) -> Callable[..., None]:
    """An option for every setting of the server that is its own; None where the command line does not say it."""
    for one in reversed([s for s in SERVER_SETTINGS if s.flag]):
        command = _option(one)(command)
    return command


def _option(one: ServerSetting) -> Callable[[Callable[..., None]], Callable[..., None]]:
    about = f"{one.about} Default: {one.default or 'none'}." if not isinstance(one.default, bool) else one.about
    if isinstance(one.default, bool):
        return click.option(f"{one.flag}/--no-{one.flag[2:]}", one.key, default=None, help=about)
    if isinstance(one.default, tuple):
        return click.option(one.flag, one.key, multiple=True, help=f"{about} May be given several times.")
    if one.choices:
        return click.option(one.flag, one.key, type=click.Choice(one.choices), help=about)
    kinds = {int: Whole(int(one.low), int(one.high)), float: Number(one.low, one.high)}
    environment = f"TIPHYS_{one.key.upper()}" if one.key == "idle_minutes" else None
    return click.option(one.flag, one.key, type=kinds.get(type(one.default)), help=about, envvar=environment,
                        show_envvar=environment is not None)


@click.command()
@click.option("--settings", "file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Read these settings; without it /etc/tiphys/server.toml where it exists, unless --private.")
@click.option("--print-settings", is_flag=True, help="Print a settings file with every setting explained, and end.")
@click.option("--private", is_flag=True, help="For this computer's desktop alone, on a free port.")
@_setting_options
@json_option
def serve(file: Path | None, print_settings: bool, private: bool, as_json: bool, **given: Any) -> None:
    """Run the session server until it is told to end (Ctrl+C)."""
    if print_settings:
        click.echo(template(), nl=False)
        return
    values = chosen(given, {} if private and file is None else read_settings(file))
    logs.make_stderr_unfailing()  # a log that cannot be written must end no server
    home = Home.default()
    logs.set_up("server", home.logs, as_json=setting(values, "log_format") == "json")
    for pair in setting(values, "allow_keys"):  # type: ignore[union-attr]
        allow_key(pair)

    def ready(server: Server) -> None:
        if as_json:
            emit({"url": server.url, "addresses": server.addresses, "home": str(home.path)})
            return
        say(f"Serving at {server.url}")
        for address in server.addresses:
            if address != server.url:
                say(f"Elsewhere: {address}")

    run(settings_of(home, values, private), ready)


def chosen(given: Mapping[str, Any], of_file: Mapping[str, SettingValue]) -> dict[str, SettingValue]:
    """What holds: of the command line what it says, else of the file."""
    return {**of_file, **{key: value for key, value in given.items() if value not in (None, ())}}


def settings_of(home: Home, values: Mapping[str, SettingValue], private: bool) -> ServeSettings:
    """How to serve with these values."""
    idle = values.get("idle_minutes", PRIVATE_IDLE_MINUTES * private)
    mine = {key: setting(values, key) for key in (
        "host", "names", "address", "certificate", "key", "self_signed", "plain_text", "trusted_proxies",
        "connections_of_account")}
    return ServeSettings(home=home, private=private, idle_s=60 * idle,  # type: ignore[arg-type]
                         port=values.get("port"), log_in=_log_in(values), **mine)  # type: ignore[arg-type]


def _log_in(values: Mapping[str, SettingValue]) -> LogInRules | None:
    """By whom people may log in; None where nobody is set. Raises InvalidInput."""
    if not setting(values, "oidc_issuer"):
        return None
    from core.server.id_tokens import rules_of  # it takes a tenth of a second to load

    return rules_of(**{key: setting(values, f"oidc_{key}")  # type: ignore[arg-type]
                       for key in ("issuer", "client", "scope", "name", "groups", "roles", "hours", "secret_file")})
