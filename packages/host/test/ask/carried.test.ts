import { expect, test } from "vitest";
import { Ask } from "../../src/ask/ask.ts";
import { errorOf, says, stage } from "../stage.ts";

const ways = ["lost", "carryOver"] as const;

test.each(ways)("an ask continues after sixteen lost leases or entries, and no more: %s", (how) => {
  const ask = new Ask("t", "a", undefined, () => true);
  expect(ask.isCarried).toBe(false);
  for (let times = 1; times <= 16; times++) expect([times, ask[how](), ask.isCarried]).toEqual([times, true, true]);
  expect(ask[how]()).toBe(false);
});

test.each(ways)(
  "an ask that was accepted and lost is refused if another one has taken its id since: %s",
  async (how) => {
    const { host } = stage({ script: [says("1")] });
    await host.ask("another one", { askId: "a" });
    const state = await host.thread().state();
    if (state === null) throw new Error("no thread");
    const ask = new Ask("default", "a", undefined, () => true);
    ask.event = { type: "ask.received", at: 1, askId: "a", input: "mine" };
    ask.accepted();
    expect(ask.isConcerned(state)).toBe(true);
    ask[how]();
    expect(ask.isConcerned(state)).toBe(false);
    expect(await errorOf(ask)).toMatchObject({ name: "AskRefusedError", refusal: { kind: "invalid" } });
  },
);
