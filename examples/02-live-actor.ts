// The same machine as a live XState actor: each effect is the one action `perform`, with the effect as its params. It is
// persisted while a model call is out, and restored: what was out is performed again by hand.
import { conversationMachine, type Effect, type Event, messagesOf, outstanding, textOf } from "@colloquy/machine";
import { createActor, type Snapshot } from "xstate";

const perform = (effect: Effect, send: (event: Event) => void): void => {
  if (effect.type !== "callLlm") return;
  const asked = effect.messages.map(textOf).at(-1) ?? "nothing";
  const reply = { content: `You said "${asked}", and ${effect.messages.length - 1} messages came before it.` };
  queueMicrotask(() => send({ type: "llm.completed", effectId: effect.id, reply, finishReason: "stop", at: 2 }));
};

const machine = conversationMachine();
const live = machine.provide({
  actions: { perform: ({ self }, effect: Effect) => perform(effect, (event) => self.send(event)) },
});
const input = { threadId: "live", at: 0 };
type Live = ReturnType<typeof createActor<typeof live>>;

const answered = (actor: Live, turns: number): Promise<void> =>
  new Promise((resolve) => {
    const subscription = actor.subscribe(({ context }) => {
      if (context.conversation.turns.length < turns) return;
      resolve();
      queueMicrotask(() => subscription.unsubscribe());
    });
  });

const first = createActor(live, { input }).start();
first.send({ type: "ask.received", askId: "ask-0", input: "Hello.", at: 1 });
await answered(first, 1);
first.send({ type: "ask.received", askId: "ask-1", input: "Do you remember?", at: 3 });
// The model is being asked, and the process goes.
const persisted = JSON.stringify(first.getPersistedSnapshot());
first.stop();

// The persisted value is a snapshot.
const snapshot = JSON.parse(persisted) as Snapshot<unknown>;
const second = createActor(live, { input, snapshot }).start();
const done = answered(second, 2);
// XState performs no action of a restored snapshot again. What was asked for and is not answered is in the state.
for (const effect of outstanding(second.getSnapshot())) perform(effect, (event) => second.send(event));
await done;

const end = second.getSnapshot();
console.log(`${JSON.stringify(end.value)} after ${end.context.conversation.turns.length} turns`);
for (const message of messagesOf(end)) console.log(`${message.role}: ${textOf(message)}`);
second.stop();
