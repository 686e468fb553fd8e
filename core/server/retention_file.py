"""retention.toml: after how long sessions leave the server, and which stay. Without the file none ever does."""

import tomllib
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from core.domain.errors import InvalidInput
from core.domain.misfit import misfit
from core.store.home import Home

FILE = "retention.toml"

Days = Annotated[float, Meta(gt=0, le=36_500)]


class RetentionSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`after_days`: so long after its end a session goes; left out: never. `action`: what happens to it; an archive
    goes to `folder` ("": HOME/archives). `review_days`: so long after a person's last opinion it stays (left out: as
    `after_days`). A session with one of `tags`, on itself or a step of it, stays.
    """

    after_days: Days | None = None
    action: Literal["archive", "delete"] = "archive"
    folder: str = ""
    review_days: Days | None = None
    tags: tuple[str, ...] = ("retain",)

    def target(self, home: Home) -> Path:
        """The folder of the archives."""
        return Path(self.folder).expanduser() if self.folder else home.archives


def read_retention(home: Home) -> RetentionSettings:
    """The settings of a home. Raises InvalidInput (bad_retention): then nothing goes."""
    path = home.path / FILE
    try:
        found = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), RetentionSettings)
    except FileNotFoundError:
        return RetentionSettings()
    except msgspec.ValidationError as error:
        raise InvalidInput("bad_retention", f"In {path} {misfit(error, RetentionSettings)}.", path=str(path)) from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput("bad_retention", f"{path} is no TOML: {error}", path=str(path)) from error
    except UnicodeDecodeError as error:
        raise InvalidInput("bad_retention", f"{path} is no text in UTF-8.", path=str(path)) from error
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput("bad_retention", f"{path} cannot be read: {error}", path=str(path)) from error
    if found.folder and not found.target(home).is_absolute():
        raise InvalidInput("bad_retention", f"In {path} folder must be a whole path, not {found.folder!r}.",
                           path=str(path))
    return found
