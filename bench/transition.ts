// Compares one transition with a hand-written reducer and with XState's own `transition()`.
import { type ConversationMachine, type Event, start, type State, transition } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import { transition as xstateTransition } from "xstate";
import { type Figure, figureOf, pair } from "./kit/measure.ts";
import { answerText, toolArguments, toolResult, userText } from "./kit/script.ts";
import { lookupMachine } from "./kit/work.ts";

export const benchmark = async (rounds: number): Promise<readonly Figure[]> => {
  const machine = lookupMachine({ policy: lastTurns(2) });
  const turns = 500;
  const units = turns * 4;
  const ours = (): void =>
    everyTurn(
      turns,
      (state: State, event) => {
        const step = transition(machine, state, event);
        if (!step.handled) throw new Error(step.refusal.reason);
        return step.state;
      },
      start(machine, { threadId: "t", at: 0 }).state,
    );
  const byHand = await pair(rounds, units, ours, () => everyTurn(turns, reduce, { phase: "idle", messages: [] }));
  const byXState = await pair(rounds, units, ours, () =>
    everyTurn(
      turns,
      xstateStep(machine),
      machine.resolveState({ value: "idle", context: start(machine, { threadId: "t", at: 0 }).state.context }),
    ),
  );
  return [
    figureOf("transition / a hand-written reducer", byHand, Infinity),
    figureOf("transition / XState's transition()", byXState, 1, "the same machine"),
  ];
};

const everyTurn = <Kept>(turns: number, apply: (state: Kept, event: Event) => Kept, from: Kept): void => {
  let state = from;
  for (let turn = 1; turn <= turns; turn++) for (const event of eventsOf(turn)) state = apply(state, event);
};

const eventsOf = (turn: number): readonly Event[] => [
  { type: "ask.received", at: turn, askId: `ask-${turn}`, input: userText(turn) },
  {
    type: "llm.completed",
    at: turn,
    effectId: `t/${turn}.1#1`,
    reply: { toolCalls: [{ id: "call", name: "lookup", arguments: toolArguments(turn) }] },
    finishReason: "tool_calls",
    usage: { inputTokens: 100, outputTokens: 50 },
  },
  { type: "tool.completed", at: turn, effectId: `t/${turn}.1.0#1`, content: toolResult(turn) },
  {
    type: "llm.completed",
    at: turn,
    effectId: `t/${turn}.2#1`,
    reply: { content: answerText(turn) },
    finishReason: "stop",
  },
];

const xstateStep =
  (machine: ConversationMachine) => (snapshot: ReturnType<ConversationMachine["resolveState"]>, event: Event) =>
    xstateTransition(machine, snapshot, event)[0];

interface Reduced {
  readonly phase: string;
  readonly messages: unknown[];
}

/** A minimal reducer: it appends to an array, and knows four events. */
const reduce = (state: Reduced, event: Event): Reduced => {
  switch (event.type) {
    case "ask.received":
      state.messages.push({ role: "user", content: event.input });
      return { phase: "awaiting_llm", messages: state.messages };
    case "llm.completed":
      state.messages.push({ role: "assistant", ...event.reply });
      return { phase: event.reply.toolCalls === undefined ? "completed" : "awaiting_tool", messages: state.messages };
    case "tool.completed":
      state.messages.push({ role: "tool", content: event.content });
      return { phase: "awaiting_llm", messages: state.messages };
    default:
      return state;
  }
};
