import type { Overlap } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { AskReturnedError, AskSupersededError, type AskPart, awaitMany, TurnCancelledError } from "@colloquy/host";
import { calls, echo, entriesOf, errorOf, held, partsOf, says, settle, stage } from "../stage.ts";

const signals = (parts: readonly AskPart[]): readonly string[] =>
  parts.flatMap((part) =>
    part.type === "signal" ? [part.signal.type] : part.type.startsWith("turn.") ? [part.type] : [],
  );

/** Opens a turn, during which this host and another one ask. */
const opened = async (overlap: Overlap) => {
  const model = held();
  const open = stage({ machine: { overlap }, tools: [echo], script: [model.step, says("2"), says("3")] });
  const one = open.host.ask("one", { askId: "a" });
  await settle();
  return { ...open, model, one };
};

describe.each(["here", "by the inbox"] as const)("asks that overlap, asked %s", (where) => {
  const other = ({ host, another }: Awaited<ReturnType<typeof opened>>) =>
    where === "here" ? host : another({ script: [] }).host;
  const wait = where === "here" ? 1 : 400;

  test("merge: one turn answers all that wait", async () => {
    const open = await opened({ type: "merge", max: 8 });
    const host = other(open);
    const two = host.ask("two", { askId: "b" });
    const three = host.ask("three", { askId: "c" });
    const parts = partsOf(three);
    await open.clock.advance(wait);
    open.model.answer(says("1"));
    await open.clock.advance(2 * wait);
    expect(await two).toMatchObject({ askId: "b", turn: 2, text: "2" });
    expect(await three).toMatchObject({ askId: "c", turn: 2, text: "2" });
    expect(signals(await parts)).toEqual(["ask.queued", "turn.started", "turn.ended"]);
  });

  test("latest: a waiting ask is superseded, and names the newer one", async () => {
    const open = await opened({ type: "latest" });
    const host = other(open);
    const two = host.ask("two", { askId: "b" });
    const parts = partsOf(two).catch(() => []);
    const three = host.ask("three", { askId: "c" });
    const superseded = errorOf(two);
    await open.clock.advance(wait);
    open.model.answer(says("1"));
    await open.clock.advance(2 * wait);
    expect(await superseded).toBeInstanceOf(AskSupersededError);
    expect(await superseded).toMatchObject({
      by: "c",
      summary: { askId: "b", turn: null },
      message: expect.stringMatching(/: ask "c" took its place while it waited/),
    });
    expect((await three).text).toBe("2");
    await parts;
    // A repeated ask has the first outcome.
    const again = errorOf(host.ask("two", { askId: "b" }));
    await open.clock.advance(wait);
    expect(await again).toBeInstanceOf(AskSupersededError);
  });

  test("interrupt: the open turn is cancelled with its shown part, and the ask is next", async () => {
    const open = await opened({ type: "interrupt" });
    open.model.show("half a sen");
    const parts = partsOf(open.one);
    const interrupted = errorOf(open.one);
    const two = other(open).ask("two", { askId: "b" });
    const others = partsOf(two);
    await open.clock.advance(2 * wait);
    expect(await interrupted).toBeInstanceOf(TurnCancelledError);
    expect(await interrupted).toMatchObject({ summary: { turn: 1, text: "half a sen" } });
    expect(signals(await parts)).toEqual(["turn.started", "turn.interrupted", "turn.ended"]);
    expect((await two).text).toBe("2");
    expect(signals(await others)).toEqual(["turn.interrupted", "ask.queued", "turn.started", "turn.ended"]);
    expect((await entriesOf(open.store)).at(2)).toMatchObject({ event: { partial: { content: "half a sen" } } });
  });

  test("steer: it joins the open turn, is shown in its next prompt, and has its result", async () => {
    const open = await opened({ type: "steer", max: 8 });
    const two = other(open).ask("two", { askId: "b" });
    const parts = partsOf(two);
    await open.clock.advance(wait);
    open.model.answer(calls(["echo", { text: "x" }]));
    await open.clock.advance(2 * wait);
    expect((await open.one).text).toBe("2");
    expect(await two).toMatchObject({ askId: "b", turn: 1, text: "2" });
    expect(signals(await parts)).toEqual(["ask.joined", "ask.delivered", "turn.ended"]);
  });

  test("steer: a message that came too late for the turn is returned", async () => {
    const open = await opened({ type: "steer", max: 8 });
    const two = other(open).ask("two", { askId: "b" });
    const returned = errorOf(two);
    await open.clock.advance(wait);
    open.one.abort();
    await open.clock.advance(2 * wait);
    expect(await returned).toBeInstanceOf(AskReturnedError);
    expect(await returned).toMatchObject({
      joined: 1,
      summary: { askId: "b", turn: null },
      message: expect.stringMatching(/: it joined turn 1, which ended before/),
    });
    expect(await errorOf(open.one)).toBeInstanceOf(TurnCancelledError);
  });
});

test("several asks are awaited together: in the given order, and none hides the others", async () => {
  const model = held();
  const failure = { kind: "bad_request", message: "no", retryable: false } as const;
  const { host } = stage({ script: [model.step, { type: "failed", failure }, says("third")] });
  const handles = ["a", "b", "c"].map((threadId) => host.ask("hi", { threadId, askId: `ask-${threadId}` }));
  const all = awaitMany(handles);
  await settle();
  model.answer(says("first"));
  expect(await all).toMatchObject([
    { type: "result", threadId: "a", askId: "ask-a", result: { text: "first" } },
    { type: "error", threadId: "b", askId: "ask-b", error: { name: "TurnFailedError", failure } },
    { type: "result", threadId: "c", askId: "ask-c", result: { text: "third" } },
  ]);
  expect(await awaitMany([])).toEqual([]);
});
