"""The ten questions of `bench_questions.py` in Inspect View, for the run that it can open, in a real Chromium.

    python -m venv V && V/bin/pip install inspect-ai playwright 
    V/bin/python tests/benchmarks/inspect_view.py FILE.eval [--epoch 5] [--chromium /usr/bin/chromium]

Prints one JSON line a question: acts (clicks and keys), seconds from the first act until the answer is on the page, and
what is there; or that Inspect View has nothing that answers it. It begins where `bench_questions.py` does: the run is
open, at its beginning. It is no test, and nothing of it is installed with the product.
"""

from __future__ import annotations

import argparse
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

NO_ANSWER = {
    "Which file changed most?": "no view of files",
    "What did the subagent do?": "the run has none",
    "What changed since I left?": "nothing is remembered of a reader",
    "Where is the undecided rest?": "no verdicts on steps",
    "Why was it masked?": "no verdicts on steps",
    "How did two runs part?": "no comparison of samples; ‹ › goes from one to the next",
}
"""Of these questions the program has nothing that answers them (as of the version that was tried)."""


class Page:
    """A page of the browser, whose acts are counted."""

    def __init__(self, page: Any) -> None:
        self.page, self.acts = page, 0

    def click(self, where: str) -> None:
        """Click what a selector finds first."""
        self.acts += 1
        self.page.locator(where).first.click(timeout=10_000)

    def sees(self, text: str) -> None:
        """Wait until a text is on the page."""
        self.page.get_by_text(text).first.wait_for(timeout=10_000)


def open_sample(page: Page, epoch: int) -> int:
    """Open one sample from the list; the number of its turns."""
    page.page.locator(".ag-row, [role=row]").filter(has_text="default").nth(epoch - 1).click(timeout=20_000)
    turn = page.page.locator("text=/^turn 1\\/\\d+$/").first
    turn.wait_for(timeout=20_000)
    return int(turn.inner_text().rpartition("/")[2])


def next_turn(page: Page, at: int, count: int) -> None:
    """From one model call to the next."""
    page.click(f"xpath=//*[normalize-space(text())='turn {at}/{count}' or normalize-space(.)='turn {at}/{count}']"
               "/following::button[1]")
    page.page.wait_for_timeout(50)


def first_error(page: Page, count: int) -> str:
    """There is no way to a failure but to read on from turn to turn."""
    for at in range(1, count):
        next_turn(page, at, count)
    page.sees(f"turn {count}/{count}")
    return f"read through all {count} turns"


def knew(page: Page, count: int) -> str:
    """From turn to turn to the middle, then its messages."""
    middle = count // 2
    for at in range(1, middle):
        next_turn(page, at, count)
    page.sees(f"turn {middle}/{count}")
    page.click(f"xpath=//*[normalize-space(.)='turn {middle}/{count}']/ancestor::*[.//button[@role='tab']][1]"
               "//button[@role='tab'][normalize-space(.)='Messages']")
    page.page.wait_for_timeout(100)
    return f"messages of turn {middle}"


def task(page: Page, count: int) -> str:
    """The whole of the user's first message."""
    page.click("button:has-text('more...')")
    page.sees("less")
    return "the first message of the user"


def handed_in(page: Page, count: int) -> str:
    """The tab of scores."""
    page.click("button[role=tab]:has-text('Scoring'), a:has-text('Scoring')")
    page.sees("Explanation")
    return "answer and score"


ASK = {"Where did it first go wrong?": first_error, "What did it know at the step in the middle?": knew,
       "What was asked?": task, "What was handed in?": handed_in}


def ask_all(file: Path, epoch: int, chromium: str) -> None:
    """Serve the file, open it, ask."""
    from playwright.sync_api import Error, sync_playwright

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(file, Path(folder) / f"2024-01-01T00-00-00+00-00_{file.name}")
        inspect = str(Path(sys.executable).with_name("inspect"))
        server = subprocess.Popen([inspect, "view", "start", "--log-dir", folder, "--port", str(port)],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with sync_playwright() as browsers:
                browser = browsers.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
                for question, ask in ASK.items():
                    page = Page(browser.new_page(viewport={"width": 1440, "height": 900}))
                    _reach(page.page, f"http://127.0.0.1:{port}/")
                    count = open_sample(page, epoch)
                    page.page.wait_for_timeout(1500)
                    page.acts, began = 0, time.perf_counter()
                    try:
                        answer = ask(page, count)
                    except Error as error:
                        answer = f"not reached: {str(error).splitlines()[0]}"
                    seconds = round(time.perf_counter() - began, 2)
                    print(json.dumps({"question": question, "acts": page.acts, "seconds": seconds, "answer": answer}))
                    page.page.close()
                browser.close()
        finally:
            server.terminate()
            server.wait()
    for question, why in NO_ANSWER.items():
        print(json.dumps({"question": question, "answer": why}, ensure_ascii=False))


def _reach(page: Any, address: str) -> None:
    from playwright.sync_api import Error

    for _ in range(60):
        try:
            page.goto(address)
            return
        except Error:
            time.sleep(0.5)
    raise SystemExit("Inspect View did not answer.")


def main() -> int:
    """Ask; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--epoch", type=int, default=5)
    parser.add_argument("--chromium", default=shutil.which("chromium") or "chromium")
    asked = parser.parse_args()
    ask_all(asked.file, asked.epoch, asked.chromium)
    return 0


if __name__ == "__main__":
    sys.exit(main())
