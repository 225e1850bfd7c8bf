// One conversation, event by event: docs/conversation.md shows it.
import { conversationMachine, outstanding, phaseOf, start, transition } from "@colloquy/machine";

const machine = conversationMachine();
const begun = start(machine, { threadId: "tea", at: 0 });

const asked = transition(machine, begun.state, { type: "ask.received", askId: "a", input: "Tea or coffee?", at: 1 });
console.log(asked.effects.map(({ type }) => type)); // ["publish", "callLlm"]
console.log(outstanding(asked.state).map(({ id }) => id)); // ["tea/1.1#1"]

const answer = {
  type: "llm.completed",
  effectId: "tea/1.1#1",
  reply: { content: "Tea." },
  finishReason: "stop",
  at: 2,
} as const;
const answered = transition(machine, asked.state, answer);
console.log(phaseOf(answered.state)); // "completed"

const again = transition(machine, answered.state, answer);
if (!again.handled) console.log(again.refusal.kind, again.state === answered.state); // "stale" true
