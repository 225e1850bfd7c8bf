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
  {
    path: "packages/host/src/delegation/followed-journal.ts",
    original: "this.#isWhole = true;",
    mutated: "this.#isWhole = false;",
    reason: "a state that is loaded as a whole is the same when it is loaded again; this only saves time",
  },
  {
    path: "packages/host/src/ask/asks.ts",
    original: "if (others?.delete(ask) === true && others.size === 0) this.#byId?.delete(ask.askId);",
    mutated: "if (others?.delete(ask) === true && others.size === 0)",
    reason: "an empty set of asks gives no asks; deleting it only frees memory",
  },
  {
    path: "packages/host/src/ask/asks.ts",
    original: "if (others?.delete(ask) === true && others.size === 0) this.#byId?.delete(ask.askId);",
    mutated: "if (others?.delete(ask) === false && others.size === 0) this.#byId?.delete(ask.askId);",
    reason: "an empty set of asks gives no asks; deleting it only frees memory",
  },
  {
    path: "packages/host/src/ask/asks.ts",
    original: "if (this.#byId?.size === 0) this.#byId = null;",
    mutated: "if (this.#byId?.size === 0)",
    reason: "an empty map of asks gives no asks; dropping it only frees memory",
  },
  {
    path: "packages/host/src/ask/asks.ts",
    original: "if (this.#joined?.delete(ask) === true && this.#joined.size === 0) this.#joined = null;",
    mutated: "if (this.#joined?.delete(ask) === true && this.#joined.size === 0)",
    reason: "an empty set of asks gives no asks; dropping it only frees memory",
  },
  {
    path: "packages/host/src/turn-log/log.ts",
    original: 'this.#elsewhere = { epoch, index, step: "step" in part ? part.step : (before?.step ?? 0) };',
    mutated: 'this.#elsewhere = { epoch, index, step: "step" in part ? part.step : (before?.step ?? 1) };',
    reason: "the step is only compared with that of the journal, and no step comes before the first",
  },
  {
    path: "packages/host/src/mailbox/mailbox.ts",
    original: "if (this.#taken * 2 >= this.#envelopes.length) this.#forgetTaken();",
    mutated: "",
    reason: "envelopes that were taken are skipped; forgetting them only frees memory",
  },
  {
    path: "packages/host/src/mailbox/mailbox.ts",
    original: "if (this.#taken * 2 >= this.#envelopes.length) this.#forgetTaken();",
    mutated: "if (!(this.#taken * 2 >= this.#envelopes.length)) this.#forgetTaken();",
    reason: "envelopes that were taken are skipped; when they are forgotten is a matter of speed",
  },
  {
    path: "packages/host/src/mailbox/mailbox.ts",
    original: "if (this.#taken * 2 >= this.#envelopes.length) this.#forgetTaken();",
    mutated: "if (this.#taken * 2 > this.#envelopes.length) this.#forgetTaken();",
    reason: "envelopes that were taken are skipped; when they are forgotten is a matter of speed",
  },
  {
    path: "packages/host/src/mailbox/mailbox.ts",
    original: "if (this.#taken * 2 >= this.#envelopes.length) this.#forgetTaken();",
    mutated: "if (this.#taken / 2 >= this.#envelopes.length) this.#forgetTaken();",
    reason: "envelopes that were taken are skipped; when they are forgotten is a matter of speed",
  },
  {
    path: "packages/host/src/mailbox/mailbox.ts",
    original: "if (this.#taken * 2 >= this.#envelopes.length) this.#forgetTaken();",
    mutated: "if (this.#taken * 3 >= this.#envelopes.length) this.#forgetTaken();",
    reason: "envelopes that were taken are skipped; when they are forgotten is a matter of speed",
  },
  {
    path: "packages/host/src/memory-store/memory-store.ts",
    original: 'if (typeof value !== "object" || value === null) return typeof value !== "bigint";',
    mutated: 'if (typeof value !== "object" || value === null) return typeof value === "bigint";',
    reason: "each entry is kept as JSON text then; keeping frozen ones as they are only saves time",
  },
  {
    path: "packages/host/src/turn-log/cursor.ts",
    original: "#index = 0;",
    mutated: "#index = 1;",
    reason: "the index counts only together with an epoch, and is set with it",
  },
  {
    path: "packages/host/src/turn-log/cursor.ts",
    original: "#offset = 0;",
    mutated: "#offset = 1;",
    reason: "the offset counts only together with an epoch, and is set with it",
  },
  {
    path: "packages/host/src/turn-log/cursor.ts",
    original: "#read = 0;",
    mutated: "#read = 1;",
    reason: "it is set before the first part is read",
  },
];
