// The same machine as a live XState actor: each effect is the one action `perform`, with the effect as its params.
import { conversationMachine, type Effect, messagesOf, textOf } from "@colloquy/machine";
import { createActor } from "xstate";

const machine = conversationMachine();

const actor = createActor(
  machine.provide({
    actions: {
      perform: (_, effect: Effect) => {
        if (effect.type !== "callLlm") return;
        const asked = textOf(effect.messages.at(-1) ?? effect.messages[0] ?? missing());
        const reply = { content: `You said "${asked}", and ${effect.messages.length - 1} messages came before it.` };
        queueMicrotask(() =>
          actor.send({ type: "llm.completed", effectId: effect.id, reply, finishReason: "stop", at: 2 }),
        );
      },
    },
  }),
  { input: { threadId: "live", at: 0 } },
);

const settled = (turns: number): Promise<void> =>
  new Promise((resolve) => {
    const subscription = actor.subscribe(({ context }) => {
      if (context.conversation.turns.length < turns) return;
      resolve();
      queueMicrotask(() => subscription.unsubscribe());
    });
  });

actor.start();
for (const [index, input] of ["Hello.", "Do you remember?"].entries()) {
  const answered = settled(index + 1);
  actor.send({ type: "ask.received", askId: `ask-${index}`, input, at: 1 });
  await answered;
}

const { value, context } = actor.getSnapshot();
console.log(`${JSON.stringify(value)} after ${context.conversation.turns.length} turns`);
for (const message of messagesOf({ value: "completed", context })) console.log(`${message.role}: ${textOf(message)}`);
actor.stop();

function missing(): never {
  throw new Error("a prompt has at least one message");
}
