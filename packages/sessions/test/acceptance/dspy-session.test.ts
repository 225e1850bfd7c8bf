import { describe, expect, test } from "vitest";
import { memoryStore } from "@colloquy/runtime-node";
import { session } from "../../src/index.ts";
import { type Answer, asked, type Question, questions, seeing, sessionOf } from "../programs.ts";

// Repeats dspy-session's own tests. If a session differs, the test's name says so. Scores, examples, saving and merging
// (93 to 97) have their own tests.

const given = (q: string) => ({ inputs: { q }, outputs: { a: "given" } });

describe("turns and what programs see of them", () => {
  test("85: three calls see none, one and two before them, and stay three turns", async () => {
    const { qa, seen } = seeing();
    await asked(qa, 1, 2, 3);
    expect(seen.map(questions)).toEqual([
      [],
      [[1, "Q1"]],
      [
        [1, "Q1"],
        [2, "Q2"],
      ],
    ]);
    expect(seen[1]?.exchanges[0]?.outputs).toEqual({ a: "A" });
    expect(await qa.count()).toBe(3);
  });

  test("86: excluded fields are in the turn and in no memory, and excluding beats including", async () => {
    const { qa, seen } = seeing({ excludeFields: ["context"], onlyInputFields: ["context", "q"] });
    await qa.call({ q: "Q1", context: "large" });
    await qa.call({ q: "Q2", context: "large" });
    expect(seen[1]?.exchanges[0]?.inputs).toEqual({ q: "Q1" });
    expect((await qa.turns())[0]?.inputs).toEqual({ q: "Q1", context: "large" });
  });

  test("86: fields are named by a list or by a Set, as dspy-session has them", async () => {
    const { qa, seen } = seeing({ excludeFields: new Set(["context"]), onlyInputFields: new Set(["context", "q"]) });
    await qa.call({ q: "Q1", context: "large" });
    await asked(qa, 2);
    expect(seen[1]?.exchanges[0]?.inputs).toEqual({ q: "Q1" });
  });

  test("86: of the inputs only some are shown, of the outputs all", async () => {
    const { qa, seen } = seeing({ onlyInputFields: ["context"] });
    await qa.call({ q: "Q1", context: "small" });
    await asked(qa, 2);
    expect(seen[1]?.exchanges[0]).toMatchObject({ inputs: { context: "small" }, outputs: { a: "A" } });
    expect(seen[1]?.exchanges[0]?.inputs).not.toHaveProperty("q");
  });

  test("87: of five turns with two shown the newest two are, and all five are there", async () => {
    const { qa, seen } = seeing({ maxTurns: 2 });
    await asked(qa, 0, 1, 2, 3, 4);
    expect(questions(await qa.memory())).toEqual([
      [4, "Q3"],
      [5, "Q4"],
    ]);
    expect(await qa.count()).toBe(5);
    expect(questions(seen[0])).toEqual([]);
  });

  test("87: what the first call of ten saw is still nothing", async () => {
    const { qa, seen } = seeing({ maxTurns: 3 });
    await asked(qa, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    expect(questions((await qa.promptOfTurn(1))?.memory)).toEqual([]);
    expect(questions(seen[9])).toEqual([
      [7, "Q6"],
      [8, "Q7"],
      [9, "Q8"],
    ]);
    await asked(qa, 10, 11);
    expect(questions(seen[11])).toEqual([
      [9, "Q8"],
      [10, "Q9"],
      [11, "Q10"],
    ]);
  });

  test("88: of eight turns with three stored the newest three are there, under their own numbers (theirs repeats 3)", async () => {
    const { qa, seen } = seeing({ maxStoredTurns: 3 });
    await asked(qa, 0, 1, 2, 3, 4, 5, 6, 7);
    expect((await qa.turns()).map(({ number, inputs }) => [number, inputs.q])).toEqual([
      [6, "Q5"],
      [7, "Q6"],
      [8, "Q7"],
    ]);
    expect(questions(seen[7])).toEqual([
      [5, "Q4"],
      [6, "Q5"],
      [7, "Q6"],
    ]);
    expect(await sessionOf(() => ({ a: "" }), { maxStoredTurns: 0 }).turns()).toEqual([]);
  });

  test("89: a seed is seen by the first call, and a reset keeps it", async () => {
    const { qa, seen } = seeing({ seed: [{ inputs: { q: "Hi" }, outputs: { a: "Hello!" } }] });
    await asked(qa, 1, 2);
    await qa.reset();
    await asked(qa, 3);
    expect(seen.map(questions)).toEqual([
      [[0, "Hi"]],
      [
        [0, "Hi"],
        [1, "Q1"],
      ],
      [[0, "Hi"]],
    ]);
    expect(seen[0]?.exchanges[0]?.outputs).toEqual({ a: "Hello!" });
    expect(seen[0]?.text).toBe("[Before turn 1] Asked: q: Hi Answered: a: Hello!");
    expect((await qa.memory()).text).toBe(
      "[Before turn 3] Asked: q: Hi Answered: a: Hello!\n[Turn 3] Asked: q: Q3 Answered: a: A",
    );
    expect(await qa.count()).toBe(1);
  });

  test("90: a turn that is added is seen by the next call", async () => {
    const { qa, seen } = seeing();
    await qa.addTurn(given("edited"));
    await asked(qa, 2);
    expect(questions(seen[0])).toEqual([[1, "edited"]]);
    expect((await qa.turns()).map(({ outputs }) => outputs.a)).toEqual(["given", "A"]);
  });

  test("91: two of three are undone, the newest first; and at the beginning there is none", async () => {
    const { qa, seen } = seeing();
    await asked(qa, 1, 2, 3);
    expect((await qa.undo(2)).map(({ number }) => number)).toEqual([3, 2]);
    expect((await qa.redo(1)).map(({ number }) => number)).toEqual([2]);
    expect((await qa.redo(5)).map(({ number }) => number)).toEqual([3]);
    expect((await qa.pop())?.inputs.q).toBe("Q3");
    expect((await qa.pop())?.inputs.q).toBe("Q2");
    expect((await qa.pop())?.inputs.q).toBe("Q1");
    expect(await qa.pop()).toBeNull();
    await asked(qa, 4);
    expect(questions(seen.at(-1))).toEqual([]);
    expect((await qa.turns()).map(({ number }) => number)).toEqual([4]);
  });

  test("92: after a fork and a call of it there are two turns there and one here", async () => {
    const { qa } = seeing();
    await asked(qa, 1);
    const fork = await qa.fork();
    await asked(fork, 2);
    expect([await fork.count(), await qa.count()]).toEqual([2, 1]);
    expect(await (await qa.fork(0)).count()).toBe(0);
  });
});

describe("calls that fail", () => {
  const failing = () => {
    let broken: Error | null = null;
    const qa = sessionOf(({ q }) => {
      if (broken !== null) throw broken;
      return { a: q };
    });
    return { qa, breakWith: (error: Error | null) => void (broken = error) };
  };

  test("98: record no turn, and reject with just what the program threw", async () => {
    const { qa, breakWith } = failing();
    await asked(qa, 1);
    const boom = new RangeError("boom");
    breakWith(boom);
    await expect(qa.call({ q: "Q2" })).rejects.toBe(boom);
    expect((await qa.turns()).map(({ inputs }) => inputs.q)).toEqual(["Q1"]);
    breakWith(null);
    await asked(qa, 3);
    expect(questions(await qa.memory())).toEqual([
      [1, "Q1"],
      [3, "Q3"],
    ]);
    expect((await qa.undo(1)).map(({ number }) => number)).toEqual([3]);
    expect(await qa.count()).toBe(1);
  });

  test("98: and where the conversation was to begin anew, it is as it was (theirs loses the old turns)", async () => {
    const { qa, breakWith } = failing();
    await asked(qa, 1, 2);
    breakWith(new Error("boom"));
    const history = { exchanges: [given("new")], as: "replaceSession" } as const;
    const failed = qa.call({ q: "Q3" }, { history });
    const behind = qa.call({ q: "Q4" });
    await expect(failed).rejects.toThrow("boom");
    await expect(behind).rejects.toThrow("boom");
    expect((await qa.turns()).map(({ inputs }) => inputs.q)).toEqual(["Q1", "Q2"]);
  });
});

describe("histories that a caller gives", () => {
  const exchanges = [given("E1"), given("E2")];

  test("99: overriding leaves the turns as they are, and calls no hook", async () => {
    const counts: number[] = [];
    const { qa, seen } = seeing({ onTurn: ({ number }) => counts.push(number) });
    await asked(qa, 1);
    const call = qa.call({ q: "Q2" }, { history: { exchanges, as: "override" } });
    expect(await call).toEqual({ a: "A" });
    expect(call.threadId).toBeNull();
    expect(questions(seen[1])).toEqual([
      [1, "E1"],
      [2, "E2"],
    ]);
    expect(await qa.count()).toBe(1);
    expect(counts).toEqual([1]);
  });

  test("one that is used if provided is what the call sees, and the turn is recorded", async () => {
    const { qa, seen } = seeing();
    await asked(qa, 1);
    await qa.call({ q: "Q2" }, { history: { exchanges, as: "useIfProvided" } });
    await asked(qa, 3);
    expect(questions(seen[1])).toEqual([
      [1, "E1"],
      [2, "E2"],
    ]);
    expect(questions(seen[2])).toEqual([
      [1, "Q1"],
      [2, "Q2"],
    ]);
  });

  test("one that replaces the session stands before the new turns, also before the seed", async () => {
    const { qa, seen } = seeing({ seed: [given("seed")] });
    await asked(qa, 1);
    await qa.call({ q: "Q2" }, { history: { exchanges, as: "replaceSession" } });
    await asked(qa, 3);
    expect(questions(seen[1])).toEqual([
      [1, "E1"],
      [2, "E2"],
    ]);
    expect(questions(seen[2])).toEqual([
      [0, "E1"],
      [0, "E2"],
      [2, "Q2"],
    ]);
    expect((await qa.turns()).map(({ inputs }) => inputs.q)).toEqual(["Q2", "Q3"]);
  });

  test("one that replaces the session, and whose process ends meanwhile, replaces nothing where it then fails", async () => {
    const store = memoryStore();
    const stuck = sessionOf(
      ({ q }, { signal }) => {
        if (q !== "Q3") return { a: "A" };
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("ended"))));
      },
      { store },
    );
    await asked(stuck, 1, 2);
    const call = stuck.call({ q: "Q3" }, { history: { exchanges, as: "replaceSession" } });
    for await (const part of call) if (part.type === "step.started") break;
    await stuck.close();
    const again: string[] = [];
    const failing = sessionOf(
      ({ q }) => {
        again.push(q);
        if (q === "Q3") throw new Error("boom");
        return { a: "A" };
      },
      { store },
    );
    await asked(failing, 4);
    expect(again).toEqual(["Q3", "Q4"]);
    expect((await failing.turns()).map(({ inputs }) => inputs.q)).toEqual(["Q1", "Q2", "Q4"]);
  });

  test("one that replaces the session and is called again under its id replaces nothing again", async () => {
    const { qa, seen } = seeing();
    const call = () => qa.call({ q: "Q2" }, { askId: "once", history: { exchanges, as: "replaceSession" } });
    await asked(qa, 1);
    await call();
    await asked(qa, 3);
    expect(await call()).toEqual({ a: "A" });
    expect(seen).toHaveLength(3);
    expect((await qa.turns()).map(({ inputs }) => inputs.q)).toEqual(["Q2", "Q3"]);
  });
});

describe("hooks, copies, users, another program", () => {
  test("100: the hook counts 1, 2, 3, its error breaks no call, and a fork keeps it", async () => {
    const counts: number[] = [];
    const errors: unknown[] = [];
    const { qa } = seeing({
      onTurn: async ({ number }) => {
        await Promise.resolve();
        counts.push(number);
        throw new Error("hook");
      },
      host: { onObserverError: (error, where) => errors.push([where, String(error)]) },
    });
    await asked(qa, 1, 2);
    await asked(await qa.fork(), 3);
    expect(counts).toEqual([1, 2, 3]);
    expect(errors).toEqual(Array.from({ length: 3 }, () => ["onTurn", "Error: hook"]));
  });

  test("101: what is changed after a call changes nothing that is kept or was given", async () => {
    const kept: Answer & { list: number[] } = { a: "A", list: [1] };
    const made = session<{ q: { text: string } }, { a: string; list: number[] }>(
      (inputs) => {
        inputs.q.text += "!";
        return kept;
      },
      { name: "qa" },
    );
    const inputs = { q: { text: "Q1" } };
    const calling = made.call(inputs);
    inputs.q.text = "changed";
    const outputs = await calling;
    outputs.list.push(2);
    kept.list.push(3);
    const [turn] = await made.turns();
    expect(turn).toMatchObject({ inputs: { q: { text: "Q1" } }, outputs: { a: "A", list: [1] } });
    expect(Object.isFrozen(turn?.outputs.list)).toBe(true);
    const memory = await made.memory();
    expect(() => Object.assign(memory.exchanges[0]?.inputs ?? {}, { q: "other" })).toThrow(TypeError);
    await made.close();
  });

  test("102: two users have turns of their own, also at once", async () => {
    const qa = sessionOf(async (_, { memory }) => {
      await Promise.resolve();
      return { a: String(memory.exchanges.length) };
    });
    const [alice, bob] = [qa.user("alice"), qa.user("bob")];
    const calls = [alice, bob, alice, bob, alice].map((user) => user.call({ q: "Q" }));
    expect(await Promise.all(calls)).toEqual(["0", "0", "1", "1", "2"].map((a) => ({ a })));
    expect([await alice.count(), await bob.count(), await qa.count()]).toEqual([3, 2, 0]);
  });

  test("104: the program that was put in the other's place is the one that is called", async () => {
    const { qa } = seeing();
    await asked(qa, 1);
    qa.swap(({ q }, { memory }) => ({ a: `new ${q} ${memory.exchanges.length}` }));
    expect(await qa.call({ q: "Q2" } satisfies Question)).toEqual({ a: "new Q2 1" });
    expect(await qa.count()).toBe(2);
  });
});

describe("103: sessions within another program", () => {
  /** Twice in each call of the outer program. */
  const within = (options: Parameters<typeof seeing>[0]) => {
    const { qa: child, seen } = seeing({ name: "child", ...options });
    const parent = sessionOf(
      async ({ q }) => {
        await child.call({ q });
        return child.call({ q: `${q} again` });
      },
      { name: "parent" },
    );
    return { child: child.under(parent), parent, trace: () => seen.map(({ exchanges }) => exchanges.length), seen };
  };

  test("persistent: it sees all of its own", async () => {
    const { child, parent, trace } = within({});
    await asked(parent, 1, 2);
    expect(trace()).toEqual([0, 1, 2, 3]);
    expect(await child.count()).toBe(4);
  });

  test("episodic: it sees those of one call, and then what was made of them", async () => {
    const consolidate = (past: string, transcript: readonly unknown[]): string =>
      [past, `turns=${transcript.length}`].filter((text) => text !== "").join("|");
    const { child, parent, trace, seen } = within({ lifespan: "episodic", consolidate });
    await asked(parent, 1);
    expect(trace()).toEqual([0, 1]);
    expect(await child.count()).toBe(0);
    expect((await child.memory()).text).toBe("turns=2");
    await asked(parent, 2);
    expect(trace()).toEqual([0, 1, 0, 1]);
    expect(seen[2]?.text).toBe("turns=2");
    expect((await child.memory()).text).toBe("turns=2|turns=2");
    const fork = await parent.fork();
    await parent.undo(1);
    expect((await child.memory()).text).toBe("turns=2");
    await asked(fork, 3);
    expect(seen[4]?.text).toBe("turns=2|turns=2");
  });

  test("shared: it sees what the outer one sees, and has none of its own", async () => {
    const { qa: child, seen } = seeing({ name: "child", lifespan: "shared" });
    const parent = sessionOf((inputs) => child.call(inputs), { name: "parent" });
    await asked(parent, 1, 2);
    expect(seen.map(({ exchanges }) => exchanges.length)).toEqual([0, 1]);
    expect(await child.under(parent).count()).toBe(0);
  });

  test("stateless: it sees nothing, and has none", async () => {
    const { child, parent, trace } = within({ lifespan: "stateless" });
    await asked(parent, 1, 2);
    expect(trace()).toEqual([0, 0, 0, 0]);
    expect(await child.count()).toBe(0);
    expect(await parent.count()).toBe(2);
  });
});
