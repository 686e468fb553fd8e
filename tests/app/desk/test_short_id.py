"""A name that is short stands there whole; a hash is cut in front, and without its server."""

from app.desk.session_words import short_id


def test_the_end_of_an_id() -> None:
    assert [short_id(text) for text in ("reviews-1", "reviews-1@lab", "claude-code-272dd53587395860")] == [
        "reviews-1", "reviews-1", "87395860"]
