import { equivalentInHost } from "./equivalent-in-host.ts";
import { equivalentInServer } from "./equivalent-in-server.ts";
import { equivalentInSessions } from "./equivalent-in-sessions.ts";
import type { Equivalent } from "./hunt.ts";

/** The equivalent mutants of the packages. The proof reports entries that no longer match one, to be removed. */
export const equivalent: readonly Equivalent[] = [
  ...equivalentInHost,
  ...equivalentInServer,
  ...equivalentInSessions,
  ...completeByType(
    "conversation/decide/settings.ts",
    "tools policy counter budget calibrate warnAt limits overlap model retry interrupted unknownTool idleTimeoutMs pricing",
  ),
  {
    path: "packages/machine/src/conversation/read/asks.ts",
    original: "return records.length >= last;",
    mutated: "return records.length > last;",
    reason: "one turn more is read, and its asks are cut off; the bound only saves time",
  },
  {
    path: "packages/machine/src/conversation/protocol/effect-id.ts",
    original:
      "return call?.result === null && isSameEffect(toolId(threadId, call.callId, call.attempt), effectId) ? position : -1;",
    mutated:
      "return call?.result === null && isSameEffect(toolId(threadId, call.callId, call.attempt), effectId) ? position : -2;",
    reason: "any negative position names no call",
  },
  {
    path: "packages/machine/src/prompt/counts.ts",
    original: 'if (whole !== null) tokens += "run" in whole ? (run(whole.run)[whole.from] ?? 0) : turn(whole);',
    mutated: 'if (whole !== null) tokens += "run" in whole ? (run(whole.run)[whole.from] ?? 1) : turn(whole);',
    reason: "a run is named by one of its own turns, so there is always a count; the type can't say so",
  },
  {
    path: "packages/machine/src/inspect/rehearse.ts",
    original: "toolCalls: 0,",
    mutated: "toolCalls: 1,",
    reason: "a turn that is made for one prompt is read only for its messages; its type needs the rest",
  },
  {
    path: "packages/machine/src/inspect/rehearse.ts",
    original: "number: conversation.turns.length + 1,",
    mutated: "number: conversation.turns.length - 1,",
    reason: "a turn that is made for one prompt is read only for its messages; its type needs the rest",
  },
  {
    path: "packages/machine/src/inspect/replay.ts",
    original: "if (Either.isLeft(begun)) return Either.left(unreadable(begun.left.seq, begun.left.reason));",
    mutated: "",
    reason: "a journal that folds has a valid beginning; the type can't say so",
  },
  {
    path: "packages/machine/src/prompt/blocks.ts",
    original: "const mostArguments = 1_000;",
    mutated: "const mostArguments = 1001;",
    reason: "the number of joins does not change the resulting list",
  },
  {
    path: "packages/machine/src/thread/chunks.ts",
    original: "if (!(index >= 0 && index < chunks.length)) return undefined;",
    mutated: "if (!(index >= 0 && index <= chunks.length)) return undefined;",
    reason: "no level holds an index after the last element either, and the result is undefined, too",
  },
  {
    path: "packages/machine/src/prompt/render.ts",
    original: "if (leftOut && pinned === undefined) return [];",
    mutated: "",
    reason: "the loop, too, shows only the pinned units of a turn that is left out; this check only saves time",
  },
  {
    path: "packages/machine/src/prompt/policies/clear-results.ts",
    original: "const newest = newestRounds(input, kept + slack + 1);",
    mutated: "const newest = newestRounds(input, kept + slack + 2);",
    reason: "only whether there is one round more than the slack matters; finding a second one changes nothing",
  },
  {
    path: "packages/machine/src/thread/chunks.ts",
    original: "for (let level = chunks.levels.length - 1; level >= 0; level--) {",
    mutated: "for (let level = chunks.levels.length + 1; level >= 0; level--) {",
    reason: "a level that does not exist is empty, and is skipped",
  },
  {
    path: "packages/machine/src/thread/chunks.ts",
    original: "for (; size > 1; size /= chunkSize) {",
    mutated: "for (; size > 2; size /= chunkSize) {",
    reason: "a size is a power of the size of a chunk, so none is 2",
  },
  {
    path: "packages/machine/src/prompt/render.ts",
    original: "for (let index = 0; index < messages.length; index++) {",
    mutated: "for (let index = 0; index <= messages.length; index++) {",
    reason: "there is no message after the last one, so none is returned",
  },
  {
    path: "packages/machine/src/prompt/render.ts",
    original: "position: turn === 0 ? unitsOf(0, seed).findIndex(({ id }) => id === message) : 0,",
    mutated: "position: turn === 0 ? unitsOf(1, seed).findIndex(({ id }) => id === message) : 0,",
    reason: "only the ids of the units are read, which do not depend on the number of the turn",
  },
  {
    path: "packages/machine/src/redaction/attribution.ts",
    original: "if (ask !== undefined && ask.during !== null) this.#at(ask.seq).turns.add(ask.during);",
    mutated: "if (ask !== undefined || ask.during !== null) this.#at(ask.seq).turns.add(ask.during);",
    reason: "an ask that no turn takes was read before, and null names no turn; the types can't say so",
  },
  {
    path: "packages/machine/src/thread/plain-data.ts",
    original: 'if (typeof value === "object" && value !== null) freeze(value);',
    mutated: 'if (typeof value === "object" || value !== null) freeze(value);',
    reason: "null and values that are not objects count as frozen, and nothing that is frozen here is a function",
  },
  {
    path: "packages/machine/src/inspect/compare.ts",
    original: "if (was.call === null || is.call === null) continue;",
    mutated: "if (was.call === null && is.call === null) continue;",
    reason: "a step of a recording is a call under both configurations or under neither; the types can't say so",
  },
  {
    path: "packages/machine/src/prompt/render.ts",
    original: "first = Math.max(first, before.turn + 1);",
    mutated: "first = Math.max(first, before.turn + 2);",
    reason: "the loop, too, shows each unit of a turn without rules unchanged; this check only saves time",
  },
  {
    path: "packages/machine/src/prompt/newest-units.ts",
    original: "let overflows = false;",
    mutated: "let overflows = true;",
    reason: "the first turn is always measured, and without turns the result is the same",
  },
  {
    path: "packages/machine/src/prompt/newest-units.ts",
    original: "unit: units[units.length - count]?.position ?? 0,",
    mutated: "unit: units[units.length - count]?.position ?? 1,",
    reason: "at least one unit and at most all of them are tried; the type can't say so",
  },
  {
    path: "packages/machine/src/prompt/newest-units.ts",
    original: "if (left < 0) break;",
    mutated: "",
    reason: "no question takes less than nothing, so no older unit fits; this check only saves time",
  },
  {
    path: "packages/machine/src/prompt/policies/input-under.ts",
    original: "if (system === undefined && rules.length === 0) return fixed;",
    mutated: "",
    reason: "the loop, too, returns every unit unchanged without rules; this check only saves time",
  },
  {
    path: "packages/machine/src/conversation/decide/settings.ts",
    original: "if (!(tokens instanceof Promise)) return false;",
    mutated: "",
    reason: "calling `catch` on a value that is not a promise throws, with the same result",
  },
  {
    path: "packages/machine/src/journal/fork.ts",
    original: "if (Either.isLeft(begun)) throw new Error(`entry ${begun.left.seq}: ${begun.left.reason}`);",
    mutated: "",
    reason: "the prefix of a journal that folds does so, too; the type can't say so",
  },
  {
    path: "packages/machine/src/inspect/replay.ts",
    original: 'if (!isLater(entry)) return Either.left(unreadable(entry.seq, "a second beginning"));',
    mutated: "",
    reason: "a journal that folds has one beginning; the type can't say so",
  },
  {
    path: "packages/machine/src/journal/fork.ts",
    original:
      "if (event.pinned && turn > 0 && turn <= this.#turn && !isOnPath(conversation, turn)) this.#moveTo(turn);",
    mutated:
      "if (event.pinned && turn >= 0 && turn <= this.#turn && !isOnPath(conversation, turn)) this.#moveTo(turn);",
    reason: "the beginning is on every path; the comparison only shows the intent",
  },
  {
    path: "packages/machine/src/conversation/update/call.ts",
    original: "if (output === undefined) return [];",
    mutated: "",
    reason: "only a turn that must give an output is checked; the type can't say so",
  },
  {
    path: "packages/machine/src/conversation/update/call.ts",
    original: "const messages = summaryRequest(data.conversation, summarising, instruction, number - 1);",
    mutated: "const messages = summaryRequest(data.conversation, summarising, instruction, number + 1);",
    reason: "summaries are made one after another, so the pending one is the newest",
  },
  {
    path: "packages/machine/src/conversation/update/output.ts",
    original: "if (reply === undefined || output === undefined) return staying(data);",
    mutated: "",
    reason: "a check is of the newest message of a turn that must give an output; the types can't say so",
  },
  {
    path: "packages/machine/src/conversation/update/output.ts",
    original: "if (reply === undefined || output === undefined) return staying(data);",
    mutated: "if (reply === undefined && output === undefined) return staying(data);",
    reason: "a check is of the newest message of a turn that must give an output; the types can't say so",
  },
  {
    path: "packages/machine/src/conversation/update/edit.ts",
    original: "if (data.summaries === 0) return after;",
    mutated: "",
    reason: "without summaries no turn changes; this check only saves time",
  },
  {
    path: "packages/machine/src/conversation/update/summary.ts",
    original: "if (data.summaries === 0) return data;",
    mutated: "",
    reason: "without summaries no turn changes; this check only saves time",
  },
  {
    path: "packages/machine/src/conversation/update/turn-closing.ts",
    original: "if (asks.length === 0) return data;",
    mutated: "",
    reason: "without asks the list stays equal; this check only saves time",
  },
  {
    path: "packages/machine/src/conversation/update/update.ts",
    original: "if (fullness === undefined && policyFailed === undefined) return plan;",
    mutated: "",
    reason: "without signals the plan stays equal; this check only saves time",
  },
  {
    path: "packages/machine/src/conversation/update/update.ts",
    original: "return open === null || call === undefined",
    mutated: "return open === null && call === undefined",
    reason: "the accepted result of a tool always has its call in the open turn; the types can't say so",
  },
  {
    path: "packages/machine/src/conversation/decide/decide.ts",
    original: "for (let index = 0; index < asks.length; index++) if (asks[index]?.askId === askId) return true;",
    mutated: "for (let index = 0; index <= asks.length; index++) if (asks[index]?.askId === askId) return true;",
    reason: "there is no ask after the last one, so none is compared",
  },
  {
    path: "packages/machine/src/conversation/decide/outcome.ts",
    original: "if (settings.policy.summariser === undefined) return decided;",
    mutated: "",
    reason: "a policy without a summariser wants no summary; this check only saves time",
  },
  {
    path: "packages/machine/src/conversation/decide/step.ts",
    original: "open: () => (messages ??= openMessages(data, open())),",
    mutated: "open: () => (messages = openMessages(data, open())),",
    reason: "the messages are the same each time; keeping them only saves time",
  },
  {
    path: "packages/machine/src/conversation/decide/unconfigured.ts",
    original: "const problem = messagesFromSeed(0, event.messages);",
    mutated: "const problem = messagesFromSeed(1, event.messages);",
    reason: "only the error is read; the messages and their ids are dropped",
  },
  {
    path: "packages/machine/src/conversation/decide/unconfigured.ts",
    original: "const wrong = seqs.find((seq, index) => seq > data.seq || seq <= (seqs[index - 1] ?? -1));",
    mutated: "const wrong = seqs.find((seq, index) => seq > data.seq || seq <= (seqs[index - 1] ?? -2));",
    reason: "a number of an entry is never below zero",
  },
  {
    path: "packages/machine/src/conversation/decide/step.ts",
    original: "let tokens = 0;",
    mutated: "let tokens = 1;",
    reason: "the first request is counted before the number is read",
  },
  {
    path: "packages/machine/src/conversation/decide/outcome.ts",
    original: "const doublings = 40;",
    mutated: "const doublings = 41;",
    reason: "after so many doublings every delay exceeds the maximum; the bound only keeps the number finite",
  },
  {
    path: "packages/interchange/src/exchange/export.ts",
    original: "while ((pieces[next - 1]?.index ?? -1) >= group.from) next--;",
    mutated: "while ((pieces[next - 1]?.index ?? -2) >= group.from) next--;",
    reason: "a group never begins below zero, so any negative number ends the loop",
  },
  {
    path: "packages/runtime-node/src/stores/sqlite/listing.ts",
    original: 'const looked = said !== "" ? sifted : isFiltered ? batch : Math.min(limit + 1 - found.length, batch);',
    mutated: 'const looked = !(said !== "") ? sifted : isFiltered ? batch : Math.min(limit + 1 - found.length, batch);',
    reason: "the scan continues until a page is full; the number of threads in one step only saves time",
  },
  {
    path: "packages/runtime-node/src/stores/sqlite/listing.ts",
    original: 'const looked = said !== "" ? sifted : isFiltered ? batch : Math.min(limit + 1 - found.length, batch);',
    mutated: 'const looked = said !== "" ? sifted : !(isFiltered) ? batch : Math.min(limit + 1 - found.length, batch);',
    reason: "the scan continues until a page is full; the number of threads in one step only saves time",
  },
  {
    path: "packages/runtime-node/src/stores/sqlite/listing.ts",
    original: 'const looked = said !== "" ? sifted : isFiltered ? batch : Math.min(limit + 1 - found.length, batch);',
    mutated: 'const looked = said !== "" ? sifted : isFiltered ? batch : Math.min(limit + 2 - found.length, batch);',
    reason: "the scan continues until a page is full; the number of threads in one step only saves time",
  },
  {
    path: "packages/runtime-node/src/stores/postgres/store.ts",
    original: "said?.seq ?? -1,",
    mutated: "said?.seq ?? 1,",
    reason: "without metadata no entry can be rewritten to others, so the number is compared with none",
  },
  {
    path: "packages/runtime-node/src/stores/sqlite/listing.ts",
    original: "const batch = 512;",
    mutated: "const batch = 513;",
    reason: "the scan continues until a page is full; the number of threads in one step only saves time",
  },
  {
    path: "packages/runtime-node/src/stores/sqlite/search-index.ts",
    original: "for (let left = batch; left > 0;) {",
    mutated: "for (let left = batch; left >= 0;) {",
    reason: "one more step takes in no entry, and the next batch continues at the same thread",
  },
  {
    path: "packages/runtime-node/src/stores/postgres/listing.ts",
    original: "const listed = metadata === undefined ? anyThread : threadsOf;",
    mutated: "const listed = metadata !== undefined ? anyThread : threadsOf;",
    reason: "both statements list the same threads; the choice only saves time",
  },
  {
    path: "packages/runtime-node/src/stores/sqlite/search-index.ts",
    original: "searchedTo: (id: number): number => searchedTo.get(id)?.searched ?? -1,",
    mutated: "searchedTo: (id: number): number => searchedTo.get(id)?.searched ?? -2,",
    reason: "a number of an entry is never below zero",
  },
  {
    path: "packages/machine/src/conversation/decide/step.ts",
    original:
      "if (keepAllCut !== null && data.room === null && asked.saysNothing !== true) return sameCut(data.cut, keepAllCut) ? {} : { cut: keepAllCut };",
    mutated: "",
    reason: "the policy that keeps everything decides the same cut; this check only saves time",
  },
  {
    path: "packages/machine/src/thread/chunks.ts",
    original: "for (let level = 1; level < before.levels.length; level++)",
    mutated: "for (let level = 1; level <= before.levels.length; level++)",
    reason: "neither list has a level after the last one, so nothing differs there",
  },
  {
    path: "packages/machine/src/prompt/render.ts",
    original: 'if (run !== undefined && (cut.interrupted === "keep" || whole?.completed === true)) {',
    mutated: 'if (run !== undefined && (cut.interrupted === "keep" && whole?.completed === true)) {',
    reason:
      "the turns of a run are shown one by one then, with the same messages; showing them at once only saves time",
  },
  {
    path: "packages/machine/src/inspect/text-table.ts",
    original: "if (isPlain.test(text)) return text.length;",
    mutated: "",
    reason: "the loop, too, counts one column for each plain character; this check only saves time",
  },
  {
    path: "packages/machine/src/inspect/rehearse.ts",
    original: 'if (open?.stage.type !== "responding") return data;',
    mutated: "",
    reason: "it is called only with an outstanding call; the types can't say so",
  },
];

/** Lists the mutants of a list's members. Only the names are read, and its type checks that none is missing. */
function completeByType(path: string, names: string): readonly Equivalent[] {
  return names.split(" ").map((name) => ({
    path: `packages/machine/src/${path}`,
    original: `${name}: true,`,
    mutated: `${name}: false,`,
    reason: "only the names of the list are read; its type checks that none is missing",
  }));
}
