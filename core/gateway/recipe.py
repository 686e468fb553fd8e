"""How a known agent joins: data of resources/agents, one file each, which anybody may copy and change.

A recipe names the dialect, the commands that install, start and take up the agent, the variables and files that point
it to the gateway, and what only this agent's requests show. Values in braces are filled in: `{gateway}` the address
that the session serves to it, `{token}` its token, `{model}`, `{task}` and `{workspace}`.
"""

import re
import tomllib
from functools import cache
from typing import Annotated, Literal

import msgspec

from core.domain.errors import InvalidInput, NotFound
from core.domain.task import AgentSettings
from core.gateway.dialect import Dialect
from core.gateway.dialects import anthropic, chat, gemini, responses
from core.store.home import resources

DialectName = Literal["anthropic", "chat", "responses", "gemini"]
DIALECTS: dict[str, Dialect] = {d.name: d for d in (anthropic.DIALECT, chat.DIALECT, responses.DIALECT, gemini.DIALECT)}

_VALUE = re.compile(r"\{(gateway|token|model|task|workspace)\}")
Texts = Annotated[dict[str, str], msgspec.Meta(max_length=100)]


class Recipe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one agent is installed, started and understood.

    `command` begins the work, `resume` takes it up after the agent died ("": it cannot). `probe` prints the version of
    an agent that is there. `summary` is a pattern of the words with which it asks for a summary of its context,
    `exit_code` one of how a result tells the exit code of a command. `own_log` is where its own record lies,
    `hand_in` the tool with which a subagent ends ("": it ends with words). `acp` is its command as an agent of the
    Agent Client Protocol ("": it is none). `speaks_acp`: it is started so. `attached` are words behind the program that
    point it to the gateway where no files of a sandbox can: an agent that a person starts.
    """

    title: str
    dialect: DialectName
    command: str = ""
    resume: str = ""
    install: str = ""
    probe: str = ""
    summary: str = ""
    exit_code: str = ""
    own_log: str = ""
    hand_in: str = ""
    acp: str = ""
    speaks_acp: bool = False
    env: Texts = {}
    files: Texts = {}
    attached: tuple[str, ...] = ()


class RecipeValues(msgspec.Struct, frozen=True, kw_only=True):
    """The values of one session for the braces of its recipe."""

    gateway: str
    token: str
    model: str
    task: str
    workspace: str

    def fill(self, text: str) -> str:
        """A text with its braces filled in; what is filled in is not looked into again."""
        return _VALUE.sub(lambda m: str(getattr(self, m[1])), text)


def names() -> list[str]:
    """The agents of which there is a recipe."""
    return sorted(path.stem for path in (resources() / "agents").glob("*.toml"))


@cache
def recipe_named(name: str) -> Recipe:
    """The recipe of that name. Raises NotFound, InvalidInput."""
    path = resources() / "agents" / f"{name}.toml"
    if name not in names():
        raise NotFound("no_recipe", f"There is no recipe for an agent {name[:80]!r}; there are {', '.join(names())}.",
                       recipe=name[:80])
    try:
        recipe = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Recipe)
        for pattern in (recipe.summary, recipe.exit_code):
            re.compile(pattern)
    except (OSError, UnicodeError, tomllib.TOMLDecodeError, msgspec.ValidationError, re.error) as error:
        raise InvalidInput("bad_recipe", f"The recipe {path} cannot be read: {error}", path=str(path)) from error
    return recipe


def recipe_of(settings: AgentSettings) -> Recipe:
    """The recipe of an external agent: the named one, with what the settings say instead. Raises NotFound,
    InvalidInput."""
    base = recipe_named(settings.recipe) if settings.recipe else Recipe(
        title=settings.command or "agent", dialect=settings.dialect or "chat", env=GENERAL_ENVIRONMENT)
    changes = {name: value for name in ("command", "resume", "install", "dialect")
               if (value := getattr(settings, name))}
    recipe = msgspec.structs.replace(base, **changes)
    return _by_protocol(recipe, settings.command or base.acp, settings.acp) if settings.acp else recipe


def _by_protocol(recipe: Recipe, command: str, who: str) -> Recipe:
    """The recipe of an agent that is spoken to by the Agent Client Protocol, from within its sandbox. Raises
    InvalidInput."""
    if not command:
        raise InvalidInput("no_acp", f"The recipe of {recipe.title} has no command for the Agent Client Protocol.")
    start = f"python3 ~/{ACP_PROGRAM} {who}"
    env = {**recipe.env, "TIPHYS_GATEWAY": "{gateway}", "TIPHYS_TOKEN": "{token}"}
    return msgspec.structs.replace(recipe, command=f"{start} new {command}", resume=f"{start} load {command}", env=env,
                                   speaks_acp=True)


ACP_PROGRAM = ".tiphys/acp.pyz"
"""Where in the home of a sandbox the program lies that speaks with the agent."""

GENERAL_ENVIRONMENT = {
    "OPENAI_BASE_URL": "{gateway}/v1", "OPENAI_API_BASE": "{gateway}/v1", "OPENAI_API_KEY": "{token}",
    "ANTHROPIC_BASE_URL": "{gateway}", "ANTHROPIC_API_KEY": "{token}", "GOOGLE_GEMINI_BASE_URL": "{gateway}",
    "GEMINI_API_KEY": "{token}",
}
"""What points an agent without a recipe to the gateway: the variables that the makers' own libraries read."""
