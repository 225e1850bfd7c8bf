import type { Store } from "@colloquy/host";
import { ConfigurationError } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { overriding } from "../gated-store.ts";
import { mortal } from "../mortal-store.ts";
import { asking, paying } from "../paying.ts";
import { calls, countingIds, errorOf, held, journalOf, partsOf, says, settle, answered, stored } from "../stage.ts";

const day = 86_400_000;

describe("a tool call that needs approval", () => {
  test("waits for days and for no process, is answered from another, and runs once", async () => {
    const { runs, pay } = paying({ recovery: "once" });
    const first = asking({ tools: [pay] });
    const asked = first.host.ask("pay 5", { askId: "a" });
    const waiting = errorOf(asked);
    await settle();
    expect(runs).toEqual([]);
    await first.host.close();
    expect(await waiting).toMatchObject({ name: "ThreadClosedError" });
    await first.clock.advance(3 * day);

    const second = first.another({ script: [says("done")] });
    const thread = second.host.thread();
    const [request] = await thread.approvals();
    expect(request).toMatchObject({ name: "pay", arguments: { amount: 5 }, because: "declared", callId: "1.1.0" });
    await thread.approve(request?.id ?? "", { by: "ann", digest: request?.digest ?? "" });
    expect((await second.host.ask("pay 5", { askId: "a" })).text).toBe("done");
    expect(runs).toEqual([{ input: { amount: 5 }, key: "default/1.1.0#1" }]);
    expect(await thread.approvals()).toEqual([]);
    expect(await journalOf(first.store)).toEqual([
      ...answered,
      "tool.withheld",
      "approval.answered",
      "tool.started",
      "tool.completed",
      "llm.completed",
    ]);
  });

  test("is let go of when it is not awaited here, and needs no lease to be looked at", async () => {
    const { pay } = paying();
    const first = asking({ tools: [pay], idleMs: 1_000 });
    const asked = first.host.ask("pay 5");
    asked.catch(() => {});
    await first.clock.advance(100_000);
    const second = first.another({ script: [says("done")] });
    // A handle waits, so the thread stays leased.
    expect(first.clock.sleepers).toBeGreaterThan(0);
    expect(await second.host.thread().approvals()).toHaveLength(1);
    await first.host.close();
    await second.host
      .thread()
      .annotate(1, "x", 1)
      .catch(() => {});
    await first.clock.advance(1_000);
    expect(first.clock.sleepers).toBe(0);
  });

  test("is answered from another host while this one holds the thread for a waiting caller", async () => {
    const { runs, pay } = paying();
    const first = asking({ tools: [pay] });
    const asked = first.host.ask("pay 5");
    await settle();
    const there = first.another({ script: [] }).host.thread();
    const [request] = await there.approvals();
    const approved = there.approve(request?.id ?? "", { by: "ann" });
    await first.clock.advance(1_000);
    await approved;
    expect((await asked).text).toBe("done");
    expect(runs).toHaveLength(1);
    const refused = errorOf(there.deny(request?.id ?? ""));
    await first.clock.advance(1_000);
    expect(await refused).toMatchObject({ refusal: { kind: "stale" } });
  });

  test.each([
    ["died before it said so", 0],
    ["died before it said so, and the inbox cannot be read then", 1],
  ])("is approved for who did so, though the host that took the answer %s", async (_, failures) => {
    const { runs, pay } = paying({ recovery: "once" });
    const { clock, inner } = stored();
    const ids = countingIds();
    const { store, die } = mortal(inner);
    let unread = 0;
    const append: Store["append"] = async (...given) => {
      await store.append(...given);
      if (given[2].every(({ event }) => event.type !== "approval.answered")) return;
      die();
      unread = failures;
    };
    const other = readingInbox(inner, async () => {
      if (unread-- > 0) throw new Error("no answer");
    });
    const first = asking({ clock, ids, tools: [pay], store: overriding(store, { append }) });
    first.host.ask("pay 5").catch(() => {});
    await settle();
    const there = asking({ clock, tools: [pay], store: other, ids, script: [says("done")] }).host.thread();
    const [request] = await there.approvals();
    const approved = there.approve(request?.id ?? "");
    await first.clock.advance(60_000);
    expect((await (await approved).turn)?.text).toBe("done");
    expect(runs).toHaveLength(1);
  });

  test("is approved for who did so, though the store answered neither the append nor the read after it", async () => {
    const { pay } = paying({ recovery: "once" });
    const { clock, inner } = stored();
    const ids = countingIds();
    let isLost = false;
    let reads = 0;
    const store = overriding(inner, {
      append: async (...given) => {
        await inner.append(...given);
        if (isLost || given[2].every(({ event }) => event.type !== "approval.answered")) return;
        isLost = true;
        throw new Error("no answer");
      },
      read: async (...given) => {
        if (isLost && ++reads === 2) throw new Error("no answer");
        return inner.read(...given);
      },
    });
    const first = asking({ clock, ids, tools: [pay], store });
    const ask = () => first.host.ask("pay 5", { askId: "a" });
    ask().catch(() => ask().catch(() => {}));
    await settle();
    const there = asking({ clock, tools: [pay], store: inner, ids }).host.thread();
    const [request] = await there.approvals();
    const approved = there.approve(request?.id ?? "");
    approved.catch(() => {});
    await clock.advance(60_000);
    expect(reads).toBe(2);
    expect(await approved).toMatchObject({ threadId: "default" });
  });

  test("is not approved from a host without its tool, which would continue the thread", async () => {
    const { runs, pay } = paying();
    const first = asking({ tools: [pay] });
    first.host.ask("pay 5", { askId: "a" }).catch(() => {});
    await settle();
    const [request] = await first.host.thread().approvals();
    await first.host.close();
    const before = await journalOf(first.store);
    const unother = first.another({ tools: [], script: [] });
    const attempt = () => errorOf(unother.host.thread().approve(request?.id ?? ""));
    const error = await attempt();
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({
      message: expect.stringMatching(/^this host has no tool "pay": answer on a host that has it/),
    });
    expect(await journalOf(first.store)).toEqual(before);
    // Also while the thread is open.
    await unother.host
      .thread()
      .resume()
      .catch(() => {});
    expect(await attempt()).toBeInstanceOf(ConfigurationError);
    expect(await journalOf(first.store)).not.toContain("approval.answered");
    expect(await errorOf(unother.host.thread().approve("nothing"))).toMatchObject({ name: "EventRefusedError" });
    await unother.host.close();
    const other = first.another({ script: [says("done")] });
    await other.host.thread().approve(request?.id ?? "");
    expect((await other.host.ask("pay 5", { askId: "a" })).text).toBe("done");
    expect(runs).toHaveLength(1);
  });

  test("is approved or denied: of two inbox items of one moment the second is refused", async () => {
    const { runs, pay } = paying({ recovery: "once" });
    const first = asking({ tools: [pay] });
    const asked = first.host.ask("pay 5");
    await settle();
    const [one, other] = [first.another({ script: [] }).host.thread(), first.another({ script: [] }).host.thread()];
    const [request] = await one.approvals();
    const approved = one.approve(request?.id ?? "", { by: "bob" });
    await settle();
    const denied = errorOf(other.deny(request?.id ?? "", { by: "carol" }));
    await first.clock.advance(3_000);
    await approved;
    expect(await denied).toMatchObject({ name: "EventRefusedError", refusal: { kind: "stale" } });
    await asked;
    expect(runs).toHaveLength(1);
  });

  test("is shown to an asker by way of the inbox", async () => {
    const { pay } = paying();
    const model = held();
    const machine = { overlap: { type: "queue", max: 1 } } as const;
    const script = [model.step, calls(["pay", { amount: 5 }])];
    const first = asking({ tools: [pay], machine, script });
    const open = first.host.ask("hold the thread");
    await settle();
    const other = first.another({ script: [says("done")] });
    const asked = other.host.ask("pay 5");
    await first.clock.advance(2_000);
    model.answer(says("1"));
    expect((await open).turn).toBe(1);
    await first.clock.advance(2_000);
    const [request] = await other.host.thread().approvals();
    const approved = other.host.thread().approve(request?.id ?? "");
    await first.clock.advance(2_000);
    await approved;
    const parts = await partsOf(asked);
    expect(parts.filter(({ type }) => type === "approval.requested")).toEqual([
      { type: "approval.requested", turn: 2, step: 1, request },
    ]);
    expect((await asked).text).toBe("done");
  });
});

/** Replaces a store's inbox by one that is read after a task. */
const readingInbox = (inner: Store, before: () => Promise<void>): Store => {
  const { inbox } = inner;
  if (inbox === undefined) return inner;
  return overriding(inner, {
    inbox: {
      post: (...given) => inbox.post(...given),
      unanswered: async (...given) => {
        await before();
        return inbox.unanswered(...given);
      },
      waiting: () => inbox.waiting(),
      answer: (...given) => inbox.answer(...given),
      answerTo: (...given) => inbox.answerTo(...given),
      discard: (...given) => inbox.discard(...given),
    },
  });
};
