import { describe, expect, test } from "vitest";
import { EventRefusedError } from "@colloquy/host";
import { errorOf, says, stage, texts } from "../stage.ts";

const talk = (...answers: readonly string[]) => stage({ script: answers.map(says), thread: { system: "Be kind." } });

describe("moving the head", () => {
  test("undo and redo move by the given number of turns, or fewer, and return them newest first", async () => {
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
    // Turns that were taken back stay in the thread; the next ask begins another branch.
    expect((await thread.ask("else")).turn).toBe(4);
    expect(await texts(thread)).toEqual(["else", "other"]);
  });

  test("pop takes back one turn and returns it", async () => {
    const { host } = talk("1");
    await host.ask("one");
    expect(await host.thread().pop()).toMatchObject({ number: 1, answer: "1.1" });
    expect(await texts(host.thread())).toEqual([]);
  });

  test.each([-1, 0.5, Number.NaN])("undo by %s steps is invalid", async (steps) => {
    const { host } = talk("1");
    await host.ask("one");
    expect(await errorOf(host.thread().undo(steps))).toBeInstanceOf(RangeError);
  });

  test("reset keeps the seed", async () => {
    const { host } = talk("1");
    const thread = host.thread();
    await thread.start({ seed: [{ role: "user", content: "before" }] });
    await thread.ask("one");
    await thread.reset();
    expect(await texts(thread)).toEqual(["before"]);
  });
});

test("checkpoints are named, listed and restored; the refusal of an unknown name lists the known ones", async () => {
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
