import { memoryStore } from "@colloquy/runtime-node";
import { runningClock, virtualClock } from "@colloquy/runtime-test";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { expect, it, onTestFinished, vi } from "vitest";
import { asked, questions, seeing, sessionOf } from "../programs.ts";

it("two that take back a call at once take back two", async () => {
  const { qa } = seeing();
  expect(await qa.redo()).toEqual([]);
  await asked(qa, 1, 2, 3);
  const [last, before] = await Promise.all([qa.pop(), qa.pop()]);
  expect([last?.number, before?.number, await qa.count()]).toEqual([3, 2, 1]);
  await asked(qa, 4, 5, 6);
  const [first, second] = [qa.pop(), qa.pop()];
  const taken = [await first, await Promise.all([second, qa.pop()])].flat();
  expect([taken.map((turn) => turn?.inputs.q), await qa.count()]).toEqual([["Q6", "Q5", "Q4"], 1]);
});

it("a copy of a copy knows what was called within the turns of the original", async () => {
  const llm = scriptedModel([reply("one"), reply("two"), reply("three")]);
  const qa = sessionOf(async ({ q }, { ask }) => ({ a: (await ask("node", q)).text }), { llm });
  await qa.call({ q: "Q1" });
  const copy = await qa.fork();
  await copy.call({ q: "Q2" });
  const again = await copy.fork();
  await again.call({ q: "Q3" });
  for (const turn of [1, 2, 3])
    expect((await again.trace(turn))?.calls.map(({ status }) => status)).toEqual(["completed"]);
  // A turn of the copy is not a turn of the original.
  expect(await qa.trace(2)).toBeNull();
});

it("a program may be called by what a run of it left behind, once that is over", async () => {
  const later = Promise.withResolvers<unknown>();
  const over = Promise.withResolvers<void>();
  const qa = sessionOf(({ q }) => {
    if (q === "Q1") void over.promise.then(() => qa.call({ q: "Q2" })).then(later.resolve, later.resolve);
    return { a: q };
  });
  await qa.call({ q: "Q1" });
  over.resolve();
  expect(await later.promise).toEqual({ a: "Q2" });
  expect(await qa.count()).toBe(2);
});

it("a program can change nothing of the memory that it is shown, nor of that which it shares", async () => {
  const store = memoryStore();
  const vandal = sessionOf(
    (_, { memory }) => {
      const [exchange] = memory.exchanges;
      if (exchange !== undefined) Object.assign(exchange, { inputs: { q: "forged" } });
      return { a: "A" };
    },
    { name: "vandal", lifespan: "shared" },
  );
  const qa = sessionOf(
    async (inputs, { memory }) => {
      const attack = await vandal.call(inputs).catch((error: unknown) => ({ a: String(error) }));
      return { a: `${attack.a} ${JSON.stringify(memory.exchanges[0]?.inputs ?? {})}` };
    },
    { store },
  );
  await qa.call({ q: "Q1" });
  expect((await qa.call({ q: "Q2" })).a).toMatch(/^TypeError: .*read only.* \{"q":"Q1"\}$/);
});

it("a session without an error observer prints an error of onTurn with its source", async () => {
  const printed = vi.spyOn(console, "error").mockImplementation(() => {});
  onTestFinished(() => printed.mockRestore());
  const { qa } = seeing({
    onTurn: () => {
      throw new Error("full");
    },
  });
  await asked(qa, 1);
  expect(printed.mock.calls).toEqual([['Colloquy: onTurn of "qa" failed: full']]);
});

it("a nested session keeps its turns in its own store, or else in the store of its caller", async () => {
  const [own, outer] = [memoryStore(), memoryStore()];
  const { qa: kept } = seeing({ name: "kept", store: own });
  const { qa: lent } = seeing({ name: "lent" });
  const parent = sessionOf(
    async (inputs) => {
      await lent.call(inputs);
      return kept.call(inputs);
    },
    { name: "parent", store: outer },
  );
  await asked(parent, 1);
  const idsIn = async (store: typeof own) => (await store.list()).threads.map(({ threadId }) => threadId).toSorted();
  expect([await idsIn(own), await idsIn(outer)]).toEqual([["parent/kept"], ["parent", "parent/lent"]]);
  expect([await kept.under(parent).count(), await lent.under(parent).count()]).toEqual([1, 1]);
});

it("start continues the unfinished calls of its own program, and no others", async () => {
  const clock = virtualClock();
  const store = memoryStore({ clock });
  const reports: unknown[] = [];
  let report = Promise.withResolvers<void>();
  const observers = [
    {
      recovered: (found: unknown) => {
        reports.push(found);
        report.resolve();
      },
    },
  ];
  const begin = async (name: string, answers: boolean, recovery = {}) => {
    const begun = Promise.withResolvers<void>();
    const made = sessionOf(
      ({ q }) => {
        begun.resolve();
        return answers ? { a: q } : new Promise(() => {});
      },
      { name, store, host: { clock, observers, recovery } },
    );
    return { made, begun: begun.promise };
  };
  for (const name of ["one", "other"]) {
    const { made, begun } = await begin(name, false);
    void made.call({ q: name }, { askId: name });
    await begun;
    await made.close();
  }
  // Its host options accept no thread.
  const { made: idle } = await begin("one", true, { continues: () => false });
  idle.start();
  await clock.advance(1);
  await report.promise;
  await idle.close();
  expect(reports.splice(0)).toEqual([{ continued: [], left: [] }]);
  const { made } = await begin("one", true);
  report = Promise.withResolvers();
  made.start();
  await clock.advance(1);
  await report.promise;
  expect(reports).toEqual([{ continued: ["one"], left: [] }]);
  expect(await made.call({ q: "one" }, { askId: "one" })).toEqual({ a: "one" });
});

it("later processes see a replaced conversation as replaced, and a failed call reports no observer error", async () => {
  const store = memoryStore();
  const reported: unknown[] = [];
  const begin = () => {
    const seen: (readonly unknown[])[] = [];
    const made = sessionOf(
      ({ q }, { memory }) => {
        seen.push(memory.exchanges.map(({ inputs }) => inputs["q"]));
        if (q === "bad") throw new Error("down");
        return { a: q };
      },
      { store, host: { onObserverError: (error) => reported.push(error) } },
    );
    return { made, seen };
  };
  const first = begin();
  await asked(first.made, 1);
  await first.made.call({ q: "anew" }, { history: { exchanges: [], as: "replaceSession" } });
  await expect(first.made.call({ q: "bad" })).rejects.toThrow("down");
  await first.made.close();
  const second = begin();
  await asked(second.made, 2);
  expect([first.seen, second.seen, reported]).toEqual([[[], [], ["anew"]], [["anew"]], []]);
});

it("a process that continues the store returns to the conversation that a failed call had replaced", async () => {
  const store = memoryStore();
  const answer: Parameters<typeof sessionOf>[0] = ({ q }) => {
    if (q === "bad") throw new Error("down");
    return { a: q };
  };
  const first = sessionOf(answer, { store });
  await asked(first, 1);
  const replacing = first.call({ q: "bad" }, { history: { exchanges: [], as: "replaceSession" } });
  await expect(replacing).rejects.toThrow("down");
  const saved = await first.save();
  // The process ended before it moved the head back, which is the last entry.
  const [last] = saved.journal.slice(-1);
  expect(last?.event.type).toBe("head.moved");
  const { qa, seen } = seeing({ store: memoryStore() });
  const loaded = await qa.load({ ...saved, journal: saved.journal.slice(0, -1) }, { threadId: "late" });
  await asked(loaded, 2);
  expect(seen.map(questions)).toEqual([[[1, "Q1"]]]);
});

it("a call through `under` is on the thread of the named session, wherever it is made", async () => {
  const { qa: child } = seeing({ name: "child" });
  const parent = sessionOf((inputs) => child.call(inputs), { name: "parent" });
  const other = sessionOf((inputs) => child.under(parent).call(inputs), { name: "other" });
  await asked(other, 1);
  expect([await child.under(parent).count(), await child.under(other).count()]).toEqual([1, 0]);
});

it("the first call waits for a host that may be starting the thread, and starts it if that host did not", async () => {
  const clock = runningClock();
  const store = memoryStore({ clock });
  const seed = [{ inputs: { q: "Hi" }, outputs: { a: "Hello!" } }];
  const dead = await store.acquire("qa", "a host that died", 60_000);
  expect(dead).not.toBeNull();
  const { qa, seen } = seeing({ store, seed, host: { clock } });
  await asked(qa, 1);
  expect(seen.map(questions)).toEqual([[[0, "Hi"]]]);
  expect((await qa.thread.state())?.context.metadata).toMatchObject({ program: "qa", version: "1" });
});

it("a session answers calls again after its store failed once", async () => {
  const store = memoryStore();
  const read = store.read.bind(store);
  let fails = true;
  const failing = Object.assign(store, {
    read: (...given: Parameters<typeof read>) =>
      fails ? Promise.reject(new Error("the disk is full")) : read(...given),
  });
  const { qa } = seeing({ store: failing });
  await expect(qa.call({ q: "Q1" })).rejects.toThrow(/the disk is full/);
  fails = false;
  expect(await qa.call({ q: "Q2" })).toEqual({ a: "A" });
});
