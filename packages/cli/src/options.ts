import type { parseArgs } from "node:util";

/** All options, as `parseArgs` takes them. */
export const optionKinds = {
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
  thread: { type: "string" },
  store: { type: "string" },
  model: { type: "string" },
  "base-url": { type: "string" },
  system: { type: "string" },
  window: { type: "string" },
  agent: { type: "string" },
  "allow-tools": { type: "boolean" },
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
} as const;

/** The values that were given; each command reads those that it knows. */
export type OptionValues = ReturnType<typeof parseArgs<{ readonly options: typeof optionKinds }>>["values"];
