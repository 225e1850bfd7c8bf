import { type OptionNames, problemOfOptions } from "@colloquy/host/store";
import { ConfigurationError } from "@colloquy/machine";
import type { AnyOptions } from "./options.ts";

/** @throws ConfigurationError for options that are missing, unknown or invalid; those of policies are checked where these are made */
export const checkOptions = (options: AnyOptions): void => {
  const problem = problemOfOptions("session", options, optionNames) ?? problemIn(options);
  if (problem !== null) throw new ConfigurationError(problem);
};

const problemIn = (options: AnyOptions): string | null => {
  const { name, threadId = name, compression, summariser, llm, lifespan } = options;
  for (const [option, value] of Object.entries({ name, threadId }))
    if (typeof value !== "string" || value === "")
      return `session: ${option} is ${said(value)}; it must be a text that is not empty`;
  for (const option of ["maxTurns", "maxStoredTurns"] as const) {
    const value = options[option] ?? 0;
    if (!(Number.isSafeInteger(value) && value >= 0))
      return `session: ${option} is ${said(value)}; it must be a whole number, 0 or more`;
  }
  for (const [option, known] of Object.entries<readonly string[]>(words)) {
    // `Object.entries` gives names as texts; they are those of `words`.
    const value = options[option as keyof typeof words];
    if (value !== undefined && !known.includes(value))
      return `session: ${option} is ${said(value)}; it must be ${known.map(said).join(" or ")}`;
  }
  if (compression !== undefined && summariser === undefined && llm === undefined)
    return "session: compression has turns summarised, and nothing is there to do it; give llm, or a summariser of your own";
  if (options.consolidate !== undefined && lifespan !== "episodic")
    return `session: consolidate is for episodes, and the lifespan is ${said(lifespan ?? "persistent")}; make it "episodic", or leave consolidate out`;
  return null;
};

const words = {
  overlap: ["queue", "reject"],
  lifespan: ["persistent", "episodic", "shared", "stateless"],
} as const;

const said = (value: unknown): string => (typeof value === "string" ? JSON.stringify(value) : String(value));

const optionNames: OptionNames<AnyOptions> = {
  name: "required",
  version: true,
  signature: true,
  store: true,
  threadId: true,
  seed: true,
  maxTurns: true,
  maxStoredTurns: true,
  excludeFields: true,
  onlyInputFields: true,
  compression: true,
  summariser: true,
  describe: true,
  overlap: true,
  lifespan: true,
  consolidate: true,
  onTurn: true,
  llm: true,
  tools: true,
  host: true,
};
