"""`tiphys hosts`: the machines that this server's sessions run on, what they give, and who waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec

from core.cli.number import Number, Whole
from core.cli.output import emit, json_option, say, table
from core.domain.errors import ReportableError
from core.sandbox.placement import EngineAddress
from core.server.pool_file import OWN, PoolFile, PoolHost
from core.store.home import Home, make_private_folder

T = TypeVar("T")


@click.group()
def hosts() -> None:
    """Say where sessions run: Docker engines here and elsewhere, and plain machines by SSH."""


@hosts.command(name="list")
@json_option
def list_hosts(as_json: bool) -> None:
    """List the members of the pool, what is free of each, and the queue."""
    lines, waiting = _with_pool(lambda pool: ([_line(pool, one) for one in pool.hosts()], pool.waiting()))
    if as_json:
        for line in lines:
            emit(line)
        for place, (session, asks) in enumerate(waiting, start=1):
            emit({"waiting": session, "place": place, "asks": asks})
        return
    table(("name", "kind", "address", "state", "GPUs free", "CPUs", "MiB", "sessions"),
          [(x["name"], x["kind"], x["address"] or "this machine", x["state"],
            f"{len(x['gpus_free'])} of {len(x['gpus'])}", _limit(x["cpus"]),
            _limit(x["memory_mb"]), ", ".join(x["sessions"])) for x in lines])
    for place, (session, asks) in enumerate(waiting, start=1):
        say(f"waits at place {place}: {session}, for {asks}")


@hosts.command()
@click.argument("name")
@click.argument("address", default="")
@click.option("--machine", is_flag=True, help="A plain machine: its sessions work there WITHOUT a sandbox.")
@click.option("--gpus", default="", help="Ids of its GPUs as nvidia-smi names them: 0,1,2 or GPU-….")
@click.option("--cpus", type=Number(0, 1e6), help="How many CPUs sessions may take together; not counted if left out.")
@click.option("--memory", type=Whole(), help="How much memory they may take together, in MiB; not counted if left out.")
@click.option("--tls", type=click.Path(file_okay=False, exists=True, resolve_path=True),
              help="For tcp://: the folder with ca.pem, cert.pem and key.pem.")
@click.option("--same-folders", is_flag=True, help="The data folders of this machine lie there at the same paths.")
@click.option("--unchecked", is_flag=True, help="Add it although it does not answer now.")
@json_option
def add(name: str, address: str, machine: bool, gpus: str, cpus: float | None, memory: int | None, tls: str | None,
        same_folders: bool, unchecked: bool, as_json: bool) -> None:
    """Add NAME at ADDRESS (unix://PATH, tcp://HOST:PORT, ssh://[USER@]HOST[:PORT]), or change it.

    Without ADDRESS, NAME is `local`: this machine's own engine, to say which GPUs and how much of it sessions get.
    """
    from core.server.pool import check_host

    host = PoolHost(name=name, kind="machine" if machine else "engine", address=EngineAddress(address, tls or ""),
                    gpus=tuple(filter(None, gpus.split(","))), cpus=cpus, memory_mb=memory,
                    has_data=same_folders or name == OWN)
    host.check()
    what = "not asked" if unchecked else asyncio.run(check_host(host))
    _with_pool(lambda pool: pool.put(host))
    emit({"name": name, "answer": what}) if as_json else say(f"{name} is in the pool ({what}).")


@hosts.command()
@click.argument("name")
@json_option
def remove(name: str, as_json: bool) -> None:
    """Take NAME out of the pool; sessions must have ended there."""
    _with_pool(lambda pool: pool.remove(name))
    emit({"name": name, "removed": True}) if as_json else say(f"{name} is out of the pool.")


@hosts.command()
@click.argument("name")
@json_option
def show(name: str, as_json: bool) -> None:
    """Ask NAME now whether it is there, and say who holds what of it."""
    from core.server.pool import check_host

    line, host, leases = _with_pool(lambda pool: (_line(pool, pool.host(name)), pool.host(name), pool.leases()))
    try:
        line["answer"] = asyncio.run(check_host(host))
    except ReportableError as error:
        line["answer"] = error.sentence
    line["holds"] = [{"session": x.session, "host": x.host, "gpus": x.gpus} for x in leases if x.place == name]
    if as_json:
        emit(line)
        return
    for key, value in line.items():
        if key != "holds":
            say(f"{key}: {', '.join(value) if isinstance(value, list) else value}")
    for one in line["holds"]:
        say(f"{one['session']} holds host {one['host']}{' with GPU ' + ', '.join(one['gpus']) if one['gpus'] else ''}")


@hosts.command(name="close")
@click.argument("name")
def close_host(name: str) -> None:
    """Give NAME to no new session; those that run there go on."""
    _set_open(name, False)
    say(f"{name} takes no new sessions.")


@hosts.command(name="open")
@click.argument("name")
def open_host(name: str) -> None:
    """Give NAME to new sessions again."""
    _set_open(name, True)
    say(f"{name} takes new sessions.")


def _set_open(name: str, is_open: bool) -> None:
    _with_pool(lambda pool: pool.put(msgspec.structs.replace(pool.host(name), is_open=is_open)))


def _with_pool(work: Callable[[PoolFile], T]) -> T:
    home = Home.default()
    make_private_folder(home.path)
    pool = PoolFile(home.pool_db)
    try:
        return work(pool)
    finally:
        pool.close()


def _line(pool: PoolFile, host: PoolHost) -> dict[str, Any]:
    leases = [lease for lease in pool.leases() if lease.place == host.name]
    taken = {gpu for lease in leases for gpu in lease.gpus}
    return {"name": host.name, "kind": host.kind, "address": host.address.url,
            "state": "lost" if host.is_lost else "open" if host.is_open else "closed", "detail": host.detail,
            "gpus": list(host.gpus), "gpus_free": [gpu for gpu in host.gpus if gpu not in taken],
            "cpus": host.cpus, "memory_mb": host.memory_mb, "sessions": sorted({lease.session for lease in leases})}


def _limit(value: object) -> str:
    return "not counted" if value is None else f"{value:,g}" if isinstance(value, float) else f"{value:,}"
