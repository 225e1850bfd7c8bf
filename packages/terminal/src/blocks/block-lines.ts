import { type Line, line, type Span, span, textLines } from "../text/line.ts";
import { markdownBlockLines } from "../markdown/markdown-lines.ts";
import { contentWords } from "../text/notice.ts";
import { shortened } from "../text/printable.ts";
import { cutLine, lineWidth, wrapped } from "../text/wrap.ts";
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

/** A block as lines. */
export const blockLines = (block: Block, look: BlockLook): readonly Line[] => {
  switch (block.type) {
    case "question":
      return [
        [],
        ...(block.title === undefined ? [] : [line(block.title, "heading")]),
        ...marked(span("> ", "prompt"), textLines(block.text, "strong"), look),
        ...fateLines[block.fate],
      ];
    case "thinking":
      return thinkingLines(block.text, look);
    case "answer":
      return block.markdown.flatMap((each) => markdownBlockLines(each, { columns: look.columns, soft: look.finished }));
    case "refusal":
      return marked(nothing, textLines(block.text, "warning"), look);
    case "tool":
      return look.unfolded
        ? toolLines(block, look)
        : toolLines(block, look).map((row) => cutLine(row, look.columns - 1));
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
export const waitingLines = (steered: readonly string[], queue: readonly string[]): readonly Line[] => [
  ...steered.map((text) => line(`> ${shortened(text)}  (sent: the model reads it at its next step)`, "dim")),
  ...queue.map((text) => line(`> ${shortened(text)}  (queued: Up takes it back)`, "dim")),
];

const nothing = span("");

/** Lines behind a mark, and below it as far to the right. */
const marked = (mark: Span, lines: readonly Line[], { columns, finished }: BlockLook): readonly Line[] => {
  const below: Span = { ...mark, text: " ".repeat(mark.text.length) };
  const room = Math.max(columns - 1 - mark.text.length, 1);
  const rows = finished ? lines : lines.flatMap((each) => wrapped(each, room));
  return mark.text === "" ? rows : rows.map((row, index) => [index === 0 ? mark : below, ...row]);
};

const fateLines = {
  asked: [],
  queued: [],
  steered: [line("  read within the turn that was open", "dim")],
  returned: [line("  the turn ended before the model read it: it is back in the input", "warning")],
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
    ...marked(span(result === null ? "○ " : "● ", role), [head, ...others], look),
    ...(result === null ? [] : marked({ text: "  └ ", roles: [role] }, textLines(said, role), look)),
  ];
};

/** All of the arguments, on one row where they fit: a yes is to exactly these. */
const callLines = (
  { name, arguments: given }: Extract<Block, { readonly type: "call" }>,
  { columns }: BlockLook,
): readonly Line[] => {
  const head: Line = [span("? ", "warning"), span(name, "name")];
  const row: Line = [...head, span(` ${given}`, "plain")];
  if (lineWidth(row) < columns && !given.includes(String.raw`\n`)) return [row];
  return [head, ...argumentLines(given).flatMap(([indent, text]) => behind(indent, text, columns))];
};

/** JSON line by line, with what stands before each; a text of several lines in lines of its own behind a rule. */
const argumentLines = (given: string): readonly (readonly [indent: string, text: string])[] => {
  const lines = JSON.stringify(JSON.parse(given), null, 2).split("\n");
  return lines.flatMap((text) => {
    const [, indent = "", key = "", json = "", end = ""] = /^( *)("(?:[^"\\]|\\.)*": )?(.*?)(,?)$/.exec(text) ?? [];
    const value: unknown = json.startsWith('"') ? JSON.parse(json) : null;
    if (typeof value !== "string" || !value.includes("\n")) return [[`  ${indent}`, `${key}${json}${end}`]];
    return [[`  ${indent}`, key], ...value.split("\n").map((each) => [`  ${indent}│ `, each] as const)];
  });
};

/** A line whose rows all stand behind an indent, which nothing that it says can look like. */
const behind = (indent: string, text: string, columns: number): readonly Line[] =>
  wrapped(line(text), Math.max(columns - 1 - indent.length, 8)).map((row) => [span(indent, "dim"), ...row]);

const approvalLines = ({ name, isAsked, answer }: ApprovalBlock, { finished }: BlockLook): readonly Line[] => {
  if (answer !== null)
    return [
      [answer === "approved" ? span("✓ ", "success") : span("✗ ", "error"), span(`${name} was ${answer}`, "dim")],
    ];
  if (finished) return [line(`? ${name} was not answered`, "dim")];
  return !isAsked
    ? []
    : [
        [
          span("? ", "warning"),
          span(`run ${name}?`, "strong"),
          span("  y yes · n no (a reason may follow) · a always", "dim"),
        ],
      ];
};
