import type { Clock, LlmHandler, LlmOutcome } from "@colloquy/host";
import {
  type AnswerableEffect,
  type CallLlm,
  type ConversationMachine,
  conversationMachine,
  digestOfPrompt,
  type Event,
  outstanding,
  promptOf,
  start,
  type State,
  type ToolDeclaration,
  transition,
} from "@colloquy/machine";
import { outcomeOf } from "../../arbitraries/outcome-of.ts";
import { eventOf } from "../../arbitraries/run-schedule.ts";
import type { TraceStep } from "../../arbitraries/trace.ts";
import { type StrictRefusal, strictRefusal } from "../../server/strict/strict-server.ts";
import { othersFor } from "../machine/prompts.ts";
import { eventsOf, type OddReply } from "./odd-reply.ts";
import type { WireMove, WirePlay } from "./wire-play.ts";
import { apiOf, serverOf, type WireTarget } from "./wire-target.ts";

/** A call that a target performed, and the requests that it sent. */
export interface SentCall {
  readonly target: WireTarget;
  readonly call: CallLlm;
  /** The bodies of its requests. Empty if nothing was sent. */
  readonly bodies: readonly string[];
  /** The reason of the first request that the strict server refuses; null if it accepts all. */
  readonly refusal: StrictRefusal | null;
  readonly outcome: LlmOutcome;
}

/** A target with its handler. */
export interface ReadyTarget {
  readonly target: WireTarget;
  readonly perform: (call: CallLlm, tools: readonly ToolDeclaration[], reply: OddReply) => Promise<SentCall>;
}

/** Makes the handler of a target. Its server answers each request with the reply of the call that it performs. */
export const readyTarget = (target: WireTarget): ReadyTarget => {
  const api = apiOf(target.family);
  let reply = plainReply;
  let bodies: string[] = [];
  const server = serverOf(target, async (_, init) => {
    bodies.push(typeof init?.body === "string" ? init.body : await new Response(init?.body).text());
    return new Response(eventsOf(target.family, reply), { headers: { "content-type": "text/event-stream" } });
  });
  const handler: LlmHandler = target.handler(server);
  return {
    target,
    perform: async (call, tools, given) => {
      [reply, bodies] = [given, []];
      // A completion model has no tools.
      const asked = api === "text" ? { ...call, tools: [] } : call;
      const outcome = await handler(asked, {
        signal: new AbortController().signal,
        onDelta: () => undefined,
        clock: standing,
        tools: api === "text" ? [] : tools,
      });
      const refusal = bodies.map((body) => strictRefusal(target.family, body)).find((each) => each !== null) ?? null;
      return { target, call, bodies, refusal, outcome };
    },
  };
};

const plainReply: OddReply = { text: "Yes.", reasoning: "", calls: [], finishReason: "stop", cutAfter: null };

/** A clock that never fires, since sending needs no timer. */
const standing: Clock = { now: () => 1_700_000_000_000, wakeAt: () => () => undefined };

/**
 * Runs a conversation, and passes every call in it to `see`. In each state that waits for a model, one more target gets
 * the call under one more policy; that reply is not used.
 */
export const playWire = async (
  targets: readonly ReadyTarget[],
  { options, input, target, moves }: WirePlay,
  see: (sent: SentCall) => void,
): Promise<void> => {
  const machine = conversationMachine(options);
  const declared = options.tools ?? [];
  const steps: TraceStep[] = [];
  let { state } = start(machine, input);
  let at = target;
  let now = input.at;
  const take = (event: Event): void => {
    const result = transition(machine, state, event);
    steps.push({ machine, event, before: state, transition: result });
    state = result.state;
  };
  for (const [index, move] of moves.entries()) {
    now += 10;
    if (move.move === "switch") at = move.target;
    const out = outstanding(state);
    if (move.move !== "carryOn") {
      if (move.move !== "switch") take(eventOf(move, { index, now, state, steps, machine, out }));
      continue;
    }
    const effect = out.find(isWork);
    const ready = targets[at % targets.length];
    if (ready === undefined) return;
    if (effect?.type !== "callLlm") {
      take(effect === undefined ? nextAsk(index, now) : outcomeOf(asOutcome(move), now, effect));
      continue;
    }
    await probe(targets, { machine, state, declared, call: effect, index: index + at }, see);
    const sent = await ready.perform(effect, offered(effect, declared), move.reply);
    see(sent);
    take(answered(sent, move, now));
  }
};

const isWork = (effect: AnswerableEffect): boolean => effect.type !== "startTimer" || effect.purpose !== "deadline";

const nextAsk = (index: number, at: number): Event => ({
  type: "ask.received",
  at,
  askId: `ask-${index}`,
  input: "Go on.",
});

type CarryOn = Extract<WireMove, { readonly move: "carryOn" }>;

/** Converts a move: a tool succeeds or fails as the move says, and a timer fires. */
const asOutcome = ({ failed, result }: CarryOn): Parameters<typeof outcomeOf>[0] => {
  const failure = { kind: "network", message: "gone", retryable: false } as const;
  const common = { afterMs: 0, pick: 0, content: result };
  return failed
    ? { ...common, move: "fail", failure, outcome: "failed" }
    : { ...common, move: "answer", reply: {}, finishReason: null };
};

const answered = ({ call, outcome }: SentCall, { stopped, reply }: CarryOn, at: number): Event => {
  const answer = { at, effectId: call.id, promptDigest: call.promptDigest };
  if (stopped && reply.cutAfter !== null) {
    const partial = outcome.type === "completed" ? outcome.reply : outcome.partial;
    return { type: "cancel.requested", at, ...(partial === undefined ? {} : { partial }) };
  }
  const { type: _, ...told } = outcome;
  return outcome.type === "completed"
    ? { type: "llm.completed", ...answer, reply: outcome.reply, finishReason: outcome.finishReason }
    : { type: "llm.failed", ...answer, ...(told as Omit<typeof outcome, "type">) };
};

/** Returns the declarations of the tools that a call offers, as a host passes them. */
const offered = ({ purpose, tools }: CallLlm, declared: readonly ToolDeclaration[]): readonly ToolDeclaration[] =>
  purpose === "summary"
    ? []
    : declared.filter(({ name }) => tools === undefined || tools.some((tool) => tool.name === name));

interface Probed {
  readonly machine: ConversationMachine;
  readonly state: State;
  readonly declared: readonly ToolDeclaration[];
  readonly call: CallLlm;
  readonly index: number;
}

const probe = async (
  targets: readonly ReadyTarget[],
  { state, declared, call, index }: Probed,
  see: (sent: SentCall) => void,
): Promise<void> => {
  const ready = targets[(index * 7 + 3) % targets.length];
  const [other] = othersFor(index);
  if (ready === undefined || other === undefined || call.purpose !== "answer") return;
  const { messages, fits } = promptOf(other, state);
  if (!fits || messages.length === 0) return;
  const shown: CallLlm = { ...call, messages, promptDigest: digestOfPrompt(messages) };
  see(await ready.perform(shown, offered(call, declared), plainReply));
};
