import { eventArbitrary, journalArbitrary } from "@colloquy/runtime-test/arbitraries";
import { differenceOf } from "@colloquy/runtime-test/laws";
import fc from "fast-check";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { type Event } from "../../src/index.ts";
import {
  type DecodeError,
  decodeEntry,
  decodeEvent,
  decodeJournal,
  describeDecodeError,
  fold,
} from "../../src/journal.ts";
import { runs } from "../runs.ts";

const first = { seq: 0, format: 2, event: { type: "thread.started", at: 0, threadId: "t" } };
const later = (event: object, more: object = {}): unknown => ({ seq: 1, event: { at: 1, ...event }, ...more });

const errorOf = (journal: readonly unknown[]): DecodeError => {
  const read = decodeJournal(journal);
  if (Either.isRight(read)) throw new Error("the journal was read");
  return read.left;
};

describe("the machine's own output", () => {
  const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

  test("every event is read unchanged", () => {
    const read = (event: Event) => {
      expect(differenceOf(Either.right(event), decodeEvent(throughJson(event)))).toBeNull();
    };
    fc.assert(fc.property(eventArbitrary({}), read), { numRuns: runs(1_000) });
  });

  test("every journal is read unchanged, and folds to the same state", () => {
    const read = (entries: Parameters<typeof fold>[0]) => {
      const decoded = decodeJournal(entries.map(throughJson));
      expect(differenceOf(Either.right(entries), decoded)).toBeNull();
      if (Either.isLeft(decoded)) throw new Error(describeDecodeError(decoded.left));
      expect(differenceOf(fold(entries), fold(decoded.right))).toBeNull();
    };
    fc.assert(fc.property(journalArbitrary(), read), { numRuns: runs(100) });
  });

  const appending = (value: unknown) => ({
    type: "message.appended",
    at: 0,
    message: { role: "user", content: [{ type: "data", field: "f", value }] },
  });

  test("a member that every object has survives like any other; one that objects do not keep is refused, not dropped", () => {
    const kept = appending({ constructor: 1, toString: { hasOwnProperty: null } });
    expect(decodeEvent(kept)).toEqual(Either.right(kept));
    const refused = decodeEvent(appending(JSON.parse('{"__proto__":{"polluted":true}}')));
    expect(Either.isLeft(refused) && refused.left.reason).toContain("__proto__");
    expect({}).not.toHaveProperty("polluted");
  });

  test("a value nested too deep to walk is refused", () => {
    const nested = (levels: number): unknown => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);
    expect(Either.isRight(decodeEvent(appending(nested(200))))).toBe(true);
    expect(decodeEvent(appending(nested(1_000)))).toMatchObject({
      left: { reason: expect.stringContaining("nested") },
    });
  });
});

test("a read entry is a copy, so a store may change the original", () => {
  const entry = { ...first, event: { ...first.event, metadata: { a: [1] } } };
  const read = decodeEntry(entry, 0);
  entry.event.metadata.a.push(2);
  expect(read).toMatchObject({ right: { event: { metadata: { a: [1] } } } });
});

describe("the output of a later version", () => {
  test("optional fields that are not known survive, at every depth", () => {
    const everywhere = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(everywhere);
      if (typeof value !== "object" || value === null) return value;
      return {
        ...Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, everywhere(inner)])),
        later: true,
      };
    };
    const survives = (event: Event) => {
      const wider = everywhere(event);
      expect(differenceOf(Either.right(wider), decodeEvent(wider))).toBeNull();
    };
    fc.assert(fc.property(eventArbitrary({}), survives), { numRuns: runs(300) });
  });

  test("an event of an unknown type is refused, and the message lists the types", () => {
    const error = errorOf([first, later({ type: "llm.exploded" })]);
    expect(error).toMatchObject({ index: 1, path: "event.type" });
    expect(describeDecodeError(error)).toMatch(/unknown event type "llm.exploded".*newer version.*ask\.received/);
  });

  test("decodeEvent refuses the beginning of a journal, which is an entry and no event, and lists the types", () => {
    const read = decodeEvent(first.event);
    if (Either.isRight(read)) throw new Error("the beginning was read");
    expect(describeDecodeError(read.left)).toMatch(
      /^the event at "type": unknown event type "thread.started".*ask\.received/,
    );
  });

  test("refuses a newer format, and an older one, with words that say so", () => {
    expect(describeDecodeError(errorOf([{ ...first, format: 3 }]))).toBe(
      'entry 0 at "format": the journal has format 3, and this version reads only format 2: read it with a newer version',
    );
    expect(describeDecodeError(errorOf([{ ...first, format: 1 }]))).toBe(
      'entry 0 at "format": the journal has format 1, and this version reads only format 2: read it with an older version',
    );
  });
});

describe("a value that is not a journal", () => {
  const broken: readonly (readonly [string, readonly unknown[], string, RegExp])[] = [
    ["not an entry", [null], "", /object/],
    ["a list", [[]], "", /object/],
    ["an entry without a beginning", [{}], "seq", /0/],
    [
      "another beginning",
      [{ ...first, event: { type: "ask.received", at: 0, askId: "a", input: "" } }],
      "event.type",
      /thread\.started/,
    ],
    ["no event", [first, { seq: 1 }], "event", /event/],
    ["a second beginning", [first, later(first.event)], "event", /second beginning/],
    [
      "an empty threadId",
      [{ ...first, event: { ...first.event, threadId: "" } }],
      "event.threadId",
      /not empty \(got ""\)/,
    ],
    [
      "an empty askId",
      [first, later({ type: "ask.received", askId: "", input: "x" })],
      "event.askId",
      /not empty \(got ""\)/,
    ],
    [
      "a limit below zero",
      [first, later({ type: "ask.received", askId: "a", input: "x", limits: { steps: -1 } })],
      "event.limits.steps",
      /0/,
    ],
    ["a time that is none", [first, later({ type: "checkpoint.named", name: "a", at: null })], "event.at", /number/],
    [
      "arguments that are no text",
      [
        first,
        later({
          type: "llm.completed",
          effectId: "e",
          finishReason: null,
          reply: { toolCalls: [{ id: null, name: "x", arguments: {} }] },
        }),
      ],
      "event.reply.toolCalls.0.arguments",
      /text \(got an object\): {}/,
    ],
    [
      "a call of a seed without arguments",
      [
        {
          ...first,
          event: {
            ...first.event,
            seed: [{ role: "assistant", content: "", toolCalls: [{ id: null, name: "x" }] }],
          },
        },
      ],
      "event.seed.0.toolCalls.0.arguments",
      /text \(got undefined\)/,
    ],
    [
      "a kind of failure that there is not",
      [
        first,
        later({ type: "llm.failed", effectId: "e", failure: { kind: "bad luck", message: "", retryable: true } }),
      ],
      "event.failure.kind",
      /rate_limit/,
    ],
    [
      "a decision that can't be",
      [first, later({ type: "checkpoint.named", name: "a" }, { decided: { queued: -1 } })],
      "decided.queued",
      /0/,
    ],
    [
      "a part that is null",
      [first, later({ type: "message.appended", message: { role: "user", content: [null] } })],
      "event.message.content.0",
      /object \(got null\)/,
    ],
    [
      "a round without a call",
      [first, later({ type: "round.appended", reply: { toolCalls: [] }, results: [] })],
      "event.reply.toolCalls",
      /at least one call/,
    ],
    ["a seq that starts again", [first, { seq: 0, event: { type: "checkpoint.named", at: 1, name: "a" } }], "seq", /0/],
  ];

  test.each(broken)("%s is refused with its place", (_, journal, path, words) => {
    const error = errorOf(journal);
    expect(error).toMatchObject({ index: journal.length - 1, path });
    expect(error.reason).toMatch(words);
  });
});
