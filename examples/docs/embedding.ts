// A host of one's own on a store whose methods are asynchronous: docs/conversation.md shows it.
import {
  conversationMachine,
  type Effect,
  type Event,
  messagesOf,
  outstanding,
  start,
  textOf,
  transition,
} from "@colloquy/machine";
import { decodeJournal, describeDecodeError, fold } from "@colloquy/machine/journal";
import { sqliteStore } from "@colloquy/runtime-node";

type Perform = (effect: Effect, enqueue: (event: Event) => void) => void;

const machine = conversationMachine();
const store = sqliteStore({ path: ":memory:" });

const openThread = async (threadId: string, owner: string, perform: Perform) => {
  const lease = await store.acquire(threadId, owner, 30_000);
  if (lease === null) throw new Error("another process has the thread");

  const stored = decodeJournal(await store.read(threadId));
  if ("left" in stored) throw new Error(describeDecodeError(stored.left));
  let entries = stored.right;
  if (entries.length === 0) {
    entries = [start(machine, { threadId, at: Date.now() }).entry];
    await store.append(lease, -1, entries);
  }
  const folded = fold(entries);
  if ("left" in folded) throw new Error(folded.left.reason);
  let state = folded.right;

  const take = async (event: Event): Promise<void> => {
    const step = transition(machine, state, event);
    if (!step.handled) return console.log(`refused: ${step.refusal.reason}`);
    await store.append(lease, state.context.seq, [step.entry]); // first it is stored,
    state = step.state;
    for (const effect of step.effects) perform(effect, enqueue); // then performed, and not awaited
  };
  // One event after the other. An append that fails ends it: what was stored is not known, so open the thread again.
  let taken = Promise.resolve();
  const enqueue = (event: Event): void => {
    taken = taken.then(() => take(event));
  };

  for (const effect of outstanding(state)) perform(effect, enqueue); // what an earlier process left undone
  return { enqueue, taken: () => taken, state: () => state, close: () => store.release(lease) };
};

// The first process takes a question, and ends before its model answers.
const first = await openThread("ada", "worker-1", ({ type }) => console.log(`1: ${type}`));
first.enqueue({ type: "ask.received", askId: "a", input: "What is a queue?", at: Date.now() });
await first.taken();

// The next one has the same name, and so takes the lease over at once. It performs what is outstanding.
const second = await openThread("ada", "worker-1", (effect, enqueue) => {
  console.log(`2: ${effect.type}`);
  if (effect.type !== "callLlm") return;
  const { id: effectId, promptDigest } = effect;
  const reply = { content: "A line." };
  enqueue({ type: "llm.completed", effectId, promptDigest, reply, finishReason: "stop", at: Date.now() });
});
await second.taken();
console.log(messagesOf(second.state()).map(textOf).join(" | "));
await second.close();
await store.close();
