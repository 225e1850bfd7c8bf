import { describe, expect, test } from "vitest";
import type { Host } from "@colloquy/host";
import { entriesOf, errorOf, manualClock, says, stage, texts } from "../stage.ts";

// Repeats OpenSearch's promises about memory over HTTP, as far as listing and reading fulfil them here. Its memories
// are our threads, its messages a thread's messages. Its pages go by offset, which writers shift, and end with an empty
// page. Here a page ends with a cursor, except the last. Status codes have no counterpart: an invalid option is a
// RangeError.

const asked = async (host: Host, ...threadIds: readonly string[]): Promise<void> => {
  for (const threadId of threadIds) await host.ask("Q", { threadId });
};

const ids = (page: Awaited<ReturnType<Host["threads"]>>): readonly string[] =>
  page.threads.map(({ threadId }) => threadId);

const memories = async () => {
  const made = stage({ script: ["1", "2", "3"].map(says) });
  await asked(made.host, "memory 1");
  await made.clock.advance(1);
  await asked(made.host, "memory 2");
  return made;
};

describe("pages", () => {
  test("63: of two threads the newer comes first, and its `next` leads to the older", async () => {
    const { host } = await memories();
    const first = await host.threads({ limit: 1 });
    expect(ids(first)).toEqual(["memory 2"]);
    const second = await host.threads({ limit: 1, after: first.next ?? "" });
    expect(ids(second)).toEqual(["memory 1"]);
  });

  test("63: a thread that is made between two pages shifts nothing (theirs shows one twice)", async () => {
    const { host, clock } = await memories();
    const first = await host.threads({ limit: 1 });
    await clock.advance(1);
    await asked(host, "memory 3");
    expect(ids(await host.threads({ limit: 1, after: first.next ?? "" }))).toEqual(["memory 1"]);
  });

  test("64: oldest first on request, and the last page has no `next` (theirs has one more, empty page)", async () => {
    const { host } = await memories();
    const first = await host.threads({ order: "oldest", limit: 1 });
    expect(ids(first)).toEqual(["memory 1"]);
    const second = await host.threads({ order: "oldest", limit: 1, after: first.next ?? "" });
    expect(ids(second)).toEqual(["memory 2"]);
    expect(second.next).toBeNull();
  });

  test.each([
    ["a limit of 0", { limit: 0 }, /limit must be a whole number ≥ 1 \(got 0\)/],
    ["a limit of -1", { limit: -1 }, /limit must be .* \(got -1\)/],
    ["a cursor that no page gave", { after: "-1" }, /after is "-1"; it must be the next of a page/],
  ])("66: %s is refused, and the error names the valid values", async (_, options, words) => {
    const { host } = await memories();
    const refused = await errorOf(host.threads(options));
    expect(refused).toBeInstanceOf(RangeError);
    expect(String(refused)).toMatch(words);
  });

  test("66: a search for 0 hits is refused as well", async () => {
    const { host } = await memories();
    expect(String(await errorOf(host.search("Q", { limit: 0 })))).toMatch(/limit must be .* \(got 0\)/);
  });
});

describe("messages", () => {
  test("64: are listed from the oldest on (in their newer versions too), all of them: a thread is read whole", async () => {
    const { host } = stage({ script: ["A1", "A2"].map(says) });
    await host.ask("H1");
    await host.ask("H2");
    expect(await texts(host.thread())).toEqual(["H1", "A1", "H2", "A2"]);
  });

  test("65: an unknown thread has none: reading it is not an error, and makes no thread", async () => {
    const { host, store } = stage();
    const thread = host.thread("unknown");
    expect(await thread.state()).toBeNull();
    expect(await thread.asks()).toEqual([]);
    expect(await host.threads()).toEqual({ threads: [], next: null });
    expect(await entriesOf(store, "unknown")).toEqual([]);
  });

  test("67: an ask that says nothing is refused in a thread without a word (which is there from then on, and empty)", async () => {
    const { host, store } = stage();
    expect(await errorOf(host.ask(""))).toMatchObject({
      name: "AskRefusedError",
      refusal: { kind: "invalid", reason: expect.stringMatching(/nothing to send/) },
    });
    expect((await entriesOf(store)).map(({ event }) => event.type)).toEqual(["thread.started"]);
  });

  test("68: are in order for every reader, even if clocks go back or stop", async () => {
    const first = stage({ script: ["A1", "A2"].map(says) });
    await first.clock.advance(60_000);
    await first.host.ask("H1");
    await first.host.close();
    const earlier = stage({ store: first.store, clock: manualClock(), script: ["A2"].map(says) });
    await earlier.host.ask("H2", { askId: "later" });
    const times = (await entriesOf(first.store)).map(({ event }) => event.at);
    expect(times.at(-1)).toBeLessThan(times[0] ?? 0);
    expect(await texts(earlier.host.thread())).toEqual(["H1", "A1", "H2", "A2"]);
    expect(await texts(first.another().host.thread())).toEqual(["H1", "A1", "H2", "A2"]);
  });
});
