import type { Equivalent } from "./hunt.ts";

/** The equivalent mutants of `packages/host`. */
export const equivalentInHost: readonly Equivalent[] = [
  {
    path: "packages/host/src/turn-log/log.ts",
    original: "if (this.#waiting.length === 0) return;",
    mutated: "",
    reason: "the loop, too, wakes nobody if nobody waits; this check only saves time",
  },
  {
    path: "packages/host/src/turn-log/log.ts",
    original: "if (this.#waiting.length === 1) return this.#waiting.pop()?.wake();",
    mutated: "",
    reason: "the loop, too, wakes a single reader; this check only saves time",
  },
  {
    path: "packages/host/src/turn-log/log.ts",
    original: "#elsewhere = { epoch: -1, index: -1, step: 0 };",
    mutated: "#elsewhere = { epoch: -2, index: -1, step: 0 };",
    reason: "a part from elsewhere has the token of a lease as its epoch, which is above any negative number",
  },
  {
    path: "packages/host/src/turn-log/log.ts",
    original: "#elsewhere = { epoch: -1, index: -1, step: 0 };",
    mutated: "#elsewhere = { epoch: -1, index: 1, step: 0 };",
    reason: "the index counts only for parts of the same epoch, and none from elsewhere has a negative one",
  },
  {
    path: "packages/host/src/turn-log/log.ts",
    original: "if (this.#log.hasEnded) this.#log = null;",
    mutated: "",
    reason: "the log of a turn that has ended takes no more parts; releasing it only frees memory",
  },
  {
    path: "packages/host/src/turn-log/log.ts",
    original: "if (this.#log.hasEnded) this.#log = null;",
    mutated: "if (!(this.#log.hasEnded)) this.#log = null;",
    reason: "the log of an open turn is found again by its number; releasing one only frees memory",
  },
  {
    path: "packages/host/src/turn-log/replay.ts",
    original: "let newest = 0;",
    mutated: "let newest = 1;",
    reason: "no step comes before the first, so none counts as passed either way",
  },
  {
    path: "packages/host/src/turn-log/cursor.ts",
    original: "if (text === null || text.length - (textOfDelta(part)?.length ?? 0) === read) return part;",
    mutated: "if (text === null || text.length - (textOfDelta(part)?.length && 0) === read) return part;",
    reason: "the same text is cut out of the whole one then; this check only saves time",
  },
  {
    path: "packages/host/src/turn-log/cursor.ts",
    original: "this.#read = part?.text?.length ?? 0;",
    mutated: "this.#read = part?.text?.length ?? 1;",
    reason: "the length is used only once the part has grown, and a part without a text never grows",
  },
  {
    path: "packages/host/src/ask/earlier-ask.ts",
    original: "this.watcher = null;",
    mutated: "",
    reason: "the next loop of the ask sets it again; until then it only frees the memory of the loop that ended",
  },
  {
    path: "packages/host/src/telemetry/projection.ts",
    original: "#now = 0;",
    mutated: "#now = 1;",
    reason: "each entry sets the time before a span reads it; the type needs a first value",
  },
  {
    path: "packages/host/src/thread/asking.ts",
    original: 'const ask = new Ask(threadId, options?.askId ?? ids.draw("ask"), undefined, () => true);',
    mutated: 'const ask = new Ask(threadId, options?.askId ?? ids.draw("ask"), undefined, () => false);',
    reason: "the ask is refused at once, and one that is settled is never stopped",
  },
  {
    path: "packages/host/src/delegation/inbox.ts",
    original: "const entry = await this.#entryOf(event, state?.context.seq ?? 0);",
    mutated: "const entry = await this.#entryOf(event, state?.context.seq && 0);",
    reason: "the whole journal is read then, and the newest entry is found all the same; the bound only saves time",
  },
  {
    path: "packages/host/src/delegation/followed-journal.ts",
    original: "this.#isWhole = true;",
    mutated: "",
    reason: "loading all of a whole journal again changes nothing; the flag only saves time",
  },
  {
    path: "packages/host/src/loop/decide.ts",
    original: 'if (event.type !== "tool.started") continue;',
    mutated: "",
    reason: "the machine takes a failure only of a call that runs, so any other entry adds none; the check saves time",
  },
  {
    path: "packages/host/src/thread/asking.ts",
    original:
      "if (isPlain && (name ?? metadata ?? model ?? limits ?? overlap ?? from ?? tools ?? joins ?? output) === undefined) return Either.right(Object.freeze(event));",
    mutated: "",
    reason: "a plain text is read to the same event; the shortcut only saves time",
  },
  {
    path: "packages/host/src/thread/move-to.ts",
    original: "const own = there[index]?.redacted === true && entry.redacted !== true ? redactEntry(entry) : entry;",
    mutated: "const own = there[index]?.redacted === true && entry.redacted !== false ? redactEntry(entry) : entry;",
    reason: "to redact a redacted entry again changes nothing",
  },
  {
    path: "packages/host/src/loop/decide.ts",
    original: "const read = options.isRead === true && given === event ? Either.right(given) : readEvent(given);",
    mutated: "const read = options.isRead === true && given !== event ? Either.right(given) : readEvent(given);",
    reason:
      "an event that was read is read to the same one again, and none that was read is a cancel, which may differ",
  },
  {
    path: "packages/host/src/secrets/key-filter.ts",
    original: "for (let at = Math.max(from, text.length - longest + 1); at < text.length; at += 1)",
    mutated: "for (let at = Math.max(from, text.length - longest - 1); at < text.length; at += 1)",
    reason: "no key is longer than the longest, so none begins at the two earlier places; the bound only saves time",
  },
  {
    path: "packages/host/src/delegation/followed-log.ts",
    original: "this.#newest = open?.number ?? conversation.turns.length;",
    mutated: "",
    reason:
      "parts of a turn that is not known yet are shown after another read of the journal; this only saves the read",
  },
  {
    path: "packages/host/src/loop/llm-run.ts",
    original:
      "if (usage?.totalTokens === undefined || usage.inputTokens === undefined || usage.outputTokens === undefined)",
    mutated:
      "if (usage?.totalTokens === undefined || usage.inputTokens === undefined && usage.outputTokens === undefined)",
    reason: "a sum without one of its parts is NaN, which no total equals; the types need the check",
  },
  {
    path: "packages/host/src/telemetry/live.ts",
    original: 'if ("format" in entry || before === null) return;',
    mutated: 'if ("format" in entry && before === null) return;',
    reason: "only the first entry has a format, and only before it there is no state; the types need both checks",
  },
];
