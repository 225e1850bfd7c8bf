import { conversationMachine, type ConversationMachine, promptOf, type State, transition } from "@colloquy/machine";
import type { Trace, TraceStep } from "@colloquy/runtime-test/arbitraries";
import {
  LawBroken,
  makesRoom,
  policyLaws,
  policyRunOf,
  type PolicyLaw,
  type PolicyRun,
} from "@colloquy/runtime-test/laws";

import { type Conversation, withSummaries } from "./conversations.ts";
import type { Subject } from "./subjects.ts";

export interface Look {
  /** The room for its prompts in tokens; null for no limit. */
  readonly tokens: number | null;
  /** The number of its states that are also examined with other rooms. */
  readonly states: number;
  /** One of those rooms, as a share of the part that is not fixed. */
  readonly share: number;
}

interface Tally {
  readonly prompts: number;
  /** Prompts that did not fit, and reported it. */
  readonly unfit: number;
  /** Prompts that leave something out. */
  readonly cut: number;
  readonly violations: readonly { readonly law: string; readonly words: string }[];
}

/** Prunes the prompts of a conversation by a policy, and checks the laws of pruning on the results. */
export const checkConversation = (conversation: Conversation, subject: Subject, look: Look): Tally => {
  const found: Tally["violations"][number][] = [];
  const noted = (law: string, words: string): void => void found.push({ law, words });
  const run = prunedBy(subject, conversation, look, noted);
  if (run !== null) for (const [name, law] of lawsOf(subject)) unlessBroken(() => law(run), name, noted);
  const looks = run?.views.flatMap((view) => view.looks) ?? [];
  return {
    prompts: looks.length,
    unfit: looks.filter(({ prompt }) => !prompt.fits).length,
    cut: looks.filter(({ prompt: { messages }, said: { closed } }) =>
      closed.some((unit) => unit.messages.some(({ id }) => messages.every((shown) => shown.id !== id))),
    ).length,
    violations: found,
  };
};

type Noted = (law: string, words: string) => void;

const prunedBy = (
  { policy, counter }: Subject,
  conversation: Conversation,
  { tokens, states, share }: Look,
  noted: Noted,
): PolicyRun | null => {
  const { interrupted } = conversation;
  const reserve = (tokens ?? 0) % 2 === 0 ? 0 : 64;
  const budget = tokens === null ? null : { tokens: tokens + reserve, reserve };
  const options = { policy, counter, interrupted, budget, calibrate: false, unknownTool: "ask" } as const;
  const trace = traceOf(conversationMachine(options), conversation);
  // Examines states in which a prompt is sent, or may be.
  const [first, ...steps] = trace.steps.filter(({ transition }) => transition.state.context.open !== null);
  if (first === undefined) return null;
  const ofOpenTurns = { started: { ...trace.started, state: first.transition.state }, steps };
  return unlessBroken(
    () => ({ ...policyRunOf(options, ofOpenTurns, { states, shares: [share] }), trace }),
    "P10",
    noted,
  );
};

/** Sends the events of a conversation to a machine, which refuses those that only a prompt that fits makes possible. */
const traceOf = (machine: ConversationMachine, { started, events }: Conversation): Trace => {
  const steps: TraceStep[] = [];
  let { state } = started;
  const send = (event: TraceStep["event"]): State => {
    steps.push({ machine, event, before: state, transition: transition(machine, state, event) });
    return (state = steps.at(-1)?.transition.state ?? state);
  };
  for (const event of events) withSummaries(send(event), send);
  return { started, steps };
};

const lawsOf = ({ fits, fillsRoom }: Subject): readonly (readonly [string, PolicyLaw])[] => [
  ...Object.entries(policyLaws),
  ...(fits ? [["makes room", makesRoom] as const] : []),
  ...(fillsRoom ? [["the room is filled", roomIsFilled] as const] : []),
];

/** Checks that all of the newest units that fit are shown: a prompt is shown whole in a room of just its size. */
const roomIsFilled: PolicyLaw = ({ options, views }) => {
  for (const { state, prompt } of views.flatMap(({ looks }) => looks)) {
    if (!prompt.fits || prompt.failed !== undefined || prompt.tokens === null) continue;
    const machine = conversationMachine({ ...options, budget: { tokens: prompt.tokens, reserve: 0 } });
    const shown = new Set(promptOf(machine, state).messages.map(({ id }) => id));
    const missing = prompt.messages.find(({ id }) => !shown.has(id));
    if (missing !== undefined)
      throw new LawBroken(
        "P11",
        `after entry ${state.context.seq} ${missing.id} is left out of ${prompt.tokens} tokens`,
      );
  }
};

/** Notes a broken law, or a failure to check one. */
const unlessBroken = <Value>(look: () => Value, law: string, noted: Noted): Value | null => {
  try {
    return look();
  } catch (thrown) {
    noted(thrown instanceof LawBroken ? thrown.law : law, thrown instanceof Error ? thrown.message : String(thrown));
    return null;
  }
};
