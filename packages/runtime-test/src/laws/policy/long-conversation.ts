import {
  type AnswerableEffect,
  type ConversationMachine,
  type Event,
  outstanding,
  start,
  type State,
  transition,
} from "@colloquy/machine";
import type { Trace, TraceStep } from "../../arbitraries/trace.ts";
import { LawBroken } from "../evidence/law-broken.ts";

/**
 * Runs a conversation in which every effect is answered at once, summaries first.
 *
 * @param law the law that uses it.
 * @param hasTool whether a turn, by its number, calls a tool. Default: each turn does.
 */
export const longConversation = (
  law: "P6" | "P9" | "P11",
  machine: ConversationMachine,
  turns: number,
  hasTool: (turn: number) => boolean = () => true,
  system?: string,
): Trace => {
  const started = start(machine, { threadId: "steady", at: 0, ...(system === undefined ? {} : { system }) });
  const steps: TraceStep[] = [];
  let { state }: { state: State } = started;
  const send = (turn: number, event: Event): void => {
    const next = transition(machine, state, event);
    if (!next.handled) throw new LawBroken(law, `turn ${turn} of the steady conversation: ${next.refusal.reason}`);
    steps.push({ machine, event, before: state, transition: next });
    state = next.state;
  };
  for (let turn = 1; turn <= turns; turn++) {
    send(turn, {
      type: "ask.received",
      at: turn,
      askId: `ask-${turn}`,
      input: "What is the weather like in this place?",
    });
    for (let event = answerTo(state, turn, hasTool(turn)); event !== null; event = answerTo(state, turn, hasTool(turn)))
      send(turn, event);
  }
  return { started, steps };
};

/** Returns the outcome of an outstanding effect, summaries first; null if there is none. */
const answerTo = (state: State, at: number, hasTool: boolean): Event | null => {
  const out = outstanding(state);
  const [effect] = [...out.filter(isSummary), ...out.filter((each) => !isSummary(each))];
  if (effect === undefined) return null;
  const effectId = effect.id;
  if (effect.type === "startTimer") return { type: "timer.fired", at: effect.dueAt, effectId };
  if (effect.type === "callTool")
    return { type: "tool.completed", at, effectId, content: "Sunny, and dry. ".repeat(24) };
  const call = { id: null, name: "weather", arguments: '{"city":"Paris"}' };
  const reply =
    isSummary(effect) || effect.step > 1 || !hasTool
      ? { content: "The sun shines there all day." }
      : { toolCalls: [call] };
  return { type: "llm.completed", at, effectId, reply, finishReason: "stop" };
};

const isSummary = (effect: AnswerableEffect): boolean => effect.type === "callLlm" && effect.purpose === "summary";
