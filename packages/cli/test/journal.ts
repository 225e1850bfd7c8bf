import { conversationMachine, type Entry, type Event, outstanding, start, transition } from "@colloquy/machine";

/** Returns the journal of a thread whose user is ada, with these questions and answers, an event each second. */
export const journalOf = (
  threadId: string,
  ...turns: readonly (readonly [question: string, answer: string])[]
): readonly Entry[] => {
  const machine = conversationMachine();
  const begun = start(machine, { threadId, at: 0, system: "Be brief.", metadata: { user: "ada" } });
  const entries: Entry[] = [begun.entry];
  let { state } = begun;
  const send = (event: Event): void => {
    const step = transition(machine, state, event);
    if (!step.handled) throw new Error(step.refusal.reason);
    entries.push(step.entry);
    ({ state } = step);
  };
  for (const [question, content] of turns) {
    const at = 1000 * entries.length;
    send({ type: "ask.received", at, askId: `ask ${at}`, input: question });
    const effectId = outstanding(state)[0]?.id ?? "none";
    send({ type: "llm.completed", at: at + 1000, effectId, reply: { content }, finishReason: "stop" });
  }
  return entries;
};

/** Returns the values as JSON lines, such as a journal's file has. */
export const linesOf = (values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join("");
