import { contentText } from "@colloquy/machine";
import type { Explanation, UnitExplanation, UnitShown } from "@colloquy/machine/inspect";
import { counted } from "../text/figures.ts";
import { type Line, line, type Role, span } from "../text/line.ts";
import { oneLine } from "../text/printable.ts";
import { wrapped } from "../text/wrap.ts";
import { itemsOf, rowOf } from "./items.ts";
import { backTo, scrollingView, start, textView } from "./scrolling-view.ts";
import { saidLines, textOfMessages } from "./transcript-view.ts";
import type { View } from "./view.ts";

/** Returns a view of the next prompt's content, unit by unit, with rules and costs. Begins at its end. */
export const explainView = (explanation: Explanation): View => {
  const rows = rowsOf(explanation);
  const content = {
    title: "The next prompt",
    head: (columns: number) => contextLines(explanation, columns),
    items: itemsOf(rows, rowLine, ({ messages }) => textOfMessages(messages)),
    empty: "nothing was said yet",
    selects: true,
    hints: ["Enter details"],
  };
  const view = (selected: number): View =>
    scrollingView(
      {
        ...content,
        press: (name, position) => {
          const row = rows[position.selected];
          if (name !== "enter" || row === undefined) return null;
          return { view: backTo(rowView(row), view(position.selected)) };
        },
      },
      { ...start, selected },
    );
  return view(rows.length - 1);
};

/** Returns the size of the prompt in one line: `812 of 4.0k tokens (20 %): 9 whole, 3 left out`. */
export const summaryOf = (explanation: Explanation): string => `${sizeOf(explanation)}: ${partsOf(explanation)}`;

/** Returns a short form: the room that the prompt takes, the deciding policy, and the number of units by rule. */
const contextLines = (explanation: Explanation, columns: number): readonly Line[] => {
  const { policy, reason, failed } = explanation;
  return [
    barLine(explanation, columns),
    line(partsOf(explanation)),
    line(`${policy}: ${reason}`, "dim"),
    ...(failed === undefined ? [] : [line(failed, "error")]),
  ];
};

const partsOf = ({ units, summary }: Explanation): string => {
  const counts = (["whole", "shrunk", "summary", "out"] as const).flatMap((shown) => {
    const count = units.filter((unit) => unit.shown === shown).length;
    return count === 0 ? [] : [`${count} ${shownWords[shown]}`];
  });
  const covers = summary === null ? [] : [`a summary of turns ${summary.turns.from} to ${summary.turns.to}`];
  return [...counts, ...covers].join(", ");
};

const shownWords: Record<UnitShown, string> = {
  whole: "whole",
  shrunk: "shown in part",
  summary: "in the summary",
  out: "left out",
};

const sizeOf = ({ tokens, available, share, fits, wholeTokens }: Explanation): string => {
  const room = available === null ? " tokens, no bound" : ` of ${counted(available, "token")}`;
  const whole = wholeTokens === null || wholeTokens === tokens ? "" : `; all would take ${wholeTokens}`;
  const percent = share === null ? "" : ` (${Math.round(share * 100)} %)`;
  return `${numberOf(tokens)}${room}${percent}${fits ? "" : ", does not fit"}${whole}`;
};

/** Returns the room that the prompt takes as a bar, if there is a limit. */
const barLine = (explanation: Explanation, columns: number): Line => {
  const { share, fits } = explanation;
  const text = sizeOf(explanation);
  if (share === null) return line(text);
  const cells = Math.max(Math.min(Math.floor(columns / 4), barCells), 4);
  const full = Math.min(Math.round(share * cells), cells);
  const role = fits ? (share > nearlyFull ? "warning" : "success") : "error";
  return [span("█".repeat(full), role), span("░".repeat(cells - full), "dim"), span(` ${text}`)];
};

const barCells = 30;
const nearlyFull = 0.8;

/** A unit, or the summary, which is not a unit of the thread. */
interface Row extends Omit<UnitExplanation, "rule" | "kind" | "turn"> {
  readonly rule: string;
  readonly name: string;
  /** Its turn, or the turns that it summarises. */
  readonly turns: string;
}

/** Returns the rows; the summary is after the system message, as in the prompt. */
const rowsOf = ({ units, summary }: Explanation): readonly Row[] => {
  const rows = units.map((unit): Row => {
    const name = unit.kind === "message" ? (unit.messages[0]?.role ?? unit.kind) : unit.kind;
    return { ...unit, name, turns: unit.turn === null ? "" : String(unit.turn) };
  });
  if (summary === null) return rows;
  const { message, tokens, turns } = summary;
  const row: Row = {
    id: message.id,
    name: "summary",
    turns: `${turns.from} to ${turns.to}`,
    messages: [message],
    sent: [message],
    shown: "whole",
    rule: "summary",
    why: "stands for older turns",
    tokens,
    sentTokens: tokens,
  };
  return rows.toSpliced(units[0]?.kind === "system" ? 1 : 0, 0, row);
};

const rowLine = ({ turns, name, messages, shown, rule, why, tokens, sentTokens }: Row, columns: number): Line => {
  const [glyph, role] = glyphs[shown];
  const cost = sentTokens === tokens ? numberOf(tokens) : `${numberOf(sentTokens)} of ${numberOf(tokens)}`;
  const words = messages.map((message) => contentText(message.parts) || textOfMessages([message])).join(" ");
  return rowOf(
    [span(`${glyph} `, role), span(turns === "" ? "" : `${turns} `, "number"), span(`${name} `, "name")],
    span(oneLine(words), shown === "out" ? "dim" : "plain"),
    [line(cost, "number"), line(rule, role), ...(rule === "kept" || rule === "fixed" ? [] : [line(why, "dim")])],
    columns,
  );
};

const glyphs: Record<UnitShown, readonly [string, Role]> = {
  whole: ["●", "success"],
  shrunk: ["◐", "warning"],
  summary: ["Σ", "warning"],
  out: ["○", "dim"],
};

const rowView = ({ id, turns, name, messages, sent, shown, rule, why, tokens, sentTokens }: Row): View =>
  textView(`Unit ${id}`, (columns) => [
    ...wrapped(line(`${name}, ${shownWords[shown]} (${rule}): ${why}`, "strong"), columns),
    line(`${numberOf(sentTokens)} of ${numberOf(tokens)} tokens`, "dim"),
    ...saidLines({ messages, turn: turns, ends: null }, columns),
    ...(shown === "shrunk"
      ? [
          [],
          line("as the prompt shows it", "heading"),
          ...saidLines({ messages: sent, turn: turns, ends: null }, columns),
        ]
      : []),
  ]);

const numberOf = (tokens: number | null): string => (tokens === null ? "?" : String(tokens));
