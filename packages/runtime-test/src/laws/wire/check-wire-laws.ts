import fc from "fast-check";
import { LawBroken } from "../evidence/law-broken.ts";
import { playWire, type ReadyTarget, readyTarget, type SentCall } from "./play-wire.ts";
import { type WirePlay, wirePlayArbitrary } from "./wire-play.ts";
import type { WireTarget } from "./wire-target.ts";

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
  const { threads = 100, seed, path } = run;
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
    { numRuns: threads, ...(seed === undefined ? {} : { seed }), ...(path === undefined ? {} : { path }) },
  );
  if (!found.failed) return { threads, requests };
  throw new LawBroken(
    "M14",
    [
      found.errorInstance instanceof Error
        ? found.errorInstance.message.replace(/^M14: /, "")
        : String(found.errorInstance),
      `In this conversation: ${JSON.stringify(found.counterexample?.[0])}`,
      `To see it again: { seed: ${found.seed}, path: "${found.counterexamplePath ?? ""}" }`,
    ].join("\n"),
    { cause: found.errorInstance },
  );
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
  const { threads = 100, seed } = run;
  const ready = targets.map(readyTarget);
  const faults = new Map<string, WireFault>();
  for (const play of fc.sample(wirePlayArbitrary, { numRuns: threads, ...(seed === undefined ? {} : { seed }) }))
    await noteFaults(ready, play, faults);
  return [...faults.values()].sort((one, other) => other.calls - one.calls);
};

const noteFaults = (ready: readonly ReadyTarget[], play: WirePlay, faults: Map<string, WireFault>): Promise<void> =>
  playWire(ready, play, (sent) => {
    const problem = problemOf(sent);
    if (problem === null) return;
    const key = `${sent.target.name}\n${problem.rule}`;
    const known = faults.get(key);
    faults.set(key, {
      target: sent.target.name,
      rule: problem.rule,
      words: known?.words ?? problem.words,
      calls: (known?.calls ?? 0) + 1,
    });
  });

const problemOf = ({
  target,
  call,
  bodies,
  refusal,
  outcome,
}: SentCall): { readonly rule: string; readonly words: string } | null => {
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
