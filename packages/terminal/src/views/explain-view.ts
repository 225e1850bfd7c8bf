import { contentText } from "@colloquy/machine";
import type { Explanation, UnitExplanation, UnitShown } from "@colloquy/machine/inspect";
import { counted } from "../text/figures.ts";
import type { Line, Role } from "../text/line.ts";
import { oneLine } from "../text/printable.ts";
import { rowOf, span, wrapped } from "./fitted.ts";
import { itemsOf } from "./items.ts";
import { backTo, scrollingView, start, textView } from "./scrolling-view.ts";
import { saidLines, textOfMessages } from "./transcript-view.ts";
import type { View } from "./view.ts";

/** What the next prompt shows of a thread, unit by unit, by which rule and at what cost. Begins at its end. */
export const explainView = (explanation: Explanation): View => {
  const rows = rowsOf(explanation);
  const content = {
    title: "The next prompt",
    head: (columns: number) => contextLines(explanation, columns),
    items: itemsOf(rows, unitLine, ({ unit }) => textOfMessages(unit.messages)),
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
          return { view: backTo(unitView(row), view(position.selected)) };
        },
      },
      { ...start, selected },
    );
  return view(rows.length - 1);
};

/** The same in short: the room that the prompt takes, who decided, and how many units are shown how. */
export const contextLines = (explanation: Explanation, columns: number): readonly Line[] => {
  const { units, summary, policy, reason, failed } = explanation;
  const counts = (["whole", "shrunk", "summary", "out"] as const).flatMap((shown) => {
    const count = units.filter((unit) => unit.shown === shown).length;
    return count === 0 ? [] : [`${count} ${shownWords[shown]}`];
  });
  const covers = summary === null ? [] : [`a summary of turns ${summary.turns.from} to ${summary.turns.to}`];
  return [
    barLine(explanation, columns),
    [span([...counts, ...covers].join(", "))],
    [span(`${policy}: ${reason}`, "dim")],
    ...(failed === undefined ? [] : [[span(failed, "error")]]),
  ];
};

const shownWords: Record<UnitShown, string> = {
  whole: "whole",
  shrunk: "shown in part",
  summary: "in the summary",
  out: "left out",
};

/** The room that the prompt takes as a bar, where there is a bound. */
const barLine = ({ tokens, available, share, fits, wholeTokens }: Explanation, columns: number): Line => {
  const room = available === null ? " tokens, no bound" : ` of ${counted(available, "token")}`;
  const whole = wholeTokens === null || wholeTokens === tokens ? "" : `; all would take ${wholeTokens}`;
  const percent = share === null ? "" : ` (${Math.round(share * 100)} %)`;
  const text = `${numberOf(tokens)}${room}${percent}${fits ? "" : ", does not fit"}${whole}`;
  if (share === null) return [span(text)];
  const cells = Math.max(Math.min(Math.floor(columns / 4), barCells), 4);
  const full = Math.min(Math.round(share * cells), cells);
  const role: Role = fits ? (share > nearlyFull ? "warning" : "success") : "error";
  return [
    { text: "█".repeat(full), roles: [role] },
    { text: "░".repeat(cells - full), roles: ["dim"] },
    span(` ${text}`),
  ];
};

const barCells = 30;
const nearlyFull = 0.8;

/** A unit, or the summary, which is none of the thread. */
interface Row {
  readonly unit: Omit<UnitExplanation, "rule" | "kind"> & { readonly rule: string; readonly kind: string };
  readonly covers: string;
}

/** The summary stands where the prompt has it: behind the system message. */
const rowsOf = ({ units, summary }: Explanation): readonly Row[] => {
  const rows = units.map((unit): Row => ({ unit, covers: "" }));
  if (summary === null) return rows;
  const { message, tokens, turns } = summary;
  const unit = {
    turn: null,
    id: message.id,
    kind: "summary",
    messages: [message],
    sent: [message],
    shown: "whole" as const,
    rule: "summary",
    why: "stands for older turns",
    tokens,
    sentTokens: tokens,
  };
  return rows.toSpliced(units[0]?.kind === "system" ? 1 : 0, 0, { unit, covers: `${turns.from} to ${turns.to}` });
};

const unitLine = ({ unit, covers }: Row, columns: number): Line => {
  const { turn, kind, messages, shown, rule, why, tokens, sentTokens } = unit;
  const [glyph, role] = glyphs[shown];
  const cost = sentTokens === tokens ? numberOf(tokens) : `${numberOf(sentTokens)} of ${numberOf(tokens)}`;
  const words = messages.map((message) => oneLine(contentText(message.parts) || textOfMessages([message]))).join(" ");
  const name = kind === "message" ? (messages[0]?.role ?? kind) : kind;
  return rowOf(
    [
      span(`${glyph} `, role),
      span(turn === null ? (covers === "" ? "" : `${covers} `) : `${turn} `, "number"),
      span(`${name} `, "name"),
    ],
    span(words, shown === "out" ? "dim" : "plain"),
    [[span(cost, "number")], [span(rule, role)], ...(rule === "kept" || rule === "fixed" ? [] : [[span(why, "dim")]])],
    columns,
  );
};

const glyphs: Record<UnitShown, readonly [string, Role]> = {
  whole: ["●", "success"],
  shrunk: ["◐", "warning"],
  summary: ["Σ", "warning"],
  out: ["○", "dim"],
};

const unitView = ({ unit }: Row): View => {
  const { id, kind, messages, sent, shown, rule, why, tokens, sentTokens } = unit;
  const said = (of: typeof messages, columns: number): readonly Line[] =>
    saidLines({ messages: of, turn: unit.turn ?? 0, ends: null }, columns);
  return textView(`Unit ${id}`, (columns) => [
    ...wrapped(`${kind}, ${shownWords[shown]} (${rule}): ${why}`, columns).map((line) => [span(line, "strong")]),
    [span(`${numberOf(sentTokens)} of ${numberOf(tokens)} tokens`, "dim")],
    ...said(messages, columns),
    ...(shown === "shrunk" ? [[], [span("as the prompt shows it", "heading")], ...said(sent, columns)] : []),
  ]);
};

const numberOf = (tokens: number | null): string => (tokens === null ? "?" : String(tokens));
