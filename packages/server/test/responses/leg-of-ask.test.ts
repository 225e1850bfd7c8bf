import type { AskHandle, AskPart } from "@colloquy/host";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { never, reply, scriptedModel, type ScriptLine } from "@colloquy/runtime-test/models";
import { expect, test } from "vitest";
import { serverContextOf } from "../../src/http/server-options.ts";
import { legOfAsk, legOfQueued } from "../../src/responses/leg-of-ask.ts";
import { responsesRoom } from "../../src/responses/responses-room.ts";

const roomOf = (script: readonly ScriptLine[]) => {
  const host = createHost({ llm: scriptedModel(script), store: memoryStore() });
  const room = responsesRoom(host, serverContextOf({ authenticate: () => null }), {});
  return { host, room, thread: host.thread("t") };
};

test("a queued ask whose turn has started meanwhile has the response of that turn", async () => {
  const { host, room, thread } = roomOf([reply("Hello.")]);
  await thread.ask("Hi", { askId: "one" });
  const leg = await legOfQueued(room, thread, "one");
  await leg.ended;
  expect(leg.facts).toMatchObject({ place: { threadId: "t", turn: 1, leg: 1 }, outcome: { status: "completed" } });
  await host.close();
});

test("an ask that was withdrawn has a response that ended then, and has no turn", async () => {
  const { host, room, thread } = roomOf([never()]);
  const open = thread.ask("Hi", { askId: "one" });
  const queued = thread.ask("And?", { askId: "two", overlap: "queue" });
  queued.catch(() => {});
  for await (const part of queued) if (part.type === "signal" && part.signal.type === "ask.queued") break;
  await thread.cancel("never mind", "two");
  open.abort("enough");
  await expect(open).rejects.toThrow("enough");
  for (let times = 1; times <= 2; times++) {
    const leg = await legOfQueued(room, thread, "two");
    const facts = { place: { askId: "two" }, endedAt: expect.any(Number), outcome: { status: "cancelled" }, items: [] };
    expect(leg.facts).toMatchObject(facts);
    await leg.ended;
    expect(leg.facts).toMatchObject(facts);
    const blocks: string[] = [];
    for await (const block of leg.blocks(0) ?? []) blocks.push(block);
    expect(blocks.join().match(/^event: .*$/gmu)).toEqual([
      "event: response.created",
      "event: response.in_progress",
      "event: response.incomplete",
    ]);
  }
  await host.close();
});

const queuedAsk = async () => {
  const { host, room, thread } = roomOf([never()]);
  const open = thread.ask("Hi", { askId: "one" });
  const queued = thread.ask("And?", { askId: "two", overlap: "queue", metadata: { response: { model: "large" } } });
  for (const ask of [open, queued]) ask.catch(() => {});
  for await (const part of queued) if (part.type === "signal" && part.signal.type === "ask.queued") break;
  return { host, room, thread };
};

test("a queued ask has a response at once, which repeats the members of its request also when it is withdrawn", async () => {
  const { host, room, thread } = await queuedAsk();
  const leg = await legOfQueued(room, thread, "two");
  expect(leg.facts).toMatchObject({ place: { askId: "two" }, endedAt: null, echo: { model: "large" } });
  expect(leg.blocks(1)).toBeNull();
  await thread.cancel("never mind", "two");
  await leg.ended;
  expect(leg.facts).toMatchObject({ outcome: { status: "cancelled" }, echo: { model: "large" } });
  await host.close();
});

async function* failing(): AsyncGenerator<never> {
  yield* [];
  throw new Error("the store failed");
}

/** An ask whose parts and turn are these. */
const askOf = (parts: () => AsyncIterable<AskPart>, turn: Promise<never>, threadId = "t"): AskHandle => {
  turn.catch(() => {});
  // Cast: only these members of an ask are read before its turn.
  return Object.assign(turn, { threadId, [Symbol.asyncIterator]: parts }) as unknown as AskHandle;
};

test.each<readonly [string, readonly AskPart[]]>([
  ["none is left", []],
  ["the first one is of a later step", [{ type: "step.started", turn: 1, step: 2 }]],
  ["only its end is left", [{ type: "turn.ended", turn: 1, status: "completed" }]],
])("the response of an ask that moved to another thread is whole, though of its parts %s", async (_, parts) => {
  const { host, room, thread } = roomOf([reply("Hello.")]);
  await thread.start();
  await host.thread("copy").ask("Hi", { askId: "one" });
  async function* left(): AsyncGenerator<AskPart> {
    yield* parts;
  }
  const leg = await legOfAsk(room, thread, askOf(left, Promise.race([]), "copy"), "one");
  await leg.ended;
  expect(leg.facts).toMatchObject({
    place: { threadId: "copy", turn: 1, leg: 1 },
    outcome: { status: "completed" },
    items: [{ type: "message", content: [{ text: "Hello." }] }],
  });
  await host.close();
});

test("a client learns that its queued ask can't be followed", async () => {
  const { host, room, thread } = await queuedAsk();
  const leg = await legOfQueued(room, thread, "two", askOf(failing, Promise.race([])));
  await expect(leg.ended).rejects.toThrow("the store failed");
  expect(leg.facts).toMatchObject({ place: { askId: "two" }, endedAt: null });
  await expect(legOfQueued(room, thread, "none", askOf(failing, Promise.race([])))).rejects.toThrow("the store failed");
  await host.close();
});

test("a client learns why its ask has no turn, from the error of the ask", async () => {
  const { host, room, thread } = roomOf([]);
  await thread.start();
  async function* nothing(): AsyncGenerator<never> {}
  const ask = askOf(nothing, Promise.reject(new Error("the thread takes no asks")));
  await expect(legOfAsk(room, thread, ask, "one")).rejects.toThrow("the thread takes no asks");
  await host.close();
});
