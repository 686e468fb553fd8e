// A whole agent that is not ours, from docs/protocol.md alone: node and `ws`.
//
//     node runner.js ws://HOST:PORT TOKEN JOURNAL [STEPS] [SECONDS]
//
// It takes a session that waits for a runner from outside, works some steps of so many seconds on it, does what people
// say, and ends. JOURNAL is its memory, one line a transaction: started again with it, it goes on where it was.
import { randomUUID } from "node:crypto";
import fs from "node:fs";
import WebSocket from "ws";

type Fact = { type: string; [field: string]: any };
type Entry = { id: string; at: string; author: { kind: string; name: string }; fact: Fact };
type Line = { id?: string; session?: string; entries?: Entry[]; heard?: Entry[]; payloads?: Record<string, string> };
const OVER = ["finished", "stopped"];

/** BLAKE2b with 32 bytes (RFC 7693), which node itself has only with 64. */
function blake2b(data: Buffer): string {
  const iv = ["6a09e667f3bcc908", "bb67ae8584caa73b", "3c6ef372fe94f82b", "a54ff53a5f1d36f1", "510e527fade682d1",
    "9b05688c2b3e6c1f", "1f83d9abfb41bd6b", "5be0cd19137e2179"].map((word) => BigInt("0x" + word));
  const orders = ["0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8", "905724afe1bc683d",
    "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5", "a2847615fb9e3cd0"];
  const h = iv.map((word, at) => (at ? word : word ^ 0x01010020n));
  const turned = (x: bigint, by: bigint) => BigInt.asUintN(64, (x >> by) | (x << (64n - by)));
  for (let at = 0; at < data.length || at === 0; at += 128) {
    const end = Math.min(at + 128, data.length), block = Buffer.alloc(128);
    data.copy(block, 0, at, end);
    const v = [...h, ...iv];
    v[12] ^= BigInt(end);
    if (end === data.length) v[14] = BigInt.asUintN(64, ~v[14]);
    for (let round = 0; round < 12; round++)
      for (let g = 0; g < 8; g++) {
        const [a, b, c, d] = [0, 1, 2, 3].map((row) => row * 4 + ((g + (g < 4 ? 0 : row)) % 4));
        const word = (n: number) => block.readBigUInt64LE(parseInt(orders[round % 10][2 * g + n], 16) * 8);
        for (const [n, one, two] of [[0, 32n, 24n], [1, 16n, 63n]] as [number, bigint, bigint][]) {
          v[a] = BigInt.asUintN(64, v[a] + v[b] + word(n));
          v[d] = turned(v[d] ^ v[a], one);
          v[c] = BigInt.asUintN(64, v[c] + v[d]);
          v[b] = turned(v[b] ^ v[c], two);
        }
      }
    h.forEach((word, n) => (h[n] = word ^ v[n] ^ v[n + 8]));
  }
  const name = Buffer.alloc(32);
  h.slice(0, 4).forEach((word, n) => name.writeBigUInt64LE(word, n * 8));
  return name.toString("hex");
}

/** A frame of zstd that packs nothing (RFC 8878): a head with the length, then blocks as they are. */
function zstd(data: Buffer): Buffer {
  const head = Buffer.from("28b52ffde00000000000000000", "hex"), parts: Buffer[] = [head];
  head.writeBigUInt64LE(BigInt(data.length), 5);
  for (let at = 0; at < data.length; at += 1 << 17) {
    const block = data.subarray(at, at + (1 << 17)), size = Buffer.alloc(3);
    size.writeUIntLE(block.length * 8 + (at + block.length === data.length ? 1 : 0), 0, 3);
    parts.push(size, block);
  }
  return Buffer.concat(parts);
}

/** What is true for the agent, whoever else lives. */
class Journal {
  id = ""; session = ""; wish = ""; state = "queued"; steps = 0;
  entries: Entry[] = []; context: Fact[] = []; known = new Set<string>(); open: Fact | null = null;
  waiting = new Map<string, string>(); given = new Map<string, string>(); payloads: Record<string, string> = {};
  private file: number;

  constructor(path: string) {
    const text = fs.existsSync(path) ? fs.readFileSync(path) : Buffer.alloc(0);
    const whole = text.subarray(0, text.lastIndexOf(10) + 1); // a line that a death cut off never was
    for (const line of whole.toString().split("\n")) if (line) this.take(JSON.parse(line));
    if (text.length) fs.truncateSync(path, whole.length);
    this.file = fs.openSync(path, "a");
    if (!this.id) this.write([], { id: randomUUID() });
  }

  /** One transaction: on the disk before anything of it is done or told. */
  write(facts: Fact[], line: Line = {}): void {
    const author = { kind: "agent", name: this.session };
    line.entries = facts.map((fact) => ({ id: randomUUID(), at: new Date().toISOString(), author, fact }));
    fs.writeSync(this.file, JSON.stringify(line) + "\n");
    fs.fsyncSync(this.file);
    this.take(line);
  }

  private take(line: Line): void {
    this.id = line.id ?? this.id;
    this.session = line.session ?? this.session;
    Object.assign(this.payloads, line.payloads);
    this.entries.push(...(line.entries ?? []));
    for (const event of [...(line.heard ?? []), ...(line.entries ?? [])]) {
      this.known.add(event.id);
      this.fold(event.fact);
    }
  }

  private fold(fact: Fact): void {
    if (["guidance_queued", "guidance_edited"].includes(fact.type)) this.waiting.set(fact.guidance, fact.text);
    if (fact.type === "guidance_delivered") this.given.set(fact.guidance, this.waiting.get(fact.guidance)!);
    if (["guidance_delivered", "guidance_withdrawn"].includes(fact.type)) this.waiting.delete(fact.guidance);
    if (fact.type === "control_asked") this.wish = fact.control;
    if (fact.type === "session_state") this.state = fact.state;
    if (fact.type === "step_started") this.open = fact;
    if (fact.type === "step_added") {
      this.context.push(...fact.context.parts.filter((part: Fact) => part.type === "entered"));
      [this.open, this.steps] = [null, fact.head.number];
    }
  }

  /** What others wrote, once. Who wants to change guidance is answered: what was delivered stays. */
  hear(event: Entry): void {
    const { guidance, request, text, type } = event.fact;
    if (event.author.kind === "agent" || this.known.has(event.id)) return;
    const kind = !this.waiting.has(guidance) ? "guidance_change_refused" : text ? "guidance_edited" : "guidance_withdrawn";
    const decision = { type: kind, guidance, request, ...(kind === "guidance_edited" ? { text } : {}) };
    this.write(type === "guidance_change_asked" ? [decision] : [], { heard: [event] });
  }

  enter(state: string, reason = ""): void {
    if (this.state !== state) this.write([{ type: "session_state", state, reason }]);
  }

  /** A step is bound to what people said. */
  begin(): void {
    const number = this.steps + 1, guidance = [...this.waiting.keys()];
    if (this.open) return;
    this.write([{ type: "step_started", number, guidance },
      ...guidance.map((name) => ({ type: "guidance_delivered", guidance: name, step: number }))]);
  }

  /** What the model said is a step. */
  add(task: string): void {
    const number = this.open!.number, guidance: string[] = this.open!.guidance, payloads: Record<string, string> = {};
    const hold = (value: object): string => {
      const data = JSON.stringify(value), name = blake2b(Buffer.from(data));
      payloads[name] = data;
      return name;
    };
    const message = (role: string, content: string, source: string): Fact =>
      ({ type: "entered", hash: hold({ role, content }), role, source });
    const told = guidance.map((name) => message("user", this.given.get(name)!, `guidance:${name}`));
    const before = this.context.length;
    const parts = before ? [{ type: "kept", start: 0, stop: before }, ...told] : [message("user", task, "task"), ...told];
    const thought = [`Step ${number}.`, ...guidance.map((name) => `I was told: ${this.given.get(name)}`)].join(" ");
    this.write([{ type: "step_added", head: { number, title: thought.slice(0, 200), kind: "message" },
      body: hold({ number, thought }), context: { parts }, completion: message("assistant", thought, `step:${number}`) },
    ...guidance.map((name) => ({ type: "guidance_answered", guidance: name, step: number }))], { payloads });
  }
}

/** One connection: greeting, the log in, the journal out; ends with it, or (true) with the session. */
async function link(url: string, token: string, journal: Journal, steps: number, seconds: number): Promise<boolean> {
  const socket = new WebSocket(url, "tiphys.v1", { headers: { Authorization: `Bearer ${token}` }, perMessageDeflate: false });
  const say = (message: object) => socket.send(JSON.stringify(message));
  const taken = new Set<string>();
  let fence = 0, next = 1, task = "", isAsking = false;

  function append(): void {
    const bodies = journal.entries.slice(next - 1, next + 49), text = JSON.stringify(bodies);
    if (!fence || isAsking || !bodies.length) return;
    for (const name of Object.keys(journal.payloads).filter((one) => text.includes(one))) {
      const packed = zstd(Buffer.from(journal.payloads[name])), head = Buffer.alloc(49, 1);
      head.write(name, 1, "hex");
      head.writeBigUInt64BE(BigInt(packed.length), 41);
      for (let at = 0; at < packed.length; at += 1 << 18) {
        head.writeBigUInt64BE(BigInt(at), 33);
        socket.send(Buffer.concat([head, packed.subarray(at, at + (1 << 18))]));
      }
    }
    isAsking = true;
    say({ type: "append", session: journal.session, fence, first: next, bodies });
  }

  const on: Record<string, (frame: any) => void> = {
    sessions: ({ rows }) => {
      const free = rows.find((row: any) => row.is_outside && !row.state && !taken.has(row.session)); // queued
      if (journal.session || !free) return;
      taken.add(free.session); // asked for once: it is ours, or somebody else's
      say({ type: "lease", session: free.session, journal: journal.id });
    },
    leased: (frame) => {
      if (["", frame.session].includes(journal.session)) [fence, next, isAsking] = [frame.fence, frame.next, false];
      if (journal.session) return;
      journal.write([], { session: frame.session });
      say({ type: "subscribe", session: frame.session });
    },
    events: ({ session, first, head, bodies }) => {
      task ||= bodies[0].fact.task.description;
      for (const event of bodies) journal.hear(event);
      const read = first + bodies.length - 1;
      say({ type: "seen", session, seq: read });
      if (read < head || fence || isAsking) return;
      isAsking = true;
      say({ type: "lease", session, journal: journal.id });
    },
    appended: ({ upto }) => { [next, isAsking] = [upto + 1, false]; },
    failed: ({ code, sentence }) => {
      if (!["fenced", "token", "bad_event"].includes(code)) return;
      console.error(sentence);
      process.exit(1);
    },
  };
  const pause = (s: number) => new Promise((resolve) => setTimeout(resolve, s * 1000));
  socket.on("open", () => {
    say({ type: "hello", protocol: 1, client: journal.id, program: "outside" });
    say(journal.session ? { type: "subscribe", session: journal.session } : { type: "watch_sessions" });
  });
  socket.on("message", (data, isBinary) => {
    const frame = isBinary ? null : JSON.parse(data.toString());
    on[frame?.type]?.(frame);
  });
  socket.on("error", () => socket.close());
  const isTold = () => OVER.includes(journal.state) && next > journal.entries.length;
  while (socket.readyState <= WebSocket.OPEN && !isTold()) {
    append();
    await pause(0.05);
    if (!fence || !task || OVER.includes(journal.state)) continue;
    if (journal.wish === "stop") journal.enter("stopped", "stopped_by_person");
    else if (journal.wish === "pause") journal.enter("paused", "paused_by_person");
    else if (journal.steps >= steps && !journal.waiting.size && !journal.open) journal.enter("finished", "finished");
    else {
      journal.enter("running");
      journal.begin();
      await pause(seconds); // here a model would be asked
      journal.add(task);
    }
  }
  socket.close();
  return isTold();
}

const [url, token, path, steps = "4", seconds = "0.2"] = process.argv.slice(2);
const journal = new Journal(path);
while (!(await link(url, token, journal, Number(steps), Number(seconds))))
  await new Promise((resolve) => setTimeout(resolve, 500)); // the journal waits for the server, and so does this
