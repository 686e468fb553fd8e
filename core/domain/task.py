"""Tasks and the settings of the agent that works on them. No secret is ever a field here."""

from collections.abc import Sequence
from graphlib import TopologicalSorter
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from core.domain import bounds


class Data(msgspec.Struct, frozen=True, kw_only=True):
    """A folder or file that a host reads in place, at `target`, and never copies.

    `source` lies in the task's folder, or (an absolute path of the server's machine) wherever its operator allows.
    """

    source: bounds.Address
    target: bounds.Address


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """A command that a service's container runs again and again: it is healthy once this ends with 0, and the session
    begins no sooner. Times in seconds; so many failures after the first `begins_s` end the wait."""

    command: Annotated[tuple[bounds.Address, ...], bounds.Few]
    every_s: bounds.Seconds = 30.0
    timeout_s: bounds.Seconds = 30.0
    retries: bounds.Count = 3
    begins_s: bounds.Seconds = 0.0


Stage = Literal["started", "healthy", "completed"]
"""How far a service is that others wait for: it runs, its check passes, it has ended with 0."""


class Program(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a service runs (None: as its image says), and what it waits for.

    `after` names other services, or hosts, and how far each must be.
    `user` is an account of the image, "" the image's own. When it ends it is started anew: never, where it failed, or
    whatever came of it.
    One that `ends` has to, with 0, before the session begins.
    """

    entrypoint: Annotated[tuple[bounds.Address, ...], bounds.Few] | None = None
    command: Annotated[tuple[bounds.Address, ...], bounds.Few] | None = None
    user: bounds.Name = ""
    health: Health | None = None
    after: Annotated[dict[bounds.Name, Stage], bounds.Few] = {}
    restarts: Literal["never", "failed", "always"] = "never"
    ends: bool = False


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """One sandbox machine of a session, known to the agent, and to its other hosts, by `name`.

    `disk_mb` is how much its workspace and home may hold together, in MiB; what goes beyond ends the session. `image`
    may be a digest (`NAME@sha256:…`). `gpus` are given to this host alone. `network` lets it reach public addresses;
    `reach` names the only ones that it reaches (`NAME`, `*.NAME`, each with `:PORT` or without). `machine` is a plain
    machine of the server's host pool, where the host is no container.
    `build` is a folder of the task whose Dockerfile makes the image, out of the images `bases`. With `workdir` the
    agent works in the image's own files, from that folder on, all of which are the host's state; else in a workspace.
    There `user` names the account of the image that it works as, which is never root.
    A build ends after `build_s` seconds, where that is less than any build may take; with `build_network` it reaches
    public addresses though the host may not.
    `environment` are variables that all programs there have.
    A service has a `program`, which alone runs there: nobody enters it, and the image is taken as it is.
    """

    name: bounds.Name
    image: bounds.Address = ""
    build: bounds.Address = ""
    bases: Annotated[tuple[bounds.Address, ...], bounds.Few] = ()
    build_s: bounds.Seconds | None = None
    build_network: bool = False
    workdir: bounds.Address = ""
    user: bounds.Name = ""
    cpus: bounds.Factor = 1.0
    memory_mb: bounds.Count = 1024
    pids: bounds.Count = 256
    disk_mb: bounds.Count = 20_480
    network: bool = False
    gpus: bounds.Count = 0
    reach: Annotated[tuple[bounds.Address, ...], bounds.Few] = ()
    data: Annotated[tuple[Data, ...], bounds.Few] = ()
    machine: bounds.Name = ""
    environment: Annotated[dict[bounds.Name, bounds.Address], bounds.Few] = {}
    program: Program | None = None


def start_order(services: Sequence[Host]) -> list[Host]:
    """Each service behind those that it waits for. Raises graphlib.CycleError (a ValueError)."""
    named = {one.name: one for one in services}
    waits = TopologicalSorter({one.name: one.program.after if one.program else () for one in services})
    return [named[name] for name in waits.static_order() if name in named]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """When a session ends by itself; None is without limit. Wall time is in seconds of working time."""

    steps: bounds.Count | None = 4000
    wall_s: bounds.Seconds | None = None
    tokens: bounds.Total | None = None
    cost_usd: bounds.TotalCost | None = None
    evaluations: bounds.Count | None = 4


class Budget(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """So much more from now on for a session that continues; None leaves that limit as it is."""

    steps: bounds.Count | None = None
    wall_s: bounds.Seconds | None = None
    tokens: bounds.Total | None = None
    cost_usd: bounds.TotalCost | None = None
    evaluations: bounds.Count | None = None


def extended(limits: Limits, used: Budget, more: Budget) -> Limits:
    """Limits that leave so much more than was used; where that is not known, than they left before."""
    grown = {}
    for name in Budget.__struct_fields__:
        added, spent = getattr(more, name), getattr(used, name)
        before = getattr(limits, name) if spent is None else spent
        if added is not None and before is not None:
            grown[name] = before + added
    return msgspec.structs.replace(limits, **grown)


class Collect(msgspec.Struct, frozen=True, kw_only=True):
    """A shell's command that gathers what tests look at; one that fails, or takes longer than `timeout_s`, hinders
    nothing."""

    command: bounds.Text
    timeout_s: bounds.Seconds = 60.0


class Evaluator(msgspec.Struct, frozen=True, kw_only=True):
    """How a submission is scored outside the agent's reach.

    `script` is run with the submission's folder and the references' folder as arguments and prints one JSON
    object {"total": 0–100, "parts": {...}, "message": "..."}. `submission` lists paths in the first host.
    Of the kind `tests` nothing is submitted: the references lie at /tests of a copy of the first host's state, and
    `script`, one of them or beside them, is run there; so Harbor and Endless Terminals do. They run as the agent's
    user, or `as_root` of that copy; `tests_at` is where they lie instead of /tests. Of the kind `benchmark` the script
    is an InnovatorBench task's `evaluation.py`, in the folder of evaluations that the references are.
    Tests with a `host` run in a container of their own instead of a copy: what lies at the absolute paths `submission`
    of the first host lies there at the same paths. `tests_within`: its image holds the tests already.
    `environment` are variables of the tests alone. `collects` are run in the first host before its state is taken; of a
    folder that is handed over, `left_out` names what is not, as patterns of tar (`*.pyc`, `logs/*`).
    """

    kind: Literal["script", "tests", "benchmark"] = "script"
    script: bounds.Address = ""
    submission: Annotated[tuple[bounds.Address, ...], bounds.Few] = ()
    references: bounds.Address = ""
    timeout_s: bounds.Seconds = 60.0
    environment: Annotated[dict[bounds.Name, bounds.Address], bounds.Few] = {}
    collects: Annotated[tuple[Collect, ...], bounds.Few] = ()
    as_root: bool = False
    tests_at: bounds.Address = ""
    host: Host | None = None
    tests_within: bool = False
    left_out: Annotated[dict[bounds.Address, Annotated[tuple[bounds.Address, ...], bounds.Few]], bounds.Few] = {}


class EnvironmentSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a session plays in instead of hosts: a kind of `core.environments`, which of its items (games, levels,
    goals), the seed of what is random there, and what else this kind takes."""

    kind: bounds.Name
    item: bounds.Count = 0
    seed: bounds.Count = 0
    options: Annotated[dict[bounds.Name, bounds.Title], bounds.Few] = {}


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent is asked to do. Its data and evaluator lie in its folder, on the server's machine.

    `peers`: its hosts reach each other by name. `shared_folder`: they share a folder, /shared, that lasts as long as
    the session. `packages` is a tar that is unpacked as the folder `conda` of each host's workspace.
    `baseline` and `best_known` are what a plain and the best known solution reach, in the evaluator's own unit: its
    metric, or the total where it tells none. A metric where less is better has the smaller number as `best_known`.
    `environment` stands in the place of hosts and evaluator: its tools are the agent's, and it gives the score.
    `services` are containers whose own programs run beside the hosts, which reach them by name, until the session ends.
    """

    id: bounds.Id
    title: bounds.Title
    description: bounds.Text
    hosts: Annotated[tuple[Host, ...], bounds.Few] = (Host(name="main"),)
    limits: Limits = Limits()
    evaluator: Evaluator = Evaluator()
    workspace: bounds.Address = ""
    packages: bounds.Address = ""
    waits_for_guidance: bool = False
    peers: bool = True
    shared_folder: bool = False
    domain: bounds.Name = ""
    difficulty: bounds.Name = ""
    baseline: bounds.Points | None = None
    best_known: bounds.Points | None = None
    environment: EnvironmentSettings | None = None
    services: Annotated[tuple[Host, ...], bounds.Few] = ()

    @property
    def members(self) -> tuple[Host, ...]:
        """What lasts as long as the session: the agent's hosts, and the services beside them."""
        return (*self.hosts, *self.services)

    @property
    def is_linked(self) -> bool:
        """Whether these are on one network."""
        return self.peers and len(self.members) > 1

    @property
    def containers(self) -> tuple[Host, ...]:
        """All of them, and that of the tests where they have one of their own."""
        return (*self.members, *((self.evaluator.host,) if self.evaluator.host is not None else ()))


ModelKind = Literal["openai", "local", "scripted", "replay", "endpoint", "policy", "unknown"]
"""`endpoint` is what an external agent's gateway forwards to, in the agent's own dialect; `policy` answers in the
process of its roll-out, and nowhere else."""


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Which language model answers, and how it is asked.

    `key_env` names the environment variable that holds the key; the key itself is never stored.
    `script` is the scripted model's file (with a line break: the script itself), or the replayed one's log.
    `actions` chooses native tool calls, the plain-text action format for models that have none, or `react`, a line
    `Action: …` for an environment whose one tool takes a line of words. Prices are per million tokens.
    `records_tokens`: the endpoint is asked for the ids and log-probabilities of its tokens, which go into the log.
    """

    kind: ModelKind = "scripted"
    name: bounds.Name = ""
    base_url: bounds.Address = ""
    key_env: bounds.Name = ""
    script: bounds.Address = ""
    actions: Literal["native", "text", "react"] = "native"
    temperature: bounds.Factor | None = None
    top_p: bounds.Share | None = None
    records_tokens: bool = False
    max_output_tokens: bounds.Tokens = 8192
    input_price: bounds.Cost | None = None
    output_price: bounds.Cost | None = None

    def cost(self, used: int | None, made: int | None) -> float | None:
        """What so many tokens of input and output cost, in US dollars; None where a price or a count is not known."""
        if self.input_price is None or self.output_price is None or used is None or made is None:
            return None
        return (used * self.input_price + made * self.output_price) / 1e6


class SnapshotRules(msgspec.Struct, frozen=True, kw_only=True):
    """When files, terminals and journal of a session are saved, between two steps: after so many steps or minutes (0:
    not by that), before an evaluation, after a summary, when advice came, at the end; and by hand in any case.

    `newest` stay; of older ones those by hand and before advice while they are few, and one for each doubling of age.
    """

    every_steps: bounds.Count = 25
    every_min: bounds.Count = 30
    at_evaluations: bool = True
    at_summaries: bool = True
    at_guidance: bool = True
    at_end: bool = True
    newest: Annotated[int, Meta(ge=1, le=1_000)] = 12


class AgentSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How the agent works. `context_tokens` is η·L of the paper: above it the older half is summarised.

    `media` is the multimodal endpoint (kind `openai`) that looks at pictures and listens; None: there is none.
    `confirmed_unconfined` is a person's word, given when the session is started; no file can hold it.
    `kind` external: an agent that is not ours, which the session's gateway stands before. `recipe` names one of
    resources/agents; `dialect`, `command`, `resume` and `install` stand in for what it says, or make up for none.
    `kind` outside: a runner of somebody else's making comes for the session by itself, and the server starts none.
    `is_attached`: somebody starts it outside the session's hosts, and points it to the gateway. `samples`: it holds
    several conversations of one rank, and each that begins anew is a session of its own, beside the first.
    `acp`: it is spoken to by the Agent Client Protocol besides, and this is who gives it leave: a person at the
    session (desktop), or always the same answer; "": it is not.
    """

    kind: Literal["own", "external", "outside"] = "own"
    recipe: bounds.Name = ""
    dialect: Literal["", "anthropic", "chat", "responses", "gemini"] = ""
    command: bounds.Address = ""
    resume: bounds.Address = ""
    install: bounds.Address = ""
    is_attached: bool = False
    samples: bool = False
    acp: Literal["", "desktop", "allow", "reject"] = ""
    model: ModelSettings = ModelSettings()
    media: ModelSettings | None = None
    context_tokens: bounds.Tokens = 100_000
    sandbox: Literal["docker", "local"] = "docker"
    confirmed_unconfined: bool = False
    output_chars: bounds.Count = 30_000
    snapshots: SnapshotRules = SnapshotRules()
