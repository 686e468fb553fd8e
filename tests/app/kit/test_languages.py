"""Numbers, plural forms and dates in the reader's language, with the real catalogues."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from PySide6.QtCore import QCoreApplication
from support.window import speaking

from app.kit import quantities
from app.kit.plots import ValueAxis

AT = datetime(2026, 3, 1, 9, 5, 7, tzinfo=UTC)


@pytest.mark.parametrize(("language", "day"), [("en", "Mar 1, 2026"), ("zh_CN", "2026年3月1日")])
def test_dates_are_written_as_the_language_writes_them(qapp, language, day):
    with speaking(qapp, language):
        assert quantities.day_and_clock(AT) == f"{day} {quantities.clock(AT, seconds=True)}"
        assert quantities.day_and_clock(None) == ""


@pytest.mark.parametrize(("language", "one", "many"), [
    ("en", "1 message of earlier contexts is gone", "3 messages of earlier contexts are gone"),
    ("zh_CN", "较早上下文中的 1 条消息已不在", "较早上下文中的 3 条消息已不在")])
def test_plural_forms(qapp, language, one, many):
    with speaking(qapp, language):
        sentences = [QCoreApplication.translate("ContextModel", "%Ln message(s) of earlier contexts are gone", None, n)
                for n in (1, 3)]
        assert sentences == [one, many]


@pytest.mark.parametrize(("language", "days"), [("en", "265 d 21 h"), ("zh_CN", "265 天 21 小时")])
def test_long_times_are_told_in_days_and_other_days_with_their_date(qapp, language, days):
    with speaking(qapp, language):
        assert quantities.short_duration(265 * 86_400 + 21 * 3600 + 2737) == days
        assert quantities.short_duration(47 * 3600) == "47:00:00"
        assert quantities.clock_or_day(AT) == quantities.short_day_and_minute(AT)
        now = datetime.now(UTC)
        assert quantities.clock_or_day(now) in (quantities.clock(now), quantities.short_day_and_minute(now))


def test_no_two_ticks_of_an_axis_have_one_label(qapp):
    with speaking(qapp, "en"):
        axis = ValueAxis(quantities.duration)
        assert axis.tickStrings([0.0, 0.02, 0.04, 0.1], 1.0, 0.02) == ["0.0 s", "", "", "0.1 s"]
