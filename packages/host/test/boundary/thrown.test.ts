import { expect, test, vi } from "vitest";
import { errorTextOf, failureReport, isRecord, messageOf } from "../../src/boundary/thrown.ts";

const odd = (message: unknown): Error => Object.assign(new Error("x"), { message });
const round: { self?: unknown } = {};
round.self = round;
const mute = Object.defineProperty(new Error("x"), "message", {
  get: () => {
    throw new Error("no");
  },
});

test.each<readonly [unknown, string]>([
  [new Error("broken"), "broken"],
  [new RangeError(""), "RangeError"],
  ["text", "text"],
  [undefined, "undefined"],
  [null, "null"],
  [{ code: 7 }, '{"code":7}'],
  [odd({ code: 7 }), '{"code":7}'],
  [odd(undefined), "undefined"],
  [round, "[object Object]"],
  [mute, "something that can't be put into words"],
  [new Error("a".repeat(4_096)), "a".repeat(4_096)],
  [new Error("a".repeat(4_097)), `${"a".repeat(4_096)}…`],
  [new Error("the key hunter2hunter2 is wrong"), "the key [redacted] is wrong"],
])("the message of a thrown value is a short text without secrets, case %#", (thrown, message) => {
  expect(messageOf(thrown, ["hunter2hunter2"])).toBe(message);
});

/** Makes an answer whose body comes in pieces; an error breaks it off. */
const answerOf = (pieces: readonly (string | Error | undefined)[]) => {
  const calls: string[] = [];
  const waiting = [...pieces];
  const encoder = new TextEncoder();
  const read = async () => {
    calls.push("read");
    const piece = waiting.shift();
    if (piece instanceof Error) throw piece;
    return { done: piece === undefined, value: piece === undefined ? undefined : encoder.encode(piece) };
  };
  const cancel = async (): Promise<void> => void calls.push("cancel");
  return { calls, answer: { body: { getReader: () => ({ read, cancel }) } } };
};

test.each<readonly [string, readonly (string | Error)[], text: string, reads: number]>([
  ["in pieces", ["one ", "two"], "one two", 3],
  ["that breaks off", ["one", new Error("reset")], "one", 2],
  ["of just as much as is read", ["a".repeat(4_096), "b"], "a".repeat(4_096), 1],
  ["of more than is read", ["a".repeat(4_095), "bcd", "e"], `${"a".repeat(4_095)}b`, 2],
  ["of one long piece", ["é".repeat(20_000)], "é".repeat(4_096), 1],
])("the body of an error %s is read to a limit, and the rest is cancelled", async (_, pieces, text, reads) => {
  const { calls, answer } = answerOf(pieces);
  expect(await errorTextOf(answer)).toBe(text);
  expect(calls).toEqual([...Array<string>(reads).fill("read"), "cancel"]);
});

test("reading the body of an error leaves no listener at the signal", async () => {
  const { signal } = new AbortController();
  const add = vi.spyOn(signal, "addEventListener");
  const remove = vi.spyOn(signal, "removeEventListener");
  await errorTextOf(answerOf(["one"]).answer, signal);
  expect(remove.mock.calls.map(([type, listener]) => [type, listener])).toEqual(
    add.mock.calls.map(([type, listener]) => [type, listener]),
  );
});

test("the body of an error is not read after an abort, and need not exist", async () => {
  const { calls, answer } = answerOf(["one"]);
  expect(await errorTextOf(answer, AbortSignal.abort())).toBe("");
  expect([calls, await errorTextOf({ body: null })]).toEqual([["cancel"], ""]);
  const controller = new AbortController();
  const later = answerOf(["one", "two"]);
  const reading = errorTextOf(later.answer, controller.signal);
  controller.abort();
  expect([await reading, later.calls]).toEqual(["one", ["read", "cancel", "cancel"]]);
});

test("a report of a failure names its place and its lines of code, without secrets", () => {
  const written: string[] = [];
  const { report, reasonOf } = failureReport(
    () => ["hunter2hunter2"],
    (text) => written.push(text),
  );
  report(Object.assign(new Error("bad hunter2hunter2"), { stack: "Error: bad\n    at file.ts:1\nno place" }), "hook");
  report("text", "observer", ["swordfish-swordfish"]);
  report(Object.assign(new Error("swordfish-swordfish"), { stack: 7 }), "llm", ["swordfish-swordfish"]);
  expect(written).toEqual([
    expect.stringMatching(/^Colloquy: hook failed: bad [^\n]+\n +at file\.ts:1$/),
    "Colloquy: observer failed: text",
    expect.stringMatching(/^Colloquy: llm failed: [^\n]+$/),
  ]);
  expect(`${written.join()} ${reasonOf(new Error("hunter2hunter2"))}`).not.toMatch(/hunter2|swordfish/);
});

test("a record is an object with members", () => {
  expect([{}, null, [], "a", () => 1].map(isRecord)).toEqual([true, false, false, false, false]);
});
