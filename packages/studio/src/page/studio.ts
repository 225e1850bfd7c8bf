import { h, type ComponentChild } from "preact";
import { useState } from "preact/hooks";
import type { EntryView, Setup, ThreadOverview, TimelineRow, TreeItem } from "../wire/wire.ts";
import { AgainDialog } from "./again-dialog.ts";
import { CompareTab } from "./compare-tab.ts";
import { exportOf, JournalPane } from "./journal-pane.ts";
import { Help, type Key, useKeys } from "./keys.ts";
import { type Go, panes, type Place, tabs, usePlace } from "./place.ts";
import { PromptTab } from "./prompt-tab.ts";
import { asking, type Loaded, post, useLoaded } from "./server.ts";
import { SaidTab, StateTab } from "./state-tab.ts";
import { oneLine } from "./text.ts";
import { type Threads, ThreadsPane, useThreads } from "./threads-pane.ts";
import { indexOf, type Items, usePages } from "./virtual-list.ts";
import type { Made } from "../wire/wire.ts";

/** The page: threads, the journal of one of them, and what there is to see of an entry. */
export const Studio = (): ComponentChild => {
  const looking = useLooking();
  const { place, go, setup, threads, overview, timeline, tree, entry, seq, turn } = looking;
  const { thread } = place;
  const [shown, show] = useState<"help" | "again" | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const fork = (): void => {
    if (thread === null) return;
    void asking(
      post<Made>("fork", { thread }, { turn: turn ?? 0 }),
      (made) => go({ thread: made.threadId, seq: null, pane: "journal" }),
      setProblem,
    );
  };
  const keys = keysOf({ ...looking, show, fork });
  useKeys(keys);
  const close = (): void => show(null);
  const actions = h(
    "div",
    { class: "actions" },
    h(
      "button",
      { type: "button", disabled: turn === null, onClick: () => show("again") },
      turn === null ? "Try again" : `Try turn ${turn} again`,
    ),
    h("button", { type: "button", onClick: fork }, "Fork here"),
    thread !== null && h("a", { class: "button", href: exportOf(thread), download: "" }, "Export"),
    problem !== null && h("span", { class: "problem" }, problem),
  );
  return h(
    "div",
    { class: "studio", "data-pane": place.pane },
    h(
      "header",
      { class: "top" },
      h("h1", null, "Colloquy", h("span", null, " Studio")),
      h("span", { class: "dim small about" }, setup === null ? "" : oneLine(setup.about)),
      h("span", { class: threads.isLive ? "live on" : "live" }, threads.isLive ? "live" : "offline"),
      h("button", { type: "button", class: "help", "aria-label": "Keys", onClick: () => show("help") }, "?"),
    ),
    h(ThreadsPane, { setup, threads, place, go }),
    h(JournalPane, { place, go, overview: overview.value, problem: overview.problem, timeline, tree, actions, turn }),
    h(DetailPane, { setup, place, go, entry: entry.value, problem: entry.problem, seq }),
    shown === "help" && h(Help, { keys, close }),
    shown === "again" &&
      setup !== null &&
      thread !== null &&
      turn !== null &&
      h(AgainDialog, { setup, thread, turn, go, close }),
  );
};

interface Looking {
  readonly place: Place;
  readonly go: Go;
  readonly setup: Setup | null;
  readonly threads: Threads;
  readonly overview: Loaded<ThreadOverview>;
  readonly timeline: Items<TimelineRow>;
  readonly tree: Items<TreeItem>;
  readonly entry: Loaded<EntryView>;
  /** The entry that is looked at, and its turn. */
  readonly seq: number | null;
  readonly turn: number | null;
  /** The newest entry. */
  readonly newest: number | null;
}

/** What is looked at, and all that was asked for it. */
const useLooking = (): Looking => {
  const [place, go] = usePlace();
  const { thread, view } = place;
  const setup = useLoaded<Setup>("setup", {}).value;
  const threads = useThreads();
  const revision = threads.entriesOf(thread);
  const ofThread = { thread: thread ?? "" };
  const overview = useLoaded<ThreadOverview>("thread", thread === null ? null : { thread }, revision);
  const timeline = usePages<TimelineRow>(thread === null ? null : "timeline", ofThread, revision);
  const tree = usePages<TreeItem>(thread === null || view !== "tree" ? null : "tree", ofThread, revision);
  const newest = overview.value?.threadId === thread ? overview.value.entries - 1 : null;
  const seq = place.seq ?? newest;
  const entry = useLoaded<EntryView>("entry", thread === null || seq === null ? null : { thread, seq });
  return { place, go, setup, threads, overview, timeline, tree, entry, seq, turn: entry.value?.turn ?? null, newest };
};

interface DetailPaneOptions {
  readonly setup: Setup | null;
  readonly place: Place;
  readonly go: Go;
  readonly entry: EntryView | null;
  readonly problem: string | null;
  readonly seq: number | null;
}

const DetailPane = ({ setup, place, go, entry, problem, seq }: DetailPaneOptions): ComponentChild | null => {
  const { thread, tab } = place;
  if (thread === null || seq === null) return h("section", { class: "pane detail empty" });
  return h(
    "section",
    { class: "pane detail", "aria-label": "Entry" },
    h(
      "header",
      { class: "pane-head" },
      h(
        "button",
        { class: "back", type: "button", "aria-label": "Back to the journal", onClick: () => go({ pane: "journal" }) },
        "‹",
      ),
      h(
        "div",
        { class: "stepper" },
        h(
          "button",
          {
            type: "button",
            "aria-label": "The entry before",
            disabled: seq === 0,
            onClick: () => go({ seq: seq - 1 }, "quietly"),
          },
          "↑",
        ),
        h("span", null, `entry ${seq}`, h("span", { class: "dim" }, entry === null ? "" : ` of ${entry.entries - 1}`)),
        h(
          "button",
          {
            type: "button",
            "aria-label": "The entry behind",
            disabled: entry === null || seq >= entry.entries - 1,
            onClick: () => go({ seq: seq + 1 }, "quietly"),
          },
          "↓",
        ),
      ),
      h(
        "div",
        { class: "tabs", role: "tablist" },
        tabs.map((name) =>
          h(
            "button",
            { key: name, type: "button", role: "tab", "aria-selected": tab === name, onClick: () => go({ tab: name }) },
            name,
          ),
        ),
      ),
    ),
    problem !== null && h("p", { class: "problem" }, problem),
    entry !== null && tab === "state" && h(StateTab, { setup, view: entry }),
    entry !== null &&
      tab === "prompt" &&
      (entry.call === null
        ? h("p", { class: "note" }, "No model was asked up to this entry.")
        : h(PromptTab, { key: `${thread} ${entry.call}`, setup, place, go, thread, seq: entry.call })),
    entry !== null && tab === "said" && h(SaidTab, { key: thread, thread, seq }),
    entry !== null && tab === "compare" && h(CompareTab, { place, go, thread, seq }),
  );
};

interface Pressing extends Looking {
  readonly show: (what: "help" | "again") => void;
  readonly fork: () => void;
}

const keysOf = (pressing: Pressing): readonly Key[] => {
  const { place, go, seq, newest, turn, show, fork } = pressing;
  const pane = panes.indexOf(place.pane);
  const moved = (by: number): void =>
    go({ pane: panes[Math.min(Math.max(pane + by, 0), panes.length - 1)] ?? place.pane });
  const to = (next: number | null): void => go({ seq: next }, "quietly");
  const calls = (way: 1 | -1): void => to(callBeside(pressing, way));
  const element = (selector: string): HTMLElement | null => document.querySelector(selector);
  return [
    { keys: ["j", "ArrowDown"], does: "the next one: thread, entry or turn", press: () => step(pressing, 1) },
    { keys: ["k", "ArrowUp"], does: "the one before", press: () => step(pressing, -1) },
    { keys: ["l", "ArrowRight", "Enter"], does: "go into it", press: () => moved(1) },
    { keys: ["h", "ArrowLeft", "Escape"], does: "go back", press: () => moved(-1) },
    { keys: ["g"], does: "the first entry", press: () => to(0) },
    { keys: ["G"], does: "the newest entry, whichever comes", press: () => to(null) },
    { keys: ["]"], does: "the next model call", press: () => calls(1) },
    { keys: ["["], does: "the model call before", press: () => calls(-1) },
    ...tabs.map((tab, index) => ({
      keys: [String(index + 1), tab[0] ?? tab].filter((key) => key !== "c"),
      does: `show ${tab}`,
      press: () => go({ tab, pane: "detail" }),
    })),
    { keys: ["t"], does: "timeline or tree", press: () => go({ view: place.view === "tree" ? "timeline" : "tree" }) },
    {
      keys: ["c"],
      does: "compare from here",
      press: () => go({ other: place.thread, otherSeq: seq ?? newest, tab: "compare" }),
    },
    // What runs a tool takes two keys.
    { keys: ["a"], does: "to approve the tool call that waits, with Enter", press: () => element(".approve")?.focus() },
    { keys: ["d"], does: "to deny it, with Enter", press: () => element(".deny")?.focus() },
    { keys: ["r"], does: "try the turn again in a fork", press: () => turn !== null && show("again") },
    { keys: ["f"], does: "fork the thread at this turn", press: fork },
    { keys: ["x"], does: "export the journal", press: () => element("a[download]")?.click() },
    { keys: ["/"], does: "search", press: () => element("#search")?.focus() },
    { keys: ["?"], does: "these keys", press: () => show("help") },
  ];
};

/** Steps in the pane that keys go to. */
const step = ({ place, go, seq, newest, turn, threads, tree }: Pressing, by: 1 | -1): void => {
  if (place.pane === "threads") {
    const present = indexOf(threads, ({ threadId }) => threadId === place.thread);
    const next = threads.at(present === -1 ? 0 : present + by);
    if (next !== undefined) go({ thread: next.threadId, seq: null }, "quietly");
  } else if (place.view === "tree" && place.pane === "journal") {
    const next = tree.at(Math.max(indexOf(tree, (item) => item.turn === turn) + by, 0));
    if (next !== undefined) go({ seq: next.seq }, "quietly");
  } else if (seq !== null && newest !== null) go({ seq: Math.min(Math.max(seq + by, 0), newest) }, "quietly");
};

/** As far as the timeline was read. */
const callBeside = ({ seq, timeline }: Pressing, way: 1 | -1): number | null => {
  for (let index = (seq ?? timeline.total ?? 0) + way; ; index += way) {
    const row = timeline.at(index);
    if (row === undefined) return seq;
    if (row.asks) return index;
  }
};
