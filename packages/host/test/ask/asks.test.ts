import { describe, expect, test } from "vitest";
import { errorOf, held, says, settle, stage } from "../stage.ts";

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
