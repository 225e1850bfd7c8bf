import { fc, test as property } from "@fast-check/vitest";
import { ConfigurationError, type SeedDraft, type State, textOf } from "@colloquy/machine";
import type { Policy } from "@colloquy/machine/policies";
import { describe, expect, test } from "vitest";
import { resultReader, tool, type ToolCall } from "@colloquy/host";
import { calls, says, stage } from "../stage.ts";

const referring: Policy = {
  name: "referring",
  version: 1,
  options: {},
  monotone: true,
  stable: true,
  decide: () => ({
    from: null,
    shrink: [{ rule: "reference", of: "toolResults", characters: 2_000, tool: "read_result" }],
    reason: "long results are shown by their beginnings",
  }),
};

const dump = (content: unknown) =>
  tool({ name: "dump", description: "x", input: { jsonSchema: { type: "object" } }, run: () => content });

/** Returns the state after a turn in which a tool returned `content`. */
const stateWith = async (content: unknown): Promise<State> => {
  const { host } = stage({ tools: [dump(content)], script: [calls(["dump", {}]), says("ok")] });
  await host.ask("go");
  return stateOf(host.thread());
};

const stateOf = async (thread: { readonly state: () => Promise<State | null> }): Promise<State> => {
  const state = await thread.state();
  if (state === null) throw new Error("there is no thread");
  return state;
};

const callOn = (state: State): ToolCall => ({
  signal: new AbortController().signal,
  idempotencyKey: "x",
  threadId: "default",
  turn: 2,
  step: 1,
  callId: "2.1.0",
  state: () => state,
  toolContext: {},
});

const readOn = (state: State, given: object, options?: Parameters<typeof resultReader>[0]): string =>
  String(resultReader(options).run(given, callOn(state)));

/** A mark that announces more text, with its first and last character and the total. */
const mark = /\n\[… characters (\d+) to (\d+) of the (\d+) of call 1\.1\.0; the rest begins at from (\d+) …\]$/;

/** Returns every piece of the result of call 1.1.0, read by a model that follows the marks. */
const piecesOf = (state: State, given: object, characters: number): readonly string[] => {
  const pieces: string[] = [];
  for (let from: number | undefined = 0; from !== undefined;) {
    const piece = readOn(state, { callId: "1.1.0", from, ...given }, { characters });
    pieces.push(piece);
    const next: string | undefined = mark.exec(piece)?.[4];
    from = next === undefined ? undefined : Number(next);
  }
  return pieces;
};

describe("a reader of results", () => {
  property.prop(
    [
      fc.string({ unit: fc.constantFrom("a", "🦜", "\n", "ü"), minLength: 1, maxLength: 3_000 }),
      fc.integer({ min: 200, max: 2_000 }),
      fc.option(fc.integer({ min: 30, max: 3_000 }), { nil: undefined }),
    ],
    { numRuns: 40 },
  )("gives the whole back in pieces, none larger than is allowed, nor than the whole", async (text, most, wanted) => {
    const state = await stateWith(text);
    const pieces = piecesOf(state, wanted === undefined ? {} : { characters: wanted }, most);
    expect(pieces.map((piece) => piece.replace(mark, "")).join("")).toBe(text);
    for (const piece of pieces) {
      expect(piece.length).toBeLessThanOrEqual(Math.min(most, text.length));
      expect(piece.isWellFormed()).toBe(true);
    }
  });

  test("goes on over a character that is longer than what is wanted of it", async () => {
    const pieces = piecesOf(await stateWith("🦜a🦜".repeat(30)), { characters: 1 }, 200);
    expect(pieces.slice(0, 4).map((piece) => piece.replace(mark, ""))).toEqual(["🦜", "a", "🦜", "🦜"]);
    expect(pieces.map((piece) => piece.replace(mark, "")).join("")).toBe("🦜a🦜".repeat(30));
  });

  test("gives no more than two characters if so many are wanted, and a pair of surrogates is not split", async () => {
    const pieces = piecesOf(await stateWith("a🦜".repeat(40)), { characters: 2 }, 200);
    expect(pieces.slice(0, 4).map((piece) => piece.replace(mark, ""))).toEqual(["a", "🦜", "a", "🦜"]);
  });

  test("may be asked to begin anywhere, and never begins within a character", async () => {
    const state = await stateWith("a🦜b");
    expect(readOn(state, { callId: "1.1.0", from: 2 })).toBe("🦜b");
    expect(readOn(state, { callId: "1.1.0", from: 3 })).toBe("b");
  });

  test("begins before a pair of surrogates that it was asked to begin in, and before no other character", async () => {
    const state = await stateWith("a\u{10000}b\uffffc");
    expect(readOn(state, { callId: "1.1.0", from: 2 })).toBe("\u{10000}b\uffffc");
    expect(readOn(state, { callId: "1.1.0", from: 5 })).toBe("c");
  });

  test("gives a text whole that needs no more room than a piece with its mark, and a longer one in pieces", async () => {
    const [whole, longer] = [await stateWith("x".repeat(200)), await stateWith("x".repeat(201))];
    expect(piecesOf(whole, {}, 200)).toEqual(["x".repeat(200)]);
    expect(piecesOf(longer, {}, 200)).toHaveLength(2);
  });

  test("gives pieces of 2,000 characters, with their marks, if nothing else is wanted", async () => {
    const state = await stateWith("x".repeat(9_999));
    const piece = readOn(state, { callId: "1.1.0" });
    expect(piece).toBe(readOn(state, { callId: "1.1.0" }, { characters: 2_000 }));
    expect(piece).not.toBe(readOn(state, { callId: "1.1.0" }, { characters: 2_001 }));
  });

  test("refuses arguments that it does not know", async () => {
    const script = [calls(["read_result", { callId: "1.1.0", to: 5 }]), says("ok")];
    const { host } = stage({ tools: [resultReader()], script });
    await host.ask("go");
    expect(JSON.stringify(await host.thread().exportJournal())).toContain("not expected here");
  });

  test("says in words what can't be read", async () => {
    const state = await stateWith("short");
    expect(() => readOn(state, { callId: "9.9.9" })).toThrow(/no result of a call "9.9.9" in this conversation/);
    expect(() => readOn(state, { callId: "__proto__" })).toThrow(/"__proto__"/);
    expect(() => readOn(state, { callId: "1.1.0", from: 5 })).toThrow(/from is 5; the result of call 1.1.0 has 5/);
    expect(() => readOn(state, { callId: "1.1.0", from: -1 })).toThrow(/from is -1/);
    expect(() => readOn(state, { callId: "1.1.0", characters: 0 })).toThrow(/characters is 0/);
    const empty = await stateWith(null);
    expect(readOn(empty, { callId: "1.1.0" })).toBe("");
    expect(() => readOn(empty, { callId: "1.1.0", from: 1 })).toThrow(/has 0 characters/);
  });

  test("counts what is no text as the marks do", async () => {
    const content = [
      { type: "text", text: "a" },
      { type: "data", field: "rows", value: [1, 2] },
      { type: "image", url: "https://example.org/map.png" },
    ];
    expect(readOn(await stateWith(content), { callId: "1.1.0" })).toBe("a\nrows: [1,2]\n[image]");
  });

  test("finds the seed and what is on the path, and not what was taken back", async () => {
    const seed: readonly SeedDraft[] = [
      { role: "user", content: "q" },
      { role: "assistant", toolCalls: [{ id: "x", name: "dump", arguments: "{}" }] },
      { role: "tool", toolCallId: "x", content: "of the seed" },
    ];
    const { host } = stage({
      tools: [dump("of a turn")],
      thread: { seed },
      script: [calls(["dump", {}]), says("1"), calls(["dump", {}]), says("2")],
    });
    const thread = host.thread();
    await host.ask("one");
    await host.ask("two");
    expect(readOn(await stateOf(thread), { callId: "0.1.0" })).toBe("of the seed");
    expect(readOn(await stateOf(thread), { callId: "1.1.0" })).toBe("of a turn");
    expect(readOn(await stateOf(thread), { callId: "2.1.0" })).toBe("of a turn");
    await thread.moveHead(1);
    const state = await stateOf(thread);
    expect(readOn(state, { callId: "1.1.0" })).toBe("of a turn");
    expect(() => readOn(state, { callId: "2.1.0" })).toThrow(/no result of a call "2.1.0"/);
  });

  test("can't be made with bounds that no mark fits into", () => {
    for (const characters of [199, 1.5, Number.NaN]) {
      expect(() => resultReader({ characters })).toThrow(ConfigurationError);
    }
    expect(resultReader({ name: "look_back" }).declaration).toMatchObject({ name: "look_back", recovery: "rerun" });
  });
});

test("a model reads back what its prompt shows by reference, in the same turn", async () => {
  const text = "line\n".repeat(1_000);
  const shown: string[] = [];
  const { host } = stage({
    tools: [dump(text), resultReader()],
    machine: { policy: referring },
    script: [
      calls(["dump", {}]),
      async ({ messages }) => {
        const last = messages.at(-1);
        shown.push(last === undefined ? "" : textOf(last));
        const [, callId, length] = /the result of call (\S+), (\d+) characters/.exec(shown[0] ?? "") ?? [];
        return calls(["read_result", { callId, from: Number(length) - 5 }], ["read_result", { callId: "1.2.0" }]);
      },
      async ({ messages }) => {
        shown.push(...messages.slice(-2).map(textOf));
        return says("ok");
      },
    ],
  });
  await host.ask("go");
  expect(shown[0]?.length).toBeLessThanOrEqual(2_000);
  expect(shown[0]).toContain("Read it with read_result.");
  expect(shown[1]).toBe("line\n");
  expect(shown[2]).toContain('no result of a call "1.2.0"');
});
