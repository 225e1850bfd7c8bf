import { conversationMachine, phaseOf, start, transition } from "@colloquy/machine";

const machine = conversationMachine();
const begun = start(machine, { threadId: "hello", at: Date.now() });

const event = { type: "ask.received", askId: "1", input: "Hello?", at: Date.now() } as const;
const next = transition(machine, begun.state, event);
if (!next.handled) throw new Error(next.refusal.reason);

console.log(phaseOf(next.state)); // awaiting_llm
for (const effect of next.effects) console.log(effect.type); // including callLlm, with the messages to send
console.log(JSON.stringify(next.entry)); // the line of the journal
