// The same machine as a live XState actor. Its one action, `perform`, gets an effect as its params. The actor is
// persisted during a model call and restored; then the program performs the outstanding effect again.
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
// The process ends during the model call.
const persisted = JSON.stringify(first.getPersistedSnapshot());
first.stop();

// Cast: the persisted value is a snapshot.
const snapshot = JSON.parse(persisted) as Snapshot<unknown>;
const second = createActor(live, { input, snapshot }).start();
const done = answered(second, 2);
// XState does not repeat the actions of a restored snapshot. The state lists the effects without an answer.
for (const effect of outstanding(second.getSnapshot())) perform(effect, (event) => second.send(event));
await done;

const end = second.getSnapshot();
console.log(`${JSON.stringify(end.value)} after ${end.context.conversation.turns.length} turns`);
for (const message of messagesOf(end)) console.log(`${message.role}: ${textOf(message)}`);
second.stop();
