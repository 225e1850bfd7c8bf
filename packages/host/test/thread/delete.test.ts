import { describe, expect, test } from "vitest";
import { ThreadHeldError } from "@colloquy/host";
import { errorOf, held, says, settle, stage, during } from "../stage.ts";

describe("deleting", () => {
  test("leaves nothing, closes what is open here, and makes room for a new thread of that id", async () => {
    const model = held();
    const { host, store } = stage({ script: [says("1"), model.step, says("new")] });
    const thread = host.thread();
    await thread.ask("one");
    const asked = thread.ask("two");
    await settle();
    expect(await thread.delete()).toBe(true);
    expect(await errorOf(asked)).toMatchObject({
      name: "ThreadClosedError",
      message: expect.stringMatching(/deleted\. Asking again begins a new one/),
    });
    expect(model.signal()?.aborted).toBe(true);
    expect(await thread.state()).toBeNull();
    expect(await store.read("default")).toEqual([]);
    expect(await thread.delete()).toBe(false);
    expect(await thread.ask("again")).toMatchObject({ text: "new", turn: 1 });
  });

  test("is refused while another host works on the thread, and what is followed there goes on", async () => {
    const model = held();
    const machine = { overlap: { type: "queue", max: 5 } } as const;
    const first = stage({ machine, script: [model.step, says("2")] });
    const asked = first.host.ask("one");
    await settle();
    const second = first.another();
    const deleted = (): Promise<unknown> => during(first.clock, 400, errorOf(second.host.thread().delete()));
    expect(await deleted()).toBeInstanceOf(ThreadHeldError);
    const followed = second.host.ask("two");
    await first.clock.advance(1_000);
    expect(await deleted()).toBeInstanceOf(ThreadHeldError);
    model.answer(says("1"));
    expect((await asked).text).toBe("1");
    await first.clock.advance(1_000);
    expect((await followed).text).toBe("2");
  });
});
