"""The root command: which commands there are, and how their errors are shown.

Bad input ends with status 2, another expected failure with 1; both print one sentence and a stable code on
stderr. Each command lies in the module of its name, or of the noun that several act on (guidance, control). That
module is imported when the command is called, so that `tiphys --help` is quick: it imports at its top what it needs,
and in functions only what is slow to load and not always needed (training, a server's authority, the desktop).
"""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from collections.abc import Sequence

import click

from core.cli.failure import guarded

COMMANDS: dict[str, tuple[str, str]] = {
    "open": ("open:open_files", "Show files (or the last view) in the desktop."),
    "register-links": ("register_links:register_links", "Open tiphys:// links of mails and pages here."),
    "demo": ("demo:demo", "Run the demonstration, with the desktop or headless."),
    "serve": ("serve:serve", "Run the session server."),
    "run": ("run:run", "Start a session on a task."),
    "rollout": ("rollout:rollout", "Let a policy play many sessions of an environment."),
    "attach": ("attach:attach", "Start an agent that is not ours, here, and watch it."),
    "agent": ("agent:agent", "Run one session's agent (the server starts these)."),
    "tasks": ("tasks:tasks", "List the tasks of the catalogue."),
    "sessions": ("sessions:sessions", "List the sessions."),
    "show": ("show:show", "Show a session with its steps."),
    "search": ("search:search", "Find words in all sessions."),
    "guide": ("guidance:guide", "Queue guidance for a working agent."),
    "edit": ("guidance:edit", "Change guidance that was not delivered yet."),
    "withdraw": ("guidance:withdraw", "Take guidance back before it is delivered."),
    "pause": ("control:pause", "Pause a session after the running step."),
    "resume": ("control:resume", "Go on with a paused session."),
    "continue": ("control:continue_", "Go on with a session that has ended."),
    "stop": ("control:stop", "End a session."),
    "interrupt": ("control:interrupt", "End the action that is running now."),
    "take-over": ("takeover:take_over", "Write the next actions of a session yourself."),
    "act": ("takeover:act", "Carry out an action in a session that you have taken over."),
    "hand-back": ("takeover:hand_back", "Have the agent go on after you."),
    "branch": ("branch:branch", "Go another way from a step of a session on."),
    "compare": ("compare:compare", "Hold the branches of a group against each other."),
    "own-log": ("own_log:own_log", "Hold an outside agent's own record against its session."),
    "counterfactual": ("compare:counterfactual", "Branch with and without an advice: did it help?"),
    "replay": ("replay:replay", "Carry a session out again with its recorded answers."),
    "snapshot": ("snapshots:snapshot", "Save files, terminals and journal of a working session."),
    "snapshots": ("snapshots:snapshots", "List the snapshots of sessions."),
    "restore-session": ("snapshots:restore_session", "Bring a session back from a snapshot."),
    "delete": ("delete:delete", "Delete sessions for good, after saying what is lost."),
    "archive": ("archive:archive", "Put sessions into files, and delete them from the server."),
    "retention": ("retention:retention", "Say which sessions leave the server after some days."),
    "rescore": ("rescore:rescore", "Score stored submissions again, by an evaluator that changed."),
    "verdict": ("verdict:verdict", "Judge a step: keep or mask."),
    "queue": ("queue:queue", "Make review queues, take sessions from them."),
    "merge": ("merge:merge", "Take over what was judged elsewhere, from an archive."),
    "judge": ("judge:judge", "Let the rules (and a model) propose verdicts."),
    "rules": ("rules:rules", "List the rules and their settings."),
    "agreement": ("agreement:agreement", "Hold rules, judges and people against each other."),
    "decisions": ("decisions:decisions", "Say who decided on each step, or would without some of them."),
    "import": ("import_paths:import_paths", "Read trajectories of other programs, or archives."),
    "preview": ("preview:preview", "Show a training sample, the trained tokens marked."),
    "export": ("export:export", "Write sessions as training data, or as an archive."),
    "train": ("train:train", "Train a model on exported data."),
    "rl": ("rl:rl", "Train a model on sessions that it plays in an environment."),
    "train-setup": ("train_setup:train_setup", "Bring what training needs, into an environment of its own."),
    "backup": ("backup:backup", "Copy all sessions into one file, while everything runs."),
    "image": ("image:image", "Build the sandbox image; remove images that nothing needs."),
    "allow": ("allow:allow", "Say what tasks may take of this computer."),
    "hosts": ("hosts:hosts", "Say where sessions run, with which GPUs, and who waits."),
    "login": ("login:login", "Log in to a server by the lab's own accounts."),
    "account": ("account:account", "Give and revoke access to the server."),
    "restore": ("restore:restore", "Put a backup in the log's place."),
    "verify": ("verify:verify", "Check the log, or a backup, from end to end."),
    "doctor": ("doctor:doctor", "Say what works here, and how to mend what does not."),
}

WITH_TRAINING = {"train", "rl", "export", "preview", "demo", "agent", "judge", "rollout"}
"""Commands that may tokenize, train, or run a local model."""

WITHOUT_TORCH = {"export", "preview"}
"""Commands that tokenize and compute nothing: transformers would load torch, which takes 2 s of them."""

QUIET = {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "TRANSFORMERS_VERBOSITY": "error"}
"""Libraries draw bars of their own over what a command says, and speak of parts that a person does not know."""

GUESSES = {"ls": "sessions", "list": "sessions", "version": "--version", "gui": "open", "evaluate": "rescore",
           "review": "open", "download": "export"}
"""What people type for a command of another name."""


class _LazyGroup(click.Group):
    """A group whose commands are imported when they are needed; a file or link in a command's place is opened."""

    def resolve_command(self, ctx: click.Context, args: list[str]
                        ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        if word == "help":
            args = [*(args[1:2] or ["--help"]), *(["--help"] if args[1:] else [])]
            if args == ["--help"]:
                click.echo(ctx.get_help())
                ctx.exit()
        elif word not in COMMANDS and (word.startswith(("tiphys://", "file://")) or os.path.exists(word)):  # noqa: PTH110
            args = ["open", *args]
        elif word not in COMMANDS and not word.startswith("-"):
            near = [GUESSES[word]] if word in GUESSES else difflib.get_close_matches(word, COMMANDS, 1)
            what = "is neither a command nor a file here." if any(c in word for c in "./\\") else "is no command."
            ctx.fail(f"'{word}' {what}" + (f" Did you mean tiphys {near[0]}?" if near else ""))
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(f"core.cli.{module}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


@click.group(cls=_LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--home", metavar="FOLDER",
              help="Where all state lives (default: $TIPHYS_HOME, else the user's data folder).")
@click.version_option(package_name="tiphys")
@click.pass_context
def root(ctx: click.Context, home: str | None) -> None:
    """Watch, steer and review long-running language-model agents. Without a command: the desktop."""
    if home:
        os.environ["TIPHYS_HOME"] = home
    if ctx.invoked_subcommand in WITH_TRAINING:
        for name, value in QUIET.items():
            os.environ.setdefault(name, value)
    _enter_training_environment(ctx)
    if ctx.invoked_subcommand in WITHOUT_TORCH and ctx.obj == sys.argv[1:]:  # in a process of the command's own
        sys.modules.setdefault("torch", None)  # type: ignore[arg-type]
    if ctx.invoked_subcommand is None:
        from core.cli.desktop import launch

        ctx.exit(launch([]))


def _enter_training_environment(ctx: click.Context) -> None:
    """Become the interpreter that has the training extra, where a command may want it and this one has it not."""
    if ctx.invoked_subcommand not in WITH_TRAINING or ctx.obj is None:
        return
    from core import program
    from core.store import training_environment
    from core.store.home import Home

    python = training_environment.python(Home.default())
    if python is not None and not program.is_frozen():
        words = program.command("tiphys", *ctx.obj, python=python)
        os.execv(words[0], words)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; gives the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    return guarded(lambda: root.main(arguments, prog_name="tiphys", standalone_mode=False, obj=arguments),
                   "--json" in arguments)
