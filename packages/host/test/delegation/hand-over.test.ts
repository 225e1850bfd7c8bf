// An idle host leaves its thread to the host that is asked there.
import { describe, expect, test } from "vitest";
import { type Host, ThreadHeldError } from "@colloquy/host";
import type { Event } from "@colloquy/machine";
import { overriding } from "../gated-store.ts";
import { mortal } from "../mortal-store.ts";
import { asking, paying } from "../paying.ts";
import {
  calls,
  during,
  entriesOf,
  errorOf,
  held,
  inboxOf,
  journalOf,
  manualClock,
  partsOf,
  says,
  settle,
  stage,
  type StageOptions,
  stored,
  answered,
  queue,
} from "../stage.ts";

/** Longer than any of these tests. */
const idleMs = 1_000_000;

/** Calls that an inbox cannot hold, with the options of their host. */
const uses: readonly (readonly [string, StageOptions, (host: Host) => PromiseLike<unknown>])[] = [
  ["redacts", {}, (host) => host.thread().redact({ turn: 1 })],
  ["deletes", {}, (host) => host.thread().delete()],
  ["moves", {}, (host) => host.thread().moveTo(stage().host)],
  ["edits", {}, (host) => host.thread().append({ role: "user", content: "so" })],
  ["resumes", {}, (host) => host.thread().resume()],
  ["asks, and posts no asks,", { whenHeld: "reject" }, (host) => host.ask("two")],
];

describe("a thread that another host works on", () => {
  test.each(uses)(
    "is not given to a host that %s: its holder refuses that at its next poll",
    async (_, options, use) => {
      const model = held();
      const first = stage({ idleMs, script: [model.step] });
      const asked = first.host.ask("one");
      await settle();
      const second = first.another({ ...options, script: [] });
      expect(await during(first.clock, 400, errorOf(use(second.host)))).toBeInstanceOf(ThreadHeldError);
      model.answer(says("1"));
      expect((await asked).text).toBe("1");
      expect(await first.store.inbox?.unanswered("default")).toEqual([]);
      expect(await journalOf(first.store)).toEqual(["thread.started", "ask.received", "llm.completed"]);
    },
  );

  test.each(uses)("is not given to a host that %s if its holder is stalled", async (_, options, use) => {
    const { clock, inner: store } = stored();
    expect(await store.acquire("default", "stopped", 1_000_000)).not.toBeNull();
    const second = stage({ ...options, clock, store, owner: "second", script: [] });
    expect(await during(clock, 6_000, errorOf(use(second.host)))).toBeInstanceOf(ThreadHeldError);
    expect(await store.inbox?.unanswered("default")).toEqual([]);
    await second.host.close();
    expect(clock.sleepers).toBe(0);
  });

  test.each([true, false])(
    "is used in the order of the calls once its holder is gone (posts arrive: %s)",
    async (arrive) => {
      const first = stage({ script: [says("1")] });
      await first.host.ask("one");
      await first.host.close();
      expect(await first.store.acquire("default", "dead", 1_000)).not.toBeNull();
      const { inbox } = first.store;
      if (inbox === undefined) throw new Error("no inbox");
      const store = overriding(first.store, {
        inbox: { ...inbox, post: (...given) => (arrive ? inbox.post(...given) : Promise.reject(new Error("away"))) },
      });
      const { host } = stage({
        clock: first.clock,
        store,
        owner: "second",
        script: [says("2")],
        onObserverError: () => {},
      });
      // The cancel must not reach the later ask.
      const cancelled = errorOf(host.thread().cancel("stop"));
      const asked = host.ask("two");
      expect((await during(first.clock, 3_000, asked)).text).toBe("2");
      expect(await cancelled).toMatchObject({ refusal: { kind: "stale" } });
    },
  );

  test.each(uses)("is not given to a host that %s if the store has no inbox for requests", async (_, options, use) => {
    const first = stage({ idleMs, script: [held().step] });
    first.host.ask("one").catch(() => {});
    await settle();
    const { inbox: _inbox, ...store } = overriding(first.store, {});
    const second = stage({ ...options, clock: first.clock, store, owner: "second", script: [] });
    expect(await errorOf(use(second.host))).toBeInstanceOf(ThreadHeldError);
  });

  test("is given up by a host that closes while it waits for it", async () => {
    const { clock, inner: store } = stored();
    expect(await store.acquire("default", "stopped", 1_000_000)).not.toBeNull();
    const second = stage({ whenHeld: "reject", clock, store, owner: "second", script: [] });
    const refused = errorOf(second.host.ask("two"));
    await settle();
    await during(clock, 200, second.host.close());
    expect(await refused).toMatchObject({ name: "ThreadClosedError" });
    expect(await store.inbox?.unanswered("default")).toEqual([]);
    expect(clock.sleepers).toBe(0);
  });
});

describe("a thread that another host holds, and on which nothing happens", () => {
  test("is handed over for a request that was there before its holder opened it", async () => {
    const first = stage({ idleMs, script: [says("1")] });
    const event = { type: "cancel.requested", at: 0, askId: "request" } as const;
    await first.store.inbox?.post("default", { id: "request", event });
    await first.host.ask("one");
    expect(await first.store.inbox?.answerTo("default", "request")).toBeNull();
    expect(await first.store.acquire("default", "second", 1_000)).toBeNull();
    await first.clock.advance(400);
    expect(await first.store.acquire("default", "second", 1_000)).not.toBeNull();
    expect(await first.store.inbox?.answerTo("default", "request")).toBeNull();
  });

  test("is handed over to the host that is asked, which answers itself and shows all of its answer", async () => {
    const first = stage({ idleMs, script: [says("1"), says("3")] });
    await first.host.ask("one");
    const second = first.another({ script: [says("2")] });
    const asked = second.host.ask("two");
    await first.clock.advance(1_000);
    expect((await asked).text).toBe("2");
    expect(first.model.calls).toHaveLength(1);
    expect((await partsOf(asked)).map(({ type }) => type)).toEqual([
      "wait.started",
      "wait.ended",
      "turn.started",
      "step.started",
      "text.delta",
      "step.ended",
      "turn.ended",
    ]);
    // The thread also moves back.
    const again = first.host.ask("three");
    await first.clock.advance(1_000);
    expect((await again).text).toBe("3");
    expect(await first.store.inbox?.unanswered("default")).toEqual([]);
  });

  test("stays with its holder during a turn: the holder answers both", async () => {
    const model = held();
    const first = stage({ idleMs, machine: queue, script: [model.step, says("2")] });
    const one = first.host.ask("one");
    await settle();
    const second = first.another({ script: [] });
    const two = second.host.ask("two");
    await first.clock.advance(1_000);
    model.answer(says("1"));
    expect((await one).text).toBe("1");
    await first.clock.advance(1_000);
    expect((await two).text).toBe("2");
    expect(second.model.calls).toEqual([]);
  });

  test("is taken back, and its inbox answered, when the host that wanted it died", async () => {
    const { clock, inner } = stored();
    const first = stage({ clock, store: inner, idleMs, script: [says("1"), says("2")] });
    await first.host.ask("one");
    const { store, die } = mortal(inner);
    const second = stage({ clock, store, owner: "second", script: [] });
    void second.host.ask("two");
    await settle();
    die();
    await clock.advance(5_000);
    expect(await journalOf(inner)).toEqual([...answered, "ask.received", "llm.completed"]);
    expect(await inner.inbox?.unanswered("default")).toEqual([]);
  });

  test("is left free, without the request for it, when the host that requested it for a call of its own died", async () => {
    const { clock, inner } = stored();
    const first = stage({ clock, store: inner, idleMs, script: [says("1")] });
    await first.host.ask("one");
    const { store, die } = mortal(inner);
    const second = stage({ clock, store, owner: "second", script: [] });
    second.host
      .thread()
      .setMetadata({ tagged: true })
      .catch(() => {});
    await settle();
    expect(await inboxOf(inner).unanswered("default")).toHaveLength(1);
    die();
    await clock.advance(5_000);
    expect(await inboxOf(inner).unanswered("default")).toEqual([]);
    expect(await inner.acquire("default", "third", 1)).not.toBeNull();
    expect(await journalOf(inner)).toEqual(answered);
  });

  test("is looked after by the host that gave it up, which reports an inbox that it can't read", async () => {
    const { clock, inner } = stored();
    const inbox = inboxOf(inner);
    let isAway = false;
    const unanswered: typeof inbox.unanswered = async (threadId) => {
      if (isAway) throw new Error("away");
      return inbox.unanswered(threadId);
    };
    const reported: string[] = [];
    const { host } = stage({
      clock,
      store: overriding(inner, { inbox: { ...inbox, unanswered } }),
      idleMs,
      script: [says("1")],
      onObserverError: (error, where) => reported.push(`${where}: ${String(error)}`),
    });
    await host.ask("one");
    await inbox.post("default", { id: "item", event: { type: "cancel.requested", at: 0 } });
    await clock.advance(400);
    isAway = true;
    await clock.advance(5_000);
    expect(reported).toEqual([expect.stringContaining("away")]);
    expect(reported[0]).toMatch(/^store: /);
  });

  test("has one holder at a time, whose writes alone are taken", async () => {
    const { clock, inner } = stored();
    const tokens: number[] = [];
    const store = overriding(inner, {
      append: (lease, ...given) => {
        tokens.push(lease.token);
        return inner.append(lease, ...given);
      },
    });
    const script = Array.from({ length: 8 }, () => says("so"));
    const first = stage({ clock, store, idleMs, script });
    const second = first.another({ script });
    for (const host of [first.host, second.host, first.host, second.host]) {
      const asked = host.ask("next");
      await clock.advance(1_000);
      await asked;
    }
    expect(tokens).toEqual([...tokens].sort((one, other) => one - other));
    expect(new Set(tokens).size).toBe(4);
    expect((await entriesOf(inner)).map(({ seq }) => seq)).toEqual([...tokens.keys()].map((index) => index));
  });

  test("is handed over for the answer to an approval, which is shown to its asker once", async () => {
    const { runs, pay } = paying();
    const first = asking({ tools: [pay], idleMs, machine: queue, script: [held().step] });
    const other = first.another({ script: [calls(["pay", { amount: 5 }]), says("paid")] });
    const asked = other.host.ask("pay 5");
    await first.clock.advance(1_000);
    const [request] = await first.host.thread().approvals();
    const approved = first.host.thread().approve(request?.id ?? "");
    await first.clock.advance(1_000);
    await approved;
    expect((await asked).text).toBe("paid");
    expect(runs).toHaveLength(1);
    expect((await partsOf(asked)).filter(({ type }) => type === "approval.requested")).toHaveLength(1);
  });

  test.each(uses)("is given to a host that %s, also if that host follows it already", async (_, options, use) => {
    for (const follows of [false, true]) {
      const first = stage({ idleMs, machine: queue, script: [says("1"), says("2")] });
      await first.host.ask("one");
      const second = first.another({ ...options, script: [says("2")] });
      // An unknown ask is looked up in the holder's journal.
      if (follows) await during(first.clock, 400, errorOf(second.host.thread().rejoin("nobody")));
      await during(first.clock, 1_000, use(second.host));
      expect(await first.store.inbox?.unanswered("default")).toEqual([]);
      const three = first.another({ script: [says("3")] }).host.ask("three");
      expect((await during(first.clock, 1_000, three)).text).toBe("3");
    }
  });

  test("is not given up to be started: it exists", async () => {
    const first = stage({ idleMs, script: [says("1"), says("2")] });
    await first.host.ask("one");
    expect(await errorOf(first.another().host.thread().start())).toBeInstanceOf(ThreadHeldError);
    expect((await first.host.ask("two")).text).toBe("2");
  });

  test("is not given up for a recovery, which leaves threads to the hosts that hold them", async () => {
    const first = stage({ idleMs, script: [says("1")] });
    await first.host.ask("one");
    const posted: string[] = [];
    const { inbox } = first.store;
    if (inbox === undefined) throw new Error("no inbox");
    const store = overriding(first.store, {
      inbox: { ...inbox, post: (id, item) => (posted.push(item.id), inbox.post(id, item)) },
    });
    const second = stage({ clock: first.clock, store, owner: "second", recovery: {}, script: [] });
    second.host.start();
    await first.clock.advance(60_000);
    expect(posted).toEqual([]);
  });

  test("leaves no timer behind when its hosts are closed soon after each handed it over more than once", async () => {
    const clock = manualClock();
    const script = ["1", "2", "3"].map(says);
    const first = stage({ clock, idleMs, script });
    const second = first.another({ script });
    for (const host of [first.host, second.host, first.host, second.host, first.host]) {
      const asked = host.ask("next");
      await clock.advance(400);
      await asked;
    }
    await first.host.close();
    await second.host.close();
    expect(clock.sleepers).toBe(0);
  });

  test("leaves no timer behind when its host handed it over twice, and is closed", async () => {
    const { host, store, clock } = stage({ idleMs, script: [says("1"), says("2")] });
    const inbox = inboxOf(store);
    for (const id of ["one", "two"]) {
      await host.ask(id);
      await inbox.post("default", { id, event: { type: "cancel.requested", at: 0, askId: id } });
      await clock.advance(300);
      await inbox.discard("default", id);
    }
    expect(await store.acquire("default", "another", 1)).not.toBeNull();
    await host.close();
    expect(clock.sleepers).toBe(0);
  });

  test("leaves no timer behind when its host is closed", async () => {
    const clock = manualClock();
    const first = stage({ clock, idleMs, script: [says("1")] });
    await first.host.ask("one");
    const event: Event = { type: "ask.received", at: clock.now(), askId: "b", input: "two" };
    await first.store.inbox?.post("default", { id: "item", event });
    await clock.advance(300);
    expect(clock.sleepers).toBe(1);
    await first.host.close();
    expect(clock.sleepers).toBe(0);
  });
});
