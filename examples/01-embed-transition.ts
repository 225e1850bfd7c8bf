// A minimal host: the machine decides, this loop performs. No runtime, no framework, no I/O in the core.
import {
  conversationMachine,
  type Effect,
  type Entry,
  type Event,
  phaseOf,
  start,
  textOf,
  transition,
} from "@colloquy/machine";
import { fold } from "@colloquy/machine/journal";

const machine = conversationMachine({ tools: [{ name: "add", description: "Adds two numbers." }] });
const journal: Entry[] = [];
const mailbox: Event[] = [];
let at = 0;

const begun = start(machine, { threadId: "embedded", system: "You are a calculator.", at: at++ });
journal.push(begun.entry);
let state = begun.state;

mailbox.push({ type: "ask.received", askId: "first", input: "What is 2 + 3?", at: at++ });
for (let event = mailbox.shift(); event !== undefined; event = mailbox.shift()) {
  const step = transition(machine, state, event);
  if (!step.handled) throw new Error(step.refusal.reason);
  journal.push(step.entry); // first journal,
  state = step.state;
  for (const effect of step.effects) perform(effect); // then act
}

console.log(`the conversation is ${phaseOf(state)}, and its journal has ${journal.length} entries`);

const folded = fold(journal);
console.log(
  `folding the journal gives the same state: ${JSON.stringify(folded) === JSON.stringify({ _tag: "Right", right: state })}`,
);

/** Stands in for a real model and a real tool. Handlers only put events into the mailbox. */
function perform(effect: Effect): void {
  switch (effect.type) {
    case "callLlm": {
      const last = effect.messages.at(-1);
      const reply =
        last?.role === "tool"
          ? { content: `It is ${textOf(last)}.` }
          : { toolCalls: [{ id: "call_1", name: "add", arguments: '{"numbers":[2,3]}' }] };
      console.log(`${effect.id}: ${effect.messages.length} messages go to the model`);
      // The digest identifies the prompt, so that a replay can check whether it would send the same.
      const { id: effectId, promptDigest } = effect;
      mailbox.push({ type: "llm.completed", effectId, promptDigest, reply, finishReason: "stop", at: at++ });
      break;
    }
    case "callTool":
      console.log(`${effect.id}: ${effect.name} ${effect.arguments}`);
      mailbox.push({ type: "tool.completed", effectId: effect.id, content: "5", at: at++ });
      break;
    case "publish":
      console.log(`signal: ${effect.signal.type}`);
      break;
    case "startTimer":
    case "checkOutput":
    case "requestApproval":
    case "cancelLlm":
    case "cancelCheck":
    case "cancelTool":
    case "cancelApproval":
    case "cancelTimer":
      break; // this conversation has no time limits, output checks, approvals or cancellations
  }
}
