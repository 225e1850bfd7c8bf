import { h, type ComponentChild, Fragment } from "preact";
import { useState, useEffect, useRef } from "preact/hooks";
import { AgainDialog } from "./again-dialog.ts";
import { CompareTab } from "./compare-tab.ts";
import { ConversationTab, TurnTab } from "./conversation-tab.ts";
import { exportOf, JournalPane } from "./journal-pane.ts";
import { type Looking, useLooking } from "./looking.ts";
import { panes, tabs } from "./place.ts";
import { PromptTab } from "./prompt-tab.ts";
import { asking, post } from "./server.ts";
import { oneLine, JsonText } from "./text.ts";
import { ThreadsPane } from "./threads-pane.ts";
import { indexOf } from "./virtual-list.ts";
import type { Made, EntryView, Setup } from "../wire/wire.ts";
import { button, div, header, p, scroll, sign, span, tabList, Dialog } from "./element.ts";
import { stateChart } from "./chart.ts";

/** Shows the page: threads, the journal of one of them, and the details of an entry. */
export const Studio = (): ComponentChild => {
  const looking = useLooking();
  const { place, go, setup, threads, turn } = looking;
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
  const actions = div(
    "actions",
    button(() => show("again"), { disabled: turn === null }, turn === null ? "Try again" : `Try turn ${turn} again`),
    button(fork, {}, "Fork here"),
    thread !== null && h("a", { class: "button", href: exportOf(thread), download: "" }, "Export"),
    problem !== null && span("problem", problem),
  );
  return h(
    "div",
    { class: "studio", "data-pane": place.pane },
    header(
      "top",
      h("h1", null, "Colloquy", span("dim", " Studio")),
      span("dim small grow about", setup === null ? "" : oneLine(setup.about)),
      span(`dim small live${threads.isLive ? " on" : ""}`, threads.isLive ? "live" : "offline"),
      sign("?", "Keys", () => show("help"), { class: "help" }),
    ),
    h(ThreadsPane, looking),
    h("main", null, h(JournalPane, { ...looking, actions }), h(DetailPane, looking)),
    shown === "help" && h(Help, { keys, close }),
    shown === "again" &&
      setup !== null &&
      thread !== null &&
      turn !== null &&
      h(AgainDialog, { setup, thread, turn, go, close }),
  );
};

const DetailPane = (looking: Looking): ComponentChild => {
  const { setup, place, go, seq } = looking;
  const { thread, tab } = place;
  const { value: entry, problem } = looking.entry;
  const isNewest = entry === null || (seq ?? 0) >= entry.entries - 1;
  if (thread === null || seq === null) return h("section", { class: "pane detail empty" });
  return h(
    "section",
    { class: "pane detail", "aria-label": "Entry" },
    header(
      "pane-head",
      sign("‹", "Back to the journal", () => go({ pane: "journal" }), { class: "back" }),
      div(
        "stepper",
        sign("↑", "The entry before", () => go({ seq: seq - 1 }, "quietly"), { disabled: seq === 0 }),
        h("span", null, `entry ${seq}`, span("dim", entry === null ? "" : ` of ${entry.entries - 1}`)),
        sign("↓", "The entry after", () => go({ seq: seq + 1 }, "quietly"), { disabled: isNewest }),
      ),
      tabList(tabs, tab, (name) => go({ tab: name })),
    ),
    problem !== null && p("problem", problem),
    entry !== null && tab === "state" && stateTab(setup, entry),
    entry !== null &&
      tab === "prompt" &&
      (entry.call === null
        ? p("note", "No model was asked up to this entry.")
        : h(PromptTab, { key: `${thread} ${entry.call}`, ...looking, thread, seq: entry.call })),
    entry !== null && tab === "conversation" && h(ConversationTab, { key: thread, ...looking, thread, seq }),
    entry !== null && tab === "turn" && h(TurnTab, { ...looking, thread, seq }),
    entry !== null && tab === "compare" && h(CompareTab, { ...looking, thread, seq }),
  );
};

interface Pressing extends Looking {
  readonly show: (what: "help" | "again") => void;
  readonly fork: () => void;
}

const keysOf = (pressing: Pressing): readonly Key[] => {
  const { place, go, seq, newest, turn, show, fork } = pressing;
  const pane = panes.indexOf(place.pane);
  // Without a thread the other panes are empty, and in a narrow window nothing leads back.
  const last = place.thread === null ? 0 : panes.length - 1;
  const moved = (by: number): void => go({ pane: panes[Math.min(Math.max(pane + by, 0), last)] ?? place.pane });
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
      keys: [String(index + 1)],
      does: `show ${tab}`,
      press: () => go({ tab, pane: panes[last] ?? place.pane }),
    })),
    { keys: ["t"], does: "timeline or tree", press: () => go({ view: place.view === "tree" ? "timeline" : "tree" }) },
    {
      keys: ["c"],
      does: "compare from here",
      press: () => go({ other: place.thread, otherSeq: seq ?? newest, tab: "compare" }),
    },
    // Running a tool takes two keys.
    { keys: ["a"], does: "to approve the tool call that waits, with Enter", press: () => element(".approve")?.focus() },
    { keys: ["d"], does: "to deny it, with Enter", press: () => element(".deny")?.focus() },
    { keys: ["r"], does: "try the turn again in a fork", press: () => turn !== null && show("again") },
    { keys: ["f"], does: "fork the thread at this turn", press: fork },
    { keys: ["x"], does: "export the journal", press: () => element("a[download]")?.click() },
    {
      keys: ["/"],
      does: "search",
      press: () => {
        go({ pane: "threads" });
        // A narrow window shows the pane at once, so that no letter that follows is lost.
        element(".studio")?.setAttribute("data-pane", "threads");
        element("#search")?.focus();
      },
    },
    { keys: ["?"], does: "these keys", press: () => show("help") },
  ];
};

/** Moves the selection in the pane that receives keys. */
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

/** Returns the next entry with a call, within the loaded part of the timeline. */
const callBeside = ({ seq, timeline }: Pressing, way: 1 | -1): number | null => {
  for (let index = (seq ?? timeline.total ?? 0) + way; ; index += way) {
    const row = timeline.at(index);
    if (row === undefined) return seq;
    if (row.asks) return index;
  }
};

/** The effect of a key; null for a key that is only listed. */
interface Key {
  readonly keys: readonly string[];
  readonly does: string;
  readonly press: () => void;
}

/** Listens to keys while the person is not typing and no dialog is open. */
const useKeys = (keys: readonly Key[]): void => {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event)) return;
      const key = latest.current.find((each) => each.keys.includes(event.key));
      if (key === undefined) return;
      event.preventDefault();
      key.press();
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
};

/** Returns whether the person is typing, or about to press a button. */
const isTyping = ({ target, key }: KeyboardEvent): boolean =>
  target instanceof HTMLElement &&
  (/^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
    (key === "Enter" && /^(?:BUTTON|A|SUMMARY)$/.test(target.tagName)) ||
    // Not one that has just closed, which has the focus until the next frame.
    target.closest("dialog[open]") !== null);

/** Shows all keys, and their effects. */
const Help = ({ keys, close }: { readonly keys: readonly Key[]; readonly close: () => void }): ComponentChild =>
  h(
    Dialog,
    { title: "Keys", close },
    h(
      "table",
      { class: "keys" },
      h(
        "tbody",
        null,
        keys.map(({ keys: names, does }) => {
          const drawn = names.map((name) => h("kbd", { key: name }, shownAs[name] ?? name));
          return h("tr", { key: does }, h("td", null, drawn), h("td", null, does));
        }),
      ),
    ),
  );

const shownAs: Readonly<Record<string, string>> = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→" };

/** Shows the state after an entry: the machine's state, the facts, and the entry that led there. */
const stateTab = (setup: Setup | null, view: EntryView): ComponentChild => {
  const { type: _, at: __, ...event } = view.entry.event;
  const decided = "decided" in view.entry ? view.entry.decided : undefined;
  return scroll(
    "state-tab",
    setup !== null && stateChart(setup.chart, view.came, view.place),
    h(
      "dl",
      { class: "facts" },
      view.facts.map(([label, text]) =>
        h(Fragment, { key: label }, h("dt", { class: "dim" }, label), h("dd", null, oneLine(text))),
      ),
    ),
    h("h2", null, span("event-type", view.entry.event.type)),
    h(JsonText, { value: event }),
    decided !== undefined && h(Fragment, null, h("h2", null, "decided"), h(JsonText, { value: decided })),
  );
};
