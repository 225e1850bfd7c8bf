import { machineOptionsArbitrary, traceArbitrary } from "@colloquy/runtime-test/arbitraries";
import { differenceOf } from "@colloquy/runtime-test/laws";
import fc from "fast-check";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import {
  conversationMachine,
  type Entry,
  type Event,
  messagesOf,
  outstanding,
  promptOf,
  type State,
  transition,
} from "../../src/index.ts";
import { configurationOfMachine } from "../../src/hosting.ts";
import { fold } from "../../src/journal.ts";
import { tokenWindow } from "../../src/policies.ts";
import { loadAll, readSnapshot, takeSnapshot } from "../../src/snapshot/snapshot.ts";
import { SnapshotDamagedError } from "../../src/snapshot/chunks.ts";
import { StoredChunks } from "../../src/snapshot/stored.ts";
import { runs } from "../runs.ts";
import { Talk } from "../talk.ts";
import { SnapshotShelf } from "./shelf.ts";
import { right, throughJson } from "../reading.ts";

/** Adds turns of four messages each, for several chunks. */
const lengthen = (talk: Talk, turns: number): void => {
  for (let turn = 1; turn <= turns; turn++)
    talk.tell({
      type: "turn.added",
      messages: [
        { role: "user", content: `question ${turn}` },
        { role: "assistant", content: `answer ${turn}` },
      ],
    });
};

describe("a snapshot that is opened under another counter, policy or configuration", () => {
  test("equals the fold of the journal: the same prompts, and the same answer to any event", () => {
    fc.assert(
      fc.property(traceArbitrary(), machineOptionsArbitrary, fc.nat(), ({ started, steps }, options, pick) => {
        const machine = conversationMachine(options);
        const handled = steps.flatMap(({ transition: told, event }) => (told.handled ? { told, event } : []));
        const at = pick % (handled.length + 1);
        const entries: Entry[] = [started.entry, ...handled.slice(0, at).map(({ told }) => told.entry)];
        let folded = right(fold(entries));
        const shelf = new SnapshotShelf();
        shelf.save(takeSnapshot(folded, entries.at(-1) ?? started.entry, new StoredChunks()));
        let read = shelf.read().state;
        expect(differenceOf(promptIn(machine, folded), promptIn(machine, read))).toBeNull();
        const configured: Event = {
          type: "thread.configured",
          at: folded.context.updatedAt,
          configuration: configurationOfMachine(machine),
        };
        for (const event of [configured, ...handled.slice(at).map(({ event: later }) => later)]) {
          const expected = transition(machine, folded, event);
          const told = transition(machine, read, event);
          expect(differenceOf(throughJson(expected), throughJson(told))).toBeNull();
          if (expected.handled && told.handled) [folded, read] = [expected.state, told.state];
        }
      }),
      { numRuns: runs(150) },
    );
  });

  test("of a long thread too, whose chunks are read as they are needed", () => {
    const talk = new Talk(conversationMachine({ policy: tokenWindow(), budget: { tokens: 200, reserve: 0 } }));
    lengthen(talk, 70);
    talk.ask("and?");
    const { entry } = talk.reply("so it is", { usage: { inputTokens: 150 } });
    const shelf = new SnapshotShelf();
    shelf.save(takeSnapshot(talk.state, entry, new StoredChunks()));
    fc.assert(
      fc.property(
        machineOptionsArbitrary,
        fc.nat(71),
        fc.constantFrom("", "more", "x".repeat(300)),
        (options, to, input) => {
          const machine = conversationMachine(options);
          let folded = throughJson(talk.state);
          let read = shelf.read().state;
          const tell = (event: Event): void => {
            const expected = transition(machine, folded, event);
            const told = transition(machine, read, event);
            expect(differenceOf(throughJson(expected), throughJson(told))).toBeNull();
            if (expected.handled && told.handled) [folded, read] = [expected.state, told.state];
            expect(differenceOf(promptIn(machine, folded), promptIn(machine, read))).toBeNull();
          };
          const at = talk.now;
          tell({ type: "thread.configured", at, configuration: configurationOfMachine(machine) });
          tell({ type: "head.moved", at, to });
          tell({ type: "ask.received", at, askId: "next", input });
          const call = outstanding(folded).find(({ type }) => type === "callLlm");
          const reply = { content: "it was" };
          if (call !== undefined)
            tell({
              type: "llm.completed",
              at,
              effectId: call.id,
              reply,
              finishReason: "stop",
              usage: { inputTokens: 9 },
            });
          expect(differenceOf(folded, loadAll(read))).toBeNull();
        },
      ),
      { numRuns: runs(40) },
    );
  });

  const promptIn = (machine: ReturnType<typeof conversationMachine>, state: State): unknown =>
    throughJson(promptOf(machine, state));
});

describe("a snapshot whose chunk can't be fetched", () => {
  const talk = new Talk(conversationMachine());
  lengthen(talk, 70);
  const { entry } = talk.tell({ type: "checkpoint.named", name: "here" });
  const snapshot = takeSnapshot(talk.state, entry, new StoredChunks());

  /** Returns the error of a read of the state. */
  const damageOf = (look: () => unknown): SnapshotDamagedError => {
    try {
      look();
    } catch (thrown) {
      if (thrown instanceof SnapshotDamagedError) return thrown;
      throw thrown;
    }
    throw new Error("nothing was thrown");
  };

  test("says which one it is and why, and is whole once it can be fetched", () => {
    const locked = new Error("the database is locked");
    let isLocked = true;
    const { state } = right(
      readSnapshot(snapshot.head, (id) => {
        if (isLocked) throw locked;
        return snapshot.chunks.get(id);
      }),
    );
    for (const look of [() => messagesOf(state), () => loadAll(state), () => JSON.stringify(state)]) {
      const damage = damageOf(look);
      expect(snapshot.chunks.has(damage.chunk)).toBe(true);
      expect(damage.cause).toBe(locked);
      expect(damage.message).toBe(
        `chunk "${damage.chunk}" of the snapshot can't be read: the database is locked; drop the snapshot and fold the journal`,
      );
    }
    isLocked = false;
    expect(loadAll(state)).toEqual(talk.state);
  });

  test("gives a text that was thrown in place of an error as the reason", () => {
    const { state } = right(
      readSnapshot(snapshot.head, () => {
        // Only JavaScript throws a text.
        throw "locked" as unknown as Error;
      }),
    );
    expect(damageOf(() => loadAll(state)).message).toContain("of the snapshot can't be read: locked;");
  });

  test("names one that is not there, which may be fetched when it is known", () => {
    const fetched = new Map<string, string>();
    const { state } = right(readSnapshot(snapshot.head, (id) => fetched.get(id)));
    for (let missing = 0; missing < snapshot.chunks.size; missing++) {
      const { chunk } = damageOf(() => loadAll(state));
      fetched.set(chunk, snapshot.chunks.get(chunk) ?? "");
    }
    expect(loadAll(state)).toEqual(talk.state);
  });

  test("is replaced by one of another state, which drops all its chunks, even if they were read", () => {
    const seed = Array.from({ length: 100 }, (_, index) => ({ role: "user" as const, content: `seed ${index}` }));
    const long = new Talk(conversationMachine(), { seed });
    const said = Array.from({ length: 100 }, (_, index) => ({ role: "user" as const, content: `${index}` }));
    long.tell({ type: "turn.added", messages: said });
    lengthen(long, 40);
    const { entry: newest } = long.tell({ type: "checkpoint.named", name: "here" });
    const { head, chunks } = takeSnapshot(long.state, newest, new StoredChunks());
    const { state, stored } = right(readSnapshot(head, (id) => chunks.get(id)));
    loadAll(state);
    expect([...chunks.keys()].filter((id) => id.startsWith("seed"))).toHaveLength(1);
    const other = new Talk(conversationMachine());
    const { dropped } = takeSnapshot(other.state, other.beginning, stored);
    expect(dropped.toSorted()).toEqual([...chunks.keys()].toSorted());
  });

  test("is of no use where it holds what the thread began with", () => {
    const seed = Array.from({ length: 100 }, (_, index) => ({ role: "user" as const, content: `seed ${index}` }));
    const seeded = new Talk(conversationMachine(), { seed });
    const { head } = takeSnapshot(seeded.state, seeded.beginning, new StoredChunks());
    const read = readSnapshot(head, () => {
      throw new Error("the database is locked");
    });
    expect(Either.isLeft(read) && read.left).toMatch(
      /^it can't be read: chunk "seed.*can't be read: the database is locked/,
    );
  });
});
