import { expect, test } from "vitest";
import { askNamed, asksOf, conversationMachine, type MachineOptions } from "../../../src/index.ts";
import { CheckedTalk } from "../../checked-talk.ts";
import { calling, Talk } from "../../talk.ts";

const statuses = (talk: Talk, last?: number): readonly string[] =>
  asksOf(talk.state, last).map(({ askId, status, turn }) => `${askId} ${status} ${turn}`);

const queueing: MachineOptions = { tools: [{ name: "lookup" }], overlap: { type: "queue", max: 5 } };

test("an ask is found at each stage of its life, with its turn and its times", () => {
  const talk = new CheckedTalk(queueing);
  talk.ask("one", "a");
  expect(askNamed(talk.state, "a")).toEqual({ askId: "a", status: "open", turn: 1, askedAt: 1, startedAt: 1 });
  talk.ask("two", "b");
  talk.ask("three", "c");
  talk.tell({ type: "ask.received", askId: "d", input: "and", joins: {} });
  expect(statuses(talk)).toEqual(["a open 1", "b queued null", "c queued null", "d joining 1"]);
  talk.tell({ type: "cancel.requested", askId: "c" });
  talk.tell({ type: "cancel.requested", reason: "enough" });
  expect(askNamed(talk.state, "a")).toEqual({
    askId: "a",
    status: "cancelled",
    turn: 1,
    askedAt: 1,
    startedAt: 1,
    endedAt: 6,
    outcome: { status: "cancelled", reason: "enough" },
  });
  expect(askNamed(talk.state, "c")).toEqual({ askId: "c", status: "withdrawn", turn: null, askedAt: 3, endedAt: 5 });
  expect(statuses(talk)).toEqual(["a cancelled 1", "b queued null", "c withdrawn null", "d returned null"]);
  talk.fire("queue");
  talk.reply(calling("lookup"));
  talk.tell({ type: "ask.received", askId: "e", input: "also", joins: {} });
  talk.result(0, "found");
  expect(statuses(talk, 2)).toEqual(["d returned null", "e open 2"]);
  talk.reply("done");
  expect(statuses(talk)).toEqual([
    "a cancelled 1",
    "b completed 2",
    "c withdrawn null",
    "d returned null",
    "e completed 2",
  ]);
  expect(askNamed(talk.state, "nobody")).toBeNull();
});

test("an ask whose turn is off the path, or has failed, is found too", () => {
  const talk = new CheckedTalk();
  talk.ask("one", "a");
  talk.fail();
  talk.tell({ type: "head.moved", to: 0 });
  expect(askNamed(talk.state, "a")).toMatchObject({ status: "failed", turn: 1 });
});

test("the newest so many are listed, of the newest 256 turns, and no more than asked for", () => {
  const talk = new Talk(conversationMachine());
  for (let turn = 1; turn <= 300; turn++) {
    talk.ask("again", `a${turn}`);
    talk.reply("yes");
  }
  expect(statuses(talk, 2)).toEqual(["a299 completed 299", "a300 completed 300"]);
  expect(asksOf(talk.state, 0)).toEqual([]);
  expect(asksOf(talk.state)).toHaveLength(256);
  expect(asksOf(talk.state, 1_000)).toHaveLength(256);
  expect([askNamed(talk.state, "a44"), askNamed(talk.state, "a45")?.turn]).toEqual([null, 45]);
  for (const last of [-1, 0.5, Number.NaN]) expect(() => asksOf(talk.state, last)).toThrow(`last is ${last}`);
});
