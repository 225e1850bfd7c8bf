import type { HostedThread } from "@colloquy/host";
import { contentText, type State } from "@colloquy/machine";
import { differenceTable } from "@colloquy/machine/inspect";
import { type ChangeObject, diffArrays } from "diff";
import { type Line, line, type Role, type Span, span, textLines, textOfLine } from "../text/line.ts";
import { wrapped } from "../text/wrap.ts";
import { textView } from "./scrolling-view.ts";
import { saidIn, textOfMessages } from "./transcript-view.ts";
import type { View } from "./view.ts";

/**
 * Returns a view of the difference between two entries: a table, and the two paths line by line. Rejects as `thread.at`
 * does.
 */
export const diffView = async (thread: HostedThread, from: number, to: number): Promise<View> => {
  const [difference, before, after] = await Promise.all([thread.difference(from, to), thread.at(from), thread.at(to)]);
  const changes = changesBetween(linesOf(before), linesOf(after));
  const isSame = changes.every(({ added, removed }) => !added && !removed);
  return textView(`Entries ${from} and ${to} of ${thread.id}`, (columns) => [
    ...textLines(differenceTable(difference)).flatMap((each, row) =>
      wrapped(line(textOfLine(each), row === 0 ? "heading" : "plain"), columns),
    ),
    [],
    ...(isSame
      ? [line("the same is said on both paths", "dim")]
      : changes.flatMap((_, index) => changeLines(changes, index, columns))),
  ]);
};

type Change = Pick<ChangeObject<string[]>, "value" | "added" | "removed">;

/** Compares two paths; if they have very little in common, everything is removed and then added. */
const changesBetween = (before: string[], after: string[]): readonly Change[] =>
  diffArrays(before, after, { maxEditLength: 5_000 }) ?? [
    { value: before, added: false, removed: true },
    { value: after, added: true, removed: false },
  ];

/** Returns the messages on a path, line by line, each message under its role. */
const linesOf = (state: State): string[] =>
  saidIn(state).flatMap(({ messages, turn }) =>
    messages.flatMap((message) => [
      `${turn === 0 ? "" : `${turn} `}${message.role}:`,
      ...textLines(contentText(message.parts) || textOfMessages([message])).map((each) => `  ${textOfLine(each)}`),
    ]),
  );

const changeLines = (changes: readonly Change[], index: number, columns: number): readonly Line[] => {
  const { value, added, removed } = changes[index] ?? { value: [], added: false, removed: false };
  if (!added && !removed) return sameLines(value, index === 0, index === changes.length - 1, columns);
  // Removed lines come before the lines that replace them.
  const other = changes[index + (removed ? 1 : -1)];
  const isPair = other !== undefined && other.added === removed && other.value.length === value.length;
  return value.flatMap((line, row) => linesOfOne(line, isPair ? other.value[row] : undefined, added, columns));
};

const linesOfOne = (text: string, other: string | undefined, added: boolean, columns: number): readonly Line[] => {
  const role = added ? "added" : "removed";
  const given = other === undefined ? line(text, role) : wordsOf(text, other, role);
  return wrapped(given, columns - markWidth).map((row) => [span(added ? "+ " : "- ", role), ...row]);
};

/** Highlights words that the other line does not contain. */
const wordsOf = (text: string, other: string, role: Role): readonly Span[] => {
  const there = new Set(other.split(/\s+/));
  return text.split(/(\s+)/).map((word) => (there.has(word.trim()) ? span(word, role) : span(word, role, "strong")));
};

/** Returns the unchanged lines next to a change, and leaves out the middle of a long unchanged part. */
const sameLines = (lines: readonly string[], isFirst: boolean, isLast: boolean, columns: number): readonly Line[] => {
  const [head, tail] = [isFirst ? 0 : around, isLast ? 0 : around];
  const skipped = lines.length - head - tail;
  const shown = (some: readonly string[]): readonly Line[] =>
    some.flatMap((text) => wrapped(line(text, "dim"), columns - markWidth)).map((row) => [span("  "), ...row]);
  if (skipped < 2) return shown(lines);
  return [
    ...shown(lines.slice(0, head)),
    line(`  … ${skipped} lines are the same`, "dim"),
    ...shown(lines.slice(lines.length - tail)),
  ];
};

const around = 3;
const markWidth = 2;
