import { type Counter, countMessage } from "@colloquy/machine/policies";
import type { Message, Part } from "@colloquy/machine";

/** One thing that was counted twice: exactly, and by an estimate. */
interface Sample {
  readonly kind: string;
  readonly exact: number;
  readonly estimated: number;
}

/**
 * How far an estimate is off: for each kind of text, and for whole messages with what they cost beside their parts.
 * `median` and `p90` are of the relative error of each, whatever its sign; `total` is of their sum, with its sign.
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
 * Returns the text of a message by kind, each kind taken together: some servers stream each word as a part of its own.
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

/** The smallest value that the given share does not exceed; 0 for none. */
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

/** Images and files are not made of text. */
const isText = (part: Part): boolean =>
  part.type === "toolResult" ? part.content.every(isText) : part.type !== "image" && part.type !== "opaque";
