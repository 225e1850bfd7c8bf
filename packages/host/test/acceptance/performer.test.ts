import { fc, test } from "@fast-check/vitest";
import {
  approvalsOf,
  conversationMachine,
  type Entry,
  type Event,
  type OverlapType,
  type ReplyDraft,
  type State,
  turnsOf,
} from "@colloquy/machine";
import { decodeJournal, fold } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import { expect } from "vitest";
import {
  type AskHandle,
  type AskPart,
  createHost,
  declarationsOf,
  type LlmDelta,
  type LlmOutcome,
  memoryStore,
  tool,
} from "@colloquy/host";
import type { PerformerOptions } from "@colloquy/host/perform";
import { Engine } from "../performing-engine.ts";
import { joined } from "../joined.ts";
import { runs } from "../runs.ts";
import { echo, type ManualClock, manualClock, settle } from "../stage.ts";

/** The kinds of events that can happen at any time; `pick` chooses the target among those that exist. */
type Happening =
  | { readonly type: "ask"; readonly overlap: OverlapType; readonly deadlineMs: number | null }
  | { readonly type: "say" | "callTools" | "fail" | "show" | "answer" | "approve" | "deny"; readonly pick: number }
  | { readonly type: "cancel"; readonly pick: number | null }
  | { readonly type: "wait"; readonly ms: number }
  | { readonly type: "crash" };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("ask"),
      overlap: fc.constantFrom("reject", "latest", "interrupt", "queue", "merge", "steer"),
      deadlineMs: fc.option(fc.integer({ min: 1, max: 9_000 })),
    }),
  },
  {
    weight: 9,
    arbitrary: fc.record({
      type: fc.constantFrom("say", "callTools", "fail", "show", "show", "answer", "answer", "approve", "deny"),
      pick: fc.nat(5),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("cancel"), pick: fc.option(fc.nat(5)) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("wait"), ms: fc.nat(8_000) }) },
  { weight: 1, arbitrary: fc.constant({ type: "crash" } as const) },
);

/** The part of a runtime that the script uses. */
interface Subject {
  readonly ask: (event: Event & { readonly type: "ask.received" }) => void;
  readonly send: (event: Event) => void;
  readonly state: () => Promise<State | null>;
  /** Ends the process; another one continues. */
  readonly crash: () => Promise<void>;
  /** Returns the journal, and the shown parts of each turn. */
  readonly ended: () => Promise<{ readonly journal: readonly unknown[]; readonly turns: Turns }>;
}

type Turns = ReadonlyMap<number, readonly AskPart[]>;

const threadId = "default";

const hosted = (options: PerformerOptions): Subject => {
  const { clock, ...rest } = options;
  const store = memoryStore({ clock });
  let drawn = 0;
  const { toolContext: _, ...parts } = rest;
  const opened = () =>
    createHost({ ...parts, clock, store, keepPartsMs: 1e9, ids: { draw: (kind) => `${kind}-${drawn++}` } });
  let host = opened();
  return {
    ask: ({ askId, input, overlap, limits }) =>
      void host.ask(input, { askId, ...(overlap && { overlap }), ...(limits && { limits }) }).catch(() => undefined),
    send: (event) =>
      void host
        .thread()
        .send(event)
        .catch(() => undefined),
    state: () => host.thread().state(),
    crash: async () => {
      await host.close();
      host = opened();
      await host.thread().resume();
    },
    ended: async () => {
      const state = await host.thread().state();
      const turns = new Map<number, readonly AskPart[]>();
      // A cancelled ask shows no more of a turn that continues for others, but rejoining it shows all parts.
      for (const { number, asks } of state === null ? [] : turnsOf(state))
        turns.set(number, joined(await readTo(host.thread().rejoin(asks.at(-1)?.askId ?? ""))));
      return { journal: await store.read(threadId), turns };
    },
  };
};

/** Returns all parts of an ask, with any outcome. */
const readTo = async (handle: AskHandle): Promise<readonly AskPart[]> => {
  const parts: AskPart[] = [];
  try {
    for await (const part of handle) parts.push(part);
    await handle;
  } catch {}
  return parts;
};

const engined = (options: PerformerOptions): Subject => {
  let engine = new Engine(options, threadId);
  return {
    ask: (event) => engine.send(event),
    send: (event) => engine.send(event),
    state: async () => engine.state,
    crash: async () => {
      engine = await engine.crash(options);
    },
    ended: async () => {
      const turns = Map.groupBy(engine.parts, ({ turn }) => turn);
      const shown = [...turns].map(([turn, parts]) => [turn, joined(parts.map(({ part }) => part))] as const);
      return { journal: engine.journal, turns: new Map(shown) };
    },
  };
};

/** Models and tools that wait until the script answers them. */
class World {
  readonly clock: ManualClock = manualClock();
  readonly #models: HeldModel[] = [];
  readonly #tools: (() => void)[] = [];

  readonly options: PerformerOptions = (() => {
    const waiting = (name: string, more: object) =>
      tool({
        name,
        description: "Answers when it is let.",
        input: { jsonSchema: echo.declaration.parameters },
        run: () => new Promise<string>((resolve) => this.#tools.push(() => resolve(name))),
        ...more,
      });
    const tools = [
      waiting("rerun", { recovery: "rerun" }),
      waiting("once", { recovery: "once", timeoutMs: 5_000 }),
      waiting("pay", { approval: "always" }),
    ];
    return {
      machine: conversationMachine({ tools: declarationsOf(tools), overlap: { type: "queue", max: 3 } }),
      tools,
      clock: this.clock,
      llm: (_, { onDelta }) => new Promise((answer) => this.#models.push(new HeldModel(answer, onDelta))),
    };
  })();

  async let(subject: Subject, now: Happening, name: string): Promise<void> {
    const at = this.clock.now();
    switch (now.type) {
      case "ask": {
        const { overlap, deadlineMs } = now;
        const limits = deadlineMs === null ? {} : { limits: { deadlineMs } };
        subject.ask({ type: "ask.received", at, askId: name, input: name, overlap, ...limits });
        break;
      }
      case "say":
        this.#model(now.pick)?.say({ content: name });
        break;
      case "callTools": {
        const given = JSON.stringify({ text: name });
        const called = ["rerun", "once", "nope", "rerun", "once", "pay"].map((tool, index) => ({
          id: tool,
          name: tool,
          arguments: index === 3 ? "{}" : given,
        }));
        this.#model(now.pick)?.say({ toolCalls: called });
        break;
      }
      case "fail":
        this.#model(now.pick)?.answer({
          type: "failed",
          failure: { kind: "overloaded", message: "busy", retryable: true },
        });
        break;
      case "show":
        this.#models.at(now.pick % Math.max(1, this.#models.length))?.show(`${name} `);
        break;
      case "answer":
        this.#tools.splice(now.pick % Math.max(1, this.#tools.length), 1)[0]?.();
        break;
      case "approve":
      case "deny": {
        const state = await subject.state();
        const [request] = state === null ? [] : approvalsOf(state);
        const approved = now.type === "approve";
        if (request !== undefined) subject.send({ type: "approval.answered", at, effectId: request.id, approved });
        break;
      }
      case "cancel":
        subject.send({ type: "cancel.requested", at, ...(now.pick === null ? {} : { askId: `ask ${now.pick}` }) });
        break;
      case "wait":
        await this.clock.advance(now.ms);
        break;
      case "crash":
        await subject.crash();
    }
    await settle();
  }

  /** Checks that an answer or a time is awaited. */
  async waits(subject: Subject): Promise<boolean> {
    if (this.#models.length + this.#tools.length + this.clock.sleepers > 0) return true;
    const state = await subject.state();
    return state !== null && approvalsOf(state).length > 0;
  }

  #model(pick: number) {
    return this.#models.splice(pick % Math.max(1, this.#models.length), 1)[0];
  }
}

/** A model call that replies with the text that it has shown, or with a text of its own if it showed none. */
class HeldModel {
  readonly answer: (outcome: LlmOutcome) => void;
  readonly #onDelta: (delta: LlmDelta) => void;
  #shown = "";

  constructor(answer: (outcome: LlmOutcome) => void, onDelta: (delta: LlmDelta) => void) {
    this.answer = answer;
    this.#onDelta = onDelta;
  }

  show(text: string): void {
    this.#shown += text;
    this.#onDelta({ type: "text", text });
  }

  say(reply: ReplyDraft): void {
    const content = this.#shown === "" ? {} : { content: this.#shown };
    this.answer({ type: "completed", reply: { ...reply, ...content }, finishReason: "stop" });
  }
}

const played = async (make: (options: PerformerOptions) => Subject, happenings: readonly Happening[]) => {
  const world = new World();
  const subject = make(world.options);
  let asked = 0;
  for (const [index, now] of [ask, ...happenings].entries())
    await world.let(subject, now, now.type === "ask" ? `ask ${asked++}` : `${now.type} ${index}`);
  // Answers everything at the end.
  for (let round = 0; round < 40 && (await world.waits(subject)); round++) {
    for (const type of ["approve", "answer", "say"] as const) await world.let(subject, { type, pick: 0 }, "at last");
    await world.let(subject, { type: "wait", ms: 60_000 }, "");
  }
  return subject.ended();
};

test("an engine of a journal and a performer writes and shows the same as a host", async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 25 }), async (happenings) => {
      const expected = await played(hosted, happenings);
      const found = await played(engined, happenings);
      expect(found.journal).toEqual(expected.journal);
      // Asks end with their process.
      if (happenings.every(({ type }) => type !== "crash")) expect(found.turns).toEqual(expected.turns);
      const entries = decodeJournal(expected.journal);
      if (Either.isLeft(entries)) throw new Error("unreadable");
      expect(Either.isRight(fold(entries.right))).toBe(true);
      for (const entry of entries.right) seen.add(kindOf(entry));
    }),
    { numRuns: runs(600), examples: telling.map((happenings) => [[...happenings]]) },
  );
  expect([...kinds].filter((kind) => !seen.has(kind))).toEqual([]);
});

const ask = { type: "ask", overlap: "queue", deadlineMs: null } as const;

/** Conversations with features that random ones rarely have. */
const telling: readonly (readonly Happening[])[] = [
  [
    { type: "show", pick: 0 },
    { type: "cancel", pick: null },
  ],
  [
    { type: "show", pick: 0 },
    { ...ask, overlap: "interrupt" },
  ],
  [
    { type: "say", pick: 0 },
    { ...ask, deadlineMs: 1_000 },
    { type: "show", pick: 0 },
    { type: "wait", ms: 2_000 },
  ],
  [{ type: "callTools", pick: 0 }, { type: "crash" }, { type: "approve", pick: 0 }, { type: "wait", ms: 9_000 }],
];

const kindOf = (entry: Entry): string =>
  `${entry.event.type}${"partial" in entry.event ? " with a partial" : ""}${"recovered" in entry ? " recovered" : ""}`;

/** The kinds of events that must occur in the conversations. */
const kinds: ReadonlySet<string> = new Set([
  "cancel.requested with a partial",
  "ask.received with a partial",
  "llm.progressed with a partial",
  "tool.started",
  "tool.withheld",
  "tool.failed",
  "tool.failed recovered",
  "approval.answered",
  "timer.fired",
]);
