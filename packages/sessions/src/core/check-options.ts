import { type OptionNames, problemOfOptions } from "@colloquy/host/store";
import { ConfigurationError } from "@colloquy/machine";
import { fieldsNamedBy } from "../program/signature.ts";
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
  for (const option of ["excludeFields", "onlyInputFields"] as const) {
    const stray = strayField(options, options[option]);
    if (stray !== null) return `session: ${option} names ${stray}`;
  }
  if (compression !== undefined && summariser === undefined && llm === undefined)
    return "session: compression has turns summarised, and nothing is there to do it; give llm, or a summariser of your own";
  if (options.consolidate !== undefined && lifespan !== "episodic")
    return `session: consolidate is for episodes, and the lifespan is ${said(lifespan ?? "persistent")}; make it "episodic", or leave consolidate out`;
  return null;
};

/** A field that the signature does not have, where it says which there are: misspelt, it would be shown all the same. */
const strayField = ({ signature }: AnyOptions, names: readonly string[] = []): string | null => {
  const inputs = fieldsNamedBy(signature?.inputs);
  const outputs = fieldsNamedBy(signature?.outputs);
  if (inputs === null || outputs === null) return null;
  const known = [...new Set([...inputs, ...outputs])];
  const stray = names.find((name) => !known.includes(name));
  return stray === undefined ? null : `${said(stray)}, and the signature has no such field; it has ${known.join(", ")}`;
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
