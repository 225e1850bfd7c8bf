import { checkOptions as checkKinds, kinds, type OptionKinds } from "@colloquy/host/store";
import { ConfigurationError } from "@colloquy/machine";
import { fieldsNamedBy } from "../program/signature.ts";
import type { AnyOptions } from "./options.ts";

/**
 * @throws ConfigurationError for options that are missing, unknown or invalid; host options are checked when the hosts
 * are made
 */
export const checkOptions = (options: AnyOptions): void => {
  checkKinds("session", options, optionKinds);
  const problem = problemIn(options);
  if (problem !== null) throw new ConfigurationError(problem);
};

const problemIn = (options: AnyOptions): string | null => {
  const { compression, summariser, llm, lifespan = "persistent" } = options;
  for (const option of ["excludeFields", "onlyInputFields"] as const) {
    const stray = strayField(options, [...(options[option] ?? [])]);
    if (stray !== null) return `session: ${option} names ${stray}`;
  }
  if (compression !== undefined && summariser === undefined && llm === undefined)
    return "session: compression has turns summarised, and nothing is there to do it; give llm, or a summariser of your own";
  if (options.consolidate !== undefined && lifespan !== "episodic")
    return `session: consolidate is for episodes, and the lifespan is "${lifespan}"; make it "episodic", or leave consolidate out`;
  return null;
};

/**
 * Returns a field that is missing in the signature, if the signature lists its fields. Memory would still show a
 * misspelt field.
 */
const strayField = ({ signature }: AnyOptions, names: readonly string[]): string | null => {
  const inputs = fieldsNamedBy(signature?.inputs);
  const outputs = fieldsNamedBy(signature?.outputs);
  if (inputs === null || outputs === null) return null;
  const known = [...new Set([...inputs, ...outputs])];
  const stray = names.find((name) => !known.includes(name));
  return stray === undefined ? null : `"${stray}", and the signature has no such field; it has ${known.join(", ")}`;
};

/** The host options that the session sets itself. */
const ownHostOptions = ["llm", "machine", "store", "tools", "system", "thread", "hooks", "defaultThread"];

const optionKinds: OptionKinds<AnyOptions> = {
  name: kinds.needed(kinds.text),
  version: kinds.text,
  signature: kinds.of("{ inputs, outputs }, each a Standard Schema", (value) =>
    [Reflect.get(Object(value), "inputs"), Reflect.get(Object(value), "outputs")].every(kinds.schema.fits),
  ),
  store: kinds.store,
  threadId: kinds.text,
  seed: kinds.listOf("{ inputs, outputs }, both objects", (each) =>
    ["inputs", "outputs"].every((name) => kinds.object.fits(Reflect.get(Object(each), name))),
  ),
  maxTurns: kinds.whole(0),
  maxStoredTurns: kinds.whole(0),
  excludeFields: kinds.names,
  onlyInputFields: kinds.names,
  compression: kinds.word(
    '"concise", "verbose" or { instruction }',
    (value) => value === "concise" || value === "verbose" || kinds.text.fits(Reflect.get(Object(value), "instruction")),
  ),
  summariser: kinds.call,
  describe: kinds.call,
  overlap: kinds.oneOf("queue", "reject"),
  lifespan: kinds.oneOf("persistent", "episodic", "shared", "stateless"),
  consolidate: kinds.call,
  onTurn: kinds.call,
  llm: kinds.call,
  tools: kinds.tools,
  host: kinds.of(
    `an object of options of createHost, without ${ownHostOptions.join(", ")}`,
    (value) =>
      kinds.object.fits(value) && ownHostOptions.every((name) => Reflect.get(Object(value), name) === undefined),
  ),
};
