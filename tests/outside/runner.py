"""A whole agent that is not ours, from docs/protocol.md alone: the standard library and `websockets`.

    runner.py ws://HOST:PORT TOKEN JOURNAL [STEPS] [SECONDS]

It takes a session that waits for a runner from outside, works some steps of so many seconds on it, does what people
say, and ends. JOURNAL is its memory, one line a transaction: started again with it, it goes on where it was.
"""
import hashlib
import json
import os
import struct
import sys
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect


def zstd(data):
    """A frame of zstd that packs nothing (RFC 8878): a head with the length, then blocks as they are."""
    made = struct.pack("<IBQ", 0xFD2FB528, 0xE0, len(data))
    for at in range(0, len(data), 1 << 17):
        block = data[at : at + (1 << 17)]
        made += struct.pack("<I", len(block) << 3 | (at + len(block) == len(data)))[:3] + block
    return made


class Journal:
    """What is true for the agent, whoever else lives."""

    def __init__(self, path):
        self.id = self.session = self.wish = ""
        self.entries, self.context, self.known, self.steps = [], [], set(), 0
        self.waiting, self.given, self.payloads, self.open, self.state = {}, {}, {}, None, "queued"
        whole = Path(path).read_bytes().rpartition(b"\n")[0] if Path(path).exists() else b""
        for line in whole.splitlines():
            self.take(json.loads(line))
        self.file = Path(path).open("ab")  # noqa: SIM115 - open for as long as the agent lives
        self.file.truncate(len(whole) + bool(whole))  # a line that a death cut off never was
        if not self.id:
            self.write(id=uuid.uuid4().hex)

    def write(self, *facts, **line):
        """One transaction: on the disk before anything of it is done or told."""
        now, author = datetime.now(UTC).isoformat(), {"kind": "agent", "name": self.session}
        line["entries"] = [{"id": uuid.uuid4().hex, "at": now, "author": author, "fact": fact} for fact in facts]
        self.file.write(json.dumps(line).encode() + b"\n")
        self.file.flush()
        os.fsync(self.file.fileno())
        self.take(line)

    def take(self, line):
        self.id, self.session = line.get("id", self.id), line.get("session", self.session)
        self.payloads |= line.get("payloads", {})
        self.entries += line["entries"]
        for event in [*line.get("heard", []), *line["entries"]]:
            self.known.add(event["id"])
            self.fold(event["fact"])

    def fold(self, fact):
        match fact["type"]:
            case "guidance_queued" | "guidance_edited":
                self.waiting[fact["guidance"]] = fact["text"]
            case "guidance_withdrawn":
                del self.waiting[fact["guidance"]]
            case "guidance_delivered":
                self.given[fact["guidance"]] = self.waiting.pop(fact["guidance"])
            case "control_asked":
                self.wish = fact["control"]
            case "step_started":
                self.open = fact
            case "step_added":
                self.context += [part for part in fact["context"]["parts"] if part["type"] == "entered"]
                self.open, self.steps = None, fact["head"]["number"]
            case "session_state":
                self.state = fact["state"]

    def hear(self, event):
        """What others wrote, once. Who wants to change guidance is answered: what was delivered stays."""
        if event["author"]["kind"] == "agent" or event["id"] in self.known:
            return
        fact, decision = event["fact"], []
        if fact["type"] == "guidance_change_asked":
            kind, text = "guidance_change_refused", {}
            if fact["guidance"] in self.waiting:
                text = {"text": fact["text"]} if fact.get("text") else {}
                kind = "guidance_edited" if text else "guidance_withdrawn"
            decision = [{"type": kind, "guidance": fact["guidance"], "request": fact["request"], **text}]
        self.write(*decision, heard=[event])

    def enter(self, state, reason=""):
        if self.state != state:
            self.write({"type": "session_state", "state": state, "reason": reason})

    def step(self, task, seconds):
        """One step: bound to what people said, then made, then added."""
        number, payloads = self.steps + 1, {}
        if self.open is None:
            bound = [*self.waiting]
            self.write({"type": "step_started", "number": number, "guidance": bound},
                       *({"type": "guidance_delivered", "guidance": name, "step": number} for name in bound))

        def hold(value):
            data = json.dumps(value)
            name = hashlib.blake2b(data.encode(), digest_size=32).hexdigest()
            payloads[name] = data
            return name

        def message(role, text, source):
            return {"type": "entered", "hash": hold({"role": role, "content": text}), "role": role, "source": source}

        time.sleep(seconds)  # here a model would be asked
        told = {name: self.given[name] for name in self.open["guidance"]}
        new = [message("user", text, f"guidance:{name}") for name, text in told.items()]
        new = new if self.context else [message("user", task, "task"), *new]
        kept = [{"type": "kept", "start": 0, "stop": len(self.context)}] if self.context else []
        thought = " ".join([f"Step {number}.", *(f"I was told: {text}" for text in told.values())])
        self.write({"type": "step_added", "head": {"number": number, "title": thought[:200], "kind": "message"},
                    "body": hold({"number": number, "thought": thought}), "context": {"parts": [*kept, *new]},
                    "completion": message("assistant", thought, f"step:{number}")},
                   *({"type": "guidance_answered", "guidance": name, "step": number} for name in told),
                   payloads=payloads)


class Link:
    """One connection: greeting, the log in, the journal out."""

    def __init__(self, socket, journal):
        self.socket, self.journal, self.taken = socket, journal, set()
        self.fence = self.next = self.read = 0
        self.task, self.is_asking = "", False
        self.say(type="hello", protocol=1, client=journal.id, program="outside")
        if journal.session:
            self.say(type="subscribe", session=journal.session)
        else:
            self.say(type="watch_sessions")

    def say(self, **message):
        self.socket.send(json.dumps(message))

    def listen(self, seconds):
        """Take in what comes within so long, and tell what is new here."""
        try:
            while True:
                frame = json.loads(self.socket.recv(seconds))
                getattr(self, "on_" + frame["type"], lambda frame: None)(frame)
                seconds = 0
        except TimeoutError:
            if self.fence and not self.is_asking and self.next <= len(self.journal.entries):
                self.append()

    def on_sessions(self, frame):
        free = [row["session"] for row in frame["rows"] if row.get("is_outside") and "state" not in row]  # queued
        for session in [one for one in free if one not in self.taken][: not self.journal.session]:
            self.taken.add(session)  # asked for once: it is ours, or somebody else's
            self.say(type="lease", session=session, journal=self.journal.id)

    def on_leased(self, frame):
        if self.journal.session in ("", frame["session"]):
            self.fence, self.next, self.is_asking = frame["fence"], frame["next"], False
        if not self.journal.session:
            self.journal.write(session=frame["session"])
            self.say(type="subscribe", session=frame["session"])

    def on_events(self, frame):
        self.task = self.task or frame["bodies"][0]["fact"]["task"]["description"]
        for event in frame["bodies"]:
            self.journal.hear(event)
        self.read = frame["first"] + len(frame["bodies"]) - 1
        self.say(type="seen", session=frame["session"], seq=self.read)
        if self.read >= frame["head"] and not self.fence and not self.is_asking:
            self.is_asking = True
            self.say(type="lease", session=frame["session"], journal=self.journal.id)

    def on_failed(self, frame):
        if frame["code"] in ("fenced", "token", "bad_event"):
            sys.exit(frame["sentence"])

    def on_appended(self, frame):
        self.next, self.is_asking = frame["upto"] + 1, False

    def append(self):
        """Entries that the server lacks, each payload before the first that names it."""
        bodies, self.is_asking = self.journal.entries[self.next - 1 :][:50], True
        for name in [one for one in self.journal.payloads if one in json.dumps(bodies)]:
            packed = zstd(self.journal.payloads[name].encode())
            for at in range(0, len(packed), 1 << 18):
                head = struct.pack(">B32sQQ", 1, bytes.fromhex(name), at, len(packed))
                self.socket.send(head + packed[at : at + (1 << 18)])
        self.say(type="append", session=self.journal.session, fence=self.fence, first=self.next, bodies=bodies)


def main(url, token, path, steps="4", seconds="0.2"):
    journal = Journal(path)
    over = {"finished", "stopped"}
    while True:
        try:
            with connect(url, subprotocols=["tiphys.v1"], compression=None, max_size=4 << 20, proxy=None,
                         additional_headers={"Authorization": f"Bearer {token}"}) as socket:
                link = Link(socket, journal)
                while journal.state not in over or link.next <= len(journal.entries):
                    link.listen(0.05)
                    if not link.fence or not link.task or journal.state in over:
                        continue
                    if journal.wish == "stop":
                        journal.enter("stopped", "stopped_by_person")
                    elif journal.wish == "pause":
                        journal.enter("paused", "paused_by_person")
                    elif journal.steps >= int(steps) and not journal.waiting and not journal.open:
                        journal.enter("finished", "finished")
                    else:
                        journal.enter("running")
                        journal.step(link.task, float(seconds))
                return
        except (OSError, WebSocketException):
            time.sleep(0.5)  # the journal waits for the server, and so does this


main(*sys.argv[1:])
