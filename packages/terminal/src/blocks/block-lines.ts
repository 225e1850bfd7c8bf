import { type Line, line, type Span, span, textLines } from "../text/line.ts";
import { markdownBlockLines } from "../markdown/markdown-lines.ts";
import { contentWords } from "../text/notice.ts";
import { approvable, approvableJson, shortened } from "../text/printable.ts";
import { cutLine, joinedRows, lineWidth, wrapped } from "../text/wrap.ts";
import type { ApprovalBlock, Block, ToolBlock } from "./block.ts";

/** How blocks are laid out. */
export interface BlockLook {
  /** The width of the terminal. Rows leave its last column free. */
  readonly columns: number;
  /** Thinking and the details of tools are shown whole. */
  readonly unfolded: boolean;
  /** It goes into the scrollback: nothing more comes of it, and a paragraph is one line, which the terminal wraps. */
  readonly finished: boolean;
}

/** A block as lines. No other than what a person is asked about begins with the mark of that, wherever rows are broken. */
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
        ...marked(span("> ", "prompt"), textLines(block.text, "strong"), look),
        ...marked(span("  "), fateLines[block.fate], look),
      ];
    case "thinking":
      return thinkingLines(block.text, look);
    case "answer":
      return block.markdown.flatMap((each) => markdownBlockLines(each, { columns: look.columns, soft: look.finished }));
    case "refusal":
      return marked(nothing, textLines(block.text, "warning"), look);
    case "tool":
      return toolLines(block, look);
    case "call":
      return callLines(block, look);
    case "approval":
      return approvalLines(block, look);
    case "notice":
      return marked(span("  "), textLines(block.text, block.level), look);
    case "figures":
      return marked(nothing, textLines(block.text, "dim"), look);
  }
};

/** What is neither said nor wrong. */
export const isAside = (block: Block): boolean =>
  block.type === "notice" ? block.level === "dim" : ["thinking", "tool", "figures"].includes(block.type);

/** What was sent and is not read yet, and what waits to be asked. */
export const waitingLines = (steered: readonly string[], queue: readonly string[], columns: number): readonly Line[] =>
  [
    ...steered.map((text) => `${shortened(text)}  (sent: the model reads it at its next step)`),
    ...queue.map((text) => `${shortened(text)}  (queued: Up takes it back)`),
  ].flatMap((text) => marked(span("> ", "dim"), [line(text, "dim")], { columns, unfolded: false, finished: false }));

const nothing = span("");

/** Words behind a mark, and below it as far to the right: the terminal breaks a line between them. */
const marked = (mark: Span, lines: readonly Line[], { columns, finished }: BlockLook): readonly Line[] => {
  const indent = mark.text.length;
  const broken = lines.map((each) => wrapped(each, Math.max(columns - 1 - indent, 1)));
  return behindMark(mark, finished ? broken.map((rows) => joinedRows(rows, columns, indent)) : broken.flat());
};

/** What a tool was given or gave: as it is, or the beginning of each line. */
const markedData = (mark: Span, lines: readonly Line[], look: BlockLook): readonly Line[] => {
  if (!look.unfolded) return behindMark(mark, lines).map((row) => cutLine(row, look.columns - 1));
  return look.finished ? behindMark(mark, lines) : marked(mark, lines, look);
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
  return textLines(text.trim(), "dim").flatMap((each) => marked(span("· ", "dim"), [each], look));
};

const toolLines = ({ name, arguments: given, result }: ToolBlock, look: BlockLook): readonly Line[] => {
  const isWell = result === null || result.outcome === "completed";
  const role = isWell ? "dim" : "warning";
  const whole = (text: string): string => (look.unfolded ? text : shortened(text));
  const [first = [], ...others] = textLines(whole(given), "dim");
  const head: Line = [span(name, "name"), span(" "), ...first];
  const said = result === null ? "" : `${isWell ? "" : `${result.outcome}: `}${whole(contentWords(result.content))}`;
  return [
    ...markedData(span(result === null ? "○ " : "● ", role), [head, ...others], look),
    ...(result === null ? [] : markedData(span("  └ ", role), textLines(said, role), look)),
  ];
};

/** All of the arguments, on one row where they fit: a yes is to exactly these. */
const callLines = (
  { name, arguments: given }: Extract<Block, { readonly type: "call" }>,
  { columns }: BlockLook,
): readonly Line[] => {
  const head: Line = [span(`${askMark} `, "warning"), span(approvable(name), "name")];
  const value = valueOf(given);
  const text = value === undefined ? approvable(given) : approvableJson(value);
  const row: Line = [...head, span(` ${text}`, "plain")];
  if (lineWidth(row) < columns && !/\n|\\n/.test(text)) return [row];
  const lines = value === undefined ? ruled("  ", given) : argumentLines(value);
  return [head, ...lines.flatMap(([indent, each]) => behind(indent, each, columns))];
};

/** Undefined where it is not JSON. */
const valueOf = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
};

type Indented = readonly [indent: string, text: string];

/** JSON line by line, with what stands before each; a text of several lines in lines of its own behind a rule. */
const argumentLines = (given: unknown): readonly Indented[] =>
  approvableJson(given, 2)
    .split("\n")
    .flatMap((text): readonly Indented[] => {
      const shown = text.trimStart();
      const indent = `  ${" ".repeat(text.length - shown.length)}`;
      const key = /^"(?:[^"\\]|\\.)*": /.exec(shown)?.[0] ?? "";
      const value = valueOf(shown.slice(key.length).replace(/,$/, ""));
      if (typeof value !== "string" || !value.includes("\n")) return [[indent, shown]];
      return [[indent, key], ...ruled(indent, value)];
    });

const ruled = (indent: string, text: string): readonly Indented[] =>
  text.split("\n").map((each) => [`${indent}│ `, approvable(each)]);

/** A line whose rows all stand behind an indent, which nothing that it says can look like. */
const behind = (whole: string, text: string, columns: number): readonly Line[] => {
  const indent = whole.slice(-Math.max(columns >> 1, 2));
  return wrapped(line(text), Math.max(columns - 1 - indent.length, 8)).map((row, index) => [
    span(index === 0 ? indent : indent.replace("│", "┊"), "dim"),
    ...row,
  ]);
};

const approvalLines = ({ name, isAsked, answer }: ApprovalBlock, look: BlockLook): readonly Line[] => {
  if (answer !== null) {
    const mark = answer === "approved" ? span("✓ ", "success") : span("✗ ", "error");
    return marked(mark, [line(`${name} was ${answer}`, "dim")], look);
  }
  if (look.finished) return marked(span(`${askMark} `, "dim"), [line(`${name} was not answered`, "dim")], look);
  if (!isAsked) return [];
  const asked: Line = [span(`run ${name}?`, "strong"), span("  y yes · n no · a always", "dim")];
  return marked(span(`${askMark} `, "warning"), [asked], look);
};
