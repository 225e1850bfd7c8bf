import type { Event } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { type Inbox, LeaseLostError } from "@colloquy/host/store";
import { readAnswer } from "../../src/delegation/inbox-items.ts";
import { overriding } from "../gated-store.ts";
import { mortal } from "../mortal-store.ts";
import { errorOf, held, journalOf, says, settle, stage, stored, inboxOf } from "../stage.ts";

/** Makes a memory store with some changed inbox methods. */
const withInbox = (change: (inner: Inbox) => Partial<Inbox>) => {
  const { clock, inner } = stored();
  const inbox = inboxOf(inner);
  return { clock, inner, store: overriding(inner, { inbox: { ...inbox, ...change(inbox) } }) };
};

const asks = (askId: string): Event => ({ type: "ask.received", at: 1, askId, input: askId });

describe("an inbox item that can't be read", () => {
  const stray: readonly unknown[] = [
    null,
    "no inbox item",
    [],
    { event: asks("nameless") },
    { id: 7, event: asks("numbered") },
    { id: "bare" },
    { id: "strange", event: { type: "no.such.event", at: 1 } },
    { id: "misled", event: { type: "system.reset", at: 1 } },
  ];

  test("is refused or skipped, and reported once, and the others continue", async () => {
    const answered: string[] = [];
    const reported: string[] = [];
    const { clock, inner, store } = withInbox((inbox) => ({
      unanswered: async (threadId) => [
        ...stray.filter((each) => !answered.includes(String(Object(each).id))),
        ...(await inbox.unanswered(threadId)),
      ],
      answer: async (lease, answers) => {
        for (const { id } of answers) answered.push(id);
        await inbox.answer(lease, answers);
      },
    }));
    await inboxOf(inner).post("default", { id: "sound", event: asks("a") });
    const { host } = stage({
      clock,
      store,
      machine: { overlap: { type: "queue", max: 8 } },
      script: [says("1"), says("2")],
      onObserverError: (error, where) => reported.push(`${where}: ${String(error)}`),
    });
    expect((await host.ask("hi")).text).toBe("1");
    await clock.advance(2_000);
    expect((await host.thread().asked("a"))?.status).toBe("completed");
    expect(answered.toSorted()).toEqual(["bare", "misled", "sound", "strange"]);
    expect(reported).toEqual([
      'inbox: Error: thread "default": an inbox item without an id can\'t be answered, and stays',
      expect.stringContaining('inbox item "bare" was refused: '),
      expect.stringContaining('inbox item "strange" was refused: '),
      expect.stringContaining('inbox item "misled" was refused: "system.reset" can\'t be left as an inbox item'),
    ]);
  });

  test("does not keep the thread from opening, nor does an inbox without a list", async () => {
    const reported: string[] = [];
    // JavaScript may return anything.
    const { clock, store } = withInbox(() => ({ unanswered: async () => "letters" as unknown as readonly unknown[] }));
    const { host } = stage({
      clock,
      store,
      script: [says("1")],
      onObserverError: (error) => reported.push(String(error)),
    });
    expect((await host.ask("hi")).text).toBe("1");
    expect(reported).toEqual([expect.stringContaining("it gave string, not a list of inbox items")]);
  });
});

test("a refused ask fails with the error of the store if its refusal could not be stored", async () => {
  const cause = new Error("disk full");
  let isFull = true;
  const { clock, inner, store } = withInbox((inbox) => ({
    answer: async (...given) => {
      if (isFull) throw cause;
      await inbox.answer(...given);
    },
  }));
  const dying = mortal(inner);
  const first = stage({ clock, store: dying.store, owner: "first", script: [held().step] });
  void first.host.ask("one", { askId: "a" });
  await settle();
  dying.die();
  const second = stage({ clock, store, owner: "second", script: [held().step] });
  const refused = errorOf(second.host.ask("two", { askId: "b" }));
  await clock.advance(400);
  expect(await inboxOf(inner).unanswered("default")).toHaveLength(1);
  await clock.advance(40_000);
  expect(await refused).toMatchObject({ name: "StoreError", cause });
  isFull = false;
  await clock.advance(1_000);
  expect(await inboxOf(inner).unanswered("default")).toEqual([]);
});

test("an ask that is refused while its inbox has other asks leaves those for the next poll", async () => {
  const { clock, inner, store } = withInbox(() => ({}));
  const model = held();
  const { host } = stage({ clock, store, pollMs: 1_000, script: [model.step, says("2")] });
  const first = host.ask("one");
  await settle();
  const event: Event = { type: "ask.received", at: clock.now(), askId: "b", input: "b", overlap: "queue" };
  await inboxOf(inner).post("default", { id: "item", event });
  expect(await errorOf(host.ask("two", { askId: "c" }))).toMatchObject({ refusal: { kind: "busy" } });
  await clock.advance(1_000);
  expect((await host.thread().asked("b"))?.status).toBe("queued");
  model.answer(says("1"));
  await first;
});

test("an ask fails if the inbox, in which it may be repeated, can't be read when it is refused", async () => {
  let isAway = false;
  const { clock, store } = withInbox((inbox) => ({
    unanswered: async (threadId) => {
      if (isAway) throw new Error("away");
      return inbox.unanswered(threadId);
    },
  }));
  const { host } = stage({ clock, store, script: [held().step] });
  host.ask("one").catch(() => {});
  await settle();
  isAway = true;
  const refused = errorOf(host.ask("two", { askId: "b" }));
  expect(String(await Promise.race([refused, clock.advance(1_000)]))).toContain("away");
});

test("the host writes an answer at the next poll after the store failed to write it", async () => {
  const answered: string[] = [];
  let fails = true;
  const reported: string[] = [];
  const { clock, inner, store } = withInbox((inbox) => ({
    answer: async (lease, answers) => {
      if (fails) throw new Error("the disk is full");
      for (const { id } of answers) answered.push(id);
      await inbox.answer(lease, answers);
    },
  }));
  const model = held();
  const { host } = stage({
    clock,
    store,
    machine: { overlap: { type: "queue", max: 8 } },
    script: [model.step],
    onObserverError: (error, where) => reported.push(`${where}: ${String(error)}`),
  });
  void host.ask("hi");
  await settle();
  await inboxOf(inner).post("default", { id: "letter", event: asks("a") });
  await clock.advance(1_000);
  expect([answered, reported[0]]).toEqual([[], expect.stringContaining("the disk is full")]);
  fails = false;
  await clock.advance(1_000);
  expect(answered).toEqual(["letter"]);
});

test("the host reports an inbox that it can't read once, and again after it could read it meanwhile", async () => {
  const reported: string[] = [];
  let isAway = true;
  const { clock, store } = withInbox(() => ({
    waiting: async () => ["default"],
    unanswered: async () => {
      if (isAway) throw new Error("away");
      return [];
    },
  }));
  const { host } = stage({
    clock,
    store,
    script: [held().step],
    onObserverError: (error) => reported.push(String(error)),
  });
  host.ask("hi").catch(() => {});
  await clock.advance(1_000);
  expect(reported).toEqual([expect.stringContaining("away")]);
  isAway = false;
  await clock.advance(200);
  isAway = true;
  await clock.advance(1_000);
  expect(reported).toHaveLength(2);
});

test("the host answers a repeated item at a later poll if it could not read the journal for it before", async () => {
  const reported: string[] = [];
  let isAway = false;
  const { clock, inner } = stored();
  const store = overriding(inner, {
    read: (...given) => (isAway ? Promise.reject(new Error("away")) : inner.read(...given)),
  });
  const { host } = stage({
    clock,
    store,
    script: [held().step],
    onObserverError: (error) => reported.push(String(error)),
  });
  host.ask("a", { askId: "a" }).catch(() => {});
  await settle();
  await inboxOf(inner).post("default", { id: "item", event: asks("a") });
  isAway = true;
  await clock.advance(200);
  expect(reported[0]).toContain("away");
  expect(await inboxOf(inner).answerTo("default", "item")).toBeNull();
  isAway = false;
  await clock.advance(200);
  expect(await inboxOf(inner).answerTo("default", "item")).toMatchObject({ handled: true, seq: 1 });
});

test("the host tries to delete one answer at a poll while its store fails to delete any", async () => {
  const reported: string[] = [];
  const { clock, inner, store } = withInbox(() => ({ discard: () => Promise.reject(new Error("away")) }));
  const { host } = stage({
    clock,
    store,
    script: [held().step],
    onObserverError: (error) => reported.push(String(error)),
  });
  host.ask("hi").catch(() => {});
  await settle();
  const event: Event = { type: "cancel.requested", at: 1, askId: "nobody" };
  for (const id of ["one", "two"]) await inboxOf(inner).post("default", { id, event });
  await clock.advance(5_199);
  expect(reported).toEqual([]);
  await clock.advance(1);
  expect(reported).toHaveLength(1);
  await clock.advance(200);
  expect(reported).toHaveLength(2);
});

describe("an answer that no host fetches", () => {
  /** Makes a busy host, whose store notes the deleted inbox items. */
  const busy = async () => {
    const discarded: string[] = [];
    const { clock, inner, store } = withInbox((inbox) => ({
      discard: async (threadId, id) => {
        discarded.push(id);
        await inbox.discard(threadId, id);
      },
    }));
    const { host } = stage({ clock, store, pollMs: 200, script: [held().step] });
    host.ask("hi").catch(() => {});
    await settle();
    return { clock, host, discarded, inbox: inboxOf(inner) };
  };
  const stray = (askId: string): Event => ({ type: "cancel.requested", at: 1, askId });

  test("is deleted after 25 polls, and its item is handled again if it is posted again", async () => {
    const { clock, host, discarded, inbox } = await busy();
    await inbox.post("default", { id: "letter", event: stray("a") });
    await clock.advance(5_199);
    expect([discarded, await inbox.answerTo("default", "letter")]).toEqual([[], expect.anything()]);
    await clock.advance(1);
    expect([discarded, await inbox.answerTo("default", "letter")]).toEqual([["letter"], null]);
    await inbox.post("default", { id: "letter", event: stray("a") });
    await clock.advance(200);
    expect(await inbox.answerTo("default", "letter")).toMatchObject({ handled: false });
    await host.close();
  });

  test("is deleted earlier if more than 1024 newer ones are kept", async () => {
    const { clock, host, discarded, inbox } = await busy();
    for (let item = 0; item < 1_025; item++) await inbox.post("default", { id: `${item}`, event: stray("a") });
    await clock.advance(400);
    expect(discarded).toEqual(["0"]);
    await host.close();
  });
});

describe("a lease that was lost when an inbox item is answered", () => {
  /** Returns a holder with an open turn, whose lease is lost as it answers an ask's inbox item. */
  const losing = async (whenHeld: "enqueue" | "reject") => {
    const reported: unknown[] = [];
    let lost = false;
    const { clock, inner, store } = withInbox((inbox) => ({
      answer: async (lease, answers) => {
        const isFirst = !lost;
        lost ||= answers.some(({ id }) => id === "letter");
        if (isFirst && lost) throw new LeaseLostError(lease);
        await inbox.answer(lease, answers);
      },
    }));
    const model = held();
    const { host } = stage({
      clock,
      store,
      whenHeld,
      script: [model.step, says("done")],
      onObserverError: (error) => reported.push(error),
    });
    void host.ask("one", { askId: "a" });
    await settle();
    await inboxOf(inner).post("default", { id: "letter", event: asks("b") });
    return { host, store: inner, clock, reported };
  };

  test("is the asker's answer, instead of a store failure", async () => {
    const { host, reported } = await losing("reject");
    expect(await errorOf(host.ask("b", { askId: "b" }))).toBeInstanceOf(LeaseLostError);
    expect(reported).toEqual([]);
  });

  test("ends the loop, and the ask continues at the new holder", async () => {
    const { host, store, reported } = await losing("enqueue");
    expect(await errorOf(host.ask("b", { askId: "b" }))).toMatchObject({ refusal: { kind: "busy" } });
    // The open turn continued, too.
    expect(await journalOf(store)).toEqual(["thread.started", "ask.received", "llm.completed"]);
    expect(await inboxOf(store).answerTo("default", "letter")).toMatchObject({ handled: false });
    expect(reported).toEqual([]);
  });
});

const refused = (refusal: unknown) => readAnswer({ id: "a", handled: false, refusal });

test("a refusal is read unchanged", () => {
  const refusal = { kind: "stale", reason: "it was made before", turn: 3 };
  expect(refused(refusal)).toEqual({ id: "a", handled: false, refusal });
});

test.each([
  { refusal: undefined },
  { refusal: {} },
  { refusal: { kind: "odd", reason: "x" } },
  { refusal: { kind: "full" } },
])("$refusal can't be read, and its sender learns so", ({ refusal }) => {
  expect(refused(refusal)).toMatchObject({
    refusal: { kind: "invalid", reason: expect.stringMatching(/can't be read/) },
  });
});

test.each([null, {}, { id: "a" }, { id: "a", handled: true }])("%j is not an answer", (stored) => {
  expect(readAnswer(stored)).toBeNull();
});
