import { describe, expect, test } from "vitest";
import {
  type CallerTool,
  callsToAnswer,
  conversationMachine,
  digestOf,
  type MachineOptions,
  textOf,
} from "../../src/index.ts";
import { waitsOutside } from "../../src/hosting.ts";
import { replay } from "../../src/inspect.ts";
import { forkOf } from "../../src/journal.ts";
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
  test("are offered behind the machine's, with digests, in each step of the turn and in no other", () => {
    const talk = talkOf();
    talk.tell(asking());
    const [own, callers] = talk.call().tools ?? [];
    expect(own?.name).toBe("search");
    expect(callers).toEqual({ name: "ask_user", digest: digestOf({ ...askUser }) });
    talk.reply(calling("ask_user"));
    talk.result(0, "yes");
    expect(talk.call().tools).toHaveLength(2);
    talk.reply("A");
    talk.ask("on");
    expect(talk.call().tools).toHaveLength(1);
    talk.replays();
  });

  test("stay offered when the configuration declares a tool of the name meanwhile, and theirs it is", () => {
    const talk = talkOf();
    talk.tell(asking());
    const next = talk.under({ tools: [{ name: "ask_user", approval: "always" }] });
    next.reply(calling("ask_user"));
    expect(next.out()).toMatchObject([{ type: "callTool", name: "ask_user", by: "caller", approval: null }]);
    next.result(0, "yes");
    expect(next.call().tools?.map(({ digest }) => digest)).toEqual([digestOf({ ...askUser })]);
  });

  test("of asks that join or share a turn are all its own, a later one's over an earlier one's", () => {
    const talk = talkOf({ overlap: { type: "steer", max: 2 } });
    talk.tell(asking());
    const other = { ...askUser, description: "Asks otherwise." };
    talk.tell(asking([other, { name: "pick" }], "b"));
    talk.reply(calling("ask_user", "pick"));
    // The second tool was not offered yet, so its call is not there yet.
    expect(callsToAnswer(talk.state).map(({ name }) => name)).toEqual(["ask_user"]);
    talk.result(0, "yes");
    expect(talk.call().tools?.map(({ name }) => name)).toEqual(["ask_user", "pick"]);
    expect(talk.call().tools?.[0]?.digest).toBe(digestOf({ ...other }));
    talk.replays();
  });

  test("belong to what was sent: a replay that would offer others says so", () => {
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

describe("a call of the caller's", () => {
  test("waits outside alone, and beside what runs here not", () => {
    const talk = talkOf();
    talk.tell(asking());
    talk.reply(calling("ask_user", "search"));
    expect(waitsOutside(talk.state)).toBe(false);
    talk.result(1, "found");
    expect(waitsOutside(talk.state)).toBe(true);
    expect(callsToAnswer(talk.state)).toMatchObject([{ callId: "1.1.0", arguments: "{}", started: false }]);
    talk.result(0, "yes");
    expect(callsToAnswer(talk.state)).toEqual([]);
    expect(talk.sent().at(-2)).toBe("yes");
    talk.reply("A");
  });

  test("counts for the limit of tool calls, and a deadline settles it", () => {
    const limited = talkOf({ limits: { toolCalls: 0 } });
    limited.tell(asking());
    limited.reply(calling("ask_user"));
    expect(limited.state.value).toBe("error");
    const timed = talkOf({ limits: { deadlineMs: 50 } });
    timed.tell(asking());
    timed.reply(calling("ask_user"));
    timed.fire("deadline");
    expect(timed.refused({ type: "tool.completed", effectId: "t/1.1.0#1", content: "late" }).kind).toBe("stale");
    timed.ask("on");
    expect(timed.call().messages.map(textOf).join()).toMatch(/deadline of the turn passed before the caller answered/);
  });

  test("a message and an ask that join wait for it", () => {
    const talk = talkOf({ overlap: { type: "steer", max: 1 } });
    talk.tell(asking());
    talk.reply(calling("ask_user"));
    talk.tell({ type: "message.appended", message: { role: "user", content: "By the way" } });
    talk.ask("and mind");
    talk.result(0, "yes");
    expect(talk.sent()).toEqual(["Q", "", "yes", "By the way", "and mind"]);
  });

  test("stays behind in a copy", () => {
    const talk = talkOf();
    talk.say("Q0", "A0");
    talk.tell(asking());
    talk.reply(calling("ask_user"));
    expect(forkOf(talk.entries, { threadId: "copy", at: 9 })).toMatchObject({
      right: { left: { effects: ["t/2.1.0#1"], asks: ["a"] } },
    });
  });
});
