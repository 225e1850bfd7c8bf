import { eventArbitrary, playArbitrary, runSchedule } from "@colloquy/runtime-test/arbitraries";
import * as Either from "fp-ts/lib/Either.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createActor } from "xstate";
import { conversationMachine, type Event, start, type ThreadInput, transition } from "../../src/index.ts";
import { plainCopy } from "../../src/hosting.ts";
import { decodeEvent, decodeJournal } from "../../src/journal.ts";
import { readEvent } from "../../src/conversation/protocol/event-forms.ts";
import { runs } from "../runs.ts";
import { Talk } from "../talk.ts";

const asked = (): Talk => {
  const talk = new Talk(conversationMachine({ tools: [{ name: "search" }] }));
  talk.ask("Go.", "a");
  return talk;
};

const self: { self?: unknown } = {};
self.self = self;

/** Values that callers without types may send, with the refusal's text. */
const wrong: readonly (readonly [string, unknown, RegExp])[] = [
  ["null", null, /an event is an object with a type; this is null$/],
  ["a text", "ask.received", /this is "ask\.received"$/],
  ["a list", [], /this is a list$/],
  ["nothing", {}, /^undefined is no type of event; there are: ask\.received, /],
  ["an unknown type", { type: "llm.exploded", at: 1 }, /^"llm\.exploded" is no type of event; there are: /],
  ["a name that all objects have", { type: "constructor", at: 1 }, /^"constructor" is no type of event/],
  ["a beginning", { type: "thread.started", at: 1, threadId: "t" }, /begins a thread, once: `start` does that/],
  [
    "no time",
    { type: "ask.received", askId: "b", input: "x" },
    /^"ask\.received": at must be a number \(got undefined\)$/,
  ],
  ["a time that is none", { type: "system.reset", at: Number.NaN }, /at is NaN, which JSON has no word for/],
  [
    "no input",
    { type: "ask.received", at: 1, askId: "b" },
    /input must be a text, a list of parts or a list of messages/,
  ],
  [
    "a part of no kind",
    { type: "ask.received", at: 1, askId: "b", input: [{ type: "film" }] },
    /input\.0\.type must be one of "text", "data", "image", "opaque" \(got "film"\)/,
  ],
  [
    "a message of no role",
    { type: "message.appended", at: 1, message: { role: "tool", content: "x" } },
    /message\.role must be one of .*"assistant" \(got "tool"\)/,
  ],
  [
    "a system message of another role",
    { type: "system.changed", at: 1, system: { role: "user", content: "x" } },
    /system\.role must be one of "system", "developer" \(got "user"\)/,
  ],
  ["a member that JSON lacks, and no type", { at: Number.NaN }, /^at is NaN, which JSON has no word for$/],
  [
    "an instance of a class with a type",
    new (class Asked {
      readonly type = "ask.received";
    })(),
    /^the event is an Asked, which JSON has no word for/,
  ],
  ["no reply", { type: "llm.completed", at: 1, effectId: "t/1.1#1" }, /reply must be an object \(got undefined\)/],
  [
    "tokens that are none",
    { type: "llm.completed", at: 1, effectId: "t/1.1#1", reply: {}, finishReason: null, usage: { inputTokens: 0.5 } },
    /usage\.inputTokens must be a whole number of 0 or more \(got 0\.5\)/,
  ],
  [
    "a number that JSON lacks",
    { type: "metadata.changed", at: 1, metadata: { a: { b: [Number.NaN] } } },
    /metadata\.a\.b\.0 is NaN/,
  ],
  [
    "an infinite one",
    { type: "metadata.changed", at: 1, metadata: { a: Number.POSITIVE_INFINITY } },
    /metadata\.a is Infinity/,
  ],
  [
    "undefined in a list",
    { type: "metadata.changed", at: 1, metadata: { a: [undefined] } },
    /metadata\.a\.0 is undefined/,
  ],
  [
    "a list that is nested too deep",
    // The metadata are one level themselves.
    { type: "metadata.changed", at: 1, metadata: { a: JSON.parse("[".repeat(256) + "]".repeat(256)) } },
    /nested too deep/,
  ],
  [
    "a member that objects do not keep",
    { type: "metadata.changed", at: 1, metadata: JSON.parse('{"__proto__":1}') },
    /"__proto__"/,
  ],
];

/** Unknown members of an event, with the refusal's text. */
const strangeMembers: readonly (readonly [string, unknown, RegExp])[] = [
  ["NaN", Number.NaN, /^"system\.reset": more is NaN/],
  ["a big number", 1n, /more is a bigint/],
  ["a function", () => 1, /more is a function/],
  ["a symbol", Symbol("s"), /more is a symbol/],
  ["a map", new Map(), /more is a Map/],
  ["a date within a list", [[new Date(0)]], /more\.0\.0 is a Date, which JSON/],
  ["an instance of a class", new URL("https://example.com"), /more is a URL/],
  ["what holds itself", self, /\.… \(25\d levels down\) is nested too deep, or holds itself/],
  [
    "a value that throws when it is read",
    Object.defineProperty({}, "x", { enumerable: true, get: thrower }),
    /can't be read: read/,
  ],
  ["a hole in a list", Array(2), /more\.0 is undefined/],
];

function thrower(): never {
  throw new Error("read");
}

/** Values for which XState would throw, or that it would take for its own events. */
const wrongForXState: readonly unknown[] = [
  5,
  { type: 5 },
  { type: null },
  { type: "*" },
  { type: "" },
  { type: "xstate.init" },
  { type: "xstate.error.actor.x", error: new Error("made up") },
  { type: "xstate.done.actor.x" },
  {
    type: "ask.received",
    at: 2,
    askId: "b",
    get input(): never {
      throw new Error("read");
    },
  },
  {
    type: "ask.received",
    at: 2,
    askId: "b",
    input: [
      {
        get type(): never {
          throw new Error("read");
        },
      },
    ],
  },
];

describe("a value that is not an event", () => {
  test.each(wrong)("%s is refused by transition with a reason, and the state is the same", (_, event, reason) => {
    const { machine, state } = asked();
    // A caller without types may pass this.
    const told = transition(machine, state, event as Event);
    expect(told).toMatchObject({ handled: false, effects: [], refusal: { kind: "invalid" } });
    expect(told.state).toBe(state);
    expect(!told.handled && told.refusal.reason).toMatch(reason);
  });

  test.each(strangeMembers)("%s in an unknown member is refused, as no journal could keep it", (_, more, reason) => {
    const { machine, state } = asked();
    // A caller without types may pass this.
    const told = transition(machine, state, { type: "system.reset", at: 1, more } as Event);
    expect(told).toMatchObject({ handled: false, refusal: { kind: "invalid" } });
    expect(!told.handled && told.refusal.reason).toMatch(reason);
  });

  test("a proxy that was revoked is refused", () => {
    const { machine, state } = asked();
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    // A caller without types may pass this.
    const told = transition(machine, state, proxy as Event);
    expect(!told.handled && told.refusal.reason).toMatch(/^the event can't be read: .*revoked/);
  });

  test("a member called by a symbol is left out, and nothing of it stays live", () => {
    const { machine, state } = asked();
    const metadata = { a: 1, [Symbol("live")]: { b: 1 } };
    const told = transition(machine, state, { type: "metadata.changed", at: 1, metadata });
    expect(told.state.context.metadata).toStrictEqual({ a: 1 });
    expect(Object.getOwnPropertySymbols(told.state.context.metadata)).toEqual([]);
    expect(Object.isFrozen(metadata)).toBe(false);
  });

  test("the kept value is the one that JSON returns: without absent members and negative zero", () => {
    const { machine, state } = asked();
    const metadata = { a: undefined, b: [-0], c: { d: undefined } };
    const told = transition(machine, state, { type: "metadata.changed", at: 1, metadata });
    expect(told.state.context.metadata).toStrictEqual({ b: [0], c: {} });
  });

  test.each<readonly [string, unknown, RegExp]>([
    ["nothing", undefined, /what a thread begins with is undefined, which JSON has no word for/],
    ["a text", "t", /what a thread begins with must be an object \(got "t"\)/],
    ["no name", { threadId: "", at: 0 }, /threadId must be a text that is not empty/],
    ["no time", { threadId: "t", at: Number.NaN }, /at is NaN/],
    ["a big number", { threadId: "t", at: 0, metadata: { a: 1n } }, /metadata\.a is a bigint/],
    ["a seed of no role", { threadId: "t", at: 0, seed: [{ role: "x", content: "" }] }, /seed\.0\.role must be one of/],
  ])("start throws an error with a reason for %s", (_, input, reason) => {
    // A caller without types may pass this.
    expect(() => start(conversationMachine(), input as ThreadInput)).toThrow(reason);
  });

  test("kills no live actor, and performs nothing", () => {
    const performed: unknown[] = [];
    const machine = conversationMachine({ tools: [{ name: "search" }] });
    const actor = createActor(machine.provide({ actions: { perform: (_, effect) => void performed.push(effect) } }), {
      input: { threadId: "t", at: 0 },
    }).start();
    actor.send({ type: "ask.received", at: 1, askId: "a", input: "Go." });
    const before = { ...actor.getSnapshot().context };
    const count = performed.length;
    for (const event of [...wrong.map(([, event]) => event), ...wrongForXState]) {
      // XState's own `send` throws for a text, and reads the type of every other value.
      if (event !== null && typeof event !== "string") actor.send(event as Event);
    }
    expect(actor.getSnapshot().status).toBe("active");
    expect(actor.getSnapshot().context).toEqual(before);
    expect(performed).toHaveLength(count);
    actor.send({ type: "llm.completed", at: 2, effectId: "t/1.1#1", reply: { content: "Hi." }, finishReason: "stop" });
    expect(actor.getSnapshot().value).toBe("completed");
    actor.stop();
  });

  test("except for a value whose type cannot be read: it ends the actor with an error, as XState reads it too", () => {
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    const ends: readonly (readonly [unknown, RegExp])[] = [
      [null, /an event is an object with a type; this is null/],
      [undefined, /an event is an object with a type; this is undefined/],
      [revoked.proxy, /revoked/],
    ];
    for (const [event, reason] of ends) {
      const actor = createActor(conversationMachine(), { input: { threadId: "t", at: 0 } });
      const errors: unknown[] = [];
      actor.subscribe({ error: (error) => void errors.push(error) });
      actor.start();
      actor.send(event as Event);
      expect(actor.getSnapshot().status).toBe("error");
      expect(errors).toEqual([expect.objectContaining({ message: expect.stringMatching(reason) })]);
    }
  });

  test("and except for the event of `stop()`, which stops it from any sender", () => {
    const actor = createActor(conversationMachine(), { input: { threadId: "t", at: 0 } }).start();
    // A caller without types may pass this.
    actor.send({ type: "xstate.stop" } as unknown as Event);
    expect(actor.getSnapshot().status).toBe("stopped");
  });

  test("a value of the maximal depth can be read again, in its entry and in a journal; one level more is refused", () => {
    const machine = conversationMachine();
    const { state, entry } = start(machine, { threadId: "t", at: 0 });
    const nested = (levels: number): Event => ({
      type: "metadata.changed",
      at: 1,
      metadata: JSON.parse(`{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`),
    });
    const told = transition(machine, state, nested(252));
    const journal = told.handled ? JSON.stringify([entry, told.entry]) : "";
    expect(Either.isRight(decodeJournal(JSON.parse(journal)))).toBe(true);
    expect(plainCopy(JSON.parse(journal))).toEqual(JSON.parse(journal));
    expect(transition(machine, state, nested(253)).handled).toBe(false);
    expect(Either.isLeft(decodeEvent(nested(253)))).toBe(true);
  });

  test("an absent member and one that is undefined mean the same", () => {
    const { machine, state } = asked();
    const event = { type: "metadata.changed", at: 1, metadata: { a: undefined, b: { c: undefined } } } as const;
    expect(transition(machine, state, event).handled).toBe(true);
  });
});

describe("the check of an event and the codec", () => {
  test("agree on all that can be decoded", () => {
    fc.assert(
      fc.property(eventArbitrary({}), (event) => {
        expect(readEvent(event)).toEqual(Either.right(event));
      }),
      { numRuns: runs(500) },
    );
  });

  test("agree on refusals: an event with one value replaced is handled only if it can be decoded", () => {
    const junk = fc.constantFrom<unknown>(
      null,
      -1,
      0.5,
      7,
      "",
      "x",
      true,
      [],
      {},
      [null],
      [{}],
      { role: 1 },
      undefined,
    );
    fc.assert(
      fc.property(playArbitrary, fc.nat(), fc.nat(), junk, ({ options, schedule }, which, where, value) => {
        const machine = conversationMachine(options);
        const { steps } = runSchedule(machine, schedule);
        const step = steps[which % Math.max(steps.length, 1)];
        if (step === undefined) return;
        const changed = withOneReplaced(step.event, where, value);
        // A caller without types may pass this.
        const told = transition(machine, step.before, changed as Event);
        const decoded = decodeEvent(JSON.parse(JSON.stringify(changed)));
        const strange = told.handled && Either.isLeft(decoded) ? [changed, decoded.left] : null;
        expect(strange).toBeNull();
      }),
      { numRuns: runs(1_000) },
    );
  });
});

/** Replaces one value of an event, except its type, by its index among all values. */
const withOneReplaced = (event: object, where: number, value: unknown): unknown => {
  const copy: unknown = JSON.parse(JSON.stringify(event));
  const places: (readonly [holder: object, key: string])[] = [];
  const visit = (holder: unknown): void => {
    if (typeof holder !== "object" || holder === null) return;
    for (const key of Object.keys(holder)) {
      if (holder !== copy || key !== "type") places.push([holder, key]);
      visit(Reflect.get(holder, key));
    }
  };
  visit(copy);
  const [holder, key] = places[where % places.length] ?? [];
  if (holder !== undefined && key !== undefined) Reflect.set(holder, key, value);
  return copy;
};
