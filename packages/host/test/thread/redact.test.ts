import { messagesOf } from "@colloquy/machine";
import type { RedactionTarget } from "@colloquy/machine/storage";
import { describe, expect, test } from "vitest";
import { EventRefusedError, ThreadHeldError, ThreadUnknownError } from "@colloquy/host";
import type { Observer, Store } from "@colloquy/host";
import { overriding } from "../gated-store.ts";
import { summarising } from "../summarising.ts";
import { entriesOf, errorOf, held, journalOf, says, settle, stage, texts, during, stored } from "../stage.ts";

const said = async (store: Store, threadId = "default"): Promise<string> =>
  JSON.stringify([await store.read(threadId), (await store.readSnapshot(threadId))?.head]);

describe("redaction", () => {
  test("takes the words of a turn out of the journal, the snapshot and what is said next, and leaves its place", async () => {
    const { host, store, model } = stage({
      script: [says("hello"), says("the SECRET is kept"), says("3"), says("4")],
      snapshotEvery: 1,
    });
    const thread = host.thread();
    await thread.ask("hi");
    await thread.ask("my SECRET is 42");
    await thread.ask("and now");
    await settle();
    expect(await said(store)).toContain("SECRET");
    expect(await thread.redact({ turn: 2 }, { reason: "asked for" })).toEqual([3, 4]);
    expect(await said(store)).not.toContain("SECRET");
    expect((await host.search("SECRET")).hits).toEqual([]);
    expect(await texts(thread)).toEqual(["hi", "hello", "[redacted]", "[redacted]", "and now", "3"]);
    expect((await entriesOf(store)).flatMap(({ seq, redacted }) => (redacted === true ? [seq] : []))).toEqual([3, 4]);
    expect((await entriesOf(store)).at(-1)?.event).toMatchObject({ type: "thread.redacted", reason: "asked for" });
    expect((await thread.ask("go on")).text).toBe("4");
    expect(JSON.stringify(model.calls.at(-1)?.messages)).not.toContain("SECRET");
  });

  test("a redaction shows observers its entry, and tells them that the messages of the thread changed", async () => {
    const signals: string[] = [];
    const entries: unknown[] = [];
    const observer: Observer = {
      signal: ({ type }) => void signals.push(type),
      entry: ({ seq, event }, threadId, { before, after }) =>
        void entries.push([seq, event.type, threadId, before?.context.seq, after.context.seq]),
    };
    const { host } = stage({ script: [says("fine")], observers: [observer] });
    await host.ask("my SECRET");
    for (const seen of [signals, entries]) seen.length = 0;
    await host.thread().redact({ turn: 1 });
    expect(signals).toEqual(["thread.updated"]);
    expect(entries).toEqual([[3, "thread.redacted", "default", 2, 3]]);
  });

  test("of one message leaves the others of its turn; again it finds nothing", async () => {
    const { host, store } = stage({ script: [says("fine")] });
    const thread = host.thread();
    await thread.ask("my SECRET");
    expect(await thread.redact({ message: "1.0" })).toEqual([1]);
    expect(await texts(thread)).toEqual(["[redacted]", "fine"]);
    const journal = await journalOf(store);
    expect(await thread.redact({ message: "1.0" })).toEqual([]);
    expect(await journalOf(store)).toEqual(journal);
  });

  test("a repeated redaction makes the store rewrite the entry again, and a copy without the words is not rewritten", async () => {
    const { clock, inner } = stored();
    const rewritten: unknown[] = [];
    const store = overriding(inner, {
      rewrite: async (lease, entries) => {
        rewritten.push([lease.threadId, ...entries.map(({ seq }) => seq)]);
        await inner.rewrite(lease, entries);
      },
    });
    const { host } = stage({ clock, store, script: [says("1"), says("2")] });
    await host.ask("one");
    await host.thread().fork({ threadId: "copy" });
    await host.ask("my SECRET");
    for (let times = 0; times < 2; times++) await host.thread().redact({ message: "2.0" }, { copies: ["copy"] });
    expect(rewritten).toEqual([
      ["default", 3],
      ["default", 3],
    ]);
  });

  test.each([{ turn: 7 }, { message: "9.9" }, { seqs: [99] }])(
    "of what is not there is refused: %j",
    async (target) => {
      const { host, store } = stage({ script: [says("1")] });
      await host.ask("one");
      expect(await errorOf(host.thread().redact(target))).toBeInstanceOf(EventRefusedError);
      expect(await journalOf(store)).toHaveLength(3);
    },
  );

  test("a redaction of a thread that does not exist is refused, and makes no thread", async () => {
    const { host, store } = stage();
    expect(await errorOf(host.thread().redact({ seqs: [0] }))).toBeInstanceOf(ThreadUnknownError);
    expect(await store.read("default")).toEqual([]);
  });

  test("a redaction reaches the system prompt of a thread that has only started", async () => {
    const { host, store } = stage();
    await host.thread().start({ system: "the SECRET" });
    expect(await host.thread().redact({ seqs: [0] })).toEqual([0]);
    expect(await said(store)).not.toContain("SECRET");
  });

  test("waits for no turn: while one is open it is refused, and what is sent behind it waits", async () => {
    const model = held();
    const { host, store } = stage({ script: [says("1"), model.step, says("3")] });
    const thread = host.thread();
    await thread.ask("one");
    const asked = thread.ask("two");
    await settle();
    expect(await errorOf(thread.redact({ turn: 1 }))).toMatchObject({ refusal: { kind: "busy" } });
    model.answer(says("2"));
    await asked;
    expect(await journalOf(store)).not.toContain("thread.redacted");
    const [redacted, third] = [thread.redact({ turn: 1 }), thread.ask("three")];
    expect((await third).text).toBe("3");
    expect(await redacted).toEqual([1, 2]);
  });

  test("keeps those who use the thread meanwhile waiting until it is done", async () => {
    const { clock, inner } = stored();
    const { promise: mayRewrite, resolve: go } = Promise.withResolvers<void>();
    const store = overriding(inner, {
      rewrite: async (...given) => {
        await mayRewrite;
        await inner.rewrite(...given);
      },
    });
    const { host, model } = stage({ clock, store, script: [says("SECRET"), says("2")] });
    const thread = host.thread();
    await thread.ask("one");
    const redacted = thread.redact({ turn: 1 });
    await settle();
    const asked = thread.ask("two");
    await settle();
    expect(model.calls).toHaveLength(1);
    go();
    await redacted;
    expect(await asked).toMatchObject({ text: "2", turn: 2 });
    expect(JSON.stringify(model.calls[1]?.messages)).not.toContain("SECRET");
  });

  test.each([1, 1_000])(
    "that a crash interrupted is finished at the next opening (snapshots: %i)",
    async (snapshotEvery) => {
      const { clock, inner } = stored();
      let crashes = true;
      const store = overriding(inner, {
        rewrite: async (...given) => {
          if (crashes) throw new Error("killed");
          await inner.rewrite(...given);
        },
      });
      const first = stage({ clock, store, snapshotEvery, script: [says("the SECRET"), says("2")] });
      await first.host.ask("one");
      await first.host.ask("two");
      expect(await errorOf(first.host.thread().redact({ turn: 1 }))).toMatchObject({ name: "StoreError" });
      await first.host.close();
      expect(await said(inner)).toContain("SECRET");
      // A reader no longer sees it.
      expect(await texts(first.another().host.thread())).toEqual(["[redacted]", "[redacted]", "two", "2"]);
      crashes = false;
      const next = first.another({ script: [says("3")] });
      expect((await next.host.ask("three", { askId: "three" })).turn).toBe(3);
      expect(JSON.stringify(next.model.calls[0]?.messages)).not.toContain("SECRET");
      await next.host.close();
      expect(await said(inner)).not.toContain("SECRET");
      expect((await journalOf(inner)).filter((type) => type === "thread.redacted")).toHaveLength(1);
    },
  );

  test("removes the words from inbox items that repeat journalled content, and from no others", async () => {
    const { clock, inner } = stored();
    const { inbox } = inner;
    if (inbox === undefined) throw new Error("no inbox");
    const event = { type: "ask.received", at: clock.now(), askId: "a", input: "the SECRET" } as const;
    await inbox.post("default", { id: "taken", event });
    // The process dies before it answers the inbox item.
    const dying = overriding(inner, { inbox: { ...inbox, answer: () => Promise.reject(new Error("killed")) } });
    const first = stage({ clock, store: dying, script: [says("1")] });
    expect((await first.host.ask("the SECRET", { askId: "a" })).text).toBe("1");
    await first.host.close();
    for (const [id, ask] of [
      ["again", { ...event, at: 5, input: "my SECRET once more" }],
      ["late", { type: "cancel.requested", at: 1, askId: "a", reason: "it says SECRET" }],
      ["other", { ...event, askId: "b", input: "what is new" }],
      ["early", { type: "cancel.requested", at: 1, askId: "b", reason: "not now" }],
    ] as const)
      await inbox.post("default", { id, event: ask });
    const next = stage({ clock, store: inner, script: [says("2")] });
    expect(await next.host.thread().redact({ turn: 1 })).toEqual([1, 2]);
    const kept = JSON.stringify(await inbox.unanswered("default"));
    expect(kept).not.toContain("SECRET");
    expect(kept).toContain("what is new");
    expect(kept).toContain("not now");
    for (const id of ["taken", "again"])
      expect(await inbox.answerTo("default", id)).toEqual({ id, handled: true, seq: 1 });
    expect(await inbox.answerTo("default", "late")).toMatchObject({ handled: false, refusal: { kind: "stale" } });
  });

  test("that the store could not do to the end is done there when it is asked for again", async () => {
    const { clock, inner } = stored();
    const rewritten: (readonly number[])[] = [];
    const store = overriding(inner, {
      rewrite: async (lease, entries) => {
        await inner.rewrite(lease, entries);
        rewritten.push(entries.map(({ seq }) => seq));
        if (rewritten.length === 1) throw new Error("somebody reads the file");
      },
    });
    const { host } = stage({ clock, store, script: [says("1")] });
    await host.ask("the SECRET");
    expect(await errorOf(host.thread().redact({ turn: 1 }))).toMatchObject({ name: "StoreError" });
    expect(await host.thread().redact({ turn: 1 })).toEqual([]);
    expect(rewritten).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });

  test("cannot be sent as an event, and the refusal says so", async () => {
    const { host, store, clock } = stage({ script: [says("1")] });
    await host.ask("the SECRET");
    const sent = await host.thread().send({ type: "thread.redacted", at: clock.now(), seqs: [1] });
    expect(sent).toMatchObject({
      handled: false,
      refusal: { kind: "invalid", reason: expect.stringMatching(/redact/) },
    });
    expect(await journalOf(store)).toHaveLength(3);
  });

  test("that was under way when a journal was exported is finished where it is imported", async () => {
    const { host, store } = stage({ script: [says("1")] });
    await host.ask("the SECRET");
    const event = { type: "thread.redacted", at: 0, seqs: [1] };
    await host.importJournal([...(await store.read("default")), { seq: 3, event }], { threadId: "copy" });
    expect(await said(store, "copy")).not.toContain("SECRET");
  });

  test("for a reason that is no text is refused, and the thread stays readable", async () => {
    const { host, store } = stage({ script: [says("1")] });
    await host.ask("one");
    const reason = { no: "text" } as unknown as string;
    expect(await errorOf(host.thread().redact({ turn: 1 }, { reason }))).toMatchObject({
      refusal: { kind: "invalid" },
    });
    expect(await journalOf(store)).toHaveLength(3);
  });

  test("reaches an ask that a copy has only as one that was left behind", async () => {
    const model = held();
    const machine = { overlap: { type: "queue", max: 5 } } as const;
    const { host, store, clock } = stage({ machine, script: [model.step, says("2")] });
    const thread = host.thread();
    const asks = [thread.ask("one"), thread.ask("the SECRET")];
    await settle();
    model.answer(says("1"));
    await asks[0];
    await clock.advance(0);
    await asks[1];
    await thread.fork({ turn: 1, threadId: "copy" });
    expect(await said(store, "copy")).toContain("SECRET");
    await thread.redact({ turn: 2 }, { copies: ["copy"] });
    expect(await said(store, "copy")).not.toContain("SECRET");
    expect(await texts(host.thread("copy"))).toEqual(["one", "1"]);
  });

  test("can be done again after it reached only some", async () => {
    const first = stage({ script: [says("1"), says("2")] });
    const thread = first.host.thread();
    await thread.ask("the SECRET");
    for (const threadId of ["a", "b"]) await thread.fork({ threadId });
    const model = held();
    const asked = first
      .another({ script: [model.step] })
      .host.thread("b")
      .ask("more");
    await settle();
    const copies = ["a", "b"];
    const refused = errorOf(thread.redact({ turn: 1 }, { copies }));
    expect(await during(first.clock, 400, refused)).toBeInstanceOf(ThreadHeldError);
    model.answer(says("2"));
    await asked;
    await during(first.clock, 400, thread.redact({ turn: 1 }, { copies }));
    for (const threadId of ["default", ...copies]) expect(await said(first.store, threadId)).not.toContain("SECRET");
  });

  test("reaches the named copies, and in them only the copied part", async () => {
    const { host, store } = stage({ script: ["1", "2", "own", "more", "stranger"].map(says) });
    const thread = host.thread();
    await thread.ask("my SECRET");
    const { thread: early } = await thread.fork({ threadId: "early" });
    await thread.ask("another SECRET");
    const { thread: late } = await thread.fork({ threadId: "late" });
    const { thread: grandchild } = await late.fork({ threadId: "grandchild" });
    await early.ask("words of its own");
    await late.annotate(1, "note", "it says SECRET");
    await grandchild.ask("more");
    const copies = ["early", "late", "grandchild"];
    await thread.redact({ turn: 2 }, { copies });
    expect(await texts(early)).toEqual(["my SECRET", "1", "words of its own", "own"]);
    for (const each of [late, grandchild])
      expect((await texts(each)).slice(0, 4)).toEqual(["my SECRET", "1", "[redacted]", "[redacted]"]);
    await thread.redact({ turn: 1 }, { copies });
    for (const each of ["default", ...copies]) expect(await said(store, each)).not.toContain("SECRET");
    expect(await texts(early)).toEqual(["[redacted]", "[redacted]", "words of its own", "own"]);
    await host.ask("hi", { threadId: "stranger" });
    expect(String(await errorOf(thread.redact({ turn: 1 }, { copies: ["stranger"] })))).toMatch(
      /no copy of thread "default"/,
    );
  });

  test("of a named entry reaches a copy that repeats it elsewhere, also if it had only reached the thread itself before", async () => {
    const { host, store } = stage({ script: ["1", "2", "3"].map(says) });
    const thread = host.thread();
    await thread.ask("first");
    await thread.append({ role: "user", content: "a SECRET that waits" });
    const { thread: copy } = await thread.fork({ threadId: "copy" });
    await thread.ask("second");
    await copy.ask("of the copy");
    const seqs = (await thread.exportJournal()).flatMap(({ seq, event }) =>
      event.type === "message.appended" ? [seq] : [],
    );
    await thread.redact({ seqs });
    expect(await said(store, "default")).not.toContain("SECRET");
    expect(await said(store, "copy")).toContain("SECRET");
    await thread.redact({ seqs }, { copies: ["copy"] });
    expect(await said(store, "copy")).not.toContain("SECRET");
    expect((await texts(copy)).slice(2, 4)).toEqual(["[redacted]", "of the copy"]);
  });

  test.each<[string, (first: string) => RedactionTarget]>([
    ["a turn", () => ({ turn: 1 })],
    ["a message", (message) => ({ message })],
  ])("of %s that reached only the thread before reaches a copy and its summary", async (_, targetOf) => {
    const first = stage({ script: [says("the SECRET is kept")] });
    const thread = first.host.thread();
    await thread.ask("my SECRET is 42");
    const state = await thread.state();
    const [, reply] = state === null ? [] : messagesOf(state);
    await thread.fork({ threadId: "copy" });
    const script = [says("2"), says("They spoke of a SECRET."), says("They said two.")];
    const other = first.another({ machine: { policy: summarising }, script });
    const copy = other.host.thread("copy");
    await copy.ask("two");
    await settle();
    expect(await said(first.store, "copy")).toContain("They spoke of a SECRET.");
    await other.host.close();
    await thread.redact(targetOf(reply?.id ?? ""));
    await thread.redact(targetOf(reply?.id ?? ""), { copies: ["copy"] });
    expect(await said(first.store, "copy")).not.toContain("the SECRET is kept");
    expect(await said(first.store, "copy")).not.toContain("They spoke of");
  });

  test.each([
    ["", false],
    [", if the thread itself was redacted before", true],
  ])("reaches what waited when a copy was made, and led another turn there%s", async (_, isRedacted) => {
    const { host, store } = stage({ script: ["1", "2", "3"].map(says) });
    const thread = host.thread();
    await thread.ask("first");
    await thread.append({ role: "user", content: "a SECRET that waits" });
    const { thread: copy } = await thread.fork({ threadId: "copy" });
    await thread.ask("second");
    await copy.ask("of the copy");
    if (isRedacted) await thread.redact({ turn: 2 });
    await thread.redact({ turn: 2 }, { copies: ["copy"] });
    for (const each of ["default", "copy"]) expect(await said(store, each)).not.toContain("SECRET");
    expect((await texts(copy)).slice(2, 4)).toEqual(["[redacted]", "of the copy"]);
  });

  test("of the first turn leaves the first turn of a copy that began before it", async () => {
    const { host, store } = stage({ script: ["1", "own"].map(says) });
    const thread = host.thread();
    await thread.ask("my SECRET");
    const { thread: copy } = await thread.fork({ threadId: "copy", turn: 0 });
    await copy.ask("words of its own");
    await thread.redact({ turn: 1 }, { copies: ["copy"] });
    expect(await said(store, "default")).not.toContain("SECRET");
    expect(await texts(copy)).toEqual(["words of its own", "own"]);
  });
});
