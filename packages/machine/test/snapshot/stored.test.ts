import { expect, test } from "vitest";
import { conversationMachine } from "../../src/index.ts";
import { readSnapshot, takeSnapshot } from "../../src/snapshot/snapshot.ts";
import { StoredChunks } from "../../src/snapshot/stored.ts";
import { right } from "../reading.ts";
import { Talk } from "../talk.ts";

const messages = Array.from({ length: 100 }, (_, index) => ({ role: "user" as const, content: `message ${index}` }));

/** Returns the snapshot of a thread with a long seed, a long turn and forty short ones. */
const longThread = () => {
  const talk = new Talk(conversationMachine(), { seed: messages });
  talk.tell({ type: "turn.added", messages });
  for (let turn = 2; turn <= 41; turn++) talk.tell({ type: "turn.added", messages: messages.slice(0, 1) });
  const { entry } = talk.tell({ type: "checkpoint.named", name: "here" });
  const stored = new StoredChunks();
  const snapshot = takeSnapshot(talk.state, entry, stored);
  stored.keep(snapshot);
  return { talk, entry, snapshot, stored };
};

const sorted = (ids: Iterable<string>): readonly string[] => [...ids].toSorted();

/** Returns the chunks that a store drops when the thread is replaced by an empty one. */
const droppedBy = (stored: StoredChunks): readonly string[] => {
  const other = new Talk(conversationMachine());
  return sorted(takeSnapshot(other.state, other.beginning, stored).dropped);
};

test("takeSnapshot writes no chunk of a state that was just read from the store", () => {
  const { entry, snapshot } = longThread();
  const { state, stored } = right(readSnapshot(snapshot.head, (id) => snapshot.chunks.get(id)));
  const { head, chunks, dropped } = takeSnapshot(state, entry, stored);
  expect([head, chunks.size, dropped]).toEqual([snapshot.head, 0, []]);
});

test("takeSnapshot writes a chunk again that the store has dropped", () => {
  const { talk, entry, snapshot, stored } = longThread();
  const { state, size } = { state: talk.state, size: stored.size };
  expect(size).toBe(snapshot.chunks.size);
  const annotated = talk.tell({ type: "turn.annotated", turn: 5, name: "score", value: 1 });
  const after = takeSnapshot(talk.state, annotated.entry, stored);
  stored.keep(after);
  expect(after.dropped).toHaveLength(1);
  expect(stored.size).toBe(size);
  const again = takeSnapshot(state, entry, stored);
  expect([sorted(again.chunks.keys()), again.dropped]).toEqual([after.dropped, sorted(after.chunks.keys())]);
});

test("a store drops all chunks of a replaced snapshot, although none of its turns was read", () => {
  const { snapshot } = longThread();
  const { stored } = right(readSnapshot(snapshot.head, (id) => snapshot.chunks.get(id)));
  expect([...snapshot.chunks.keys()].filter((id) => id.startsWith("messages"))).toHaveLength(3);
  expect(droppedBy(stored)).toEqual(sorted(snapshot.chunks.keys()));
});

test("a store drops a chunk that can't be read, and keeps the chunks that only this one names", () => {
  const { snapshot } = longThread();
  const { stored } = right(
    readSnapshot(snapshot.head, (id) => (id.startsWith("seed") ? snapshot.chunks.get(id) : undefined)),
  );
  expect(droppedBy(stored)).toEqual(sorted(snapshot.chunks.keys()).filter((id) => !id.startsWith("messages")));
});
