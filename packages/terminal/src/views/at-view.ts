import type { HostedThread } from "@colloquy/host";
import type { Entry, State } from "@colloquy/machine";
import { stateAt } from "@colloquy/machine/journal";
import { costOf, counted, tokensOf } from "../text/figures.ts";
import { printableJson } from "../text/printable.ts";
import type { Line, Role } from "../text/line.ts";
import { span, wrapped } from "./fitted.ts";
import { scrollingView, start } from "./scrolling-view.ts";
import { laidOut, saidIn } from "./transcript-view.ts";
import type { View } from "./view.ts";

/** A thread as it was behind an entry; left and right go to the entries beside it. Rejects as `thread.at` does. */
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
        text: (index) => (index === 0 ? about.map(({ text }) => text).join("\n") : said.text(index - 1)),
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

interface About {
  readonly label: string;
  readonly text: string;
  readonly role: Role;
}

/** The event of an entry, and where it led. */
const aboutEntry = (entry: Entry | undefined, state: State): readonly About[] => {
  const { conversation, open, queue, usage, updatedAt } = state.context;
  const { type: _, at: __, ...event } = entry?.event ?? { type: "", at: 0 };
  const decided = entry !== undefined && "decided" in entry ? entry.decided : undefined;
  const place = typeof state.value === "string" ? state.value : Object.entries(state.value).flat().join(" · ");
  const cost = costOf(usage.total);
  return [
    { label: "event", text: `${entry?.event.type} at ${new Date(updatedAt).toISOString()}`, role: "strong" },
    { label: "", text: printableJson(event), role: "dim" },
    ...(decided === undefined ? [] : [{ label: "decided", text: printableJson(decided), role: "plain" as const }]),
    { label: "state", text: place, role: "name" },
    { label: "head", text: conversation.head === 0 ? "the beginning" : `turn ${conversation.head}`, role: "plain" },
    ...(open === null
      ? []
      : [
          {
            label: "open",
            text: `turn ${open.number}, step ${open.step}, ${open.stage.type}`,
            role: "success" as const,
          },
        ]),
    ...(queue.length === 0 ? [] : [{ label: "waiting", text: counted(queue.length, "ask"), role: "plain" as const }]),
    {
      label: "usage",
      text: [counted(usage.total.calls, "call"), tokensOf(usage.total), ...(cost === "" ? [] : [cost])].join(", "),
      role: "plain",
    },
  ];
};

const aboutLines = ({ label, text, role }: About, columns: number): readonly Line[] =>
  wrapped(text, columns - labelWidth).map((line, index) => [
    span((index === 0 ? label : "").padEnd(labelWidth), "heading"),
    span(line, role),
  ]);

const labelWidth = 9;
