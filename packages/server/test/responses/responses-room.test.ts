import { createHost, memoryStore } from "@colloquy/runtime-node";
import { virtualClock } from "@colloquy/runtime-test";
import { scriptedModel } from "@colloquy/runtime-test/models";
import { noUsage } from "@colloquy/machine";
import { expect, test } from "vitest";
import { serverContextOf } from "../../src/http/server-options.ts";
import type { Leg } from "../../src/responses/leg.ts";
import { responsesRoom } from "../../src/responses/responses-room.ts";
import { TurnOutput } from "../../src/responses/turn-output.ts";

/** Makes a room by its defaults, and shows a response in it. */
const showing = () => {
  const clock = virtualClock();
  const host = createHost({ llm: scriptedModel([]), store: memoryStore(), clock });
  const room = responsesRoom(host, serverContextOf({ authenticate: () => null, clock }), {});
  const output = new TurnOutput({ threadId: "t", turn: 1, startedAt: 0, callerTools: new Set(), echo: {} });
  const running = room.turns.add(host.thread("t"), "ask", output);
  const [leg] = running.legs.values();
  const end = (): void =>
    output.apply({ type: "turn.ended", turn: 1, status: "completed" }, { at: 0, usage: noUsage, outcome: null });
  if (leg === undefined) throw new Error("a turn that is shown has a response");
  return { clock, leg, end };
};

test("the events of an ended response are kept for five minutes by default", async () => {
  const { clock, leg, end } = showing();
  end();
  await clock.advance(299_999);
  expect(leg.blocks(0)).not.toBeNull();
  await clock.advance(1);
  expect(leg.blocks(0)).toBeNull();
});

/** Returns the size of the events of a response so far. */
const sizeOf = async (leg: Leg): Promise<number> =>
  ((await leg.log.read(0).next()).value ?? "").split("\n\n").join("").length;

test("the events of responses take up to 33,554,432 characters by default", async () => {
  const { leg } = showing();
  const fits = { type: "response.output_text.delta", delta: "" };
  const before = await sizeOf(leg);
  leg.log.add(fits);
  const size = await sizeOf(leg);
  for (const [more, isKept] of [
    [0, true],
    [1, false],
  ] as const) {
    const shown = showing().leg;
    shown.log.add({ ...fits, delta: "x".repeat(33_554_432 - size + more) });
    expect(shown.blocks(0) !== null).toBe(isKept);
  }
  expect(size).toBeGreaterThan(before);
});
