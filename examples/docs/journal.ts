// Folds, stores and replays a journal: docs/conversation.md shows it.
import { conversationMachine, type Entry, type Event, start, transition } from "@colloquy/machine";
import { decodeJournal, describeDecodeError, fold } from "@colloquy/machine/journal";
import { describeDifference, replay } from "@colloquy/machine/inspect";
import { lastTurns } from "@colloquy/machine/policies";
import * as Either from "fp-ts/lib/Either.js";

const machine = conversationMachine();
const begun = start(machine, { threadId: "t", at: 0 });
const journal: Entry[] = [begun.entry];
let state = begun.state;

const take = (event: Event): void => {
  const step = transition(machine, state, event);
  if (!step.handled) throw new Error(step.refusal.reason);
  journal.push(step.entry);
  state = step.state;
};
take({ type: "ask.received", askId: "a", input: "My name is Ada.", at: 1 });
take({ type: "llm.completed", effectId: "t/1.1#1", reply: { content: "Hello." }, finishReason: "stop", at: 2 });
take({ type: "ask.received", askId: "b", input: "What is my name?", at: 3 });

const text = journal.map((entry) => JSON.stringify(entry)).join("\n");
console.log(text);
const stored: unknown[] = text.split("\n").map((line): unknown => JSON.parse(line));

const entries = decodeJournal(stored);
if (Either.isLeft(entries)) throw new Error(describeDecodeError(entries.left));

const folded = fold(entries.right); // needs no machine: the entries hold the decisions
console.log(Either.isRight(folded) && JSON.stringify(folded.right) === JSON.stringify(state)); // true

const forgetful = conversationMachine({ policy: lastTurns(0) });
const replayed = replay(forgetful, entries.right); // decides again
if (Either.isLeft(replayed)) console.log(describeDifference(replayed.left));
