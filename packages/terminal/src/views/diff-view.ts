import type { HostedThread } from "@colloquy/host";
import { contentText, type State } from "@colloquy/machine";
import { differenceTable } from "@colloquy/machine/inspect";
import type { Line, Role, Span } from "../text/line.ts";
import { type Change, changesBetween } from "./changes.ts";
import { span, wrapped } from "./fitted.ts";
import { messageText } from "./message-lines.ts";
import { textView } from "./scrolling-view.ts";
import { saidIn } from "./transcript-view.ts";
import type { View } from "./view.ts";

/** What is otherwise behind one entry than behind another: a table, and the two paths line by line. Rejects as `thread.at` does. */
export const diffView = async (thread: HostedThread, from: number, to: number): Promise<View> => {
  const [difference, before, after] = await Promise.all([thread.difference(from, to), thread.at(from), thread.at(to)]);
  const table = differenceTable(difference);
  const changes = changesBetween(linesOf(before), linesOf(after));
  const isSame = changes.every(({ type }) => type === "same");
  return textView(`Entries ${from} and ${to} of ${thread.id}`, (columns) => [
    ...wrapped(table, columns).map((line, index): Line => [span(line, index === 0 ? "heading" : "plain")]),
    [],
    ...(isSame
      ? [[span("the same is said on both paths", "dim")]]
      : shortened(changes).flatMap((each) => changeLines(each, columns))),
  ]);
};

/** What is said on a path, line by line, each message under its role. */
const linesOf = (state: State): readonly string[] =>
  saidIn(state).flatMap(({ message, turn }) => [
    `${turn === 0 ? "" : `${turn} `}${message.role}:`,
    ...(contentText(message.parts) || messageText({ message })).split("\n").map((line) => `  ${line}`),
  ]);

/** Without the middle of what is the same for long. */
const shortened = (changes: readonly Change[]): readonly Change[] =>
  changes.flatMap((change, index) => {
    const { type, lines } = change;
    const [before, behind] = [index === 0 ? 0 : around, index === changes.length - 1 ? 0 : around];
    if (type !== "same" || lines.length <= before + behind + 1) return change;
    const skipped = lines.length - before - behind;
    const same = (some: readonly string[]): Change => ({ type: "same", lines: some });
    return [
      same(lines.slice(0, before)),
      same([`… ${skipped} lines are the same`]),
      same(behind === 0 ? [] : lines.slice(-behind)),
    ];
  });

const around = 3;

const changeLines = (change: Change, columns: number): readonly Line[] =>
  change.lines.flatMap((line, index) => {
    const [mark, role] = marks[change.type];
    const other = change.type === "same" ? undefined : change.others?.[index];
    return wrapped(line, columns - mark.length).map((text): Line => [
      { text: mark, roles: [role] },
      ...(other === undefined ? [span(text, role)] : wordsOf(text, other, role)),
    ]);
  });

const marks: Record<Change["type"], readonly [string, Role]> = {
  same: ["  ", "dim"],
  added: ["+ ", "added"],
  removed: ["- ", "removed"],
};

/** Words that the other line does not have stand out. */
const wordsOf = (text: string, other: string, role: Role): readonly Span[] => {
  const there = new Set(other.split(/\s+/));
  return text
    .split(/(\s+)/)
    .map((word) => span(word, role, ...(word.trim() === "" || there.has(word) ? [] : (["strong"] as const))));
};
