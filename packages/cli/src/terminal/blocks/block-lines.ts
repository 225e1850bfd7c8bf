import { contentText, type Json } from "@colloquy/machine";
import { type Line, line, type Role, type Span, span, textLines } from "../text/line.ts";
import { markdownBlockLines } from "../markdown/markdown-lines.ts";
import { counted, durationOf } from "../text/figures.ts";
import { approvable, approvableJson, shortened } from "../text/printable.ts";
import { cutLine, lineWidth, wrapped } from "../text/wrap.ts";
import type { ApprovalBlock, Block, CallBlock, FileChange, ToolBlock } from "./block.ts";

interface BlockLook {
  /** The width of the terminal. Rows leave its last column free. */
  readonly columns: number;
  /** The height of the terminal. Default 24. */
  readonly rows?: number;
  readonly unfolded: boolean;
  /** The block goes into the scrollback and changes no more. A paragraph is one line, which the terminal wraps. */
  readonly finished: boolean;
}

/** Lays a block out as lines. However rows are broken, only the lines of an approval question begin with its mark. */
export const blockLines = (block: Block, look: BlockLook): readonly Line[] => {
  const lines = linesOf(block, look);
  return block.type === "call" || block.type === "approval" ? lines : lines.map(withoutMark);
};

const askMark = "⁇";

const withoutMark = (given: Line): Line =>
  given.some(({ text }) => text.includes(askMark))
    ? given.map((each) => ({ ...each, text: each.text.replaceAll(askMark, "?") }))
    : given;

const linesOf = (block: Block, look: BlockLook): readonly Line[] => {
  switch (block.type) {
    case "question":
      return [
        [],
        ...(block.title === undefined ? [] : [line(block.title, "heading")]),
        ...marked(span("> ", "prompt"), textLines(block.text, "strong"), look.columns),
        ...marked(span("  "), fateLines[block.fate], look.columns),
      ];
    case "thinking":
      return thinkingLines(block.text, look);
    case "answer":
      return block.markdown.flatMap((each) => markdownBlockLines(each, { columns: look.columns, soft: look.finished }));
    case "refusal":
      return marked(nothing, textLines(block.text, "warning"), look.columns);
    case "tool":
      return toolLines(block, look);
    case "call":
      return [...callLines(block, look), ...(block.change === null ? [] : changeLines(block.change, look))];
    case "approval":
      return approvalLines(block, look);
    case "notice":
      return marked(span("  "), textLines(block.text, block.level), look.columns);
    case "figures":
      return marked(nothing, textLines(block.text, "dim"), look.columns);
  }
};

/** Returns whether a block is neither a message nor a problem. */
export const isAside = (block: Block): boolean =>
  block.type === "notice" ? block.level === "dim" : ["thinking", "tool", "figures"].includes(block.type);

/** Returns the lines of texts that were sent and not read yet, and of queued ones. */
export const waitingLines = (steered: readonly string[], queue: readonly string[], columns: number): readonly Line[] =>
  [
    ...steered.map((text) => `${shortened(text)}  (sent: the model reads it at its next step)`),
    ...queue.map((text) => `${shortened(text)}  (queued: Up takes it back)`),
  ].flatMap((text) => marked(span("> ", "dim"), [line(text, "dim")], columns));

const nothing = span("");

/** Puts text after a mark, breaks it between words, and indents further rows by the mark's width. */
const marked = (mark: Span, lines: readonly Line[], columns: number): readonly Line[] =>
  behindMark(
    mark,
    lines.flatMap((each) => wrapped(each, Math.max(columns - 1 - mark.text.length, 1))),
  );

/** Lays out a tool's arguments or result: whole, or the beginning of each line. */
const markedData = (mark: Span, lines: readonly Line[], look: BlockLook): readonly Line[] => {
  if (!look.unfolded) return behindMark(mark, lines).map((row) => cutLine(row, look.columns - 1));
  return look.finished ? behindMark(mark, lines) : marked(mark, lines, look.columns);
};

const behindMark = (mark: Span, rows: readonly Line[]): readonly Line[] => {
  const below: Span = { ...mark, text: " ".repeat(mark.text.length) };
  return mark.text === "" ? rows : rows.map((row, index) => [index === 0 ? mark : below, ...row]);
};

const fateLines = {
  asked: [],
  steered: [line("read within the turn that was open", "dim")],
  returned: [line("the turn ended before the model read it: it is back in the input", "warning")],
  dropped: [line("not asked: Up brings it back next time, where inputs are kept", "warning")],
} as const;

const thinkingLines = (text: string, look: BlockLook): readonly Line[] => {
  if (look.finished && !look.unfolded) return [cutLine(line(`· thought: ${shortened(text)}`, "dim"), look.columns - 1)];
  return textLines(text.trim(), "dim").flatMap((each) => marked(span("· ", "dim"), [each], look.columns));
};

const toolLines = ({ name, arguments: given, isShown, ranMs, result }: ToolBlock, look: BlockLook): readonly Line[] => {
  const isWell = result === null || result.outcome === "completed";
  const role = isWell ? "dim" : "warning";
  const whole = (text: string): string => (look.unfolded ? text : shortened(text));
  const [first = [], ...others] = isShown === true ? [] : textLines(whole(given), "dim");
  const time = ranMs === undefined ? [] : [span(` (${durationOf(ranMs).replace(/\.\d/, "")})`, "dim")];
  const head: Line = [span(name, "name"), ...time, ...(first.length === 0 ? [] : [span(" "), ...first])];
  const said = result === null ? "" : `${isWell ? "" : `${result.outcome}: `}${whole(contentText(result.content))}`;
  return [
    ...markedData(span(result === null ? "○ " : "● ", role), [head, ...others], look),
    ...(result === null ? [] : markedData(span("  └ ", role), textLines(said, role), look)),
  ];
};

/** Lays out all arguments, on one row if they fit, because an approval applies to exactly these. */
const callLines = ({ name, arguments: given }: CallBlock, { columns }: BlockLook): readonly Line[] => {
  const head: Line = [span(`${askMark} `, "warning"), span(approvable(name), "name")];
  const text = approvableJson(given);
  const row: Line = [...head, span(` ${text}`, "plain")];
  if (lineWidth(row) < columns && !/\n|\\n/.test(text)) return [row];
  return [head, ...argumentLines(given).flatMap(([indent, each]) => behind(indent, each, columns))];
};

/** Lays out a difference, folded to what the window has room for above the question. */
const changeLines = ({ title, lines }: FileChange, { columns, rows = 24, unfolded }: BlockLook): readonly Line[] => {
  const room = unfolded || lines.length <= rows - rowsBeside ? lines.length : Math.max(rows - rowsBeside - 1, 1);
  const more = lines.length - room;
  return [
    ...behind("  ", approvable(title), columns),
    // No argument can imitate the indent. The end of a line that is cut is among the arguments.
    ...lines.slice(0, room).map((each): Line => {
      const role = roleOfChange[each.charAt(0)] ?? "dim";
      const begin = each.length > 4 * columns ? `${each.slice(0, 4 * columns)}…` : each;
      return cutLine([span("  "), span(approvable(begin), role)], columns - 1);
    }),
    ...(more === 0 ? [] : [line(`  … ${counted(more, "more line")}`, "dim")]),
  ];
};

const roleOfChange: Readonly<Record<string, Role>> = { "+": "added", "-": "removed", " ": "plain" };

/** The title, the question, the status and the input, and two rows between. */
const rowsBeside = 6;

const valueOf = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
};

type Indented = readonly [indent: string, text: string];

/** Splits JSON into lines, each with its indent. A text of several lines gets separate lines after a rule. */
const argumentLines = (given: Json): readonly Indented[] =>
  approvableJson(given, 2)
    .split("\n")
    .flatMap((text): readonly Indented[] => {
      const shown = text.trimStart();
      const indent = `  ${" ".repeat(text.length - shown.length)}`;
      const key = /^"(?:[^"\\]|\\.)*": /.exec(shown)?.[0] ?? "";
      const value = valueOf(shown.slice(key.length).replace(/,$/, ""));
      if (typeof value !== "string" || !value.includes("\n")) return [[indent, shown]];
      return [[indent, key], ...value.split("\n").map((each): Indented => [`${indent}│ `, approvable(each)])];
    });

/** Lays out a line whose rows all have an indent that no argument can imitate. */
const behind = (whole: string, text: string, columns: number): readonly Line[] => {
  const indent = whole.slice(-Math.max(columns >> 1, 2));
  return wrapped(line(text), Math.max(columns - 1 - indent.length, 8)).map((row, index) => [
    span(index === 0 ? indent : indent.replace("│", "┊"), "dim"),
    ...row,
  ]);
};

const approvalLines = ({ name, isNested, isAsked, answer }: ApprovalBlock, look: BlockLook): readonly Line[] => {
  if (answer !== null) {
    const mark = answer === "approved" ? span("✓ ", "success") : span("✗ ", "error");
    return marked(mark, [line(`${name} was ${answer}`, "dim")], look.columns);
  }
  // Another process may have answered for a subagent.
  const nowhere = `${name} was not answered${isNested === true ? " here" : ""}`;
  if (look.finished) return marked(span(`${askMark} `, "dim"), [line(nowhere, "dim")], look.columns);
  if (!isAsked) return [];
  const asked: Line = [span(`run ${name}?`, "strong"), span("  y yes · n no · a always", "dim")];
  return marked(span(`${askMark} `, "warning"), [asked], look.columns);
};
