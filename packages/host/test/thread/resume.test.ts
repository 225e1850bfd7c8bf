import { describe, expect, test } from "vitest";
import { type AskHandle } from "@colloquy/host";
import { mortal } from "../mortal-store.ts";
import {
  calls,
  errorOf,
  held,
  partsOf,
  says,
  settle,
  stage,
  type StageOptions,
  stored,
  queue,
  plain,
} from "../stage.ts";

const present = (handle: AskHandle | null): AskHandle => {
  if (handle === null) throw new Error("there is no handle");
  return handle;
};

/** Returns the stage after a host died with an open turn on each of some threads. */
const afterCrash = async (threadIds: readonly string[], next: StageOptions = {}) => {
  const { clock, inner } = stored();
  const { store, die } = mortal(inner);
  const never = () => new Promise<never>(() => {});
  const first = stage({
    clock,
    store,
    machine: queue,
    owner: "dead",
    leaseTtlMs: 9_000,
    script: Array(99).fill(never),
  });
  for (const threadId of threadIds) void first.host.ask("hi", { threadId, askId: `ask of ${threadId}` });
  await settle();
  die();
  const script = Array.from({ length: 99 }, (_, index) => says(`answer ${index + 1}`));
  return { ...stage({ clock, store: inner, machine: queue, leaseTtlMs: 9_000, script, ...next }), dead: first.host };
};

describe("an ask that waits for a dead host's lease", () => {
  test("says that it waits, and until when at most; and that it goes on", async () => {
    const { host, clock } = await afterCrash(["default"]);
    await clock.advance(1_000);
    const asked = host.ask("and then?", { askId: "b" });
    const parts = partsOf(asked);
    const shown: string[] = [];
    void (async () => {
      for await (const part of host.ask("and then?", { askId: "b" })) shown.push(part.type);
    })();
    await settle();
    expect(shown).toEqual(["wait.started"]);
    await clock.advance(9_000);
    expect((await asked).text).toBe("answer 2");
    const until = 1_000_000 + 1_000 + 9_000;
    expect((await parts).slice(0, 3)).toEqual([
      { type: "wait.started", for: "lease", until },
      { type: "wait.ended" },
      expect.objectContaining({ type: "signal" }),
    ]);
  });

  test("waits not at all where this host has the name of the dead one", async () => {
    const { host } = await afterCrash(["default"], { owner: "dead" });
    const { turn } = await host.thread().resume();
    expect((await present(turn)).text).toBe("answer 1");
  });
});

describe("what was resumed", () => {
  test("can be awaited and iterated, and so can what waited behind it", async () => {
    const model = held();
    const first = stage({ machine: queue, script: [model.step] });
    void first.host.ask("one", { askId: "a" });
    void first.host.ask("two", { askId: "b" });
    await settle();
    await first.host.close();
    const second = first.another({ script: [says("1"), says("2")] });
    const { threadId, turn, queued } = await second.host.thread().resume();
    expect(threadId).toBe("default");
    const parts = (await partsOf(present(turn))).map(({ type }) => type);
    expect(parts).toEqual(["step.started", "text.delta", "step.ended", "turn.ended"]);
    expect(await turn).toMatchObject({ askId: "a", turn: 1, text: "1" });
    await first.clock.advance(1);
    expect(await Promise.all(queued)).toMatchObject([{ askId: "b", turn: 2, text: "2" }]);
    expect(await second.host.thread().resume()).toEqual({ threadId: "default", turn: null, queued: [] });
  });

  test("can be aborted", async () => {
    const first = stage({ script: [held().step] });
    void first.host.ask("one", { askId: "a" });
    await settle();
    await first.host.close();
    const second = first.another({ script: [held().step] });
    const { turn } = await second.host.thread().resume();
    present(turn).abort("enough");
    expect(await errorOf(present(turn))).toMatchObject({ name: "TurnCancelledError" });
  });

  const dangerous = plain("dangerous", () => "done", { approval: "always" });

  test("by an approval can be awaited, wherever the turn was asked", async () => {
    const first = stage({ tools: [dangerous], idleMs: 1_000, script: [calls(["dangerous", {}])] });
    const asked = errorOf(first.host.ask("go", { askId: "a" }));
    await settle();
    await first.host.close();
    expect(await asked).toMatchObject({ name: "ThreadClosedError" });
    const second = first.another({ script: [says("did it")] });
    const thread = second.host.thread();
    const [request] = await thread.approvals();
    const { turn, queued } = await thread.approve(request?.id ?? "");
    const types = (await partsOf(present(turn))).map(({ type }) => type);
    expect(types).toEqual([
      "approval.requested",
      "toolResult",
      "step.ended",
      "step.started",
      "text.delta",
      "step.ended",
      "turn.ended",
    ]);
    expect(await turn).toMatchObject({ askId: "a", text: "did it" });
    expect(queued).toEqual([]);
  });

  test("by a denial, or an inbox item for the host that holds the thread, as well", async () => {
    const first = stage({ tools: [dangerous], script: [calls(["dangerous", {}]), says("I did not")] });
    const asked = first.host.ask("go", { askId: "a" });
    await settle();
    const second = first.another({ script: [] });
    const [request] = await second.host.thread().approvals();
    const denying = second.host.thread().deny(request?.id ?? "");
    await first.clock.advance(1_000);
    const { turn } = await denying;
    await first.clock.advance(1_000);
    expect(await turn).toMatchObject({ askId: "a", text: "I did not" });
    expect((await asked).text).toBe("I did not");
  });

  test("keeps no thread open while it is not awaited, and is found again when it is", async () => {
    const script = [calls(["dangerous", {}], ["dangerous", { again: true }])];
    const first = stage({ tools: [dangerous], idleMs: 1_000, script });
    const asked = errorOf(first.host.ask("go", { askId: "a" }));
    await settle();
    await first.host.close();
    await asked;
    const second = first.another({ script: [says("did both")] });
    const thread = second.host.thread();
    const [one, other] = await thread.approvals();
    const { turn } = await thread.approve(one?.id ?? "");
    await first.clock.advance(2_000);
    // The other approval may take days.
    expect(first.clock.sleepers).toBe(0);
    const result = present(turn).then(({ text }) => text);
    await settle();
    await second.host.thread().approve(other?.id ?? "");
    expect(await result).toBe("did both");
  });
});
