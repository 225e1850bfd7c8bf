import { Fragment, h, type ComponentChild } from "preact";
import type { DifferenceView } from "../wire/wire.ts";
import { sideView } from "./message.ts";
import type { LookingAtEntry } from "./looking.ts";
import { useLoaded } from "./server.ts";
import { counted, oneLine } from "./text.ts";
import { button, div, link, p, scroll, td } from "./element.ts";

/** Shows the difference between this entry and another one, of this thread or any other. */
export const CompareTab = ({ place, go, thread, seq }: LookingAtEntry): ComponentChild => {
  const { other, otherSeq } = place;
  const query = other === null ? null : { thread: other, seq: otherSeq, other: thread, otherSeq: seq };
  const { value, problem } = useLoaded<DifferenceView>("difference", query);
  const keep = button(() => go({ other: thread, otherSeq: seq }), {}, "Compare from here ", h("kbd", null, "c"));
  if (other === null)
    return scroll("", p("note", "Keep this entry, then go to another one, of this thread or of any."), keep);
  return scroll(
    "compare",
    h(
      "p",
      null,
      link(sideName(other, otherSeq), () => go({ thread: other, seq: otherSeq })),
      " → ",
      sideName(thread, seq),
      " ",
      keep,
    ),
    problem !== null && p("problem", problem),
    value !== null && differenceOf(value),
  );
};

const sideName = (thread: string, seq: number | null): string =>
  `${oneLine(thread)}, ${seq === null ? "newest" : `entry ${seq}`}`;

const differenceOf = ({ difference, alike, left, right }: DifferenceView): ComponentChild => {
  const { changes } = difference;
  const turns = (["added", "removed", "changed", "entered", "left"] as const).filter(
    (what) => difference[what].length > 0,
  );
  return h(
    Fragment,
    null,
    changes.length + turns.length === 0
      ? p("note", "No difference.")
      : h(
          "table",
          null,
          h("thead", null, h("tr", null, h("td", null), h("th", null, "there"), h("th", null, "here"))),
          h(
            "tbody",
            null,
            changes.map(({ what, before, after }) =>
              h("tr", { key: what }, h("th", null, what), td("was", valueOf(before)), td("is", valueOf(after))),
            ),
            turns.map((what) => {
              const numbers = h("td", { colSpan: 2 }, numbersOf(difference[what]));
              return h("tr", { key: what }, h("th", null, turnWords[what]), numbers);
            }),
          ),
        ),
    p(
      "dim",
      alike === 0 ? "No message is alike." : `The first ${counted(alike, "message is alike", "messages are alike")}.`,
    ),
    div("sides", sideView("there", "there", left), sideView("here", "here", right)),
  );
};

const turnWords = {
  added: "turns added",
  removed: "turns missing",
  changed: "turns changed",
  entered: "came onto the path",
  left: "left the path",
} as const;

const valueOf = (value: unknown): string =>
  oneLine(typeof value === "string" ? value : JSON.stringify(value)).slice(0, 1_000);

/** Formats numbers, with neighbours as ranges: `3 to 17, 20`. */
const numbersOf = (numbers: readonly number[]): string => {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? from : `${from} to ${to}`)).join(", ");
};
