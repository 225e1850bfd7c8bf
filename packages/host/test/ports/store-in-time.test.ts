import { ConfigurationError } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { StoreError, StoreTimeoutError, tool, TurnCancelledError, withJsonSchema } from "@colloquy/host";
import { overriding } from "../gated-store.ts";
import {
  calls,
  errorOf,
  held,
  journalOf,
  says,
  settle,
  type ScriptedStep,
  stage,
  type StageOptions,
  stored,
  inboxOf,
  plain,
} from "../stage.ts";

const never = new Promise<never>(() => {});

/** Watches a promise, and returns its outcome so far. */
const watched = (promise: PromiseLike<unknown>) => {
  const seen: { outcome: unknown } = { outcome: "nothing" };
  promise.then(
    (value) => (seen.outcome = value ?? "done"),
    (error: unknown) => (seen.outcome = error),
  );
  return seen;
};

/** Makes a memory store some of whose calls are never answered while it is muted. */
const silent = (...mute: readonly string[]) => {
  const { clock, inner } = stored();
  const speech = { muted: true };
  const muted = <Target extends object>(target: Target, prefix: string): Target =>
    new Proxy(target, {
      get: (_, name) => {
        // Each member of a store has the type of its port.
        const member: unknown = Reflect.get(target, name);
        if (name === "inbox") return muted(inboxOf(inner), "inbox.");
        if (typeof member !== "function") return member;
        return (...given: readonly unknown[]): unknown =>
          speech.muted && mute.includes(prefix + String(name)) ? never : Reflect.apply(member, target, given);
      },
    });
  return { clock, inner, store: muted(inner, ""), speech };
};

const times = { storeTimeoutMs: 1_000, leaseTtlMs: 9_000, snapshotEvery: 1 } as const;

describe("a store that never answers", () => {
  test.each(["acquire", "read", "append"])("to %s fails the ask, and close comes to an end", async (call) => {
    const { clock, store } = silent(call);
    const { host, model } = stage({ ...times, clock, store, script: [says("never asked")] });
    const asked = watched(host.ask("hi"));
    await clock.advance(999);
    expect(asked.outcome).toBe("nothing");
    await clock.advance(1);
    expect(asked.outcome).toBeInstanceOf(StoreError);
    expect(asked.outcome).toMatchObject({ cause: expect.any(StoreTimeoutError) });
    expect(String(asked.outcome)).toMatch(/was not answered within 1000 ms, and it is not known whether it was done/);
    expect(model.calls).toEqual([]);
    const closed = watched(host.close());
    await clock.advance(2_000);
    expect(closed.outcome).toBe("done");
    expect(clock.sleepers).toBe(0);
  });

  test.each(["release", "renew", "readSnapshot", "saveSnapshot", "inbox.unanswered", "inbox.discard"])(
    "to %s costs no answer, and close comes to an end",
    async (call) => {
      const { clock, store } = silent(call);
      const { host } = stage({ ...times, clock, store, script: [says("1"), says("2")] });
      const asked = [watched(host.ask("hi", { threadId: "a" })), watched(host.ask("hi", { threadId: "b" }))];
      await clock.advance(3_000);
      expect(asked.map(({ outcome }) => outcome)).toMatchObject([{ text: "1" }, { text: "2" }]);
      const closed = watched(host.close());
      await clock.advance(3_000);
      expect(closed.outcome).toBe("done");
      expect(clock.sleepers).toBe(0);
    },
  );

  test("to anything lets an ask be aborted, and the host be closed", async () => {
    const all = ["acquire", "renew", "release", "append", "read", "readSnapshot", "saveSnapshot"];
    const { clock, store, speech } = silent(...all, "inbox.unanswered", "inbox.answer", "inbox.discard");
    speech.muted = false;
    const { host } = stage({ ...times, clock, store, script: [() => never] });
    const handle = host.ask("hi");
    const asked = watched(handle);
    await settle();
    speech.muted = true;
    handle.abort();
    const closed = watched(host.close());
    await clock.advance(3_000);
    expect(asked.outcome).toMatchObject({ name: "ThreadClosedError" });
    expect(closed.outcome).toBe("done");
    expect(clock.sleepers).toBe(0);
  });

  test("fails a look, a list, a search and a deletion", async () => {
    const { clock, store } = silent("list", "search", "delete", "read");
    const { host } = stage({ ...times, clock, store });
    const thread = host.thread();
    const looks = [thread.state(), thread.exportJournal()].map(watched);
    const walks = [host.threads(), host.search("x"), thread.delete()].map(watched);
    await clock.advance(1_000);
    for (const { outcome } of looks) expect(String(outcome)).toContain("was not answered within 1000 ms");
    // Operations that read all stored data may take ten times as long.
    await clock.advance(8_999);
    expect(walks.map(({ outcome }) => outcome)).toEqual(["nothing", "nothing", "nothing"]);
    await clock.advance(2_000);
    for (const { outcome } of walks) expect(String(outcome)).toContain("was not answered within 10000 ms");
  });

  test.each(["rewrite", "delete"] as const)(
    "to a %s has ten times as long, and then close comes to an end",
    async (call) => {
      const { clock, store } = silent(call);
      const { host } = stage({ ...times, clock, store, script: [says("a secret")] });
      await host.ask("hi");
      const thread = host.thread();
      const failed = watched(call === "delete" ? thread.delete() : thread.redact({ turn: 1 }));
      await settle();
      const closed = watched(host.close());
      await clock.advance(12_000);
      expect([String(failed.outcome), closed.outcome]).toEqual([expect.stringContaining("within 10000 ms"), "done"]);
      expect(clock.sleepers).toBe(0);
    },
  );

  test("to a rewrite soon has ten times as long", async () => {
    const { clock, inner } = stored();
    const { promise: slow, resolve } = Promise.withResolvers<void>();
    const store = overriding(inner, { rewrite: async (...given) => slow.then(() => inner.rewrite(...given)) });
    const { host } = stage({ ...times, clock, store, script: [says("a secret")] });
    await host.ask("hi");
    const redacted = watched(host.thread().redact({ seqs: [2] }));
    await clock.advance(9_000);
    expect(redacted.outcome).toBe("nothing");
    resolve();
    await settle();
    expect(redacted.outcome).not.toBeInstanceOf(Error);
    expect(redacted.outcome).not.toBe("nothing");
  });

  test("to the inbox items of a follower fails the ask when a lease would have run out", async () => {
    const { clock, store, inner } = silent("inbox.post");
    await inner.acquire("default", "somebody", 1_000_000);
    const { host } = stage({ ...times, clock, store });
    const asked = watched(host.ask("hi"));
    await clock.advance(12_000);
    expect(asked.outcome).toMatchObject({
      name: "StoreError",
      cause: { name: "StoreTimeoutError", call: "inbox.post" },
    });
  });

  test("is given a time that can be meant", () => {
    expect(() => stage({ storeTimeoutMs: 0 })).toThrow(ConfigurationError);
    expect(() => stage({ storeTimeoutMs: Number.NaN })).toThrow("storeTimeoutMs must be a whole number ≥ 1 (got NaN)");
  });
});

describe("what is not known after an answer that did not come", () => {
  test("is read anew: an ask that was stored all the same has its outcome, and is asked once", async () => {
    const { clock, inner } = stored();
    let isMute = true;
    const store = overriding(inner, {
      append: async (...given) => {
        await inner.append(...given);
        if (given[2].some(({ event }) => event.type === "ask.received") && isMute) await never;
      },
    });
    const { host, model } = stage({ ...times, clock, store, script: [says("once")] });
    const asked = watched(host.ask("hi", { askId: "a" }));
    await clock.advance(2_000);
    expect(asked.outcome).toBeInstanceOf(StoreError);
    expect(model.calls).toHaveLength(0);
    isMute = false;
    expect((await host.ask("hi", { askId: "a" })).text).toBe("once");
    expect(await journalOf(inner)).toEqual(["thread.started", "ask.received", "llm.completed"]);
  });

  test("is the end of writing: of what was shown nothing is stored any more, and the lease is given back at once", async () => {
    const { clock, inner } = stored();
    const written: unknown[] = [];
    const store = overriding(inner, {
      append: (...given) => (given[1] < 1 ? inner.append(...given) : never),
      parts: { append: async (_, { body }) => void written.push(body), read: async () => [] },
    });
    const model = held();
    const { host } = stage({ ...times, clock, store, partsMs: 5_000, script: [model.step] });
    const asked = watched(host.ask("hi"));
    await settle();
    model.show("shown");
    model.answer(says("shown"));
    await clock.advance(1_000);
    expect(asked.outcome).toBeInstanceOf(StoreError);
    expect(await inner.acquire("default", "somebody else", 1)).not.toBeNull();
    expect(written).toEqual([]);
  });

  test("writes nothing when it comes late, since somebody has taken the lease anew", async () => {
    const { clock, inner } = stored();
    const { promise: delayed, resolve: goOn } = Promise.withResolvers<void>();
    const late: Promise<unknown>[] = [];
    const store = overriding(inner, {
      append: (...given) => {
        if (late.length > 0 || given[1] < 0) return inner.append(...given);
        const appending = delayed.then(() => inner.append(...given));
        late.push(appending.catch((error: unknown) => error));
        return appending;
      },
    });
    const { host } = stage({ ...times, clock, store, script: [says("again")] });
    const asked = watched(host.ask("hi", { askId: "a" }));
    await clock.advance(2_000);
    expect(asked.outcome).toBeInstanceOf(StoreError);
    const again = host.ask("hi", { askId: "a" });
    await settle();
    goOn();
    expect((await again).text).toBe("again");
    expect(await late[0]).toMatchObject({ name: "LeaseLostError" });
    expect(await journalOf(inner)).toEqual(["thread.started", "ask.received", "llm.completed"]);
  });

  test("holds no thread: a lease that comes too late is given back", async () => {
    const { clock, inner } = stored();
    const { promise: delayed, resolve: goOn } = Promise.withResolvers<void>();
    const store = overriding(inner, {
      acquire: async (...given) => {
        await delayed;
        return inner.acquire(...given);
      },
    });
    const { host } = stage({ ...times, clock, store });
    const asked = watched(host.ask("hi"));
    await clock.advance(1_000);
    expect(asked.outcome).toBeInstanceOf(StoreError);
    goOn();
    await settle();
    expect(await inner.acquire("default", "somebody else", 1)).not.toBeNull();
  });

  test("is no reason to lose a thread: a lease is renewed again while it lasts", async () => {
    const { clock, inner } = stored();
    let renewals = 0;
    const store = overriding(inner, { renew: (...given) => (renewals++ === 0 ? never : inner.renew(...given)) });
    const { promise, resolve } = Promise.withResolvers<ReturnType<typeof says>>();
    const { host } = stage({ clock, store, leaseTtlMs: 9_000, script: [() => promise] });
    const asked = host.ask("hi");
    await clock.advance(20_000);
    expect(await inner.acquire("default", "somebody", 1)).toBeNull();
    resolve(says("held all the time"));
    expect((await asked).text).toBe("held all the time");
  });
});

describe("what others wrote that never comes to an end", () => {
  const hanging = plain("hanging", () => never);
  const undecided = plain("undecided", () => "done", { approval: () => never });
  const twice = (step: ScriptedStep): readonly ScriptedStep[] => [step, step];
  // An async function fits a type that returns nothing.
  const neverDone = (): unknown => never;
  const byName: Readonly<Record<string, StageOptions>> = {
    "a model": { script: twice(() => never) },
    "a tool": { tools: [hanging], script: twice(calls(["hanging", {}])) },
    "an approval": { tools: [undecided], script: twice(calls(["undecided", {}])) },
    beforeTurn: { hooks: { beforeTurn: () => never }, script: twice(says("late")) },
    beforeStep: { hooks: { beforeStep: () => never }, script: twice(says("late")) },
    beforeToolCall: { hooks: { beforeToolCall: () => never }, tools: [hanging], script: twice(calls(["hanging", {}])) },
    "an observer": { observers: [{ entry: neverDone, signal: neverDone }], script: twice(() => never) },
  };

  test.each(Object.keys(byName))("%s can be aborted, and closed", async (name) => {
    const { host, clock } = stage(byName[name]);
    const aborted = host.ask("hi", { threadId: "aborted" });
    await settle();
    aborted.abort();
    expect(await errorOf(aborted)).toBeInstanceOf(TurnCancelledError);
    const closing = watched(host.ask("hi", { threadId: "closed" }));
    await settle();
    await host.close();
    await settle();
    expect(closing.outcome).toMatchObject({ name: "ThreadClosedError" });
    expect(clock.sleepers).toBe(0);
  });

  test("such as the schema of a tool of unknown outcome, leaves a thread that is opened after a crash closable", async () => {
    const once = (validates: () => unknown) =>
      tool({
        name: "once",
        description: "",
        recovery: "ask",
        input: withJsonSchema(
          // The schema knows the type of its validator's value.
          { "~standard": { version: 1, vendor: "test", validate: validates as () => { value: unknown } } },
          { type: "object" },
        ),
        run: () => never,
      });
    const first = stage({ tools: [once(() => ({ value: {} }))], script: [calls(["once", {}])] });
    void first.host.ask("hi", { askId: "a" });
    await settle();
    await first.host.close();
    expect(await journalOf(first.store)).toContain("tool.started");
    const second = first.another({ tools: [once(() => never)], script: [] });
    const asked = watched(second.host.ask("hi", { askId: "a" }));
    await settle();
    await second.host.close();
    await settle();
    expect(asked.outcome).toMatchObject({ name: "ThreadClosedError" });
  });
});
