import type { HostedThread } from "@colloquy/host";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { virtualClock } from "@colloquy/runtime-test";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { expect, test, vi } from "vitest";
import { Leg } from "../../src/responses/leg.ts";
import { RunningTurns } from "../../src/responses/running-turns.ts";
import { TurnOutput } from "../../src/responses/turn-output.ts";
import { refund } from "./responding.ts";

const deltaOf = (delta: string) => ({ type: "response.output_text.delta", delta });

/** Makes running turns with one response each, within these bounds. Each response has a first delta already. */
const showing = (count: number, bounds: { readonly keepMs: number; readonly charactersMax: number }, first = "") => {
  const clock = virtualClock();
  const turns = new RunningTurns(clock, bounds);
  const kept = Array.from({ length: count }, (_, turn) => {
    const leg = new Leg({ place: { threadId: "t", turn, leg: 0 }, echo: {}, createdAt: 0 });
    leg.log.add(deltaOf(first));
    let ended: (number: number) => void = () => {};
    const watch: TurnOutput["watch"] = (watcher) => {
      ended = (number) => watcher.ended(number);
      watcher.begun(leg, 0);
    };
    const output = { turn: { turn }, knownThrough: 0, watch } as unknown as TurnOutput; // only these are read
    turns.add({ id: "t" } as HostedThread, "ask", output);
    const end = (): void => {
      leg.log.end();
      ended(0);
    };
    return { leg, end, add: (delta: string) => leg.log.add(deltaOf(delta)) };
  });
  return { clock, turns, kept };
};

test("RunningTurns frees space from ended responses first, then trims running ones, and drops all at last", () => {
  const { kept } = showing(3, { keepMs: 1000, charactersMax: 50_000 });
  const [first, second, third] = kept;
  const lost = (): readonly (boolean | undefined)[] => kept.map(({ leg }) => leg.blocks(0) === null);
  second?.end();
  for (let count = 0; count < 150; count++) first?.add("x".repeat(150));
  expect(lost()).toEqual([false, false, false]);
  for (let count = 0; count < 80; count++) third?.add("x".repeat(150));
  expect(lost()).toEqual([true, true, false]);
  third?.add("x".repeat(60_000));
  expect(lost()).toEqual([true, true, true]);
  expect(() => third?.add("and more")).not.toThrow();
});

test("RunningTurns counts the events that a restored response has already", () => {
  for (const size of [100, 60_000]) {
    const { kept } = showing(1, { keepMs: 1000, charactersMax: 50_000 }, "x".repeat(size));
    expect(kept[0]?.leg.blocks(0) === null).toBe(size > 50_000);
  }
});

/** Returns the size of all events that a response has so far, in characters. */
const sizeOf = async ({ leg }: { readonly leg: Leg }): Promise<number> => {
  const blocks = await leg.log.read(0).next();
  // Two line breaks join each block to the next one, and do not count.
  return (blocks.value ?? "").split("\n\n").join("").length;
};

test("RunningTurns keeps a response that is just as large as all may be, and none that is larger by one character", async () => {
  const [alone] = showing(1, { keepMs: 1000, charactersMax: 50_000 }).kept;
  const size = alone === undefined ? 0 : await sizeOf(alone);
  for (const [charactersMax, isKept] of [
    [size, true],
    [size - 1, false],
  ] as const)
    expect(showing(1, { keepMs: 1000, charactersMax }).kept[0]?.leg.blocks(0) !== null).toBe(isKept);
});

test("RunningTurns drops no more ended responses than it must, to the character", async () => {
  const delta = "x".repeat(5_000);
  const [alone] = showing(1, { keepMs: 1000, charactersMax: 50_000 }).kept;
  if (alone === undefined) throw new Error("no response is shown");
  const before = await sizeOf(alone);
  alone.add(delta);
  const after = await sizeOf(alone);
  for (const [charactersMax, kept] of [
    [before + after, [false, true, true]],
    [before + after - 1, [false, false, true]],
  ] as const) {
    const shown = showing(3, { keepMs: 1000, charactersMax }).kept;
    shown[0]?.end();
    shown[1]?.end();
    shown[2]?.add(delta);
    expect(shown.map(({ leg }) => leg.blocks(0) !== null)).toEqual(kept);
  }
});

test("RunningTurns keeps an ended response for keepMs, and drops those of a deleted thread at once", async () => {
  const { clock, turns, kept } = showing(2, { keepMs: 1000, charactersMax: 50_000 });
  const [first, second] = kept;
  first?.end();
  await clock.advance(999);
  expect(first?.leg.blocks(0)).not.toBeNull();
  await clock.advance(1);
  expect(kept.map(({ leg }) => leg.blocks(0) === null)).toEqual([true, false]);
  turns.forgetThread("other");
  expect(second?.leg.blocks(0)).not.toBeNull();
  turns.forgetThread("t");
  expect(second?.leg.blocks(0)).toBeNull();
  expect(turns.of("t", 1)).toBeUndefined();
});

test("RunningTurns has nothing left to drop after keepMs if the thread was deleted before", async () => {
  const { clock, turns, kept } = showing(1, { keepMs: 1000, charactersMax: 50_000 });
  kept[0]?.end();
  turns.forgetThread("t");
  await clock.advance(1000);
  expect([turns.of("t", 0), clock.pending()]).toEqual([undefined, []]);
});

test("a delta looks at other responses only if all together do not fit, and then no longer than needed", () => {
  const turns = new RunningTurns(virtualClock(), { keepMs: 1000, charactersMax: 50_000 });
  let looks = 0;
  const kept = Array.from({ length: 10 }, (_, turn) => {
    const leg = new Leg({ place: { threadId: "t", turn, leg: 0 }, echo: {}, createdAt: 0 });
    const watch: TurnOutput["watch"] = (watcher) => watcher.begun(leg, 0);
    const output = { turn: { turn }, knownThrough: 0, watch } as unknown as TurnOutput; // only these are read
    turns.add({ id: "t" } as HostedThread, "ask", output);
    Object.defineProperty(leg.log, "isEnded", { get: () => ++looks > 0 });
    return leg;
  });
  const add = (delta: string): void => kept.at(-1)?.log.add({ type: "response.output_text.delta", delta });
  const walks = vi.spyOn(Map.prototype, "values");
  for (let count = 0; count < 50; count++) add("Hi");
  expect([walks.mock.calls.length, looks]).toEqual([0, 0]);
  walks.mockRestore();
  for (let count = 0; count < 1000 && looks === 0; count++) add("Hi");
  expect(looks).toBe(1);
  expect(kept.map(({ log }) => log.hasFrom(0)).indexOf(true)).toBe(1);
});

/** Asks for a turn that waits for an approval, and shows it. Returns a function that approves. */
const showingRefund = () => {
  const llm = scriptedModel([toolCalls([{ name: "refund", arguments: { order: "A1" } }]), reply("Done.")]);
  const thread = createHost({ llm, store: memoryStore(), tools: [refund] }).thread("t");
  const clock = virtualClock();
  const turns = new RunningTurns(clock, { keepMs: 1000, charactersMax: 50_000 });
  const output = new TurnOutput({ threadId: "t", turn: 1, startedAt: 0, callerTools: new Set(), echo: {} });
  const handle = thread.ask("Refund A1", { askId: "ask" });
  const running = turns.add(thread, "ask", output);
  const approve = async (): Promise<void> => {
    await expect.poll(() => output.running).toBeNull();
    for (const { id } of await thread.approvals()) await thread.approve(id);
  };
  return { clock, turns, running, handle, approve };
};

test("RunningTurns follows a turn over an approval while a caller awaits the next response", async () => {
  const { running, handle, approve } = showingRefund();
  const next = running.leg(2);
  running.follow(handle);
  await approve();
  expect(running.isFollowed).toBe(true);
  const leg = await next;
  await leg?.ended;
  expect(leg?.facts).toMatchObject({ place: { leg: 2 }, items: [{ type: "mcp_call" }, { type: "message" }] });
});

test("RunningTurns stops to follow a turn that waits for an approval if no caller awaits the next response", async () => {
  const { running, handle, approve } = showingRefund();
  running.follow(handle);
  await approve();
  await expect.poll(() => running.isFollowed).toBe(false);
  await handle;
  expect([...running.legs.keys()]).toEqual([1]);
});

test("RunningTurns tells a caller that awaits a further response when the turn has ended without one, or failed", async () => {
  const thread = createHost({ llm: scriptedModel([reply("Done.")]), store: memoryStore() }).thread("t");
  const turns = new RunningTurns(virtualClock(), { keepMs: 1000, charactersMax: 50_000 });
  const show = (turn: number) => {
    const facts = { threadId: "t", turn, startedAt: 0, callerTools: new Set<string>(), echo: {} };
    const running = turns.add(thread, "ask", new TurnOutput(facts));
    return { running, next: running.leg(2) };
  };
  const one = show(1);
  one.running.follow(thread.ask("Go", { askId: "ask" }));
  expect(await one.next).toBeNull();
  expect(one.running.isFollowed).toBe(false);
  const other = show(2);
  async function* failing(): AsyncGenerator<never> {
    yield* [];
    throw new Error("the store failed");
  }
  // Cast: only the parts of the ask are read.
  other.running.follow(failing() as unknown as Parameters<typeof other.running.follow>[0]);
  await expect(other.next).rejects.toThrow("the store failed");
  expect([turns.of("t", 1), turns.of("t", 2)]).toEqual([one.running, undefined]);
  expect([...one.running.legs.keys(), ...other.running.legs.keys()]).toEqual([1]);
});

test("RunningTurns keeps a turn until the last of its responses is dropped", async () => {
  const { turns, running, handle, approve, clock } = showingRefund();
  const next = running.leg(2);
  running.follow(handle);
  await approve();
  await (
    await next
  )?.ended;
  await handle;
  await expect.poll(() => running.isFollowed).toBe(false);
  turns.forgetTurn("t", 2);
  expect(turns.of("t", 1)).toBe(running);
  running.legs.get(1)?.log.lose();
  await clock.advance(1000);
  expect([...running.legs.keys(), turns.of("t", 1)]).toEqual([undefined]);
});

test("RunningTurns keeps a turn whose responses were dropped while it is followed, and no longer", async () => {
  const { turns, running, handle } = showingRefund();
  const next = running.leg(2);
  running.follow(handle);
  turns.forgetThread("t");
  expect([turns.of("t", 1), running.legs.size]).toEqual([running, 0]);
  await expect.poll(() => running.output.running).toBeNull();
  handle.abort("enough");
  await expect(handle).rejects.toThrow("enough");
  expect(await next).toBeNull();
  await expect.poll(() => turns.of("t", 1)).toBeUndefined();
});
