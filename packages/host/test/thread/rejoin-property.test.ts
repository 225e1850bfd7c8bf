import type { AskHandle, AskPart, LlmHandler, LlmOutcome } from "@colloquy/host";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { joined } from "../joined.ts";
import { type ManualClock, calls, echo, manualClock, partsOf, says, type ScriptedStep, stage } from "../stage.ts";
import { runs } from "../../../../test/runs.ts";

type Delta = Parameters<Parameters<LlmHandler>[1]["onDelta"]>[0];

/** The output of a model call: pieces with pauses between them, and its end. */
interface Played {
  readonly pieces: readonly { readonly delta: Delta; readonly pauseMs: number }[];
  readonly ending: "fails" | "calls";
}

const delta: fc.Arbitrary<Delta> = fc.oneof(
  fc.record({ type: fc.constantFrom("text", "reasoning"), text: fc.constantFrom("a", "bc", "", "défg") }),
  fc.record({
    type: fc.constant("toolCall" as const),
    index: fc.nat(1),
    id: fc.constant(null),
    name: fc.constant("echo"),
    arguments: fc.constantFrom("{", '"x"'),
  }),
);

const played: fc.Arbitrary<Played> = fc.record({
  pieces: fc.array(fc.record({ delta, pauseMs: fc.constantFrom(0, 30, 300) }), { maxLength: 6 }),
  ending: fc.constantFrom("fails", "calls"),
});

const run = fc.record({
  steps: fc.array(played, { maxLength: 3 }),
  /** The number of parts after which the first reader leaves. */
  read: fc.nat(12),
  /** The milliseconds from the ask to the rejoin. */
  after: fc.constantFrom(0, 40, 350, 900, 5_000),
  where: fc.constantFrom("here", "there"),
});

test("a reader that leaves and rejoins sees the same parts as an uninterrupted one", async () => {
  await fc.assert(
    fc.asyncProperty(run, async ({ steps, read, after, where }) => {
      const clock = manualClock();
      const script = [...steps.map(stepOf(clock)), says("the end")];
      const options = { clock, tools: [echo], partsMs: 100, pollMs: 50, idleMs: 100, keepPartsMs: 100_000 };
      const first = stage({ ...options, machine: { retry: { attempts: 9, baseDelayMs: 50 } }, script });
      const asked = first.host.ask("hi", { askId: "a" });
      const uninterrupted = partsOf(first.host.thread().rejoin("a"));
      const before: AskPart[] = [];
      const breaking = readSome(asked, read, before);
      await clock.advance(after);
      const from = asked.cursor;
      const shown = [...before];
      const rejoining = where === "here" ? first : first.another({ script: [] });
      const rest = partsOf(rejoining.host.thread().rejoin("a", from === null ? {} : { from }));
      await clock.advance(20_000);
      await breaking;
      const seen = [...(from === null ? [] : shown), ...(await rest)];
      const form = where === "here" ? joined : asShownElsewhere;
      expect(form(seen)).toEqual(form(await uninterrupted));
      await first.host.close();
      await rejoining.host.close();
      expect(clock.sleepers).toBe(0);
    }),
    { numRuns: runs(150), seed: 20261122 },
  );
});

const stepOf =
  (clock: ManualClock) =>
  ({ pieces, ending }: Played): ScriptedStep =>
  async (_, { onDelta }): Promise<LlmOutcome> => {
    for (const piece of pieces) {
      onDelta(piece.delta);
      if (piece.pauseMs > 0)
        await new Promise<void>((resolve) => void clock.wakeAt(clock.now() + piece.pauseMs, resolve));
    }
    if (ending === "fails")
      return { type: "failed", failure: { kind: "overloaded", message: "later", retryable: true } };
    const written = pieces.flatMap(({ delta: { type, ...said } }) =>
      (type === "text" || type === "reasoning") && "text" in said && said.text !== ""
        ? [{ type, text: said.text }]
        : [],
    );
    const called = calls(["echo", { text: "ping" }], ["echo", { text: "pong" }]);
    if (called.type === "failed") return called;
    return { ...called, reply: { ...called.reply, content: written } };
  };

const readSome = async (handle: AskHandle, count: number, parts: AskPart[]): Promise<void> => {
  const reader = handle[Symbol.asyncIterator]();
  while (parts.length < count) {
    const next = await reader.next();
    if (next.done === true) return;
    parts.push(next.value);
  }
};

/**
 * Returns the parts that the journal may give instead of the log: the last attempt of each step, without pieces of
 * calls and signals.
 */
const asShownElsewhere = (parts: readonly AskPart[]): readonly AskPart[] => {
  let left: AskPart[] = [];
  for (const part of parts) {
    const { type } = part;
    if (type === "replay.started") left = left.filter((each) => !isVoid(part.step, each));
    if (type === "text.delta" || type === "reasoning.delta")
      left = left.filter((each) => !("attempt" in each && each.step === part.step && each.attempt < part.attempt));
    if (!["replay.started", "toolCall.delta", "signal", "wait.started", "wait.ended"].includes(type)) left.push(part);
  }
  // Other hosts show no empty piece, so it separates no others.
  return joined(left.filter((part) => !("text" in part && part.text === ""))).map((part) =>
    "attempt" in part ? { ...part, attempt: 1 } : part,
  );
};

const isVoid = (step: number, part: AskPart): boolean =>
  "step" in part && typeof part.step === "number" ? part.step >= step : step === 1;
