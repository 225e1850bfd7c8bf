/** A mutant that no test can kill, since it behaves as the original does. */
export interface Equivalent {
  readonly path: string;
  /** The lines as they are, and as they are with the mutant, each on one line, as a survivor is printed. */
  readonly original: string;
  readonly mutated: string;
  readonly reason: string;
}

/** Of the machine. An entry that no longer names a mutant is reported, to be removed. */
export const equivalent: readonly Equivalent[] = [
  ...completeByType(
    "conversation/decide/settings.ts",
    "tools policy counter budget calibrate warnAt limits overlap model retry interrupted unknownTool idleTimeoutMs pricing",
  ),
  {
    path: "packages/machine/src/prompt/counts.ts",
    original: 'if (whole !== null) tokens += "run" in whole ? (run(whole.run)[whole.from] ?? 0) : turn(whole);',
    mutated: 'if (whole !== null) tokens += "run" in whole ? (run(whole.run)[whole.from] ?? 1) : turn(whole);',
    reason: "a run is named by one of its own turns, so there is always a count; the type can't say so",
  },
  {
    path: "packages/machine/src/inspect/rehearse-imported.ts",
    original: "toolCalls: 0,",
    mutated: "toolCalls: 1,",
    reason: "of a turn that is made up for one prompt only the messages are looked at; the rest is there for its type",
  },
  {
    path: "packages/machine/src/inspect/replay.ts",
    original: "if (Either.isLeft(begun)) return Either.left(unreadable(begun.left.seq, begun.left.reason));",
    mutated: "",
    reason: "a journal that was folded has a beginning that can be; the type can't say so",
  },
  {
    path: "packages/machine/src/prompt/blocks.ts",
    original: "const mostArguments = 1_000;",
    mutated: "const mostArguments = 1001;",
    reason: "in how many goes blocks are joined changes nothing about the list that they come to",
  },
  {
    path: "packages/machine/src/thread/chunks.ts",
    original: "if (index < 0 || index >= chunks.length) return undefined;",
    mutated: "if (index < 0 || index > chunks.length) return undefined;",
    reason: "behind the last element no level holds the index either, and the end is undefined, too",
  },
  {
    path: "packages/machine/src/thread/thread.ts",
    original: "if (run === undefined || turn === undefined || turn.number !== run.first + chunkSize) return undefined;",
    mutated: "if (run === undefined && turn === undefined || turn.number !== run.first + chunkSize) return undefined;",
    reason: "the two are set together, so that either both are there or neither is",
  },
  {
    path: "packages/machine/src/prompt/render.ts",
    original: "if (leftOut && pinned === undefined) return [];",
    mutated: "",
    reason: "of a turn that is left out only what is pinned is shown, one by one, too; this only spares the looking",
  },
  {
    path: "packages/machine/src/prompt/policies/clear-results.ts",
    original: "const newest = newestRounds(input, kept + slack + 1);",
    mutated: "const newest = newestRounds(input, kept + slack + 2);",
    reason: "that there is one round more than the slack is all that is asked; a second one is found for nothing",
  },
  {
    path: "packages/machine/src/thread/chunks.ts",
    original: "for (let level = chunks.levels.length - 1; level >= 0; level--) {",
    mutated: "for (let level = chunks.levels.length + 1; level >= 0; level--) {",
    reason: "a level that there is not holds nothing, and is passed over",
  },
  {
    path: "packages/machine/src/thread/chunks.ts",
    original:
      "for (let level = chunks.levels.length - 1; level >= 0; level--) collect(chunks.levels[level] ?? [], level, elements);",
    mutated:
      "for (let level = chunks.levels.length + 1; level >= 0; level--) collect(chunks.levels[level] ?? [], level, elements);",
    reason: "a level that there is not holds nothing to collect",
  },
  {
    path: "packages/machine/src/inspect/compare.ts",
    original: "if (was.call === null || is.call === null) continue;",
    mutated: "if (was.call === null && is.call === null) continue;",
    reason: "a step of a recording is a call under both configurations or under neither; the types can't say so",
  },
  {
    path: "packages/machine/src/prompt/render.ts",
    original: "first = Math.max(first, before.unit === 0 ? before.turn : before.turn + 1);",
    mutated: "first = Math.max(first, before.unit === 0 ? before.turn : before.turn + 2);",
    reason: "a turn that no rule applies to is shown as it is, unit by unit, too; this only spares the looking",
  },
  {
    path: "packages/machine/src/prompt/policies/input-under.ts",
    original: "if (system === undefined && rules.length === 0) return fixed;",
    mutated: "",
    reason: "without rules every unit is given back as it is, one by one, too; this only spares the looking",
  },
  {
    path: "packages/machine/src/conversation/decide/settings.ts",
    original: "if (!(tokens instanceof Promise)) return false;",
    mutated: "",
    reason: "what is no promise has no `catch` to call, which throws, and comes to the same",
  },
  {
    path: "packages/machine/src/inspect/replay.ts",
    original: 'if (!isLater(entry)) return Either.left(unreadable(entry.seq, "a second beginning"));',
    mutated: "",
    reason: "a journal that was folded has one beginning; the type can't say so",
  },
  {
    path: "packages/machine/src/journal/fork-copy.ts",
    original:
      "if (event.pinned && turn > 0 && turn <= this.#turn && !isOnPath(conversation, turn)) this.#moveTo(turn);",
    mutated:
      "if (event.pinned && turn >= 0 && turn <= this.#turn && !isOnPath(conversation, turn)) this.#moveTo(turn);",
    reason: "the beginning is on every path; not to look there says what is meant",
  },
];

/** Members of a list of which only the names are read; its type sees to it that none is missing. */
function completeByType(path: string, names: string): readonly Equivalent[] {
  return names.split(" ").map((name) => ({
    path: `packages/machine/src/${path}`,
    original: `${name}: true,`,
    mutated: `${name}: false,`,
    reason: "only the names of the list are read; the type sees to it that none is missing",
  }));
}
