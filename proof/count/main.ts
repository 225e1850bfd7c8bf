// Counts the texts of a folder of recordings exactly (gptCounter, o200k_base) and by estimateCounter, which needs no
// tokenizer. Prints how far apart they are, over each different message of the conversations.
import { gptCounter } from "@colloquy/interchange/tokens";
import { type Message, messagesOf, type Part } from "@colloquy/machine";
import { type Counter, countMessage, estimateCounter } from "@colloquy/machine/policies";
import { type CaseFile, readRecordings, replayCase } from "@colloquy/runtime-test/recordings";

import { runCommand } from "../kit/command.ts";
import { stateOf } from "../kit/journal.ts";
import { recordingsFolder } from "../kit/recordings.ts";

interface Sample {
  readonly kind: string;
  readonly exact: number;
  readonly estimated: number;
}

/**
 * Tabulates the error of an estimate for each kind of text, and for whole messages with their overhead. `median` and
 * `p90` are of each sample's absolute relative error; `total` is the signed error of the sum.
 */
export const errorTable = (messages: readonly Message[], estimate: Counter, exact: Counter): readonly string[] => {
  const texts = messages.flatMap((message) => samplesOf(message, estimate, exact)).filter((sample) => sample.exact > 0);
  const whole = messages
    .filter((message) => message.parts.every(isText))
    .map((message): Sample => ({
      kind: "whole messages",
      exact: countMessage(exact, message),
      estimated: countMessage(estimate, message),
    }));
  const kinds = [...new Set(texts.map(({ kind }) => kind))].toSorted();
  const rows = [
    ...kinds.map((kind) =>
      row(
        kind,
        texts.filter((sample) => sample.kind === kind),
      ),
    ),
    row("all texts", texts),
    row("whole messages", whole),
  ];
  return [header, ...rows].map((cells) => cells.map((cell, column) => pad(cell, column)).join("  "));
};

/**
 * Returns the text of a message by kind. Texts of a kind are joined, as some servers stream each word as its own part.
 */
const samplesOf = ({ role, parts }: Message, estimate: Counter, exact: Counter): readonly Sample[] => {
  const samples = new Map<string, Sample>();
  for (const part of parts.filter(isText)) {
    const kind = kindOf(role, part);
    const before = samples.get(kind);
    samples.set(kind, {
      kind,
      exact: (before?.exact ?? 0) + exact.countPart(part),
      estimated: (before?.estimated ?? 0) + estimate.countPart(part),
    });
  }
  return [...samples.values()];
};

const header: readonly string[] = ["kind", "texts", "tokens", "estimated", "median", "p90", "total"];

const row = (kind: string, samples: readonly Sample[]): readonly string[] => {
  const errors = samples.map(({ exact, estimated }) => Math.abs(estimated / exact - 1)).toSorted((a, b) => a - b);
  const exact = samples.reduce((sum, sample) => sum + sample.exact, 0);
  const estimated = samples.reduce((sum, sample) => sum + sample.estimated, 0);
  const total = exact === 0 ? 0 : estimated / exact - 1;
  return [
    kind,
    ...[samples.length, exact, estimated].map((value) => value.toLocaleString("en")),
    percent(quantile(errors, 0.5)),
    percent(quantile(errors, 0.9)),
    `${total > 0 ? "+" : ""}${percent(total)}`,
  ];
};

/** Returns the smallest value that the given share does not exceed; 0 if there are no values. */
const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;

const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;

const pad = (cell: string, column: number): string => (column === 0 ? cell.padEnd(20) : cell.padStart(10));

const kindOf = (role: Message["role"], part: Part): string => {
  switch (part.type) {
    case "toolCall":
      return "tool calls";
    case "toolResult":
      return "tool results";
    case "reasoning":
      return "reasoning";
    default:
      return role;
  }
};

/** Checks that a part has only text. */
const isText = (part: Part): boolean =>
  part.type === "toolResult" ? part.content.every(isText) : part.type !== "image" && part.type !== "opaque";

/** Returns each different message of a file's conversations once, as far as these can be replayed. */
const messagesIn = ({ common, records }: CaseFile): readonly Message[] => {
  // A recording keeps too little of the items of the Responses API to count them.
  const states = records
    .filter(({ api }) => api !== "responses")
    .map((recorded) => replayCase(recorded, { common }).entries)
    .filter((entries) => entries.length > 0)
    .map(stateOf);
  const messages = states.flatMap((state) => [state.context.conversation.system ?? [], messagesOf(state)].flat());
  return [...new Map(messages.map((message) => [message.digest, message])).values()];
};

await runCommand({
  name: "count",
  options: { folder: recordingsFolder },
  run: async ({ folder }) => {
    const { cases, uncovered } = await readRecordings(folder);
    const messages = cases.flatMap(messagesIn);
    for (const line of errorTable(messages, estimateCounter, await gptCounter())) console.log(line);
    for (const { file, count } of uncovered) console.log(`${file}: left out: ${count} conversations over another API`);
  },
});
