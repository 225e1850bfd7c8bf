import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Observer } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";
import { decodeJournal, fold, foldVisiting } from "@colloquy/machine/journal";
import { spansOf, type SpansOptions, type TelemetrySpan } from "@colloquy/host/telemetry";
import * as Either from "fp-ts/lib/Either.js";

export const rightOf = <Value>(either: Either.Either<unknown, Value>): Value => {
  if (Either.isLeft(either)) throw new Error(`unreadable: ${JSON.stringify(either.left)}`);
  return either.right;
};

export const spansIn = (entries: readonly Entry[], options?: SpansOptions): readonly TelemetrySpan[] =>
  rightOf(spansOf(entries, options));

export const isA =
  (operation: TelemetrySpan["operation"]) =>
  (span: TelemetrySpan): boolean =>
    span.operation === operation;

/** The journals in the machine's tests, by name. */
export const storedJournals: readonly (readonly [name: string, entries: readonly Entry[]])[] = globSync(
  join(import.meta.dirname, "../../../machine/test/journals/*.jsonl"),
)
  .toSorted()
  .map((file) => {
    const lines = readFileSync(file, "utf8").trim().split("\n");
    return [basename(file, ".jsonl"), rightOf(decodeJournal(lines.map((line): unknown => JSON.parse(line))))];
  });

/** Shows entries to an observer as a host does: all, or those from one to before another. */
export const observed = (observer: Observer, entries: readonly Entry[], from = 0, until = entries.length): void => {
  const { threadId } = rightOf(fold(entries)).context;
  foldVisiting(entries, (entry, before, after) => {
    if (entry.seq >= from && entry.seq < until) observer.entry?.(entry, threadId, { before, after });
  });
};

/** Formats spans as a tree: a line for each, with its time and the chosen attributes. */
export const treeOf = (spans: readonly TelemetrySpan[], ...shown: readonly string[]): string => {
  const below = (parent: string | null, depth: number): readonly string[] =>
    spans
      .filter(({ parentSpanId }) => parentSpanId === parent)
      .toSorted((left, right) => left.startedAt - right.startedAt)
      .flatMap((span) => {
        const of = shown.flatMap((name) =>
          name in span.attributes ? [`${name}=${String(span.attributes[name])}`] : [],
        );
        const events = span.events.map(({ name, at }) => `${name}@${at}`);
        const line = [`${span.name} ${span.startedAt}-${span.endedAt}`, ...of, ...events].join(" ");
        return ["  ".repeat(depth) + line, ...below(span.spanId, depth + 1)];
      });
  return below(null, 0).join("\n");
};
