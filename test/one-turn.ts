import type * as Machine from "@colloquy/machine";

/** Runs a conversation of one turn with only the machine's functions, given from any build. Returns plain JSON. */
export const oneTurn = ({ conversationMachine, start, transition, outstanding }: typeof Machine): OneTurn => {
  const machine = conversationMachine();
  const started = start(machine, { threadId: "t", system: "Be brief.", at: 0 });
  const asked = transition(machine, started.state, { type: "ask.received", at: 1, askId: "a", input: "Hello?" });
  const [call] = outstanding(asked.state);
  if (call === undefined) throw new Error("the ask led to no effect that wants an answer");
  const answered = transition(machine, asked.state, {
    type: "llm.completed",
    at: 2,
    effectId: call.id,
    reply: { content: "Hello." },
    finishReason: "stop",
  });
  return {
    states: [started, asked, answered].map(({ state }) => JSON.stringify(state.value)),
    effects: asked.effects.map(({ type }) => type),
    outstanding: outstanding(answered.state).length,
  };
};

/** The expected outcome. */
export const oneTurnExpected: OneTurn = {
  states: ['"idle"', '{"awaiting_llm":"responding"}', '"completed"'],
  effects: ["publish", "callLlm"],
  outstanding: 0,
};

interface OneTurn {
  /** The state after the start, the ask and the answer, as JSON. */
  readonly states: readonly string[];
  /** The effects of the ask. */
  readonly effects: readonly string[];
  /** The number of unanswered effects. */
  readonly outstanding: number;
}
