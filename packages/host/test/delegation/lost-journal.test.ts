// Stores that come back with an older copy of their data, like a server restored from a dump.
import type { Entry } from "@colloquy/machine";
import type { Inbox } from "@colloquy/host/store";
import { memoryStore, type Store } from "@colloquy/host";
import { expect, test } from "vitest";
import { overriding } from "../gated-store.ts";
import {
  entriesOf,
  held,
  inboxOf,
  manualClock,
  partsOf,
  says,
  settle,
  stage,
  type ManualClock,
  stored,
} from "../stage.ts";

/** Makes a store that can be replaced while it is used. */
const replaceable = (
  clock: ManualClock,
): { readonly store: Store; readonly restore: (left: number) => Promise<void> } => {
  let inner = memoryStore({ clock });
  const store = overriding(inner, {
    acquire: (...given) => inner.acquire(...given),
    renew: (...given) => inner.renew(...given),
    release: (...given) => inner.release(...given),
    append: (...given) => inner.append(...given),
    read: (...given) => inner.read(...given),
    readSnapshot: (...given) => inner.readSnapshot(...given),
    saveSnapshot: (...given) => inner.saveSnapshot(...given),
    inbox: {
      post: (...given) => inboxOf(inner).post(...given),
      unanswered: (...given) => inboxOf(inner).unanswered(...given),
      waiting: () => inboxOf(inner).waiting(),
      answer: (...given) => inboxOf(inner).answer(...given),
      answerTo: (...given) => inboxOf(inner).answerTo(...given),
      discard: (...given) => inboxOf(inner).discard(...given),
    },
  });
  return {
    store,
    restore: async (left) => {
      const older = memoryStore({ clock });
      const lease = await older.acquire("default", "restorer", 1_000);
      // These tests only store entries.
      const entries = (await inner.read("default")).slice(0, left) as readonly Entry[];
      if (lease === null) throw new Error("no lease");
      await older.append(lease, -1, entries);
      await older.release(lease);
      inner = older;
    },
  };
};

/** Makes a store that refuses leases until `isOver`. */
const giving = (store: Store, isOver: () => boolean): Store =>
  overriding(store, { acquire: async (...given) => (isOver() ? store.acquire(...given) : null) });

const machine = { overlap: { type: "queue", max: 5 } } as const;

test.each([1, 3, 4, 5])(
  "asks of two hosts are answered, once, when the store has lost all but %i entries of the journal",
  async (left) => {
    const clock = manualClock();
    const { store, restore } = replaceable(clock);
    const out = held();
    const first = stage({ clock, store, machine, script: [says("1"), out.step, ...Array(4).fill(says("more"))] });
    expect((await first.host.ask("one")).text).toBe("1");
    const second = first.another({ script: Array(4).fill(says("more")) });
    const asks = [first.host.ask("two", { askId: "two" })];
    await settle();
    asks.push(second.host.ask("three", { askId: "three" }));
    await clock.advance(1_000);
    expect(await entriesOf(store)).toHaveLength(5);
    await restore(left);
    out.answer(says("lost"));
    await clock.advance(100_000);
    const outcomes = await Promise.all(
      asks.map((ask) => Promise.race([ask.then(({ text }) => text, String), settle()])),
    );
    expect(outcomes).toEqual([expect.stringMatching(/more|lost/), "more"]);
    const asked = (await entriesOf(store)).flatMap(({ event }) => (event.type === "ask.received" ? [event.askId] : []));
    expect(asked.filter((askId) => askId === "two")).toHaveLength(1);
    expect(asked.filter((askId) => askId === "three")).toHaveLength(1);
  },
);

test("the shown parts of a lost turn are reported as void", async () => {
  const clock = manualClock();
  const { store, restore } = replaceable(clock);
  const out = held();
  const first = stage({ clock, store, script: [says("1"), out.step] });
  await first.host.ask("one");
  let isLost = false;
  const second = stage({ clock, store: giving(store, () => isLost), owner: "second", script: [says("2")] });
  const asked = second.host.ask("two");
  await clock.advance(2_000);
  expect(asked).toMatchObject({ turn: 2 });
  await restore(3);
  isLost = true;
  out.answer(says("lost"));
  await clock.advance(100_000);
  expect((await asked).text).toBe("2");
  expect((await partsOf(asked)).map(({ type }) => type)).toContain("thread.lost");
});

/** Makes a store whose inbox runs `then` when the answer to an item is read. */
const onAnswer = (store: Store, then: () => Promise<void>): Store => {
  const { inbox } = store;
  if (inbox === undefined) throw new Error("no inbox");
  const answerTo: Inbox["answerTo"] = async (...given) => {
    const answer = await inbox.answerTo(...given);
    if (answer !== null) await then();
    return answer;
  };
  return overriding(store, { inbox: { ...inbox, answerTo } });
};

test("an ask whose inbox item was answered, and whose entry is lost before its asker has read it, is asked again", async () => {
  const clock = manualClock();
  const { store, restore } = replaceable(clock);
  let restored = 0;
  const losing = onAnswer(store, async () => {
    if (restored++ === 0) await restore(3);
  });
  const first = stage({ clock, store: losing, script: [says("1"), says("lost")] });
  await first.host.ask("one");
  const given = giving(losing, () => restored > 0);
  const second = stage({ clock, store: given, owner: "second", script: [says("2")] });
  const asked = second.host.ask("two", { askId: "two" });
  await clock.advance(100_000);
  expect(restored).toBeGreaterThan(0);
  expect(await Promise.race([asked.then(({ text }) => text, String), settle()])).toBe("2");
});

test("an ask that a store loses repeatedly fails with an error", async () => {
  const { clock, inner } = stored();
  const store = overriding(inner, {
    append: async (lease, expectedSeq, entries) => {
      if (expectedSeq < 2) await inner.append(lease, expectedSeq, entries);
    },
  });
  const first = stage({ clock, store, idleMs: 1_000_000, script: [says("1"), held().step] });
  await first.host.ask("one");
  const second = stage({ clock, store: giving(store, () => false), owner: "second" });
  const asked = second.host.ask("two", { askId: "two" });
  await clock.advance(100_000);
  expect(await Promise.race([asked.then(({ text }) => text, String), settle()])).toBe(
    'StoreError: thread "default": the store failed to keep the ask: it took it, and lost it again',
  );
});
