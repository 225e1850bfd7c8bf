import { messagesOf, textOf, turnsOf } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { EventRefusedError } from "@colloquy/host";
import type { HostedThread } from "@colloquy/host";
import { errorOf, held, journalOf, says, settle, stage } from "../stage.ts";

const texts = async (thread: HostedThread): Promise<readonly string[]> => {
  const state = await thread.state();
  return state === null ? [] : messagesOf(state).map(textOf);
};

const talk = (...answers: readonly string[]) => stage({ script: answers.map(says), thread: { system: "Be kind." } });

describe("going back", () => {
  test("takes turns back, newest first, as many as there are, and goes on to them again", async () => {
    const { host } = talk("1", "2", "3", "other");
    const thread = host.thread();
    for (const question of ["one", "two", "three"]) await thread.ask(question);
    expect((await thread.undo(2)).map(({ number }) => number)).toEqual([3, 2]);
    expect(await texts(thread)).toEqual(["one", "1"]);
    expect((await thread.redo()).map(({ number }) => number)).toEqual([2]);
    expect(await texts(thread)).toEqual(["one", "1", "two", "2"]);
    expect((await thread.redo(9)).map(({ number }) => number)).toEqual([3]);
    expect(await thread.redo()).toEqual([]);
    expect((await thread.undo(9)).map(({ number }) => number)).toEqual([3, 2, 1]);
    expect(await thread.undo()).toEqual([]);
    expect(await thread.pop()).toBeNull();
    // Nothing is removed: another branch begins.
    expect((await thread.ask("else")).turn).toBe(4);
    expect(await texts(thread)).toEqual(["else", "other"]);
  });

  test("of one turn gives it", async () => {
    const { host } = talk("1");
    await host.ask("one");
    expect(await host.thread().pop()).toMatchObject({ number: 1, answer: "1.1" });
    expect(await texts(host.thread())).toEqual([]);
  });

  test("sees what was sent before it, though that was not awaited", async () => {
    const { host } = talk("1");
    const thread = host.thread();
    await thread.ask("one");
    const added = thread.addTurn([{ role: "user", content: "by hand" }], { from: "test" });
    expect((await thread.undo()).map(({ metadata }) => metadata)).toEqual([{ from: "test" }]);
    await added;
  });

  test("waits for no turn: while one is open it is refused", async () => {
    const model = held();
    const { host } = stage({ script: [says("1"), model.step] });
    const thread = host.thread();
    await thread.ask("one");
    const asked = thread.ask("two");
    await settle();
    expect(await errorOf(thread.undo())).toMatchObject({ refusal: { kind: "busy" } });
    model.answer(says("2"));
    await asked;
  });

  test.each([-1, 0.5, Number.NaN])("by %s steps is invalid", async (steps) => {
    const { host } = talk("1");
    await host.ask("one");
    expect(await errorOf(host.thread().undo(steps))).toBeInstanceOf(RangeError);
  });

  test("to a turn, or to the beginning, with the system prompt that was there", async () => {
    const { host } = talk("1", "2", "3");
    const thread = host.thread();
    await thread.ask("one");
    await thread.ask("two");
    await thread.changeSystem("Be brief.");
    await thread.branch(1);
    await thread.ask("three");
    expect(await texts(thread)).toEqual(["one", "1", "three", "3"]);
    await thread.clear();
    expect(await texts(thread)).toEqual([]);
    const system = async (): Promise<string | undefined> => {
      const message = (await thread.state())?.context.conversation.system;
      return message === null || message === undefined ? undefined : textOf(message);
    };
    expect(await system()).toBe("Be brief.");
    await thread.reset();
    expect(await system()).toBe("Be kind.");
    await thread.changeSystem(null);
    await thread.resetSystem();
    expect(await system()).toBe("Be kind.");
  });

  test("keeps the seed", async () => {
    const { host } = talk("1");
    const thread = host.thread();
    await thread.start({ seed: [{ role: "user", content: "before" }] });
    await thread.ask("one");
    await thread.reset();
    expect(await texts(thread)).toEqual(["before"]);
  });
});

describe("checkpoints", () => {
  test("are named, listed, and come back to; one that is not there is refused with those that are", async () => {
    const { host } = talk("1", "2");
    const thread = host.thread();
    expect(await thread.checkpoints()).toEqual([]);
    await thread.ask("one");
    await thread.checkpoint("first");
    await thread.ask("two");
    await thread.checkpoint("__proto__").catch(() => {});
    await thread.checkpoint("second");
    expect(await thread.checkpoints()).toContainEqual({ name: "first", turn: 1 });
    await thread.restore("first");
    expect(await texts(thread)).toEqual(["one", "1"]);
    const refused = await errorOf(thread.restore("third"));
    expect(refused).toBeInstanceOf(EventRefusedError);
    expect(String(refused)).toMatch(/"third"; there are: .*first.*second/);
  });
});

describe("writing", () => {
  test("a turn by hand, a score, metadata, and how much was spoken", async () => {
    const { host, store } = talk("1");
    const thread = host.thread();
    await thread.addTurn([
      { role: "user", content: "by hand" },
      { role: "assistant", content: "written" },
    ]);
    await thread.annotate(1, "score", 0.5, { by: "ann" });
    await thread.truncate(1, 3);
    await thread.setMetadata({ title: "A thread" });
    const state = await thread.state();
    expect(await texts(thread)).toEqual(["by hand", "wri"]);
    expect(state?.context.metadata).toEqual({ title: "A thread" });
    expect(state === null ? [] : turnsOf(state)[0]?.annotations).toMatchObject([
      { name: "score", value: 0.5, metadata: { by: "ann" } },
    ]);
    expect(await host.threads({ metadata: { title: "A thread" } })).toMatchObject({
      threads: [{ threadId: "default" }],
      next: null,
    });
    expect(await journalOf(store)).toEqual([
      "thread.started",
      "turn.added",
      "turn.annotated",
      "answer.truncated",
      "metadata.changed",
    ]);
  });
});

describe("asks", () => {
  test("can be looked up by their id, from wherever the store is", async () => {
    const model = held();
    const first = stage({ script: [says("1"), model.step], machine: { overlap: { type: "queue", max: 5 } } });
    await first.host.ask("one", { askId: "a" });
    const open = first.host.ask("two", { askId: "b" });
    const queued = first.host.ask("three", { askId: "c" });
    queued.catch(() => {});
    await settle();
    const thread = first.another().host.thread();
    expect(await thread.asked("a")).toMatchObject({ status: "completed", turn: 1, outcome: { status: "completed" } });
    expect(await thread.asked("b")).toMatchObject({ status: "open", turn: 2 });
    expect(await thread.asked("c")).toMatchObject({ status: "queued", turn: null });
    expect(await thread.asked("d")).toBeNull();
    expect((await thread.asks()).map(({ askId }) => askId)).toEqual(["a", "b", "c"]);
    expect((await thread.asks(1)).map(({ askId }) => askId)).toEqual(["c"]);
    expect(await first.host.thread("other").asked("a")).toBeNull();
    expect(await first.host.thread("other").asks()).toEqual([]);
    queued.abort();
    await settle();
    expect(await thread.asked("c")).toMatchObject({ status: "withdrawn", endedAt: first.clock.now() });
    model.answer(says("2"));
    await open;
  });

  test("may say what becomes of them while a turn is open, and may join it", async () => {
    const model = held();
    const { host } = stage({ script: [model.step, says("both")] });
    const thread = host.thread();
    const first = thread.ask("one", { askId: "a" });
    await settle();
    expect(await errorOf(thread.ask("two"))).toMatchObject({ refusal: { kind: "busy" } });
    const steered = thread.steer("also", { askId: "s", during: "a" });
    expect(await errorOf(thread.steer("also", { during: "z" }))).toMatchObject({ name: "AskRefusedError" });
    const queued = thread.ask("later", { askId: "q", overlap: "queue" });
    queued.catch(() => {});
    await settle();
    expect(await thread.asked("s")).toMatchObject({ status: "joining", turn: 1 });
    expect(await thread.asked("q")).toMatchObject({ status: "queued" });
    queued.abort();
    model.answer(says("1"));
    expect(await steered).toMatchObject({ text: "both", turn: 1 });
    expect((await first).text).toBe("both");
    expect(await errorOf(thread.steer("too late"))).toMatchObject({ name: "AskRefusedError" });
  });
});
