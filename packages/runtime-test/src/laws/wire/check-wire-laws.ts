import fc from "fast-check";
import { LawBroken, wordsOf, parametersOf } from "../evidence/law-broken.ts";
import { wirePlayArbitrary, type WireMove, type WirePlay } from "./wire-play.ts";
import { type WireTarget, apiOf, serverOf, eventsOf, type OddReply } from "./wire-target.ts";
import type { Clock, LlmHandler, LlmOutcome } from "@colloquy/host";
import {
  type CallLlm,
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
import { eventOf, isWork, nextAsk, outcomeOf } from "../../arbitraries/run-schedule.ts";
import type { TraceStep } from "../../arbitraries/trace.ts";
import { type StrictRefusal, strictRefusal } from "../../server/strict/strict-server.ts";
import { othersFor } from "../machine/prompts.ts";

export interface WireLawsRun {
  /** The number of conversations. Default 100. */
  readonly threads?: number;
  /** Repeats a reported run. */
  readonly seed?: number;
  /** The path reported with the seed; it leads to the exact conversation. */
  readonly path?: string;
}

/** The report of `checkWireLaws` if no law was broken. */
export interface WireLawsReport {
  readonly threads: number;
  /** The number of requests that the strict servers accepted. */
  readonly requests: number;
}

/**
 * Checks M14, the law on bytes: the strict server of a handler's family accepts every body that the handler sends, in
 * every reached state and under every policy. So every later prompt of a thread accepts what was accepted once. A
 * handler must not withhold a request either, because then the thread could not continue.
 *
 * The conversations are drawn. Their models reply in odd forms: with arguments that are not JSON, without any text,
 * with reasoning alone, with ids that repeat or that every server refuses. They are stopped anywhere. Tools return
 * images, texts have lone surrogates, names have spaces. The targets alternate within a thread, so that each continues
 * what any other began. Nothing leaves the process.
 *
 * ```ts
 * await checkWireLaws([
 *   { name: "mine", family: "mistral", handler: ({ fetch, baseURL, apiKey, model }) => myModel({ fetch, baseURL, apiKey, model }) },
 * ]);
 * ```
 *
 * @throws LawBroken with the broken rule, its source, the body, and the smallest conversation that was found
 */
export const checkWireLaws = async (targets: readonly WireTarget[], run: WireLawsRun = {}): Promise<WireLawsReport> => {
  const { threads = 100 } = run;
  const ready = targets.map(readyTarget);
  let requests = 0;
  const found = await fc.check(
    fc.asyncProperty(wirePlayArbitrary, (play) =>
      playWire(ready, play, (sent) => {
        requests += sent.bodies.length;
        const problem = problemOf(sent);
        if (problem !== null) throw new LawBroken("M14", problem.words);
      }),
    ),
    parametersOf({ ...run, runs: threads }, threads),
  );
  if (!found.failed) return { threads, requests };
  const { errorInstance: cause, counterexample, counterexamplePath, seed } = found;
  const words = [
    cause instanceof LawBroken ? wordsOf(cause) : String(cause),
    `In this conversation: ${JSON.stringify(counterexample?.[0])}`,
    `To see it again: { seed: ${seed}, path: "${counterexamplePath ?? ""}" }`,
  ];
  throw new LawBroken("M14", words.join("\n"), { cause });
};

/** One way in which targets break the law. */
export interface WireFault {
  readonly target: string;
  readonly rule: string;
  readonly words: string;
  /** The number of calls in which it occurs. */
  readonly calls: number;
}

/** Lists all ways in which targets break M14, the most frequent first, instead of stopping at the first one. */
export const surveyWire = async (
  targets: readonly WireTarget[],
  run: WireLawsRun = {},
): Promise<readonly WireFault[]> => {
  const ready = targets.map(readyTarget);
  const faults = new Map<string, WireFault>();
  const { numRuns, seed } = parametersOf(run, run.threads ?? 100);
  for (const play of fc.sample(wirePlayArbitrary, { numRuns, ...(seed === undefined ? {} : { seed }) }))
    await playWire(ready, play, (sent) => noteFault(sent, faults));
  return [...faults.values()].sort((one, other) => other.calls - one.calls);
};

const noteFault = (sent: SentCall, faults: Map<string, WireFault>): void => {
  const problem = problemOf(sent);
  if (problem === null) return;
  const { name: target } = sent.target;
  const { rule } = problem;
  const key = `${target}\n${rule}`;
  const { words = problem.words, calls = 0 }: Partial<WireFault> = faults.get(key) ?? {};
  faults.set(key, { target, rule, words, calls: calls + 1 });
};

const problemOf = (sent: SentCall): Pick<WireFault, "rule" | "words"> | null => {
  const { target, call, bodies, refusal, outcome } = sent;
  const of = `${target.name}, ${call.id}`;
  if (bodies.length === 0) {
    const reason = outcome.type === "failed" ? outcome.failure.message : "it completed all the same";
    return { rule: "sent", words: `${of}: the handler sent no request (${reason})` };
  }
  if (refusal === null) return null;
  return {
    rule: refusal.rule,
    words: `${of}: a strict server of the family ${refusal.family} refuses the request by its rule "${refusal.rule}" (${refusal.source})\n${refusal.status}: ${refusal.message}\n${bodies.join("\n")}`,
  };
};

/** A call that a target performed, and the requests that it sent. */
interface SentCall {
  readonly target: WireTarget;
  readonly call: CallLlm;
  /** The bodies of its requests. Empty if nothing was sent. */
  readonly bodies: readonly string[];
  /** The reason of the first request that the strict server refuses; null if it accepts all. */
  readonly refusal: StrictRefusal | null;
  readonly outcome: LlmOutcome;
}

interface ReadyTarget {
  readonly target: WireTarget;
  readonly perform: (call: CallLlm, tools: readonly ToolDeclaration[], reply: OddReply) => Promise<SentCall>;
}

/** Makes the handler of a target. Its server answers each request with the reply of the call that it performs. */
const readyTarget = (target: WireTarget): ReadyTarget => {
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
const playWire = async (
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
    const tools = offered(effect, declared);
    const probed = await probe(targets, state, effect, tools, index + at);
    if (probed !== null) see(probed);
    const sent = await ready.perform(effect, tools, move.reply);
    see(sent);
    take(answered(sent, move, now));
  }
};

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

const probe = async (
  targets: readonly ReadyTarget[],
  state: State,
  call: CallLlm,
  tools: readonly ToolDeclaration[],
  index: number,
): Promise<SentCall | null> => {
  const ready = targets[(index * 7 + 3) % targets.length];
  const [other] = othersFor(index);
  if (ready === undefined || other === undefined || call.purpose !== "answer") return null;
  const { messages, fits } = promptOf(other, state);
  if (!fits || messages.length === 0) return null;
  return ready.perform({ ...call, messages, promptDigest: digestOfPrompt(messages) }, tools, plainReply);
};
