import type { HostedThread } from "@colloquy/host";
import type { Entry, State } from "@colloquy/machine";
import { stateAt } from "@colloquy/machine/journal";
import { costOf, counted, tokensOf } from "../text/figures.ts";
import { printableJson } from "../text/printable.ts";
import { type Line, line, type Role, span } from "../text/line.ts";
import { wrapped } from "../text/wrap.ts";
import { scrollingView, start } from "./scrolling-view.ts";
import { laidOut, saidIn } from "./transcript-view.ts";
import type { View } from "./view.ts";

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

/** A label, a text, and its role. */
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
