import {
  type CallLlm,
  conversationMachine,
  type Event,
  type MachineOptions,
  messagesOf,
  turnNumbered,
} from "@colloquy/machine";
import { type Counter, countPrompt, estimateCounter, keepAll } from "@colloquy/machine/policies";
import { handledSteps, type HandledStep } from "../../arbitraries/trace.ts";
import { LawBroken } from "../evidence/law-broken.ts";
import { longConversation } from "./long-conversation.ts";
import type { PolicyLaw } from "./policy-run.ts";

/**
 * Checks P9 for policies that are declared stable. The prompt of an answering call is a prefix of the next one's
 * prompt, by the digests of its messages. The exception is a journalled cause between them:
 *
 * - another cut (a compaction or a shrinking is one), or another configuration
 * - a change or reset of the system prompt, a move of the head, a truncated answer, a pin, or a redaction
 * - an interrupted turn that is omitted, or the end of a turn with refused answers
 */
export const promptsArePrefixes: PolicyLaw = ({ policy, options, trace }) => {
  if (!policy.stable) return;
  let last: CallLlm | null = null;
  let caused = false;
  for (const step of handledSteps(trace)) {
    caused ||= isCause(step, options.interrupted === "omit");
    const call = answeringCallOf(step);
    if (call === undefined) continue;
    const before: CallLlm | null = last;
    if (before !== null && !caused) {
      const changed = before.messages.findIndex(({ digest }, index) => call.messages[index]?.digest !== digest);
      if (changed >= 0) {
        throw new LawBroken(
          "P9",
          `${policy.name} is declared stable, and message ${changed} of ${call.id} is another than in ${before.id}, for no cause that is journalled`,
        );
      }
    }
    last = call;
    caused = false;
  }
};

/**
 * Checks P9 for policies that are declared stable: the cut does not change all the time. The test is a long
 * conversation of equal turns. Each turn has a question, a tool's result and an answer, about 150 tokens together; 40
 * turns fit into the room. Summaries are answered at once. From the first cut on, the cut may change in three of four
 * turns, and in one more. The first call always has a cut. A policy may have its own room, which holds hardly any of
 * these turns. It is then stable only in conversations with shorter turns.
 *
 * @param turns the number of turns.
 */
export const cutsSeldom = (options: MachineOptions, turns = 80): void => {
  const { policy = keepAll(), counter = estimateCounter } = options;
  if (!policy.stable) return;
  const cuts = cutsOf(options, counter, turns).filter((turn) => turn > 1);
  const [first = turns] = cuts;
  const most = Math.ceil(((turns - first) * 3) / 4) + 1;
  if (cuts.length <= most) return;
  throw new LawBroken(
    "P9",
    `${policy.name} is declared stable, and in a conversation of ${turns} equal turns it cuts in ${cuts.length} of the ${turns - first + 1} from turn ${first} on: ${cuts.slice(0, 8).join(", ")}, …`,
  );
};

const isCause = ({ event, before, transition: { entry, state } }: HandledStep, omitting: boolean): boolean => {
  if (entry.decided?.cut !== undefined || causes.has(event.type) || movesHead(event)) return true;
  const { length } = state.context.conversation.turns;
  const ended = length > before.context.conversation.turns.length ? turnNumbered(state, length) : undefined;
  // Refused answers are shown only in their own turn.
  if (ended?.refusedOutputs !== undefined) return true;
  return omitting && ended !== undefined && ended.outcome.status !== "completed";
};

const movesHead = (event: Event): boolean => event.type === "ask.received" && event.from !== undefined;

const causes: ReadonlySet<Event["type"]> = new Set([
  "system.changed",
  "system.reset",
  "head.moved",
  "answer.truncated",
  "message.pinned",
  "thread.redacted",
  "thread.configured",
]);

const answeringCallOf = ({ transition: { effects } }: HandledStep): CallLlm | undefined =>
  [...effects].find((effect): effect is CallLlm => effect.type === "callLlm" && effect.purpose === "answer");

/** Returns the numbers of the turns in which the cut changed, at any step. */
const cutsOf = (options: MachineOptions, counter: Counter, turns: number): readonly number[] => {
  const sample = longConversation("P9", conversationMachine({ counter, policy: keepAll(), unknownTool: "ask" }), 1);
  const last = sample.steps.at(-1)?.transition.state ?? sample.started.state;
  const messages = messagesOf(last).flatMap((message) => Array.from({ length: 40 }, () => message));
  const tokens = countPrompt(counter, messages);
  const machine = conversationMachine({ ...options, budget: { tokens, reserve: 0 }, limits: {}, unknownTool: "ask" });
  const changed = handledSteps(longConversation("P9", machine, turns)).flatMap(({ transition: { entry, state } }) =>
    entry.decided?.cut === undefined ? [] : [state.context.open?.number ?? state.context.conversation.turns.length],
  );
  return [...new Set(changed)];
};
