// The loop of the README: all that a host does, with a model that needs no network.
import { conversationMachine, type Effect, type Event, start, textOf, transition } from "@colloquy/machine";

const journal: object[] = [];
const mailbox: Event[] = [{ type: "ask.received", askId: "1", input: "Hello?", at: Date.now() }];

const machine = conversationMachine();
const begun = start(machine, { threadId: "hello", at: Date.now() });
journal.push(begun.entry);
let state = begun.state;

for (let event = mailbox.shift(); event; event = mailbox.shift()) {
  const next = transition(machine, state, event); // pure: no model, no clock, no chance
  if (!next.handled) continue; // next.refusal says why
  journal.push(next.entry); // remember first,
  state = next.state;
  next.effects.forEach(perform); // then act: handlers only put events into the mailbox
}

function perform(effect: Effect): void {
  if (effect.type !== "callLlm") return;
  const reply = { content: `You said: ${effect.messages.map(textOf).join(" ")}` };
  const { id: effectId, promptDigest } = effect;
  mailbox.push({ type: "llm.completed", effectId, promptDigest, reply, finishReason: "stop", at: Date.now() });
}

console.log(state.value, JSON.stringify(journal, null, 1));
