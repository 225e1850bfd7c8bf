import type { Line, Role } from "../text/line.ts";
import { markdownLines } from "../markdown/markdown-stream.ts";
import { contentWords } from "../text/notice.ts";
import { shortened } from "../text/printable.ts";
import { cutLine } from "../text/wrap.ts";
import type { ApprovalBlock, Block, ToolBlock } from "./block.ts";

/** How blocks are laid out. */
export interface BlockLook {
  readonly columns: number;
  /** Thinking and the details of tools are shown whole. */
  readonly unfolded: boolean;
  /** Nothing more comes of it. */
  readonly finished: boolean;
}

/** A block as lines. A paragraph is one line, which the screen or the terminal wraps. */
export const blockLines = (block: Block, look: BlockLook): readonly Line[] => {
  switch (block.type) {
    case "question":
      return [[], ...indented(block.text, "> ", "prompt"), ...fateLines[block.fate]];
    case "thinking":
      return thinkingLines(block.text, look);
    case "answer":
      return answerLines(block.markdown, look);
    case "refusal":
      return block.text.split("\n").map((text) => line(text, "warning"));
    case "tool":
      return toolLines(block, look);
    case "approval":
      return approvalLines(block, look);
    case "notice":
      return block.text.split("\n").map((text) => line(`  ${text}`, block.level));
    case "figures":
      return [line(block.text, "dim")];
  }
};

/** What was sent and is not read yet, and what waits to be asked. */
export const waitingLines = (steered: readonly string[], queue: readonly string[]): readonly Line[] => [
  ...steered.map((text) => line(`> ${shortened(text)}  (sent: the model reads it at its next step)`, "dim")),
  ...queue.map((text) => line(`> ${shortened(text)}  (queued: Up takes it back)`, "dim")),
];

const line = (text: string, ...roles: readonly Role[]): Line => [{ text, roles }];

const fateLines = {
  asked: [],
  queued: [],
  steered: [line("  read within the turn that was open", "dim")],
  returned: [line("  the turn ended before the model read it: it is back in the input", "warning")],
} as const;

/** A piece that is final ends with the empty line that parts it from the next. */
const answerLines = (markdown: string, { columns, finished }: BlockLook): readonly Line[] => [
  ...markdownLines(markdown, { columns, soft: finished }),
  ...(finished && /\n\s*\n$/.test(markdown) ? [[]] : []),
];

/** Each line of a text behind a mark, or its place. */
const indented = (text: string, mark: string, role: Role): readonly Line[] =>
  text.split("\n").map((each, index) => [
    { text: index === 0 ? mark : " ".repeat(mark.length), roles: [role] },
    { text: each, roles: ["strong"] },
  ]);

const thinkingLines = (text: string, { unfolded, finished, columns }: BlockLook): readonly Line[] => {
  if (finished && !unfolded) return [cutLine(line(`· thought: ${shortened(text)}`, "dim"), columns - 1)];
  return text
    .trim()
    .split("\n")
    .map((each) => line(`· ${each}`, "dim"));
};

const toolLines = (block: ToolBlock, look: BlockLook): readonly Line[] =>
  look.unfolded ? toolRows(block, look) : toolRows(block, look).map((row) => cutLine(row, look.columns - 1));

const toolRows = ({ name, arguments: given, result }: ToolBlock, { unfolded }: BlockLook): readonly Line[] => {
  const said = result === null ? "" : contentWords(result.content);
  const outcome = result === null || result.outcome === "completed" ? "" : `${result.outcome}: `;
  const role = result === null || result.outcome === "completed" ? "dim" : "warning";
  const head: Line = [
    { text: result === null ? "○ " : "● ", roles: [role] },
    { text: name, roles: ["name"] },
    { text: ` ${unfolded ? given : shortened(given)}`, roles: ["dim"] },
  ];
  if (result === null) return [head];
  const lines = unfolded ? said.split("\n") : [shortened(said)];
  return [
    head,
    ...lines.map((each, index) => line(`${index === 0 ? "  └ " : "    "}${index === 0 ? outcome : ""}${each}`, role)),
  ];
};

/** All of the arguments: a yes is to exactly these. */
const approvalLines = ({ name, arguments: given, answer }: ApprovalBlock, { finished }: BlockLook): readonly Line[] => {
  if (answer !== null)
    return [
      [
        { text: answer === "approved" ? "✓ " : "✗ ", roles: [answer === "approved" ? "success" : "error"] },
        { text: `${name} was ${answer}`, roles: ["dim"] },
      ],
    ];
  if (finished) return [line(`? ${name} was not answered`, "dim")];
  return [
    [
      { text: "? ", roles: ["warning"] },
      { text: name, roles: ["name"] },
      { text: ` ${given}`, roles: ["plain"] },
    ],
    line("  y: run it · n: don't, a reason may follow · a: always run this tool, as long as this process lives", "dim"),
  ];
};
