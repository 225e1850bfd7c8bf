import { describe, expect, test } from "vitest";
import { lastTurnOf, type MachineOptions, promptOf, textOf } from "../../src/index.ts";
import { configurationOfMachine } from "../../src/hosting.ts";
import { keepAll, lastMessages, type Policy, tokenWindow } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { characterCounter, rolling } from "../hand-made.ts";

// A server says that a prompt is too long for it: the policy gets half of its room, and the call is made once more.

const tooLong = { kind: "context_length", message: "maximum context length is 1024", retryable: false } as const;

/** Four exchanges of 20 characters each, and a question of 10 that is out. */
const long = (options: MachineOptions = {}): CheckedTalk => {
  const talk = new CheckedTalk({
    counter: characterCounter,
    policy: tokenWindow(),
    retry: { attempts: 1 },
    ...options,
  });
  for (let turn = 1; turn <= 4; turn++) {
    talk.ask(`question ${turn}`);
    talk.reply(`answer ${turn}..`);
  }
  talk.ask("question 5");
  return talk;
};

const sent = (talk: CheckedTalk): readonly string[] => talk.call().messages.map(textOf);

describe("a prompt that is too long for the server", () => {
  test.each<readonly [string, MachineOptions]>([
    ["no budget", {}],
    ["a budget that is too large", { budget: { tokens: 100_000, reserve: 0 } }],
  ])("is sent once more with half of its tokens under %s", (_, options) => {
    const talk = long(options);
    expect(sent(talk)).toHaveLength(9);
    talk.fail(tooLong);
    talk.fire("retry");
    expect(sent(talk)).toEqual(["question 4", "answer 4..", "question 5"]);
    talk.reply("answer 5..");
    expect(lastTurnOf(talk.state)?.outcome.status).toBe("completed");
    talk.replays();
  });

  test("leaves the room small for later turns", () => {
    const talk = long();
    talk.fail(tooLong);
    talk.fire("retry");
    talk.reply("answer 5..");
    talk.ask("question 6");
    expect(sent(talk)).toEqual(["question 5", "answer 5..", "question 6"]);
    expect(promptOf(talk.machine, talk.state).available).toBe(45);
  });

  test("fails with the server's words where it is too long a second time in the turn", () => {
    const talk = long();
    talk.fail(tooLong);
    talk.fire("retry");
    talk.fail({ ...tooLong, message: "still too long" });
    expect(lastTurnOf(talk.state)?.outcome).toMatchObject({ status: "failed", failure: { message: "still too long" } });
    talk.ask("question 6");
    expect(sent(talk)).toEqual(["question 4", "answer 4..", "question 5", "question 6"]);
    talk.fail(tooLong);
    talk.fire("retry");
    expect(sent(talk)).toEqual(["question 5", "question 6"]);
  });

  test.each<readonly [string, Policy]>([
    ["keepAll", keepAll()],
    ["lastMessages", lastMessages()],
  ])("fails at once under %s, which has nothing more to leave out", (_, policy) => {
    const talk = long({ policy });
    talk.fail(tooLong);
    expect(lastTurnOf(talk.state)?.outcome).toMatchObject({ failure: tooLong });
    talk.ask("question 6");
    expect(talk.isCalling()).toBe(true);
  });

  test("waits for a summary where the policy has one written", () => {
    const talk = long({ policy: rolling({ when: "full" }) });
    talk.fail(tooLong);
    talk.fire("retry");
    expect(talk.state.value).toEqual({ awaiting_llm: "compacting" });
    talk.replays();
  });

  test("is sent all the same where nothing fits the room that was learned, but the budget", () => {
    const talk = long();
    talk.fail(tooLong);
    talk.fire("retry");
    talk.reply("answer 5..");
    const much = "x".repeat(200);
    talk.ask(much);
    expect(sent(talk)).toEqual([much]);
  });

  test("is forgotten when the configuration changes", () => {
    const talk = long();
    talk.fail(tooLong);
    talk.fire("retry");
    talk.reply("answer 5..");
    talk.tell({ type: "thread.configured", configuration: configurationOfMachine(talk.machine) });
    talk.ask("question 6");
    expect(sent(talk)).toHaveLength(11);
    talk.replays();
  });
});
