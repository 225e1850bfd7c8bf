import { describe, expect, test } from "vitest";
import { fromChatMessages, toChatMessages } from "@colloquy/interchange";
import { messagesOf, textOf, turnsOf } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { ImportRefusedError, TurnFailedError } from "@colloquy/host";
import type { HostedThread, LlmOutcome } from "@colloquy/host";
import { errorOf, held, says, settle, stage } from "../stage.ts";

// Repeats dspy-session's own tests about the turns of a session. If this host answers otherwise, the test's name says
// so. A session is a thread here, a call of it an ask, and what was shown to a call (its snapshot) the prompt of the
// turn. Left out: scores and examples for training (93 to 95), child sessions (103) and modules put in another's place
// (104), which do not concern threads; and in 97 the older names of fields, there being one format of journals so far.

const answers = (count: number): readonly LlmOutcome[] =>
  Array.from({ length: count }, (_, index) => says(`A${index}`));

const asked = async (thread: HostedThread, ...questions: readonly string[]): Promise<HostedThread> => {
  for (const question of questions) await thread.ask(question);
  return thread;
};

const stateOf = async (thread: HostedThread) => {
  const state = await thread.state();
  if (state === null) throw new Error(`there is no thread ${thread.id}`);
  return state;
};

const count = async (thread: HostedThread): Promise<number> => turnsOf(await stateOf(thread)).length;
const texts = async (thread: HostedThread): Promise<readonly string[]> =>
  messagesOf(await stateOf(thread)).map((message) => textOf(message));

const failing: LlmOutcome = {
  type: "failed",
  failure: { kind: "bad_request", message: "the model is broken", retryable: false },
};

describe("turns", () => {
  test("91: two of three are undone, the newest first, and there is nothing to take at the beginning", async () => {
    const { host } = stage({ script: answers(3) });
    const thread = await asked(host.thread(), "Q0", "Q1", "Q2");
    expect((await thread.undo(2)).map(({ number }) => number)).toEqual([3, 2]);
    expect(await texts(thread)).toEqual(["Q0", "A0"]);
    await thread.pop();
    expect(await thread.pop()).toBeNull();
  });

  test("92: after a fork and an ask of one, that one has two turns, and the other one", async () => {
    const { host } = stage({ script: answers(2) });
    const thread = await asked(host.thread(), "Q0");
    const { thread: fork } = await thread.fork();
    await fork.ask("Q1");
    expect([await count(fork), await count(thread)]).toEqual([2, 1]);
  });

  test("96: those of two threads, two and one, are three of a new one (which is imported; nothing is merged in place)", async () => {
    const { host } = stage({ script: answers(3) });
    const one = await asked(host.thread("one"), "Q0", "Q1");
    const other = await asked(host.thread("other"), "Q2");
    const messages = [...messagesOf(await stateOf(one)), ...messagesOf(await stateOf(other))];
    const read = fromChatMessages(toChatMessages(messages).value);
    if (Either.isLeft(read)) throw new Error(read.left.reason);
    const merged = await host.importMessages(read.right);
    expect(await count(merged)).toBe(3);
    expect(await texts(merged)).toEqual(["Q0", "A0", "Q1", "A1", "Q2", "A2"]);
  });
});

describe("saving and loading", () => {
  const saved = async (): Promise<readonly unknown[]> => {
    const { host } = stage({ script: answers(2) });
    const thread = await asked(host.thread(), "Q0", "Q1");
    return JSON.parse(JSON.stringify(await thread.exportJournal())) as unknown[];
  };

  test("97: what was saved has the same turns when it is loaded, and the same prompts", async () => {
    const { host, model } = stage({ script: answers(3) });
    const original = await asked(host.thread("default"), "Q0", "Q1");
    const elsewhere = stage({ script: [says("A2")] });
    const loaded = await elsewhere.host.importJournal(JSON.parse(JSON.stringify(await original.exportJournal())));
    expect(await loaded.state()).toEqual(await original.state());
    // The prompts of earlier turns are there too (theirs is made again at loading, and may differ).
    expect(await loaded.at(2)).toEqual(await original.at(2));
    await Promise.all([loaded.ask("Q2", { askId: "third" }), original.ask("Q2", { askId: "third" })]);
    expect(elsewhere.model.calls[0]?.messages.map(textOf)).toEqual(["Q0", "A0", "Q1", "A1", "Q2"]);
    expect(elsewhere.model.calls[0]?.promptDigest).toBe(model.calls[2]?.promptDigest);
  });

  test("97: another version is refused by its number, and nothing is stored", async () => {
    const [first, ...later] = await saved();
    const { host } = stage();
    const refused = await errorOf(host.importJournal([{ ...Object(first), format: 999 }, ...later]));
    expect(refused).toBeInstanceOf(ImportRefusedError);
    expect(String(refused)).toMatch(/format 999/);
    expect((await host.threads()).threads).toEqual([]);
  });

  test("97: version 1, which is the only one, is loaded", async () => {
    const [first, ...later] = await saved();
    expect(first).toMatchObject({ format: 2 });
    const { host } = stage();
    expect(await count(await host.importJournal([first, ...later]))).toBe(2);
  });
});

describe("calls that fail", () => {
  test("98: leave the turns before them as they were, and a turn that says why (theirs leaves none)", async () => {
    const { host } = stage({ script: [says("A0"), failing, says("A2")] });
    const thread = await asked(host.thread(), "Q0");
    expect(await errorOf(thread.ask("Q1"))).toBeInstanceOf(TurnFailedError);
    const turns = turnsOf(await stateOf(thread));
    expect(turns.map(({ outcome }) => outcome.status)).toEqual(["completed", "failed"]);
    expect(await texts(thread)).toEqual(["Q0", "A0", "Q1"]);
  });

  test("98: and where the conversation was begun anew before, the old turns are there to come back to", async () => {
    const { host } = stage({ script: [says("A0"), failing] });
    const thread = await asked(host.thread(), "Q0");
    await thread.clear();
    await thread.addTurn([{ role: "user", content: "another beginning" }]);
    expect(await errorOf(thread.ask("Q1"))).toBeInstanceOf(TurnFailedError);
    expect(await texts(thread)).toEqual(["another beginning", "Q1"]);
    await thread.branch(1);
    expect(await texts(thread)).toEqual(["Q0", "A0"]);
  });
});

describe("hooks after turns", () => {
  const noting = () => {
    const noted: string[] = [];
    const afterTurn = ({
      threadId,
      turn,
    }: {
      readonly threadId: string;
      readonly turn: { readonly number: number };
    }) => {
      noted.push(`${threadId} ${turn.number}`);
    };
    return { noted, afterTurn };
  };

  test("99: a history that is only for one call is a thread of its own, and the turns of this one stay as many", async () => {
    const { noted, afterTurn } = noting();
    const { host, model } = stage({ script: answers(2), hooks: { afterTurn } });
    const thread = await asked(host.thread("mine"), "Q0");
    const turns = [[{ role: "user" as const, content: "another history" }]];
    const apart = await host.importMessages({ turns }, { threadId: "apart" });
    await apart.ask("Q1");
    await apart.delete();
    expect(model.calls[1]?.messages.map(textOf)).toEqual(["another history", "Q1"]);
    expect(await count(thread)).toBe(1);
    expect(noted.filter((each) => each.startsWith("mine"))).toEqual(["mine 1"]);
  });

  test("100: are called with turns 1, 2 and 3; their errors break nothing, and forks are reported too", async () => {
    const { noted, afterTurn } = noting();
    const reported: string[] = [];
    const { host } = stage({
      script: answers(4),
      hooks: {
        afterTurn: (ended) => {
          afterTurn(ended);
          throw new Error("bad");
        },
      },
      onObserverError: (error, where) => reported.push(`${where}: ${String(error)}`),
    });
    const thread = await asked(host.thread("mine"), "Q0", "Q1", "Q2");
    expect(noted).toEqual(["mine 1", "mine 2", "mine 3"]);
    const { thread: fork } = await thread.fork({ threadId: "fork" });
    expect((await fork.ask("Q3")).text).toBe("A3");
    expect(noted.at(-1)).toBe("fork 4");
    expect(reported).toEqual(Array.from({ length: 4 }, () => "afterTurn: Error: bad"));
  });
});

describe("two users of one host", () => {
  test("102: have turns of their own, also when both ask at once", async () => {
    const models = [held(), held()];
    const { host, model } = stage({ script: [...models.map(({ step }) => step), ...answers(2)] });
    const [alice, bob] = [host.thread("alice"), host.thread("bob")];
    const both = [alice.ask("I am Alice"), bob.ask("I am Bob")];
    await settle();
    expect(model.calls).toHaveLength(2);
    for (const [index, { threadId }] of model.calls.entries()) models[index]?.answer(says(`Hello ${threadId}`));
    await Promise.all(both);
    await Promise.all([alice.ask("Who am I?"), bob.ask("And I?")]);
    expect((await texts(alice)).slice(0, 3)).toEqual(["I am Alice", "Hello alice", "Who am I?"]);
    expect((await texts(bob)).slice(0, 3)).toEqual(["I am Bob", "Hello bob", "And I?"]);
    const seen = model.calls.slice(2).map(({ threadId, messages }) => [threadId, messages.map(textOf).join(" ")]);
    for (const [threadId, words] of seen) expect(words).toMatch(threadId === "alice" ? /Alice/ : /Bob/);
    for (const [threadId, words] of seen) expect(words).not.toMatch(threadId === "alice" ? /Bob/ : /Alice/);
  });
});
