// A host takes the lease of a thread that it follows, after the holder is gone.
import type { Event } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { gated, overriding } from "../gated-store.ts";
import { mortal } from "../mortal-store.ts";
import { asking, paying } from "../paying.ts";
import { during, errorOf, held, inboxOf, queue, says, settle, stage, stored, texts } from "../stage.ts";

/** Longer than any of these tests. */
const idleMs = 1_000_000;

/** Returns a store in which a dead host holds the lease of a thread with one turn, for a second. */
const abandoned = async () => {
  const { clock, inner } = stored();
  const first = stage({ clock, store: inner, script: [says("1")] });
  await first.host.ask("one");
  await first.host.close();
  expect(await inner.acquire("default", "dead", 1_000)).not.toBeNull();
  return { clock, inner };
};

describe("a host that follows a thread whose holder is gone", () => {
  test("tells its asker that the wait ended as soon as it has the lease, before it writes anything", async () => {
    const { clock, inner } = await abandoned();
    const gate = gated(inner);
    const { host } = stage({ clock, store: gate.store, owner: "second", script: [says("2")] });
    const shown: string[] = [];
    const asked = host.ask("two");
    const reading = (async () => {
      for await (const { type } of asked) shown.push(type);
    })();
    await clock.advance(900);
    expect(shown).toEqual(["wait.started"]);
    await clock.advance(400);
    expect([gate.waiting, shown]).toEqual([["ask.received"], ["wait.started", "wait.ended"]]);
    await gate.pass();
    await gate.pass();
    await reading;
    expect((await asked).text).toBe("2");
  });

  test("keeps the lease that it requested, although the request is still in the inbox", async () => {
    const { clock, inner } = await abandoned();
    const { host } = stage({ clock, store: inner, owner: "second", idleMs, script: [] });
    await during(clock, 2_000, host.thread().setMetadata({ tagged: true }));
    for (let polls = 0; polls < 5; polls++) {
      await clock.advance(200);
      expect(await inner.acquire("default", "third", 1)).toBeNull();
    }
    expect(await inboxOf(inner).unanswered("default")).toEqual([]);
  });

  test("does not try for the lease after it was closed", async () => {
    const { clock, inner } = await abandoned();
    const owners: string[] = [];
    const store = overriding(inner, {
      acquire: (threadId, owner, ttlMs) => {
        owners.push(owner);
        return inner.acquire(threadId, owner, ttlMs);
      },
    });
    const { host } = stage({ clock, store, owner: "second", script: [] });
    const refused = errorOf(host.ask("two"));
    await clock.advance(900);
    expect(owners).not.toEqual([]);
    owners.splice(0);
    await host.close();
    await clock.advance(2_000);
    expect(await refused).toMatchObject({ name: "ThreadClosedError" });
    expect([owners, clock.sleepers]).toEqual([[], 0]);
  });

  test("fails a refused call with the error of the store if the refusal could not be stored", async () => {
    for (const fails of [true, false]) {
      const { clock, inner } = stored();
      const inbox = inboxOf(inner);
      const cause = new Error("disk full");
      const dying = mortal(inner);
      const { pay } = paying();
      const first = asking({ clock, store: dying.store, owner: "first", tools: [pay] });
      first.host.ask("pay 5").catch(() => {});
      await settle();
      dying.die();
      const store = overriding(inner, {
        inbox: { ...inbox, answer: (...given) => (fails ? Promise.reject(cause) : inbox.answer(...given)) },
      });
      const second = asking({ clock, store, owner: "second", tools: [pay], onObserverError: () => {} });
      const [request] = await second.host.thread().approvals();
      const refused = errorOf(second.host.thread().deny(request?.id ?? "", { digest: "other" }));
      await clock.advance(40_000);
      expect(await refused).toMatchObject(
        fails ? { name: "StoreError", cause } : { name: "EventRefusedError", refusal: { kind: "invalid" } },
      );
    }
  });
});

test("a host that posts no asks handles its own before the inbox items that others left meanwhile", async () => {
  const first = stage({ idleMs, machine: queue, script: [says("1")] });
  await first.host.ask("one");
  const second = first.another({ whenHeld: "reject", script: [says("2"), says("3")] });
  const two = second.host.ask("two");
  await settle();
  const event: Event = { type: "ask.received", at: first.clock.now(), askId: "c", input: "three" };
  await inboxOf(first.store).post("default", { id: "item", event });
  expect(await during(first.clock, 2_000, two)).toMatchObject({ turn: 2, text: "2" });
  expect((await texts(second.host.thread())).slice(2)).toEqual(["two", "2", "three", "3"]);
});

test("an ask that is repeated on a host that follows its thread gets the turn that answered it", async () => {
  const [one, three] = [held(), held()];
  const first = stage({ idleMs, machine: queue, script: [one.step, says("2"), three.step] });
  void first.host.ask("one").catch(() => {});
  await settle();
  const second = first.another({ script: [] });
  const two = second.host.ask("two", { askId: "b" });
  await first.clock.advance(400);
  // So the holder stays busy.
  void first.host.ask("three").catch(() => {});
  one.answer(says("1"));
  await first.clock.advance(400);
  expect(await two).toMatchObject({ turn: 2, text: "2" });
  const again = second.host.ask("two", { askId: "b" });
  expect(await during(first.clock, 1_000, again)).toMatchObject({ turn: 2, text: "2" });
});

describe("a host that is closed", () => {
  /** Returns a host with an open turn that has one item in its inbox, whose answers are recorded. */
  const answering = async (answer: (write: () => Promise<void>) => Promise<void>) => {
    const { clock, inner } = stored();
    const inbox = inboxOf(inner);
    const written: (readonly string[])[] = [];
    const store = overriding(inner, {
      inbox: {
        ...inbox,
        answer: (lease, answers) => {
          written.push(answers.map(({ id }) => id));
          return answer(() => inbox.answer(lease, answers));
        },
      },
    });
    const { host } = stage({ clock, store, pollMs: 1_000, script: [held().step], onObserverError: () => {} });
    host.ask("one").catch(() => {});
    await settle();
    await inbox.post("default", { id: "item", event: { type: "cancel.requested", at: 1, askId: "nobody" } });
    await clock.advance(1_000);
    expect(written).toEqual([["item"]]);
    return { host, inbox, written };
  };

  test("writes the answer to an inbox item that its store failed to write before", async () => {
    let fails = true;
    const { host, inbox } = await answering((write) => (fails ? Promise.reject(new Error("disk full")) : write()));
    expect(await inbox.answerTo("default", "item")).toBeNull();
    fails = false;
    await host.close();
    expect(await inbox.answerTo("default", "item")).toMatchObject({ handled: false });
  });

  test("waits for the answer to an inbox item that is being written, and does not write it twice", async () => {
    const gate = Promise.withResolvers<void>();
    const { host, inbox, written } = await answering((write) => gate.promise.then(write));
    let isClosed = false;
    const closing = host.close().then(() => (isClosed = true));
    await settle();
    expect([isClosed, written.length]).toEqual([false, 1]);
    gate.resolve();
    await closing;
    expect(written).toHaveLength(1);
    expect(await inbox.answerTo("default", "item")).toMatchObject({ handled: false });
  });
});
