import { SeedError } from "@colloquy/machine";
import { fc, test as fcTest } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import {
  type AskPart,
  AskRefusedError,
  type HostedThread,
  StoreError,
  ThreadExistsError,
  ThreadUnknownError,
  TurnCancelledError,
} from "@colloquy/host";
import { engineStage } from "../engine.ts";
import { overriding } from "../gated-store.ts";
import { joined } from "../joined.ts";
import {
  calls,
  echo,
  entriesOf,
  errorOf,
  held,
  journalOf,
  type ManualClock,
  type ScriptedStep,
  partsOf,
  says,
  settle,
  stage,
  type StageOptions,
  texts,
  plain,
  queue,
} from "../stage.ts";

/** Runs operations on a thread. Returns the parts that it shows. */
type Script = (thread: HostedThread, clock: ManualClock) => Promise<readonly (readonly AskPart[])[]>;

/** Runs a script on a host over an engine and on an ordinary host. The options are made for each. */
const both = async (options: () => StageOptions, script: Script, follows = true) => {
  const there = engineStage(options(), follows);
  const host = there.client();
  const plain = stage(options());
  const expected = await script(plain.host.thread(), plain.clock);
  const shown = await script(host.thread(), there.worker.clock);
  const journals = { of: await journalOf(there.store), expected: await journalOf(plain.store) };
  await host.close();
  await there.worker.host.close();
  await plain.host.close();
  return { shown: shown.map(joined), expected: expected.map(joined), journals, sleepers: there.worker.clock.sleepers };
};

const remove = plain("remove", () => "removed", { approval: "always" });

const once = plain("once", () => "ran", { recovery: "once" });

const fails = plain("fails", () => {
  throw new Error("broken");
});

const pass = async (clock: ManualClock): Promise<void> => {
  for (let times = 0; times < 100; times++) await clock.advance(100);
};

const shows =
  (text: string): ScriptedStep =>
  async (_, { onDelta }) => {
    // Events that are sent meanwhile shall find the turn open.
    for (let rounds = 0; rounds < 20; rounds++) await settle();
    for (const word of text.split(" ")) onDelta({ type: "text", text: `${word} ` });
    return says(`${text} `);
  };

/** Shows a text, and continues until it is stopped. */
const showsOnly =
  (text: string): ScriptedStep =>
  (_, { onDelta, signal }) => {
    onDelta({ type: "text", text });
    return new Promise((__, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
  };

/** Asks once. */
const asked: Script = async (thread, clock) => {
  const parts = partsOf(thread.ask("hi", { askId: "a" }));
  await pass(clock);
  return [await parts];
};

const scripts: readonly (readonly [name: string, options: () => StageOptions, script: Script])[] = [
  ["an answer that streams", () => ({ script: [shows("one two three")] }), asked],
  [
    "tools that run at a time",
    () => ({ tools: [echo], script: [calls(["echo", { text: "a" }], ["echo", { text: "b" }]), shows("a b")] }),
    asked,
  ],
  [
    "a call that waits for approval, and is approved",
    () => ({ tools: [remove], script: [calls(["remove", {}]), shows("it is gone")] }),
    async (thread, clock) => {
      const parts = partsOf(thread.ask("hi", { askId: "a" }));
      await pass(clock);
      const [request] = await thread.approvals();
      const approved = thread.approve(request?.id ?? "");
      await pass(clock);
      expect((await approved).turn?.askId).toBe("a");
      return [await parts];
    },
  ],
  [
    "asks that queue",
    () => ({ machine: queue, script: [shows("one two"), shows("three four")] }),
    async (thread, clock) => {
      const one = partsOf(thread.ask("one", { askId: "a" }));
      const two = partsOf(thread.ask("two", { askId: "b" }));
      await pass(clock);
      return [await one, (await two).filter(({ type }) => type !== "signal")];
    },
  ],
  [
    "an ask that steers",
    () => ({ script: [shows("one two"), shows("three four")] }),
    async (thread, clock) => {
      const one = partsOf(thread.ask("one", { askId: "a" }));
      const two = partsOf(thread.steer("two", { askId: "b" }));
      await pass(clock);
      return [await one, (await two).slice(-1)];
    },
  ],
  [
    "an ask that is aborted in flight",
    () => ({ script: [showsOnly("Some words")] }),
    async (thread, clock) => {
      const asked = thread.ask("one", { askId: "a" });
      const parts = partsOf(asked);
      await pass(clock);
      asked.abort("enough");
      await pass(clock);
      expect(await texts(thread)).toEqual(["one", "Some words"]);
      return [await parts];
    },
  ],
  [
    "an ask that interrupts",
    () => ({ machine: { overlap: { type: "interrupt" } }, script: [showsOnly("Some words"), shows("else")] }),
    async (thread, clock) => {
      const one = partsOf(thread.ask("one", { askId: "a" }));
      await pass(clock);
      const two = partsOf(thread.ask("two", { askId: "b" }));
      await pass(clock);
      return [await one, (await two).slice(1)];
    },
  ],
  [
    "a turn whose time is over",
    () => ({ machine: { limits: { deadlineMs: 5_000 } }, script: [showsOnly("Some words")] }),
    asked,
  ],
  [
    "a tool that runs only once, and one that fails",
    () => ({ tools: [once, fails], script: [calls(["once", {}], ["fails", {}]), shows("done")] }),
    asked,
  ],
  [
    "a head that moves back and forth",
    () => ({ script: [shows("one"), shows("two"), shows("three")] }),
    async (thread, clock) => {
      const doing = async (): Promise<readonly (readonly AskPart[])[]> => {
        const one = await partsOf(thread.ask("1", { askId: "a" }));
        const two = await partsOf(thread.ask("2", { askId: "b" }));
        expect((await thread.undo()).map(({ number }) => number)).toEqual([2]);
        expect((await thread.redo()).map(({ number }) => number)).toEqual([2]);
        expect(await thread.redo()).toEqual([]);
        await thread.checkpoint("here");
        await thread.branch(1);
        await thread.append({ role: "user", content: "by the way" });
        await thread.annotate(1, "score", 3);
        await thread.changeSystem("Be brief.");
        const three = await partsOf(thread.ask("3", { askId: "c" }));
        return [one, two, three];
      };
      const done = doing();
      await pass(clock);
      return done;
    },
  ],
];

describe.each([
  ["that says what is new", true],
  ["that is polled", false],
])("a host over an engine %s", (_, follows) => {
  test.each(scripts)("shows %s as an ordinary host does", async (__, options, script) => {
    const { shown, expected, journals, sleepers } = await both(options, script, follows);
    expect(journals.of).toEqual(journals.expected);
    // Entries alone show neither the parts between two signals nor other signals.
    const isSignalled = (part: AskPart): boolean => part.type === "signal" && part.signal.type === "limit.reached";
    const seen = (parts: readonly AskPart[]): readonly unknown[] =>
      follows ? parts : parts.flatMap((part) => (isSignalled(part) ? [] : JSON.stringify(part))).toSorted();
    expect(shown.map(seen)).toEqual(expected.map(seen));
    expect(sleepers).toBe(0);
  });
});

const lossy = fc.array(fc.boolean(), { minLength: 40, maxLength: 40 });

fcTest.prop([lossy])("an ask shows its outcome, whichever news get lost", async (lost) => {
  const there = engineStage({
    tools: [echo],
    script: [calls(["echo", { text: "a" }], ["echo", { text: "b" }]), shows("one two three four")],
  });
  const news = lost.values();
  there.lose(() => news.next().value ?? false);
  const host = there.client();
  const shown = partsOf(host.ask("hi", { askId: "a" }));
  await pass(there.worker.clock);
  const parts = joined(await shown);
  const valid = parts.slice(parts.findLastIndex(({ type }) => type === "replay.started") + 1);
  const steps = new Set(valid.flatMap((part) => ("step" in part ? [part.step] : [])));
  const of = (type: AskPart["type"]) => parts.filter((part) => part.type === type);
  expect(of("turn.started")).toHaveLength(1);
  expect(of("turn.ended")).toEqual([parts.at(-1)]);
  const texts = valid.flatMap((part) => (part.type === "text.delta" ? [part.text] : []));
  expect(texts).toEqual(["one two three four "]);
  // Lost parts are shown late, and a step that is shown again is followed by all later parts.
  const inStep = valid.filter((part) => part.type === "toolCall").map(({ callId }) => callId);
  expect(inStep.toSorted()).toEqual(steps.has(1) ? ["1.1.0", "1.1.1"] : []);
  await host.close();
  await there.worker.host.close();
});

/** Returns an engine's thread that was asked once; its model waits and has shown its first words. */
const underWay = async (options: StageOptions = {}) => {
  const model = held();
  const there = engineStage({ ...options, script: [model.step, ...(options.script ?? [])] });
  const host = there.client();
  const asked = host.ask("one", { askId: "a" });
  await pass(there.worker.clock);
  model.show("Some ");
  model.show("words");
  await settle();
  return { there, host, clock: there.worker.clock, model, asked };
};

describe("a thread of an engine", () => {
  test("is steered from any host", async () => {
    const { there, host, clock, model, asked } = await underWay({ script: [says("both")] });
    const steered = there.client().thread().steer("and this", { askId: "b" });
    await pass(clock);
    model.answer(says("Some words"));
    await pass(clock);
    expect(await Promise.all([asked, steered])).toMatchObject([
      { turn: 1, text: "both" },
      { turn: 1, text: "both" },
    ]);
    expect(await texts(host.thread())).toEqual(["one", "Some words", "and this", "both"]);
  });

  test("knows nothing of an ask that is aborted before it was sent", async () => {
    const { there, host, clock } = await underWay({ machine: queue });
    const sent = there.sent();
    const asked = host.ask("two");
    asked.abort();
    await pass(clock);
    expect(await errorOf(asked)).toBeInstanceOf(TurnCancelledError);
    expect(there.sent()).toBe(sent);
  });

  test("is rejoined with all shown parts, and on another host with the later ones", async () => {
    const { there, host, clock, model, asked } = await underWay();
    const other = there.client().thread();
    const again = partsOf(host.thread().rejoin("a"));
    const late = partsOf(other.rejoin("a"));
    await pass(clock);
    model.show(" more");
    model.answer(says("Some words more"));
    await pass(clock);
    const all = joined(await partsOf(asked));
    expect(joined(await again)).toEqual(all);
    expect((await late).at(-1)).toEqual({ type: "turn.ended", turn: 1, status: "completed" });
    expect(joined(await partsOf(host.thread().rejoin("a", { from: asked.cursor })))).toEqual([]);
    expect((await other.rejoin("a")).text).toBe("Some words more");
  });

  test("is polled if no news of its journal arrive", async () => {
    const { there, host, clock, model, asked } = await underWay();
    there.lose(() => true);
    model.answer(says("Some words"));
    await pass(clock);
    expect((await asked).text).toBe("Some words");
    await host.close();
    expect(there.followers()).toBe(0);
  });

  test.each([
    [true, 5],
    [false, 1],
  ])(
    "is polled for its journal, less often if the engine reports news (%s: every %i polls)",
    async (follows, polls) => {
      const there = engineStage({ script: [held().step] }, follows);
      const { clock } = there.worker;
      let reads = 0;
      const store = overriding(there.store, {
        ...(there.store.engine === undefined ? {} : { engine: there.store.engine }),
        read: (...given) => (reads++, there.store.read(...given)),
      });
      const { host } = stage({ store, clock, pollMs: 200 });
      host.ask("one").catch(() => {});
      await pass(clock);
      reads = 0;
      await clock.advance(10_000);
      expect(reads).toBe(50 / polls);
      await host.close();
    },
  );

  test("is started once, by the given options", async () => {
    const there = engineStage({ script: [says("hi")] });
    const thread = there.client().thread("ada");
    await thread.start({ system: "Be brief.", metadata: { of: "tests" } });
    expect(await errorOf(thread.start())).toBeInstanceOf(ThreadExistsError);
    expect((await there.client().threads()).threads).toMatchObject([{ threadId: "ada", metadata: { of: "tests" } }]);
    const bob = there.client().thread("bob");
    const sent = there.sent();
    expect(await errorOf(bob.start({ seed: [{ role: "tool", toolCallId: "none", content: "" }] }))).toBeInstanceOf(
      SeedError,
    );
    expect(there.sent()).toBe(sent);
  });

  test("that does not exist is not made by calls that start no thread", async () => {
    const { client } = engineStage();
    const thread = client().thread("nobody");
    expect(await errorOf(thread.moveHead(0))).toBeInstanceOf(ThreadUnknownError);
    expect(await errorOf(thread.undo())).toBeInstanceOf(ThreadUnknownError);
    expect(await errorOf(thread.resume())).toBeInstanceOf(ThreadUnknownError);
    expect(await errorOf(thread.rejoin("a"))).toBeInstanceOf(ThreadUnknownError);
    expect(await errorOf(thread.ask("hi", { from: 3 }))).toBeInstanceOf(ThreadUnknownError);
  });

  test("refuses what the machine of its engine refuses, for the machine's reason", async () => {
    const there = engineStage({ script: [held().step] });
    const host = there.client();
    void host.ask("one", { askId: "a" }).catch(() => {});
    await pass(there.worker.clock);
    const refusals = [errorOf(host.ask("two")), errorOf(host.thread().deny("none"))];
    await pass(there.worker.clock);
    expect(await Promise.all(refusals)).toMatchObject([
      { name: "AskRefusedError", refusal: { kind: "busy" } },
      { name: "EventRefusedError", message: expect.stringContaining("none") },
    ]);
    await host.close();
  });

  test("shows its asks nothing of a part that this version can't read", async () => {
    const model = held();
    const there = engineStage({ script: [model.step] });
    const host = there.client();
    const parts = partsOf(host.ask("one", { askId: "a" }));
    await pass(there.worker.clock);
    for (const part of [null, "text", { type: "part.to.come", turn: 1 }]) there.say({ type: "part", turn: 1, part });
    model.answer(says("done"));
    await pass(there.worker.clock);
    expect((await parts).map(({ type }) => type)).toEqual([
      "turn.started",
      "step.started",
      "text.delta",
      "step.ended",
      "turn.ended",
    ]);
    await host.close();
  });

  test("is redacted, forked and deleted by any host", async () => {
    const there = engineStage({ script: [says("secret")] });
    const host = there.client();
    const asked = host.ask("one");
    await pass(there.worker.clock);
    await asked;
    expect(await host.thread().redact({ turn: 1 })).toEqual([1, 2]);
    expect(JSON.stringify(await entriesOf(there.store))).not.toContain("secret");
    const { thread } = await host.thread().fork({ threadId: "copy" });
    expect(await thread.state()).not.toBeNull();
    expect(await host.thread().delete()).toBe(true);
    expect(await host.thread().delete()).toBe(false);
  });

  test("refuses a tool context of an ask, and says where to set it", async () => {
    const { client } = engineStage();
    const error = await errorOf(client().ask("hi", { toolContext: { user: "ada" } }));
    expect(error).toBeInstanceOf(AskRefusedError);
    expect(error).toMatchObject({ message: expect.stringMatching(/its worker makes it from the thread/) });
  });

  test.each(["before", "behind"] as const)(
    "whose engine is down for a while, %s it handled the event, is asked once",
    async (when) => {
      const there = engineStage({ script: [says("1"), says("2")] });
      const host = there.client();
      there.fail(5, when);
      const asked = host.ask("one");
      await pass(there.worker.clock);
      expect((await asked).text).toBe("1");
      expect(await journalOf(there.store)).toEqual(["thread.started", "ask.received", "llm.completed"]);
      expect(there.sent()).toBe(6);
    },
  );

  test("whose engine is down for longer than a lease fails its asks, and can be asked again", async () => {
    const there = engineStage({ script: [says("1")] });
    const host = there.client();
    there.fail(Infinity);
    const asked = host.ask("one", { askId: "a" });
    const undone = errorOf(host.thread().undo());
    for (let times = 0; times < 4; times++) await pass(there.worker.clock);
    expect(await errorOf(asked)).toBeInstanceOf(StoreError);
    expect(await undone).toBeInstanceOf(StoreError);
    there.fail(0);
    const again = host.ask("one", { askId: "a" });
    await pass(there.worker.clock);
    expect((await again).text).toBe("1");
  });

  test("is let go when nothing is wanted of it any more, and asked again", async () => {
    const there = engineStage({ script: [says("1"), says("2")] });
    const host = there.client({ idleMs: 1_000 });
    const one = host.ask("one");
    await pass(there.worker.clock);
    await one;
    expect(there.followers()).toBe(0);
    const two = host.ask("two");
    await pass(there.worker.clock);
    expect(await two).toMatchObject({ turn: 2, text: "2" });
  });

  test("handles state-dependent calls in order, without calls that were withdrawn before", async () => {
    const { there, host, clock, model, asked } = await underWay();
    model.answer(says("1"));
    await clock.advance(1_000);
    await asked;
    const thread = host.thread();
    const added = thread.addTurn([
      { role: "user", content: "else" },
      { role: "assistant", content: "where" },
    ]);
    const undone = thread.undo();
    const withdrawn = host.ask("two");
    withdrawn.abort();
    const sent = there.sent();
    await pass(clock);
    await added;
    expect((await undone).map(({ number }) => number)).toEqual([2]);
    expect(await errorOf(withdrawn)).toBeInstanceOf(TurnCancelledError);
    expect(there.sent()).toBe(sent + 2);
  });

  test("is released by mere readers, even while its turn is open", async () => {
    const { there, clock } = await underWay();
    const { turn } = await there.client({ idleMs: 1_000 }).thread().resume();
    expect(turn?.askId).toBe("a");
    expect(there.followers()).toBe(2);
    await clock.advance(2_000);
    expect(there.followers()).toBe(1);
  });

  test("continues to be shown if news of an entry arrive that was read before", async () => {
    const { there, clock, asked } = await underWay();
    const parts = asked[Symbol.asyncIterator]();
    there.say({ type: "part", turn: 1, part: { type: "turn.started", turn: 1, askIds: ["a"] } });
    there.say({ type: "part", turn: 1, part: { type: "text.delta", turn: 1, step: 1, attempt: 1, text: " more" } });
    there.say({ type: "part", turn: 1, part: { type: "of a later version" } });
    await clock.advance(100);
    expect((await parts.next()).value).toMatchObject({ type: "turn.started" });
    expect((await parts.next()).value).toMatchObject({ type: "step.started" });
    expect((await parts.next()).value).toMatchObject({ text: "Some words more" });
  });

  test("is shown unchanged if news of an ended turn arrive", async () => {
    const { there, host, clock, model, asked } = await underWay();
    model.answer(says("Some words"));
    await clock.advance(1_000);
    const parts = await partsOf(asked);
    there.say({ type: "part", turn: 1, part: { type: "text.delta", turn: 1, step: 1, attempt: 1, text: " late" } });
    expect(joined(await partsOf(host.thread().rejoin("a")))).toEqual(joined(parts));
  });

  test("undoes turns sent before it, even those sent during its read", async () => {
    const there = engineStage({ script: [says("1")] });
    let onRead = (): void => {};
    const store = overriding(there.store, {
      ...(there.store.engine === undefined ? {} : { engine: there.store.engine }),
      read: async (...given) => {
        const stored = await there.store.read(...given);
        onRead();
        return stored;
      },
    });
    const { host, clock } = stage({ store, clock: there.worker.clock });
    const asked = host.ask("one");
    await clock.advance(1_000);
    await asked;
    const undone = new Promise<unknown>((resolve) => {
      onRead = () => {
        onRead = () => {};
        void host.thread().addTurn([{ role: "user", content: "else" }]);
        resolve(host.thread().undo());
      };
    });
    const annotated = host.thread().annotate(1, "score", 3);
    await pass(clock);
    await annotated;
    expect(await undone).toMatchObject([{ number: 2 }]);
  });

  test("is rejoined on another host with the journalled part of its turn, which continues", async () => {
    const model = held();
    const there = engineStage({ tools: [echo], script: [calls(["echo", { text: "b" }]), model.step] });
    void there.client().ask("one", { askId: "a" });
    await pass(there.worker.clock);
    const parts = there.client().thread().rejoin("a")[Symbol.asyncIterator]();
    const types: unknown[] = [];
    for (let count = 0; count < 5; count++) types.push((await parts.next()).value?.type);
    expect(types).toEqual(["replay.started", "turn.started", "step.started", "toolCall", "toolResult"]);
  });

  test("has cursors that prevent repetition, even if news got lost", async () => {
    const { there, host, clock, model, asked } = await underWay({ tools: [echo], script: [shows("done")] });
    const read = asked[Symbol.asyncIterator]();
    for (let count = 0; count < 2; count++) await read.next();
    const { cursor } = asked;
    there.lose(({ type }) => type === "part");
    model.answer(calls(["echo", { text: "b" }]));
    await pass(clock);
    await asked;
    const all = joined(await partsOf(host.thread().rejoin("a")));
    expect(joined(await partsOf(host.thread().rejoin("a", { from: cursor })))).toEqual(all.slice(2));
  });
});
