import type { Counter, Policy } from "@colloquy/machine/policies";
import { usageMonoid } from "@colloquy/machine";
import { expect, test } from "vitest";
import { ContextUnfitError } from "@colloquy/host";
import { mortal } from "../mortal-store.ts";
import { errorOf, held, journalOf, partsOf, says, settle, stage, stored } from "../stage.ts";

/** Counts a token for each character. */
const counter: Counter = {
  name: "characters",
  version: 1,
  options: {},
  countPart: (part) => (part.type === "text" ? part.text.length : 0),
  perMessage: 0,
  perPrompt: 0,
};

const bounded = { counter, budget: { tokens: 100, reserve: 20 } };
const words = (count: number): string => "word ".repeat(count);

const notices = (parts: Awaited<ReturnType<typeof partsOf>>): readonly string[] =>
  parts.flatMap((part) => (part.type === "signal" ? [part.signal.type] : []));

test("a prompt that does not fit is never sent, and the ask says by how much and what to do", async () => {
  const { host, model, store } = stage({ machine: bounded });
  const handle = host.ask(words(20));
  const error = await errorOf(handle);
  expect(error).toBeInstanceOf(ContextUnfitError);
  expect(error).toMatchObject({
    unfit: {
      tokens: 100,
      available: 80,
      budget: 100,
      reserve: 20,
      fixed: 100,
      largest: { message: "1.0", tokens: 100 },
    },
    summary: { turn: 1, text: "" },
  });
  expect(String(error)).toContain(
    "the prompt takes 100 tokens and there is room for 80 tokens (a budget of 100, of which 20 are left free for the answer)",
  );
  expect(String(error)).toMatch(/the largest message of the turn, 1\.0, takes 100\. .*larger budget.*fitOversized/);
  expect(notices(await partsOf(handle))).toEqual(["context.warning", "context.unfit"]);
  expect(model.calls).toEqual([]);
  expect(await journalOf(store)).toEqual(["thread.started", "ask.received"]);
});

test.each<readonly [string, fixed: number, largest: number | null, advice: RegExp]>([
  ["whose largest message is half of what must be shown, and alone too much", 160, 80, /or a policy that shortens/],
  ["of which no message is half", 100, 49, /take 100, .*takes 49\..*shorter system prompt/],
  ["that does not fit even without its largest message", 162, 81, /shorter system prompt/],
  ["whose turn has no message", 100, null, /leaves them out\. .*shorter system prompt/],
  ["in which what must be shown just fits", 80, 80, /shows more than it must: 80 would do.*tokenWindow/],
])("the error of a prompt %s says what helps", (_, fixed, tokens, advice) => {
  const largest = tokens === null ? null : { message: "1.0", tokens };
  const summary = { threadId: "t", askId: "a", turn: 1, text: "", messages: [], usage: usageMonoid.empty };
  const unfit = { tokens: 200, available: 80, budget: 100, reserve: 20, fixed, largest };
  expect(new ContextUnfitError(summary, unfit).message).toMatch(advice);
});

/** Shows everything, or the summary of the turn before. Asks before a call for a summary of each turn. */
const compacting: Policy = {
  name: "compacting",
  version: 1,
  options: {},
  monotone: true,
  stable: false,
  decide: ({ history, withoutSummary }) => {
    const [newest] = history.newestFirst();
    const reason = "as much as there is";
    if (newest === undefined) return { from: null, reason };
    const from = { turn: newest.number + 1, unit: 0 };
    const range = { from: newest.number, to: newest.number };
    if (newest.summaries.length > 0) return { from, summarised: range, reason };
    return withoutSummary ? { from, reason } : { from: null, reason };
  },
  summariser: {
    instruction: "Sum it up.",
    model: {},
    maxTokens: 50,
    requestTokens: 4_000,
    waitMs: 5_000,
    next: ({ history }) => {
      const [newest] = history.newestFirst();
      if (newest === undefined || newest.summaries.length + newest.summaryFailures > 0) return null;
      return { covers: { from: newest.number, to: newest.number }, earlier: null };
    },
  },
};

test("an answer that waits for a summary begins when that is there, and its ask is notified", async () => {
  const summary = held();
  const { host, model } = stage({
    machine: { ...bounded, policy: compacting },
    script: [says(words(20)), summary.step, says("two"), held().step],
  });
  await host.ask("one");
  const handle = host.ask("and now?");
  await settle();
  expect(model.calls).toHaveLength(2);
  summary.answer(says("Many words."));
  expect((await handle).text).toBe("two");
  expect(JSON.stringify(model.calls[2]?.messages)).toContain("Many words.");
  const order = (await partsOf(handle)).map((part) => (part.type === "signal" ? part.signal.type : part.type));
  expect(order.filter((type) => type !== "context.warning")).toEqual([
    "turn.started",
    "summary.completed",
    "step.started",
    "text.delta",
    "step.ended",
    "turn.ended",
  ]);
});

test("an answer that waits for a summary waits on after a restart, and not for ever", async () => {
  const summaries = [held(), held()] as const;
  const machine = { ...bounded, policy: compacting };
  const { clock, inner } = stored();
  const { store, die } = mortal(inner);
  const shared = { clock, machine, owner: "same" };
  const first = stage({ ...shared, store, script: [says(words(20)), summaries[0].step] });
  await first.host.ask("one");
  first.host.ask("and now?", { askId: "b" });
  await settle();
  die();
  const next = stage({ ...shared, store: inner, script: [summaries[1].step, says("two"), held().step] });
  const handle = next.host.ask("and now?", { askId: "b" });
  await settle();
  expect(next.model.calls).toEqual([first.model.calls[1]]);
  await first.clock.advance(4_999);
  expect(next.model.calls).toHaveLength(1);
  await first.clock.advance(1);
  expect((await handle).text).toBe("two");
  expect(JSON.stringify(next.model.calls[1]?.messages)).not.toContain("word");
});

test("an answer that waits for a summary may be cancelled", async () => {
  const summary = held();
  const { host } = stage({
    machine: { ...bounded, policy: compacting },
    script: [says(words(20)), summary.step],
  });
  await host.ask("one");
  const handle = host.ask("and now?");
  await settle();
  handle.abort();
  expect(await errorOf(handle)).toMatchObject({ name: "TurnCancelledError", summary: { turn: 2 } });
  expect(summary.signal()?.aborted).toBe(false);
});
