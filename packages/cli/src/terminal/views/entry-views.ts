import type { HostedThread } from "@colloquy/host";
import { type Entry, type State, contentText } from "@colloquy/machine";
import { stateAt } from "@colloquy/machine/journal";
import { costOf, counted, tokensOf } from "../text/figures.ts";
import { printableJson } from "../text/printable.ts";
import { type Line, line, type Role, span, type Span, textLines, textOfLine } from "../text/line.ts";
import { wrapped } from "../text/wrap.ts";
import { scrollingView, start, textView } from "./scrolling-view.ts";
import { laidOut, saidIn, textOfMessages } from "./transcript-view.ts";
import type { View } from "./view.ts";
import { differenceTable } from "@colloquy/machine/inspect";
import { type ChangeObject, diffArrays } from "diff";

/**
 * Returns a view of a thread after an entry; left and right move to the adjacent entries. Rejects as `thread.at` does.
 */
export const atView = async (thread: HostedThread, seq: number): Promise<View> => {
  const [state, entries] = await Promise.all([thread.at(seq), thread.exportJournal()]);
  return entryView(entries, seq, state, null);
};

const entryView = (entries: readonly Entry[], seq: number, state: State, note: string | null): View => {
  const said = laidOut(saidIn(state));
  const about = aboutEntry(entries[seq], state);
  return scrollingView(
    {
      title: `Entry ${seq} of ${state.context.threadId}`,
      items: {
        count: said.count + 1,
        lines: (index, columns) =>
          index === 0 ? about.flatMap((each) => aboutLines(each, columns)) : said.lines(index - 1, columns),
        text: (index) => (index === 0 ? about.map(([, text]) => text).join("\n") : said.text(index - 1)),
      },
      empty: "",
      selects: false,
      hints: ["←→ entries"],
      press: (name) => {
        if (name !== "left" && name !== "right") return null;
        const beside = seq + (name === "left" ? -1 : 1);
        const there = stateAt(entries, beside);
        if ("right" in there) return { view: entryView(entries, beside, there.right, null) };
        const edge = beside < 0 ? "this is the first entry" : "this is the newest entry";
        return { view: entryView(entries, seq, state, entries[beside] === undefined ? edge : there.left.reason) };
      },
    },
    { ...start, note },
  );
};

type About = readonly [string, string, Role];

/** Describes the event of an entry, and its result. */
const aboutEntry = (entry: Entry | undefined, state: State): readonly About[] => {
  const { conversation, open, queue, usage, updatedAt } = state.context;
  const { type: _, at: __, ...event } = entry?.event ?? { type: "", at: 0 };
  const decided = entry !== undefined && "decided" in entry ? printableJson(entry.decided) : "";
  const place = typeof state.value === "string" ? state.value : Object.entries(state.value).flat().join(" · ");
  const figures = [counted(usage.total.calls, "call"), tokensOf(usage.total), costOf(usage.total)];
  const about: readonly About[] = [
    ["event", `${entry?.event.type} at ${new Date(updatedAt).toISOString()}`, "strong"],
    ["", printableJson(event), "dim"],
    ["decided", decided, "plain"],
    ["state", place, "name"],
    ["head", conversation.head === 0 ? "the beginning" : `turn ${conversation.head}`, "plain"],
    ["open", open === null ? "" : `turn ${open.number}, step ${open.step}, ${open.stage.type}`, "success"],
    ["waiting", queue.length === 0 ? "" : counted(queue.length, "ask"), "plain"],
    ["usage", figures.filter((text) => text !== "").join(", "), "plain"],
  ];
  return about.filter(([, text]) => text !== "");
};

const aboutLines = ([label, text, role]: About, columns: number): readonly Line[] =>
  wrapped(line(text, role), columns - labelWidth).map((row, index) => [
    span((index === 0 ? label : "").padEnd(labelWidth), "heading"),
    ...row,
  ]);

const labelWidth = 9;

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
