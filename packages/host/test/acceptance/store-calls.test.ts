// The calls of a store that hosts on one thread make, and when: each costs a round trip, and the wrong one a thread.
import type { Store } from "@colloquy/host";
import { expect, test } from "vitest";
import { overriding } from "../gated-store.ts";
import { mortal } from "../mortal-store.ts";
import {
  calls,
  countingIds,
  errorOf,
  held,
  inboxOf,
  type ManualClock,
  partsOf,
  plain,
  queue,
  says,
  settle,
  stage,
  type StageOptions,
  stored,
} from "../stage.ts";

/**
 * Writes a line for each call of a store: its time, the name of its host, the method, and what it is about.
 *
 * @param failing the methods whose next call fails
 */
const traced = (inner: Store, name: string, clock: ManualClock, lines: string[], failing: Set<string>): Store => {
  const begun = clock.now();
  const note = (method: string, ...words: readonly unknown[]): void => {
    const fails = failing.delete(method);
    const line = [`${clock.now() - begun}`.padStart(6), name, method, ...words, ...(fails ? ["fails"] : [])];
    lines.push(line.map(String).join(" "));
    if (fails) throw new Error("away");
  };
  const inbox = inboxOf(inner);
  const { parts } = inner;
  return overriding(inner, {
    acquire: async (threadId, owner, ttlMs) => {
      const lease = await inner.acquire(threadId, owner, ttlMs);
      note("acquire", ttlMs, lease === null ? "held" : `token ${lease.token}`);
      return lease;
    },
    renew: async (lease, ttlMs) => (note("renew", ttlMs), inner.renew(lease, ttlMs)),
    release: async (lease) => (note("release"), inner.release(lease)),
    abandoned: async () => (note("abandoned"), inner.abandoned()),
    append: async (lease, seq, entries) => {
      note("append", seq, ...entries.map(({ event }) => event.type));
      await inner.append(lease, seq, entries);
    },
    read: async (threadId, from) => (note("read", from), inner.read(threadId, from)),
    rewrite: async (lease, entries) => (
      note("rewrite", ...entries.map(({ seq }) => seq)),
      inner.rewrite(lease, entries)
    ),
    readSnapshot: async (threadId) => (note("readSnapshot"), inner.readSnapshot(threadId)),
    saveSnapshot: async (lease, snapshot) => (note("saveSnapshot", snapshot.seq), inner.saveSnapshot(lease, snapshot)),
    delete: async (...given) => (note("delete"), inner.delete(...given)),
    ...(parts === undefined
      ? {}
      : {
          parts: {
            append: async (lease, batch) => (
              note("parts.append", batch.number, batch.turn),
              parts.append(lease, batch)
            ),
            read: async (threadId, range) => {
              note("parts.read", range.turn ?? "", JSON.stringify(range.after));
              return parts.read(threadId, range);
            },
          },
        }),
    inbox: {
      post: async (threadId, item) => (note("post", item.id, item.event.type), inbox.post(threadId, item)),
      unanswered: async (threadId) => (note("unanswered"), inbox.unanswered(threadId)),
      waiting: async () => (note("waiting"), inbox.waiting()),
      answer: async (lease, answers) => {
        for (const answer of answers) note("answer", answer.id, answer.handled ? answer.seq : answer.refusal.kind);
        return inbox.answer(lease, answers);
      },
      answerTo: async (threadId, id) => (note("answerTo", id), inbox.answerTo(threadId, id)),
      discard: async (threadId, id) => (note("discard", id), inbox.discard(threadId, id)),
    },
  });
};

/** Makes hosts on one store, whose calls are written down together with what `say` adds. */
const hosts = (shared: StageOptions) => {
  const { clock, inner } = stored();
  const lines: string[] = [];
  const ids = countingIds();
  const failing = new Set<string>();
  const make = (name: string, script: StageOptions["script"] = [], more: StageOptions = {}) => {
    const { store, die } = mortal(traced(inner, name, clock, lines, failing));
    let isDead = false;
    const { host } = stage({
      clock,
      ids,
      store,
      owner: name,
      pollMs: 500,
      leaseTtlMs: 6_000,
      idleMs: 2_000,
      machine: queue,
      script,
      onObserverError: (error, where) => {
        if (!isDead) lines.push(`-- ${name} reports ${where}: ${String(error)}`);
      },
      ...shared,
      ...more,
    });
    return {
      host,
      die: () => {
        isDead = true;
        die();
      },
    };
  };
  return {
    clock,
    lines,
    make,
    fail: (...methods: readonly string[]) => methods.forEach((each) => failing.add(each)),
    say: (what: string): void => void lines.push(`-- ${what}`),
  };
};

const write = plain("write", () => "written", { recovery: "once" });
const said = { role: "user", content: "so" } as const;

type Scene = (all: ReturnType<typeof hosts>) => Promise<void>;

const scenes: readonly (readonly [name: string, shared: StageOptions, scene: Scene])[] = [
  [
    "one host, which runs tools at a time, saves snapshots, idles, and closes",
    { snapshotEvery: 4, tools: [write] },
    async ({ clock, make, say }) => {
      const { host } = make("one", [calls(["write", {}], ["write", {}], ["write", {}]), says("1"), says("2")]);
      await host.ask("one");
      say("two");
      await host.ask("two");
      say("idle");
      await clock.advance(5_000);
      say("again");
      await host.thread().redact({ turn: 1 });
      await host.close();
    },
  ],
  [
    "a host that asks while another one works",
    {},
    async ({ clock, make, say }) => {
      const model = held();
      const [one, two] = [make("one", [model.step, says("2"), says("3")]), make("two")];
      void one.host.ask("one");
      await clock.advance(2_500);
      say("asked");
      const asked = two.host.ask("two");
      const refused = errorOf(two.host.thread().append(said));
      await clock.advance(1_500);
      say("answered");
      model.answer(says("1"));
      await clock.advance(500);
      await Promise.all([asked, refused]);
      await clock.advance(9_000);
      say("closed");
      await Promise.all([one.host.close(), two.host.close()]);
    },
  ],
  [
    "hosts whose store fails at times",
    {},
    async ({ clock, make, fail, say }) => {
      const model = held();
      const [one, two] = [make("one", [model.step, says("2")]), make("two")];
      fail("readSnapshot");
      void one.host.ask("one");
      await clock.advance(700);
      fail("post", "read", "waiting");
      const asked = two.host.ask("two");
      await clock.advance(1_000);
      fail("unanswered", "answer", "answerTo");
      await clock.advance(2_000);
      say("answered");
      model.answer(says("1"));
      fail("discard", "renew");
      await clock.advance(1_000);
      await asked;
      fail("release");
      await clock.advance(9_000);
      await Promise.all([one.host.close(), two.host.close()]);
    },
  ],
  [
    "a host that takes over from an idle one, and back",
    {},
    async ({ clock, make, say }) => {
      const [one, two] = [make("one", [says("1"), says("3")]), make("two", [says("2")])];
      await one.host.ask("one");
      await clock.advance(700);
      say("asked of another");
      const asked = two.host.ask("two");
      await clock.advance(1_500);
      await asked;
      say("edited");
      const edited = one.host.thread().append(said);
      await clock.advance(1_500);
      await edited;
      say("deleted");
      const deleted = two.host.thread().delete();
      await clock.advance(1_500);
      await deleted;
      await Promise.all([one.host.close(), two.host.close()]);
    },
  ],
  [
    "a host that takes over from a dead one, whose parts it reads",
    { partsMs: 300 },
    async ({ clock, make, say }) => {
      const model = held();
      const [one, two] = [make("one", [model.step]), make("two", [says("again")])];
      void one.host.ask("one", { askId: "a" });
      await settle();
      model.show("som");
      await clock.advance(400);
      say("rejoined");
      const parts = partsOf(two.host.thread().rejoin("a"));
      await clock.advance(1_200);
      say("dead");
      one.die();
      await clock.advance(8_000);
      await parts;
      await two.host.close();
    },
  ],
  [
    "a host that continues what a dead one left",
    { recovery: { everyMs: 4_000 } },
    async ({ clock, make, say }) => {
      const one = make("one", [held().step], { recovery: false });
      void one.host.ask("one");
      await settle();
      one.die();
      say("started");
      const two = make("two", [says("1")]);
      two.host.start();
      await clock.advance(14_000);
      say("closed");
      await two.host.close();
    },
  ],
];

test.each(scenes)("the recorded calls of a store are made, at their times, by %s", async (name, shared, scene) => {
  const all = hosts(shared);
  await scene(all);
  await expect(`${all.lines.join("\n")}\n`).toMatchFileSnapshot(`store-calls/${name.replaceAll(/\W+/gu, "-")}.txt`);
});
