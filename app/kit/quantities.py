"""Numbers with units for people, in the reader's language: durations, tokens, money, times of day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from PySide6.QtCore import QDate, QLocale

from app.kit.i18n import translate
from core.domain.bounds import INT64, clamp

_LONG_S = 48 * 3600
"""From here on hours are counted by the day."""


def number(value: int) -> str:
    """1,204."""
    return QLocale().toString(clamp(value, INT64, -INT64))


def tokens(value: int | None) -> str:
    """A short count: 950, 48.2k, 1.3M; "–" where the source does not say."""
    if value is None:
        return "–"
    if value < 10_000:
        return number(value)
    return f"{value / 1e3:.1f}k" if value < 1_000_000 else f"{value / 1e6:.2f}M"


def money(usd: float | None) -> str:
    """US dollars; "–" where the source does not say."""
    return "–" if usd is None else f"${usd:.4f}" if 0 < usd < 0.01 else f"${usd:.2f}"


def score(value: float | None) -> str:
    """A score of 0–100 with one decimal; "–" where there is none."""
    return "–" if value is None else f"{value:.1f}"


def signed_share(value: float) -> str:
    """A change relative to what it is held against: +3.1 %."""
    return f"{signed(value * 100, '.1f')} %"


def signed(value: float, form: str) -> str:
    """A figure with its sign, which is a minus and no hyphen."""
    return f"{value:+{form}}".replace("-", "−", 1)


def lines_changed(added: int, removed: int) -> str:
    """+64 −36, with a space that is seen also in small type."""
    return f"+{number(added)}\u2007−{number(removed)}"


def duration(seconds: float | None) -> str:
    """0.4 s, 12 s, 3 min 05 s, 2 h 07 min."""
    if seconds is None:
        return ""
    if seconds < 9.95:
        return translate("Quantities", "{n} s").format(n=f"{max(0.0, seconds):.1f}")
    whole = round(seconds)
    if whole < 60:
        return translate("Quantities", "{n} s").format(n=whole)
    if whole < 3600:
        return translate("Quantities", "{m} min {s} s").format(m=whole // 60, s=f"{whole % 60:02d}")
    return translate("Quantities", "{h} h {m} min").format(h=whole // 3600, m=f"{whole % 3600 // 60:02d}")


def minutes(seconds: float | None) -> str:
    """For what goes on: < 1 min, 48 min, 2 h 07 min."""
    if seconds is None or seconds >= 3600:
        return duration(seconds)
    return translate("Quantities", "{m} min").format(m=int(seconds // 60) if seconds >= 60 else "< 1")


def short_duration(seconds: float | None) -> str:
    """For a narrow column: 5 s, 1:03, 2:07:12, 265 d 21 h."""
    if seconds is None:
        return ""
    whole = max(0, round(seconds))
    if whole >= _LONG_S:
        return translate("Quantities", "{d} d {h} h").format(d=number(whole // 86_400), h=whole % 86_400 // 3600)
    if whole < 60:
        return translate("Quantities", "{n} s").format(n=whole)
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"


def between(start: datetime | None, end: datetime | None) -> float | None:
    """The seconds from one time to another; None where one is not told."""
    return (end - start).total_seconds() if start and end else None


def local_time(at: datetime) -> datetime:
    """A time as this computer's clock shows it; at the ends of the calendar, where that is another year, as it is."""
    try:
        return at.astimezone()
    except (OverflowError, ValueError, OSError):
        return at


def moment(seconds: float) -> datetime:
    """The local time so many seconds after 1970 began; the nearest that a calendar has."""
    first, last = (at.replace(microsecond=0, tzinfo=UTC).timestamp() for at in (datetime.min, datetime.max))
    return local_time(datetime.fromtimestamp(0, UTC) + timedelta(seconds=max(first, min(last, seconds))))


def clock(at: datetime | None, *, seconds: bool = False) -> str:
    """The local time of day, in 24 hours: rows must stay narrow and aligned."""
    return local_time(at).strftime("%H:%M:%S" if seconds else "%H:%M") if at else ""


def clock_or_day(at: datetime | None) -> str:
    """The time of day; of another day than today the date, too."""
    if at is None:
        return ""
    return clock(at) if local_time(at).date() == datetime.now().astimezone().date() else short_day_and_minute(at)


def day_and_clock(at: datetime | None) -> str:
    """The local date as the reader's language writes it, and the time of day."""
    if at is None:
        return ""
    return f"{day(local_time(at))} {clock(at, seconds=True)}"


def clock_or_day_and_clock(at: datetime | None, beside: datetime | None) -> str:
    """The time of day with its seconds; also the date where it is another than that of `beside`, told near by."""
    if at is not None and beside is not None and local_time(at).date() == local_time(beside).date():
        return clock(at, seconds=True)
    return day_and_clock(at)


def short_day_and_minute(at: datetime | None) -> str:
    """For a narrow column: 6 Sep 18:40; 9月6日 18:40."""
    if at is None:
        return ""
    local = local_time(at)
    chinese = QLocale().language() == QLocale.Language.Chinese
    date = QLocale().toString(QDate(local.year, local.month, local.day), "M月d日" if chinese else "d MMM")
    return f"{date} {clock(at)}"


def day(at: datetime) -> str:
    """A date as the reader's language writes it: Mar 1, 2026; 2026年3月1日."""
    chinese = QLocale().language() == QLocale.Language.Chinese
    return QLocale().toString(QDate(at.year, at.month, at.day), "yyyy年M月d日" if chinese else "MMM d, yyyy")


def reading(key: str, value: float) -> str:
    """A value of a curve of a chart with its unit; "" for a verdict, which is no number."""
    if key == "score":
        return score(value)
    if key == "context":
        return tokens(round(value))
    if key == "verdicts":
        return ""
    return money(value) if key == "cost" else duration(value)


def short(value: float) -> str:
    """A number of an axis or a curve: 0.25, 1.5, 12k."""
    size = abs(value)
    if size >= 1e4:
        return f"{value / 1e6:.3g}M" if size >= 1e6 else f"{value / 1e3:.3g}k"
    return f"{value:.2e}" if 0 < size < 1e-3 else f"{value:.3g}"


def byte_size(count: int) -> str:
    """A number of bytes for people: 3.1 MB."""
    return QLocale().formattedDataSize(count, 1, QLocale.DataSizeFormat.DataSizeSIFormat)
