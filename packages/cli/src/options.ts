import type { parseArgs } from "node:util";

/** All options, in the form that `parseArgs` takes. */
export const optionKinds = {
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
  thread: { type: "string" },
  store: { type: "string" },
  session: { type: "string" },
  continue: { type: "boolean" },
  resume: { type: "string" },
  "multi-turn": { type: "boolean" },
  model: { type: "string" },
  provider: { type: "string" },
  "base-url": { type: "string" },
  template: { type: "string" },
  system: { type: "string" },
  window: { type: "string" },
  "max-turns": { type: "string" },
  agent: { type: "string" },
  "allow-tools": { type: "boolean" },
  tools: { type: "string", multiple: true },
  mcp: { type: "string", multiple: true },
  react: { type: "boolean" },
  approve: { type: "string" },
  deny: { type: "string" },
  reason: { type: "string" },
  debug: { type: "boolean" },
  verbose: { type: "boolean" },
  quiet: { type: "boolean" },
  "no-stream": { type: "boolean" },
  "output-format": { type: "string" },
  keys: { type: "string" },
  theme: { type: "string" },
  "screen-reader": { type: "boolean" },
  "no-color": { type: "boolean" },
  before: { type: "string" },
  after: { type: "string" },
  options: { type: "string" },
  at: { type: "string" },
  find: { type: "string" },
  as: { type: "string" },
  to: { type: "string" },
  all: { type: "boolean" },
  metric: { type: "string" },
  history: { type: "string" },
  per: { type: "string" },
  score: { type: "string" },
  "min-score": { type: "string" },
  from: { type: "string" },
  repair: { type: "boolean" },
  content: { type: "boolean" },
  protobuf: { type: "boolean" },
  "header-file": { type: "string" },
  port: { type: "string" },
  host: { type: "string" },
  "token-file": { type: "string" },
} as const;

/** The name of an option, without its dashes. */
export type OptionName = keyof typeof optionKinds;

/** Pairs of options that exclude each other. */
export const exclusive: readonly (readonly [OptionName, OptionName])[] = [
  ["thread", "continue"],
  ["thread", "resume"],
  ["continue", "resume"],
  ["session", "store"],
  ["react", "agent"],
  ["quiet", "verbose"],
  ["approve", "deny"],
  ["approve", "reason"],
  ...(["approve", "deny"] as const).flatMap((answer) =>
    (["continue", "resume", "multi-turn"] as const).map((other) => [answer, other] as const),
  ),
];

/** The given values; each command reads those of its options. */
export type OptionValues = ReturnType<typeof parseArgs<{ readonly options: typeof optionKinds }>>["values"];
