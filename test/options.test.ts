import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Agent, agentFromFile, agentHost } from "@colloquy/sessions/agents";
import { importDataset, linearise, pairsOf, rerun, toTrl } from "@colloquy/sessions/datasets";
import { ConfigurationError } from "@colloquy/machine";
import { type LlmHandler, memoryStore, systemClock } from "@colloquy/runtime-node";
import { fromDspySession, predict, react, session } from "@colloquy/sessions";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";

/** Values of all types, which callers in JavaScript may pass. The text is as long as a key. */
const values: Readonly<Record<string, unknown>> = {
  null: null,
  count: 7,
  zero: 0,
  fraction: 1.5,
  negative: -1,
  NaN: Number.NaN,
  text: "sk-0123456789012345678901234567890123456789",
  empty: "",
  true: true,
  list: [],
  numbers: [1],
  object: {},
  set: new Set(["a"]),
  function: () => () => null,
};

/** A function, the other options that it needs, and the values that each option takes. */
interface Subject {
  readonly call: (options: never) => unknown;
  readonly needed?: (option: string) => object;
  readonly takes: Readonly<Record<string, string>>;
}

const llm: LlmHandler = async () => ({ type: "completed", reply: { content: "A" }, finishReason: "stop" });
const schemas = { inputs: z.object({ q: z.string() }), outputs: z.object({ a: z.string() }) };
const answering = session(() => ({ a: "A" }), { name: "answering", store: memoryStore() });
const folder = mkdtempSync(join(tmpdir(), "colloquy-options-"));
const file = join(folder, "agent.yaml");
let agent: Agent;

beforeAll(async () => {
  writeFileSync(file, "name: helper");
  agent = await agentFromFile(file);
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await answering.close();
});

/** The host options that an agent's host passes on. */
const ofHosts = {
  store: "",
  clock: "",
  ids: "",
  toolContext: "object set",
  thread: "object set",
  hooks: "object set",
  observers: "list",
  onObserverError: "function",
  describeThrown: "function",
  secrets: "function",
  defaultThread: "text",
  leaseTtlMs: "count",
  storeTimeoutMs: "count",
  idleMs: "count zero",
  whenHeld: "",
  pollMs: "count",
  progressMs: "null count",
  partials: "",
  partsMs: "null count",
  keepPartsMs: "count zero",
  snapshotEvery: "count zero",
  recovery: "object set",
};

const ofPredicting = {
  inputs: "",
  outputs: "",
  instructions: "text empty",
  name: "text",
  mode: "",
  repairs: "count zero",
  limits: "object set",
};

const subjects: Readonly<Record<string, Subject>> = {
  session: {
    call: (options) => session(() => ({}), options),
    needed: () => ({ name: "qa", llm, lifespan: "episodic", store: memoryStore() }),
    takes: {
      name: "text",
      version: "text",
      signature: "",
      store: "",
      threadId: "text",
      seed: "list",
      maxTurns: "count zero",
      maxStoredTurns: "count zero",
      excludeFields: "list set",
      onlyInputFields: "list set",
      compression: "",
      summariser: "function",
      describe: "function",
      overlap: "",
      lifespan: "",
      consolidate: "function",
      onTurn: "function",
      llm: "function",
      tools: "list",
      host: "object set",
    },
  },
  predict: { call: (options) => predict(options), needed: () => schemas, takes: ofPredicting },
  react: {
    call: (options) => react(options),
    needed: () => ({ ...schemas, tools: [] }),
    takes: { ...ofPredicting, tools: "list" },
  },
  call: {
    call: (options) => answering.call({}, options),
    takes: { history: "", askId: "text", signal: "", metadata: "object set" },
  },
  score: {
    call: (options) => answering.score(() => 1, options),
    takes: { gold: Object.keys(values).join(" "), onMetricError: "" },
  },
  examples: {
    call: (options) => answering.examples(options),
    takes: {
      gold: Object.keys(values).join(" "),
      onMetricError: "",
      metric: "function",
      minScore: "count zero fraction negative",
      strict: "true",
      includeHistory: "true",
    },
  },
  fromDspySession: { call: (options) => fromDspySession({ turns: [] }, options), takes: { at: "count zero" } },
  agentFromFile: {
    call: (options) => agentFromFile(file, options),
    needed: () => ({ root: tmpdir() }),
    takes: { allowTools: "true function", root: "text" },
  },
  agentHost: {
    call: (options) => agentHost(agent, options),
    needed: (option) => ({ ...(option === "models" ? {} : { llm }), store: memoryStore() }),
    takes: {
      ...ofHosts,
      llm: "function",
      models: "function",
      tools: "",
      model: "text",
      machine: "object set",
      system: "text empty",
    },
  },
  linearise: {
    call: (options) => linearise([], options),
    takes: {
      per: "",
      tools: "list",
      turns: "",
      score: "text",
      minScore: "count zero fraction negative",
      counter: "",
    },
  },
  pairsOf: { call: (options) => pairsOf([], options), takes: { prefer: "", which: "" } },
  toTrl: { call: (options) => toTrl([], options), takes: { as: "" } },
  importDataset: {
    call: (options) => importDataset("", options),
    needed: () => ({ from: "sft" }),
    takes: { from: "", threadId: "function", at: "count zero" },
  },
  rerun: {
    call: (options) => rerun([], options),
    needed: () => ({ llm, clock: systemClock }),
    takes: {
      llm: "function",
      clock: "",
      machine: "object set",
      system: "null text empty object set",
      model: "object set",
      history: "",
      metric: "function",
      concurrency: "count",
      signal: "",
    },
  },
};

/** Returns the error of a call with one option, as text; null if the option is taken. */
const refusalBy = async ({ call, needed }: Subject, option: string, value: unknown): Promise<string | null> => {
  try {
    // Cast: a caller in JavaScript may pass any value.
    const made: unknown = await call({ ...needed?.(option), [option]: value } as never);
    if (typeof made === "object" && made !== null && "close" in made && typeof made.close === "function")
      await made.close();
    return null;
  } catch (thrown) {
    return thrown instanceof ConfigurationError ? thrown.message : `it is not a ConfigurationError: ${String(thrown)}`;
  }
};

/** Returns whether an error names the option, says what to give, and shows nothing that may be a key. */
const isClear = (message: string, option: string): boolean =>
  new RegExp(`\\b${option}\\b.*(must be|needs)|needs .*"${option}"`).test(message) && !message.includes("sk-");

const all = Object.entries(subjects);

test.each(all)("every option of %s takes its own kind of value, and refuses all others", async (_, subject) => {
  const found: Record<string, string> = {};
  const unclear: string[] = [];
  for (const option of Object.keys(subject.takes)) {
    const taken: string[] = [];
    for (const [name, value] of Object.entries(values)) {
      const refusal = await refusalBy(subject, option, value);
      if (refusal === null) taken.push(name);
      else if (!isClear(refusal, option)) unclear.push(`${option} as ${name}: ${refusal}`);
    }
    found[option] = taken.join(" ");
  }
  expect(unclear).toEqual([]);
  expect(found).toEqual(subject.takes);
});

test.each(all)("the table has every option of %s", async (_, subject) => {
  const refusal = (await refusalBy(subject, "misspelt", 1)) ?? "";
  const named = /has no option "misspelt"; there are (.*)$/.exec(refusal)?.[1]?.split(", ") ?? ["none"];
  expect(named.filter((option) => !Object.hasOwn(subject.takes, option))).toEqual([]);
});
