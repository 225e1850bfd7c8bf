import type { Configuration, OfferedTool, ThreadInput } from "../protocol/event.ts";
import { type Budget, keepEverything, type Policy, type Summariser } from "../../prompt/policy.ts";
import { ConfigurationError } from "../../prompt/configuration-error.ts";
import { type Counter, estimateCounter } from "../../prompt/counter.ts";
import { type Counts, countsOf } from "../../prompt/counts.ts";
import { grownPrompts, type Prompts } from "../../prompt/prompts.ts";
import type { Cut } from "../../prompt/cut.ts";
import type { InterruptedTurns } from "../../prompt/unit.ts";
import { problemOfKeys } from "../../prompt/policies/check-options.ts";
import { keepAll } from "../../prompt/policies/keep-all.ts";
import { beginsWith } from "../../thread/chunks.ts";
import { digestOf } from "../../thread/make-message.ts";
import type { Turn } from "../../thread/turn.ts";
import {
  describeValueProblem,
  frozen,
  frozenCopy,
  isCount,
  type JsonObject,
  preview,
  problemOfJson,
} from "../../thread/plain-data.ts";
import { defaultSteps, type Limits, problemOfLimits } from "../protocol/limits.ts";
import type { MachineOptions, Overlap, Pricing, Retry } from "./options.ts";
import { offeredTool, type ToolDeclaration } from "../protocol/tool.ts";

export interface Settings {
  readonly tools: readonly ToolDeclaration[];
  readonly toolNames: ReadonlySet<string>;
  readonly offered: readonly OfferedTool[];
  readonly policy: Policy;
  readonly counter: Counter;
  readonly counts: Counts;
  readonly prompts: Prompts;
  /**
   * The cut of every prompt if the policy keeps everything, without a budget; otherwise null. Deciding it for each
   * prompt took 6 % of a turn.
   */
  readonly keepAllCut: Cut | null;
  /**
   * Returns the ids of the asks in a chunk of closed turns, and caches them. Without the cache, comparing each ask
   * with each turn took a tenth of a turn's time.
   */
  readonly askIds: (turns: readonly Turn[]) => ReadonlySet<string>;
  readonly budget: Budget | null;
  readonly calibrate: boolean;
  readonly warnAt: number;
  readonly limits: Limits;
  readonly overlap: Overlap;
  readonly model: JsonObject;
  readonly retry: Retry;
  readonly interrupted: InterruptedTurns;
  readonly unknownTool: "result" | "ask";
  readonly idleTimeoutMs: number | null;
  readonly pricing: Pricing | null;
  /** A digest of all settings. Functions are represented by their names, versions and options. */
  readonly fingerprint: string;
}

/**
 * Checks options, fills in their defaults, and copies their contents, so that later changes by the caller have no
 * effect. @throws ConfigurationError for an invalid option.
 */
export const settingsOf = (options: MachineOptions): Settings => {
  const wrongShape = problemOfShapes(options);
  if (wrongShape !== null) throw new ConfigurationError(wrongShape);
  const tools = frozenCopy(options.tools ?? []);
  const given: Omit<Settings, Kept | "toolNames"> = {
    tools,
    offered: frozen(tools.map(offeredTool)),
    policy: options.policy ?? keepAll(),
    counter: options.counter ?? estimateCounter,
    budget: frozenCopy(options.budget ?? null),
    calibrate: options.calibrate ?? true,
    warnAt: options.warnAt ?? 0.8,
    limits: frozenCopy({ steps: defaultSteps, ...options.limits }),
    overlap: frozenCopy(options.overlap ?? { type: "reject" }),
    model: frozenCopy(options.model ?? {}),
    retry: frozenCopy({ ...defaultRetry, ...options.retry }),
    interrupted: options.interrupted ?? "keep",
    unknownTool: options.unknownTool ?? "result",
    idleTimeoutMs: options.idleTimeoutMs ?? null,
    pricing: options.pricing ?? null,
  };
  const toolNames = new Set(given.tools.map(({ name }) => name));
  const problem = problemOf({ ...given, toolNames });
  if (problem !== null) throw new ConfigurationError(problem);
  const policy = ownedPolicy(given.policy);
  const counter = ownedMembers(given.counter, [...identity, "countPart", "perMessage", "perPrompt", "countPrompt"]);
  const pricing = given.pricing === null ? null : ownedMembers(given.pricing, [...identity, "price"]);
  const counts = countsOf(counter);
  const settings = { ...given, toolNames, policy, counter, pricing, counts };
  return {
    ...settings,
    prompts: grownPrompts(counts),
    keepAllCut: keepAllCutOf(settings),
    askIds: askIdsKept(),
    fingerprint: fingerprintOf(settings),
  };
};

/**
 * Returns a cache of the ids in each chunk, which grows with the chunk. Searching the newest turns one by one took 5 %
 * of a turn.
 */
const askIdsKept = (): Settings["askIds"] => {
  // By the oldest turn of a chunk.
  const chunks = new WeakMap<object, { readonly turns: readonly Turn[]; readonly ids: Set<string> }>();
  return (turns) => {
    const oldest = turns[0] ?? turns;
    const kept = chunks.get(oldest);
    if (kept?.turns === turns) return kept.ids;
    const continues = kept !== undefined && beginsWith(turns, kept.turns);
    const ids = continues ? kept.ids : new Set<string>();
    // By index: to slice a frozen list takes ten times as long.
    for (let index = continues ? kept.turns.length : 0; index < turns.length; index++)
      for (const { askId } of turns[index]?.asks ?? []) ids.add(askId);
    chunks.set(oldest, { turns, ids });
    return ids;
  };
};

/** The settings that are derived from others. */
type Kept = "counts" | "prompts" | "keepAllCut" | "askIds" | "fingerprint";

const keepAllCutOf = ({
  policy,
  budget,
  interrupted,
}: Pick<Settings, "policy" | "budget" | "interrupted">): Cut | null =>
  policy.decide === keepEverything && policy.summariser === undefined && budget === null
    ? frozen({ policy: `${policy.name}@${policy.version}`, from: null, interrupted })
    : null;

const defaultRetry: Retry = {
  attempts: 3,
  baseDelayMs: 500,
  maxDelayMs: 30_000,
  maxRetryAfterMs: 120_000,
  kinds: ["rate_limit", "overloaded", "timeout", "network", "truncated", "unknown"],
};

/** Returns an error for options that would be ignored or would fail later. */
const problemOfShapes = (options: MachineOptions): string | null => {
  const wrong = problemOfKeys("conversationMachine", options, Object.keys(optionNames));
  if (wrong !== null) return wrong;
  const { budget, limits, model, overlap, retry, tools } = options;
  if (tools != null && !Array.isArray(tools)) return `tools are ${preview(tools)}; they must be a list of declarations`;
  for (const [name, value] of Object.entries({ limits, model })) {
    if (value != null && (typeof value !== "object" || Array.isArray(value)))
      return `${name} is given ${preview(value)}; it takes an object`;
  }
  const known = { budget: ["tokens", "reserve"], overlap: ["type", "max"], retry: Object.keys(defaultRetry) };
  const given = { budget, overlap, retry };
  for (const name of ["budget", "overlap", "retry"] as const) {
    const problem = given[name] == null ? null : problemOfKeys(name, given[name], known[name]);
    if (problem !== null) return problem;
  }
  return null;
};

/** The type makes this list complete. */
const optionNames: { readonly [Option in keyof Required<MachineOptions>]: true } = {
  tools: true,
  policy: true,
  counter: true,
  budget: true,
  calibrate: true,
  warnAt: true,
  limits: true,
  overlap: true,
  model: true,
  retry: true,
  interrupted: true,
  unknownTool: true,
  idleTimeoutMs: true,
  pricing: true,
};

const problemOf = (settings: Omit<Settings, Kept>): string | null => {
  const limits = problemOfLimits(settings.limits);
  if (limits !== null) return limits;
  if (settings.toolNames.size < settings.tools.length) {
    const names = settings.tools.map(({ name }) => name);
    return `tool "${names.find((name, index) => names.indexOf(name) !== index)}" is declared twice; names must differ`;
  }
  if (settings.toolNames.has("")) return "a tool is declared without a name";
  const wrongWord = problemOfWords(settings) ?? problemOfData(settings);
  if (wrongWord !== null) return wrongWord;
  const { policy, counter, pricing } = settings;
  for (const [name, value, example] of [
    ["policy", policy, "a policy such as lastTurns(5)"],
    ["counter", counter, "a counter such as estimateCounter"],
    ["pricing", pricing, 'a pricing such as pricesPerMillion("USD", { … })'],
  ] as const) {
    if (value !== null && !isNamed(value))
      return `${name} must be ${example}, with a name and a version (got ${preview(value)})`;
  }
  const wrongValue = problemOfPolicy(settings.policy) ?? problemOfCounter(settings.counter);
  if (wrongValue !== null) return wrongValue;
  const { overlap, retry, budget, calibrate, idleTimeoutMs, warnAt } = settings;
  const wrongCount = problemOfCounts([
    ...("max" in overlap ? [["overlap.max", overlap.max, 0] as const] : []),
    ["retry.attempts", retry.attempts, 1],
    ["retry.baseDelayMs", retry.baseDelayMs, 0],
    ["retry.maxDelayMs", retry.maxDelayMs, 0],
    ["retry.maxRetryAfterMs", retry.maxRetryAfterMs, 0],
    ...(idleTimeoutMs === null ? [] : [["idleTimeoutMs", idleTimeoutMs, 1] as const]),
  ]);
  if (wrongCount !== null) return wrongCount;
  if (budget !== null && !(isCount(budget.tokens) && isCount(budget.reserve) && budget.reserve <= budget.tokens))
    return `the budget is ${preview(budget)}; tokens and reserve must be whole numbers, the reserve within the tokens`;
  if (typeof calibrate !== "boolean") return `calibrate is ${preview(calibrate)}; it must be true or false`;
  if (typeof warnAt !== "number" || !(warnAt >= 0 && warnAt <= 1))
    return `warnAt is ${preview(warnAt)}; it must be from 0 to 1`;
  return null;
};

/** Returns what is wrong with the first number that is not whole or too small; null if there is none. */
const problemOfCounts = (
  counts: readonly (readonly [name: string, value: unknown, least: number])[],
): string | null => {
  const wrong = counts.find(([, value, least]) => !(isCount(value) && value >= least));
  return wrong === undefined
    ? null
    : `${wrong[0]} is ${preview(wrong[1])}; it must be a whole number of ${wrong[2]} or more`;
};

/** Rejects unknown words, which callers in plain JavaScript may pass. */
const problemOfWords = ({ overlap, interrupted, unknownTool, tools }: Omit<Settings, Kept>): string | null => {
  const words: readonly (readonly [option: string, word: string, known: readonly string[]])[] = [
    ["overlap.type", overlap.type, ["reject", "queue", "merge", "latest", "interrupt", "steer"]],
    ["interrupted", interrupted, ["keep", "omit"]],
    ["unknownTool", unknownTool, ["result", "ask"]],
  ];
  const ofTools = tools.flatMap(({ name, approval, recovery }) => [
    [`the approval of tool "${name}"`, approval ?? "always", ["always", "conditional"]] as const,
    [`the recovery of tool "${name}"`, recovery ?? "ask", ["rerun", "interrupted", "once", "ask"]] as const,
  ]);
  const wrong = [...words, ...ofTools].find(([, word, known]) => !known.includes(word));
  return wrong === undefined ? null : `${wrong[0]} is ${preview(wrong[1])}; it must be one of: ${wrong[2].join(", ")}`;
};

/** Rejects values that JSON would change: journal and fingerprint need the same value when read again. */
const problemOfData = ({ model, tools, policy, counter, pricing }: Omit<Settings, Kept>): string | null => {
  const data: readonly (readonly [of: string, value: unknown])[] = [
    ["the model", model],
    ["the model of the summariser", policy.summariser?.model],
    ["the options of the policy", policy.options],
    ["the options of the counter", counter.options],
    ["the options of the pricing", pricing?.options],
    ...tools.map(({ name, parameters }) => [`the parameters of tool "${name}"`, parameters] as const),
  ];
  for (const [of, value] of data) {
    const problem = value == null ? null : problemOfJson(value);
    if (problem !== null) return `${of}: ${describeValueProblem(problem, "it")}`;
  }
  return null;
};

type Identified = Pick<Policy, "name" | "version" | "options">;

const isNamed = ({ name, version }: Identified): boolean =>
  typeof name === "string" && name !== "" && Number.isSafeInteger(version);

const fingerprintOf = (settings: Omit<Settings, "prompts" | "keepAllCut" | "askIds" | "fingerprint">): string =>
  digestOf({
    tools: settings.tools.map((tool) => ({ ...tool })),
    policy: identityOf(settings.policy),
    counter: identityOf(settings.counter),
    pricing: settings.pricing === null ? null : identityOf(settings.pricing),
    budget: settings.budget === null ? null : { ...settings.budget },
    calibrate: settings.calibrate,
    warnAt: settings.warnAt,
    limits: { ...settings.limits },
    overlap: { ...settings.overlap },
    retry: { ...settings.retry },
    interrupted: settings.interrupted,
    unknownTool: settings.unknownTool,
    idleTimeoutMs: settings.idleTimeoutMs,
    model: settings.model,
  });

const identityOf = ({ name, version, options }: Identified): JsonObject => ({ name, version, options });

export const withDefaults = (settings: Settings, input: ThreadInput): ThreadInput => ({
  ...input,
  configuration: configurationOf(settings),
});

export const configurationOf = ({ fingerprint, idleTimeoutMs, model, offered, policy }: Settings): Configuration => ({
  fingerprint,
  ...(Object.keys(model).length === 0 ? {} : { model }),
  ...(idleTimeoutMs === null ? {} : { idleTimeoutMs }),
  ...(policy.summariser === undefined ? {} : { summariser: summariserOf(policy.summariser) }),
  tools: offered,
});

const summariserOf = ({ instruction, model }: Summariser): NonNullable<Configuration["summariser"]> => ({
  instruction,
  ...(Object.keys(model).length === 0 ? {} : { model }),
});

/** Returns what is invalid in a policy, or null. Plain JavaScript may pass anything. */
const problemOfPolicy = ({ name, decide, summariser }: Policy): string | null => {
  if (typeof decide !== "function") return `policy "${name}" has no function "decide"`;
  if (summariser === undefined) return null;
  const { instruction, model, maxTokens, requestTokens, waitMs, next } = summariser;
  const of = `the summariser of policy "${name}"`;
  if (typeof instruction !== "string" || instruction === "") return `${of} has no instruction; give it a text`;
  if (typeof model !== "object" || model === null || Array.isArray(model))
    return `${of} has the model ${String(model)}; it must be an object of parameters ({} for the thread's)`;
  const wrongCount = problemOfCounts([
    ["maxTokens", maxTokens, 1],
    ...(requestTokens === undefined ? [] : [["requestTokens", requestTokens, 1] as const]),
    ...(waitMs === undefined ? [] : [["waitMs", waitMs, 0] as const]),
  ]);
  if (wrongCount !== null) return `${of}: ${wrongCount}`;
  return typeof next === "function" ? null : `${of} has no function "next"`;
};

/** Returns what is invalid in a counter, or null. */
const problemOfCounter = ({ name, countPart, perMessage, perPrompt, countPrompt }: Counter): string | null => {
  if (typeof countPart !== "function") return `counter "${name}" has no function "countPart"`;
  if (countPrompt !== undefined && typeof countPrompt !== "function")
    return `counter "${name}": countPrompt must be a function`;
  if (isAsynchronous(countPart))
    return `counter "${name}" counts asynchronously; load what it needs with an await before, and count synchronously`;
  for (const [of, tokens] of Object.entries({ perMessage, perPrompt })) {
    if (!(Number.isFinite(tokens) && tokens >= 0))
      return `counter "${name}": ${of} is ${String(tokens)}; it must be 0 or more`;
  }
  return null;
};

/** Returns whether a counter is asynchronous: its promises would not be awaited. */
const isAsynchronous = (countPart: Counter["countPart"]): boolean => {
  try {
    const tokens: unknown = countPart({ type: "text", text: "" });
    if (!(tokens instanceof Promise)) return false;
    tokens.catch(() => {});
    return true;
  } catch {
    // A counter that throws is reported when it counts.
    return false;
  }
};

/**
 * Copies the named members of an object, whose functions stay bound to it. So the functions that decide are those that
 * the fingerprint describes, whatever the caller changes later. An instance of a class may have members on its prototype.
 */
const ownedMembers = <Owner extends object>(owner: Owner, names: readonly (keyof Owner & string)[]): Owner => {
  const members = names.flatMap((name): [string, unknown][] => {
    const value: unknown = owner[name];
    return value === undefined ? [] : [[name, typeof value === "function" ? value.bind(owner) : frozenCopy(value)]];
  });
  return Object.freeze({ ...owner, ...Object.fromEntries(members) });
};

const identity = ["name", "version", "options"] as const;

const ownedPolicy = (policy: Policy): Policy => {
  const bound = ownedMembers(policy, [...identity, "decide"]);
  const { decide, summariser } = policy;
  // The machine recognises this function by its identity, which a bound copy would lose.
  const owned = decide === keepEverything ? Object.freeze({ ...bound, decide }) : bound;
  if (summariser === undefined) return owned;
  const names = ["instruction", "model", "maxTokens", "requestTokens", "waitMs", "next"] as const;
  return Object.freeze({ ...owned, summariser: ownedMembers(summariser, names) });
};
