"""What Harbor's `task.toml` makes of the containers of a task: the agent's, and that of its tests where they have one
of their own (`harbor/models/task/config.py` and `verifier_mode.py` of Harbor 0.25)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from core.domain.task import Collect, Evaluator, Host
from core.tasks.dockerfile import Dockerfile
from core.tasks.folder import inside, read_text
from core.tasks.foreign_folder import not_possible
from core.tasks.harbor_services import services_of

BUILD, TESTS = "environment", "tests"
WORKDIR = "/app"
"""Where an image without a working folder of its own is worked in."""

PUBLISHED = "/logs/artifacts"
"""What lies here is handed over to a verifier of its own, whatever the file says."""

_MEGABYTES = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024 * 1024}
_COMPOSE = ("docker-compose.yaml", "docker-compose.yml", "singularity-compose.yaml")
_SERVERS = re.compile(r"\$\{[A-Za-z_]")
_ROOT = frozenset({"", "root", "0"})
_ACCOUNT = re.compile(r"[a-z_][a-z0-9_-]{0,31}\Z")
_PROTECTED = re.compile(r"/(?:tests|logs(?!/artifacts)|proc|sys|dev|etc|usr|bin|sbin|lib\w*|run|opt/tiphys)?(?:/|\Z)")
"""Where nothing is handed over: the tests and their reward, and what a container's own programs lie in."""


def main_host(folder: Path, raw: Mapping[str, Any]) -> tuple[Host, str]:
    """The agent's host, and the account that its image ends as. Raises InvalidInput."""
    agent, environment = raw.get("agent", {}), raw.get("environment", {})
    host, image_user = _host(folder, BUILD, "main", environment, agent)
    own = image_user if image_user not in _ROOT and _ACCOUNT.match(image_user) else ""
    return msgspec.structs.replace(host, user=str(agent.get("user") or own)), image_user


def hosts_with(folder: Path, main: Host) -> tuple[Host, ...]:
    """The agent's host, and what a compose file puts beside it. Raises InvalidInput."""
    return next((services_of(folder, BUILD, name, main) for name in _COMPOSE[:-1] if (folder / BUILD / name).exists()),
                (main,))


def evaluator_of(folder: Path, raw: Mapping[str, Any], main: Host, image_user: str, script: str) -> Evaluator:
    """How the tests run. Raises InvalidInput."""
    verifier = raw.get("verifier", {})
    user, artifacts = verifier.get("user"), raw.get("artifacts") or []
    evaluator = Evaluator(kind="tests", script=script, references=TESTS, environment=variables("verifier", verifier),
                          collects=_collects(verifier.get("collect") or [], main),
                          timeout_s=float(verifier.get("timeout_sec", 600.0)))
    mode = verifier.get("environment_mode") or ("separate" if verifier.get("environment") else "shared")
    if mode not in ("shared", "separate") or (mode == "shared" and verifier.get("environment")):
        raise not_possible(f"[verifier] environment_mode = {str(mode)[:80]} and [verifier.environment] do not agree")
    if mode == "separate":
        host, own_user, is_within = _verifier(folder, raw, main, image_user)
        account, is_root = _who(user, own_user)
        return msgspec.structs.replace(
            evaluator, host=msgspec.structs.replace(host, user=account), as_root=is_root, tests_within=is_within,
            **_handed_over(artifacts, main.workdir))
    account, is_root = _who(user, image_user)
    if user not in (None, "") and account not in ("", main.user):
        raise not_possible(f"[verifier] user = {account[:80]}: tests run as root or as the agent's user, where they "
                           "have no environment of their own")
    if "network_mode" in verifier and _network(verifier) != (main.network, main.reach):
        raise not_possible(f"[verifier] network_mode = {str(verifier['network_mode'])[:80]}: tests have the network of "
                           "the agent's host, where they have no environment of their own")
    _check_within(artifacts, main.workdir)
    return msgspec.structs.replace(evaluator, as_root=is_root)


def _verifier(folder: Path, raw: Mapping[str, Any], main: Host, image_user: str) -> tuple[Host, str, bool]:
    """The tests' own host: of `[verifier.environment]`'s image, else of `tests/Dockerfile`, else as the agent's was at
    first; the account that its image ends as, and whether the image holds the tests."""
    verifier = raw.get("verifier", {})
    environment = verifier.get("environment") or raw.get("environment", {})
    is_own = bool((verifier.get("environment") or {}).get("docker_image"))
    if not is_own and not any((folder / TESTS / name).exists() for name in ("Dockerfile", *_COMPOSE)):
        network, reach = _network(environment, verifier)
        own = variables("verifier.environment", environment) if verifier.get("environment") else main.environment
        return msgspec.structs.replace(main, name="verifier", gpus=0, network=network, reach=reach,
                                       environment=own), image_user, False
    asked = {**environment, "docker_image": environment.get("docker_image") if is_own else "", "gpus": 0}
    if not verifier.get("environment"):
        asked.pop("workdir", None)  # the agent's: this image has its own
    return *_host(folder, TESTS, "verifier", asked, verifier), True


def _host(folder: Path, place: str, name: str, environment: Mapping[str, Any], phase: Mapping[str, Any]
          ) -> tuple[Host, str]:
    """A host, and the account that its Dockerfile ends as."""
    for compose in _COMPOSE if place == TESTS else _COMPOSE[-1:]:
        if (folder / place / compose).exists():
            raise not_possible(f"{place}/{compose}: services beside a container of this kind are not to be had here")
    image = str(environment.get("docker_image") or "")
    workdir, build, image_user = str(environment.get("workdir") or ""), "", ""
    bases: tuple[str, ...] = ()
    if (folder / place / "Dockerfile").exists():
        dockerfile = Dockerfile(read_text(inside(folder, f"{place}/Dockerfile")), f"{place}/Dockerfile")
        workdir, image_user = workdir or dockerfile.workdir, dockerfile.user
        if not image:
            build, bases = place, dockerfile.bases
    elif not image:
        raise not_possible(f"there is neither {place}/Dockerfile nor a docker_image")
    network, reach = _network(environment, phase)
    build_s = environment.get("build_timeout_sec")
    given = variables("environment" if place == BUILD else "verifier.environment", environment)
    return Host(
        name=name, image=image, build=build, bases=bases, workdir=workdir or WORKDIR,
        gpus=int(environment.get("gpus") or 0), build_s=float(build_s) if build_s and build else None,
        build_network=bool(build), cpus=float(environment.get("cpus") or 1),
        memory_mb=_megabytes(environment, "memory", 2048), disk_mb=_megabytes(environment, "storage", 10_240),
        network=network, reach=reach, environment=given), image_user


def _who(user: object, image_user: str) -> tuple[str, bool]:
    """The account of a verifier, and whether it is root: the one that is named, which may be a number, else the
    image's."""
    account = str(image_user if user in (None, "") else user)
    return ("", True) if account in _ROOT else (account, False)


def _network(environment: Mapping[str, Any], phase: Mapping[str, Any] | None = None) -> tuple[bool, tuple[str, ...]]:
    """Whether a container reaches public addresses, else which alone; `phase` may say so instead of its environment."""
    says = phase if phase and phase.get("network_mode") else environment
    mode = says.get("network_mode", "public")
    if mode not in ("public", "no-network", "allowlist"):
        raise not_possible(f"network_mode = {str(mode)[:80]} is not to be had here")
    if mode == "allowlist":
        return False, tuple(str(name).strip().lower().rstrip(".") for name in says.get("allowed_hosts") or ())
    return mode == "public" and says.get("allow_internet", True) is not False, ()


def _check_within(artifacts: Sequence[object], workdir: str) -> None:
    """What is to be taken out of the container lies in its working folder, which the last snapshot holds."""
    for one in artifacts:
        path = posixpath.normpath(posixpath.join(workdir, one)) if isinstance(one, str) else ""
        if path != workdir and not path.startswith(f"{workdir}/"):
            raise not_possible(f"artifacts: {str(one)[:80]} is not to be had here: only what lies in {workdir} is kept")


def _handed_over(artifacts: Sequence[object], workdir: str) -> dict[str, Any]:
    """The absolute paths that a verifier of its own is given, and what it is not of them."""
    found: dict[str, tuple[str, ...]] = {PUBLISHED: ()}
    for one in artifacts:
        entry = {"source": one} if isinstance(one, str) else one
        if not isinstance(entry, dict) or not isinstance(entry.get("source"), str):
            raise not_possible(f"artifacts: {str(one)[:80]} is no path")
        for name, value in entry.items():
            if value and name not in ("source", "destination", "exclude") and (name, value) != ("service", "main"):
                raise not_possible(f"artifacts: {str(name)[:40]} = {str(value)[:80]} is not to be had here")
        path = posixpath.normpath(posixpath.join(workdir, entry["source"]))
        if ".." in path or _PROTECTED.match(path):
            raise not_possible(f"artifacts: {path[:80]} cannot be handed over: the tests or the system's own files lie "
                               "there")
        found[path] = _patterns(entry.get("exclude") or [])
    return {"submission": tuple(found), "left_out": {path: out for path, out in found.items() if out}}


def _patterns(exclude: object) -> tuple[str, ...]:
    if not isinstance(exclude, list) or not all(isinstance(one, str) for one in exclude):
        raise not_possible(f"artifacts: exclude = {str(exclude)[:80]} is no list of patterns")
    return tuple(exclude)


def variables(where: str, table: Mapping[str, Any]) -> dict[str, str]:
    """The plain texts of a table's `env`. Raises InvalidInput for what asks for a variable of the server."""
    given = table.get("env") or {}
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise not_possible(f"[{where}] env = {str(given)[:80]} is no table of texts")
    for name, value in given.items():
        if _SERVERS.search(value):
            raise not_possible(f"[{where}] env: {name[:60]} = {value[:80]} asks for a variable of the server, which no "
                               "task gets")
    return given


def _collects(hooks: object, main: Host) -> tuple[Collect, ...]:
    """What gathers something in the agent's host when the agent has stopped, as the agent's own account."""
    found = []
    for hook in hooks if isinstance(hooks, list) else [hooks]:
        if not isinstance(hook, dict) or not isinstance(hook.get("command"), str) or not hook["command"]:
            raise not_possible(f"[[verifier.collect]]: {str(hook)[:80]} is no command")
        for name, value in hook.items():
            usual = {"command": value, "timeout_sec": value, "service": "main", "user": main.user or None}
            if value is not None and (name not in usual or value != usual[name]):
                raise not_possible(f"[[verifier.collect]]: {str(name)[:40]} = {str(value)[:80]} is not to be had here")
        found.append(Collect(command=hook["command"], timeout_s=float(hook.get("timeout_sec") or 60.0)))
    return tuple(found)


def _megabytes(environment: Mapping[str, Any], name: str, usual: int) -> int:
    """A size: `NAME_mb`, or the older `NAME` as "2G"."""
    text = environment.get(name)
    if text is None:
        return int(environment.get(f"{name}_mb") or usual)
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT])", str(text).strip().upper())
    if not found:
        raise not_possible(f"[environment] {name} = {str(text)[:40]} is no size such as 2G")
    return max(1, int(float(found[1]) * _MEGABYTES[found[2]]))
