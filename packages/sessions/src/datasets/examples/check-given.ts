import { ConfigurationError } from "@colloquy/machine";

/**
 * Checks a function's journals, for callers in JavaScript.
 *
 * @throws ConfigurationError for a value that is not a list of journals, such as a single journal or a list of entries
 */
export const checkJournals = (of: string, given: unknown): void => {
  const wanted = `${of} takes a list of journals, [{ name, entries }]`;
  if (!Array.isArray(given)) {
    if (hasMembers(given, ["entries"]))
      throw new ConfigurationError(`${wanted}, and was given one without a list around it`);
    throw new ConfigurationError(`${wanted}, and was given ${kindOf(given)}`);
  }
  const wrong = given.findIndex(
    (journal) => !hasMembers(journal, ["name"]) || !Array.isArray(Reflect.get(journal, "entries")),
  );
  if (wrong < 0) return;
  const journal: unknown = given[wrong];
  if (hasMembers(journal, ["seq"]))
    throw new ConfigurationError(`${wanted}, and was given the entries of one; give them a name: [{ name, entries }]`);
  const is = Array.isArray(journal) ? "the entries of one, without a name" : kindOf(journal);
  throw new ConfigurationError(`${wanted}, and number ${wrong} of the list is ${is}`);
};

/**
 * Checks a function's examples or pairs, for callers in JavaScript.
 *
 * @throws ConfigurationError for a value that is not a list of them, with the member that contains them
 */
export const checkExamples = (of: string, given: unknown, wanted: "examples" | "pairs"): void => {
  const way = wanted === "examples" ? "`examples` of what linearise gives" : "`pairs` of what pairsOf gives";
  const takes = `${of} takes a list of ${wanted}: ${way}`;
  if (!Array.isArray(given)) throw new ConfigurationError(`${takes}; it was given ${kindOf(given)}`);
  const members = membersOf[wanted];
  const wrong = given.findIndex((each) => !hasMembers(each, members));
  if (wrong < 0) return;
  const other = wanted === "examples" ? "pairs" : "examples";
  const is = hasMembers(given[wrong], membersOf[other])
    ? `a list of ${other}`
    : `a list whose number ${wrong} is ${kindOf(given[wrong])}`;
  throw new ConfigurationError(`${takes}; it was given ${is}`);
};

const membersOf = { examples: ["prompt", "reply"], pairs: ["chosen", "rejected"] } as const;

const hasMembers = (given: unknown, names: readonly string[]): given is object =>
  typeof given === "object" && given !== null && names.every((name) => name in given);

const kindOf = (given: unknown): string => {
  if (given === null || given === undefined) return String(given);
  if (Array.isArray(given)) return "a list";
  if (given instanceof Promise) return "a promise; await it first";
  if (typeof given !== "object") return `of type ${typeof given}`;
  return `an object of ${Object.keys(given).join(", ") || "nothing"}`;
};
