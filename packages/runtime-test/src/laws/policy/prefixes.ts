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
 * P9, of policies that are declared stable: of two answering calls that follow one another the first one's prompt is
 * the beginning of the second one's, by the digests of its messages, unless a journalled cause stands between them:
 * another cut (a compaction or a shrinking is one), a system prompt that was changed or reset, a head that moved, an
 * answer that was truncated, a pin, an interrupted turn that is left out, the end of a turn with answers that were refused,
 * a redaction, another configuration.
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
 * P9, of a policy that is declared stable: what it leaves out does not change all the time. In a long conversation of
 * equal turns, each with a question, a tool's result and an answer, about 150 tokens together, of which 40 fit into the
 * room, and whose summaries come at once, the cut becomes another in at most three of four turns from the first cut on,
 * and one more. (The first call has a cut in any case. Where a policy has a room of its own that holds hardly any such
 * turns, it is stable only for those who say less.)
 *
 * @param turns how many there are.
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
  // Answers that did not fit are shown in their own turn only.
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

/** The turns, by number, in which the cut became another, at whatever step. */
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
