import { traceArbitrary } from "@colloquy/runtime-test/arbitraries";
import { differenceOf } from "@colloquy/runtime-test/laws";
import fc from "fast-check";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { conversationMachine, messagesOf, outstanding, promptOf, type State, transition } from "../../src/index.ts";
import { fold, foldEntry } from "../../src/journal.ts";
import { estimateCounter, lastTurns, tokenWindow } from "../../src/policies.ts";
import { anchorOf, loadAll, readSnapshot, type Snapshot, takeSnapshot } from "../../src/snapshot/snapshot.ts";
import { SnapshotDamagedError } from "../../src/snapshot/chunks.ts";
import { StoredChunks } from "../../src/snapshot/stored.ts";
import { runs } from "../runs.ts";
import { chunkSize } from "../../src/thread/chunks.ts";
import { calling, Talk } from "../talk.ts";
import { editedJournal, edits } from "../journal/long-journal.ts";
import { SnapshotShelf } from "./shelf.ts";
import { right, throughJson } from "../reading.ts";

describe("a snapshot is the state that it was taken of", () => {
  test("at any prefix of any journal, and it continues in the same way", () => {
    fc.assert(
      fc.property(traceArbitrary(), fc.nat(), ({ machine, started, steps }, pick) => {
        const handled = steps.filter(({ transition: told }) => told.handled);
        const at = pick % (handled.length + 1);
        const before = handled[at - 1];
        const [state, entry] =
          before?.transition.handled === true
            ? [before.transition.state, before.transition.entry]
            : [started.state, started.entry];
        const shelf = new SnapshotShelf();
        shelf.save(takeSnapshot(state, entry, new StoredChunks()));
        const read = shelf.read();
        expect(read.seq).toBe(state.context.seq);
        expect(read.anchor).toBe(anchorOf(throughJson(entry)));
        expect(differenceOf(throughJson(state), throughJson(read.state))).toBeNull();
        let going = read.state;
        for (const step of handled.slice(at)) {
          const told = transition(step.machine, going, step.event);
          expect(throughJson(told)).toEqual(throughJson(step.transition));
          going = told.state;
        }
        expect(throughJson(outstanding(going))).toEqual(throughJson(outstanding(lastOf(steps, started.state))));
        expect(machine).toBeDefined();
      }),
      { numRuns: runs(300) },
    );
  });

  test("of long threads, too, taken repeatedly, with any changes of old turns meanwhile", () => {
    fc.assert(
      fc.property(edits, (list) => {
        const shelf = new SnapshotShelf();
        let stored = new StoredChunks();
        let plain: State | null = null;
        let lazy: State | null = null;
        for (const { entry, edit } of editedJournal(list, { steps: null })) {
          if (entry.event.type === "thread.started") plain = lazy = right(fold([entry]));
          else if (plain !== null && lazy !== null && "event" in entry && entry.seq > 0) {
            // The first entry was handled above.
            const later = entry as Parameters<typeof foldEntry>[1];
            plain = foldEntry(plain, later);
            lazy = foldEntry(lazy, later);
          }
          if (edit === null || plain === null || lazy === null) continue;
          if (edit.afterwards === "nothing") continue;
          const snapshot = takeSnapshot(lazy, entry, stored);
          if (edit.afterwards === "fail") continue;
          shelf.save(snapshot);
          stored.keep(snapshot);
          // No chunk is superfluous or missing.
          const whole = shelf.read();
          loadAll(whole.state);
          expect(whole.stored.size).toBe(shelf.size);
          if (edit.afterwards === "reopen") {
            const read = shelf.read();
            ({ state: lazy, stored } = read);
          }
          if (edit.afterwards === "fold") {
            // A state from the journal has other objects, so everything is written again.
            lazy = throughJson(plain);
          }
        }
        expect(differenceOf(throughJson(plain), throughJson(lazy))).toBeNull();
        if (lazy === null || plain === null) return;
        expect(differenceOf(throughJson(plain), loadAll(lazy))).toBeNull();
        expect(throughJson(promptOf(windowed, lazy))).toEqual(throughJson(promptOf(windowed, plain)));
        expect(throughJson(messagesOf(lazy))).toEqual(throughJson(messagesOf(plain)));
      }),
      { numRuns: runs(25) },
    );
  });
});

const lastOf = (steps: readonly { readonly transition: { readonly state: State } }[], state: State): State =>
  steps.at(-1)?.transition.state ?? state;

const windowed = conversationMachine({
  policy: tokenWindow(),
  budget: { tokens: 2_000, reserve: 0 },
  counter: estimateCounter,
});

/** Plays a thread with `turns` turns of four messages. */
const longTalk = (turns: number): Talk => {
  const talk = new Talk(windowed);
  for (let turn = 1; turn <= turns; turn++) addTurn(talk, turn);
  return talk;
};

const addTurn = (talk: Talk, turn: number): void => {
  talk.tell({
    type: "turn.added",
    messages: [
      { role: "user", content: `question ${turn}` },
      { role: "assistant", toolCalls: [{ id: "call_1", name: "lookup", arguments: `{"turn":${turn}}` }] },
      { role: "tool", toolCallId: "call_1", content: `result ${turn}` },
      { role: "assistant", content: `answer ${turn}` },
    ],
  });
};

/** Takes a snapshot at a new entry. */
const snapshotOf = (talk: Talk, stored = new StoredChunks()): Snapshot => {
  const { entry } = talk.tell({ type: "checkpoint.named", name: "here" });
  return takeSnapshot(talk.state, entry, stored);
};

describe("a long thread", () => {
  test("is opened without reading a chunk, and a prompt under a window reads a few", () => {
    const talk = longTalk(10_000);
    const shelf = new SnapshotShelf();
    shelf.save(snapshotOf(talk));
    const { state } = shelf.read();
    expect(shelf.reads).toBe(0);
    const prompt = promptOf(windowed, state);
    expect(prompt.messages.length).toBeGreaterThan(100);
    expect(shelf.reads).toBeLessThanOrEqual(4);
    // An ask checks whether one of the last 256 turns answers it already.
    const told = transition(windowed, state, { type: "ask.received", at: 1, askId: "new", input: "and?" });
    expect(told.handled).toBe(true);
    expect(shelf.reads).toBeLessThanOrEqual(11);
    expect(shelf.size).toBe(312 + 9);
  });

  test("is written once, however often a snapshot is taken", () => {
    const shelf = new SnapshotShelf();
    const stored = new StoredChunks();
    const talk = new Talk(windowed);
    for (let turn = 1; turn <= 3_000; turn++) {
      addTurn(talk, turn);
      if (turn % 100 !== 0) continue;
      const snapshot = snapshotOf(talk, stored);
      expect(snapshot.chunks.size).toBeLessThanOrEqual(5);
      expect(snapshot.head.length).toBeLessThan(10_000);
      expect(snapshot.dropped).toEqual([]);
      shelf.save(snapshot);
      stored.keep(snapshot);
    }
    expect(shelf.written).toBe(shelf.size);
  });

  test("rewrites one chunk per level for a change of an old turn, and drops the old ones", () => {
    const talk = longTalk(2_000);
    const shelf = new SnapshotShelf();
    const stored = new StoredChunks();
    const before = snapshotOf(talk, stored);
    shelf.save(before);
    stored.keep(before);
    const { entry } = talk.tell({ type: "turn.annotated", turn: 70, name: "score", value: 1 });
    const after = takeSnapshot(talk.state, entry, stored);
    expect([...after.chunks.keys()].map(nameOf)).toEqual(["turns64.1", "turns0.2"]);
    expect(after.dropped.map(nameOf)).toEqual(["turns0.2", "turns64.1"]);
  });

  test("may be one turn of very many messages, whose closed chunks are written once too", () => {
    const talk = new Talk(conversationMachine({ tools: [{ name: "lookup" }], limits: { steps: null } }));
    const shelf = new SnapshotShelf();
    const stored = new StoredChunks();
    talk.ask("go");
    for (let round = 1; round <= 300; round++) {
      talk.reply({ toolCalls: [{ id: "call_1", name: "lookup", arguments: '{"a":1}' }] });
      const { entry } = talk.result(0, "x".repeat(100));
      const snapshot = takeSnapshot(talk.state, entry, stored);
      expect(snapshot.head.length).toBeLessThan(10_000);
      shelf.save(snapshot);
      stored.keep(snapshot);
    }
    const { entry } = talk.reply("done");
    const last = takeSnapshot(talk.state, entry, stored);
    expect(last.chunks.size).toBe(0);
    expect(last.dropped).toEqual([]);
    shelf.save(last);
    const { state } = shelf.read();
    expect(throughJson(state)).toEqual(throughJson(talk.state));
    expect(loadAll(state)).toEqual(talk.state);
  });
});

describe("loadAll", () => {
  test("returns the very state if nothing of it is left in a store, with an open turn and without", () => {
    const talk = longTalk(40);
    expect(loadAll(talk.state)).toBe(talk.state);
    talk.ask("go");
    expect(loadAll(talk.state)).toBe(talk.state);
  });

  test("reads the messages of the open turn, also of a thread whose closed turns are all there", () => {
    const talk = new Talk(conversationMachine({ tools: [{ name: "lookup" }] }));
    talk.ask("go");
    for (let round = 1; round <= chunkSize; round++) {
      talk.reply(calling("lookup"));
      talk.result(0, "found");
    }
    const { entry } = talk.tell({ type: "metadata.changed", metadata: { of: "Ada" } });
    const shelf = new SnapshotShelf();
    shelf.save(takeSnapshot(talk.state, entry, new StoredChunks()));
    const { state } = shelf.read();
    const whole = loadAll(state);
    expect(shelf.reads).toBe(shelf.size);
    expect(whole).toEqual(talk.state);
    expect(loadAll(whole)).toBe(whole);
  });
});

const nameOf = (id: string): string => id.split(".").slice(0, 2).join(".");

describe("a snapshot that is of no use says why, and never throws", () => {
  const talk = longTalk(70);
  const snapshot = snapshotOf(talk);
  const [header = "", body = ""] = snapshot.head.split("\n");

  test.each<readonly [string, string, RegExp]>([
    ["an empty one", "", /no header/],
    ["one that is no JSON", "hello\nworld", /no header/],
    ["one whose header is a list", `[]\n${body}`, /no header/],
    ["one whose header is a number", `5\n${body}`, /no header/],
    ["one whose header is null", `null\n${body}`, /no header/],
    ["one that was cut off", snapshot.head.slice(0, -1), /not what was written/],
    ["one with another letter in it", snapshot.head.replace("answer 70", "answer 71"), /not what was written/],
    ["one of a newer format", `${header.replace('"snapshot":2', '"snapshot":3')}\n${body}`, /format 3.* reads 2/],
    ["one of no format", `{}\n${body}`, /format undefined/],
    ["one of an older format", `${header.replace('"snapshot":2', '"snapshot":1')}\n${body}`, /format 1.* reads 2/],
    ["one of another entry than it says", `${header.replace('"seq":71', '"seq":70')}\n${body}`, /entry 70.* of 71/],
    ["one without its anchor", `${header.replace('"anchor"', '"anker"')}\n${body}`, /header is not whole/],
  ])("%s", (_, head, reason) => {
    const read = readSnapshot(head, (id) => snapshot.chunks.get(id));
    if (Either.isRight(read)) throw new Error("it was read");
    expect(read.left).toMatch(reason);
  });

  test("any text at all", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.json().map((json) => `${header}\n${json}`),
        ),
        (head) => {
          expect(Either.isLeft(readSnapshot(head, () => undefined))).toBe(true);
        },
      ),
      { numRuns: runs(500) },
    );
  });

  test.each<readonly [string, (text: string) => string | undefined, RegExp]>([
    ["is gone", () => undefined, /"turns0\.1\..*is not there/],
    ["is another text", (text) => text.replace("answer 1", "answer 2"), /is not what was written/],
  ])("one whose chunk %s fails when the chunk is read", (_, damage, reason) => {
    const { state } = right(
      readSnapshot(snapshot.head, (id) => {
        const text = snapshot.chunks.get(id);
        return text !== undefined && id.startsWith("turns0.1.") ? damage(text) : text;
      }),
    );
    expect(() => promptOf(conversationMachine({ policy: lastTurns(3) }), state)).not.toThrow();
    expect(() => messagesOf(state)).toThrow(SnapshotDamagedError);
    expect(() => messagesOf(state)).toThrow(reason);
    expect(() => loadAll(state)).toThrow(SnapshotDamagedError);
    expect(() => JSON.stringify(state)).toThrow(SnapshotDamagedError);
  });
});

test("a seed of many messages is written once, and gone with its chunk", () => {
  const seed = Array.from({ length: 100 }, (_, index) => ({ role: "user" as const, content: `seed ${index}` }));
  const talk = new Talk(windowed, { seed });
  const stored = new StoredChunks();
  const first = takeSnapshot(talk.state, talk.beginning, stored);
  expect([...first.chunks.keys()].map(nameOf)).toEqual([expect.stringMatching(/^seed/)]);
  stored.keep(first);
  const { entry } = talk.ask("hello");
  const second = takeSnapshot(talk.state, entry, stored);
  expect([second.chunks.size, second.dropped]).toEqual([0, []]);
  const read = right(readSnapshot(second.head, (id) => first.chunks.get(id)));
  expect(read.state).toEqual(talk.state);
  const gone = readSnapshot(second.head, () => undefined);
  expect(Either.isLeft(gone) && gone.left).toMatch(/"seed.*is not there/);
});

test.each([
  [31, 0],
  [32, 1],
])("a seed of %i messages is written into %i chunks", (length, chunks) => {
  const seed = Array.from({ length }, (_, index) => ({ role: "user" as const, content: `seed ${index}` }));
  const talk = new Talk(windowed, { seed });
  expect(takeSnapshot(talk.state, talk.beginning, new StoredChunks()).chunks.size).toBe(chunks);
});

test("a snapshot of another journal has another anchor", () => {
  const talk = new Talk(windowed);
  const { entry } = talk.ask("hello");
  for (const other of [
    { ...entry, seq: entry.seq + 1 },
    { ...entry, event: { ...entry.event, at: 9 } },
    { ...entry, redacted: true } as const,
  ])
    expect(anchorOf(other)).not.toBe(anchorOf(entry));
  expect(anchorOf(throughJson(entry))).toBe(anchorOf(entry));
});
