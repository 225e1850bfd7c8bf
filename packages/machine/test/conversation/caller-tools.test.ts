import { describe, expect, test } from "vitest";
import { type CallerTool, callsToAnswer, conversationMachine, type MachineOptions } from "../../src/index.ts";
import { callToAnswer, waitsOutside } from "../../src/hosting.ts";
import { replay } from "../../src/inspect.ts";
import { redactEntry } from "../../src/storage.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { calling } from "../talk.ts";

const askUser: CallerTool = { name: "ask_user", description: "Asks.", parameters: { type: "object" } };

const talkOf = (options: MachineOptions = { tools: [{ name: "search" }] }): CheckedTalk => {
  const talk = new CheckedTalk(options);
  return talk;
};

const asking = (tools: readonly CallerTool[] = [askUser], askId = "a") =>
  ({ type: "ask.received", askId, input: "Q", tools }) as const;

describe("the tools of an ask", () => {
  test("belong to the prompt: a replay that would offer others reports it", () => {
    const talk = talkOf();
    talk.tell(asking());
    talk.reply("A");
    talk.replays();
    const others = conversationMachine({ tools: [{ name: "find" }] });
    expect(replay(others, talk.entries)).toMatchObject({
      left: { what: "the tools that are offered", expected: "search, ask_user", got: "find, ask_user" },
    });
    const declaring = conversationMachine({ tools: [{ name: "search" }, { name: "ask_user" }] });
    expect(replay(declaring, talk.entries)).toMatchObject({
      left: { got: expect.stringMatching(/name of a tool of the machine/) },
    });
  });

  test("lose their words when the ask is redacted, and keep their names", () => {
    const talk = talkOf();
    talk.tell(asking());
    const entry = talk.entries.at(-1);
    expect(entry === undefined ? null : redactEntry(entry)).toMatchObject({ event: { tools: [{ name: "ask_user" }] } });
    expect(JSON.stringify(entry === undefined ? null : redactEntry(entry))).not.toMatch(/Asks/);
  });
});

test("a call of the caller's waits at rest alone, but not beside tools that run here", () => {
  const talk = talkOf();
  talk.tell(asking());
  talk.reply(calling("ask_user", "search"));
  expect(waitsOutside(talk.state)).toBe(false);
  const ids = talk.out().map(({ id }) => id);
  expect(ids.map((id) => callToAnswer(talk.state, id)?.id)).toEqual([ids[0], undefined]);
  talk.result(1, "found");
  expect(waitsOutside(talk.state)).toBe(true);
  expect(callsToAnswer(talk.state)).toMatchObject([{ callId: "1.1.0", arguments: "{}", started: false }]);
  talk.result(0, "yes");
  expect(callsToAnswer(talk.state)).toEqual([]);
  expect(talk.sent().at(-2)).toBe("yes");
  talk.reply("A");
});
