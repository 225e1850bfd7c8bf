import { h, type ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { FoundView, ThreadItem } from "../wire/wire.ts";
import { type Looking, statusOf } from "./looking.ts";
import { type Filter, filters, type Go, type Sort, sorts } from "./place.ts";
import { type Loaded, useLoaded } from "./server.ts";
import { counted, numberOf, oneLine, timeOf } from "./text.ts";
import { indexOf, VirtualList } from "./virtual-list.ts";
import { button, choice, div, link, p, span, valueIn } from "./element.ts";

/** Shows the list of threads, or the matches of a search. */
export const ThreadsPane = ({ setup, threads, place, go }: Looking): ComponentChild => {
  const [words, setWords] = useState("");
  const asked = useDelayed(words.trim());
  const searches = setup?.searches === true;
  const found = useLoaded<FoundView>("search", asked === "" || !searches ? null : { words: asked });
  const clear = (): void => setWords("");
  const submit = (event: Event): void => {
    event.preventDefault();
    if (setup?.searches === false) go({ thread: words.trim(), seq: null, pane: "journal" });
  };
  return h(
    "section",
    { class: "pane threads", "aria-label": "Threads" },
    h(
      "form",
      { class: "search", role: "search", onSubmit: submit },
      h("input", {
        id: "search",
        type: "search",
        placeholder: setup?.searches === false ? "open a thread by its id" : "search what was said   /",
        value: words,
        autocomplete: "off",
        "aria-label": "Search",
        onInput: (event: Event) => setWords(valueIn(event)),
        onKeyDown: (event: KeyboardEvent) => {
          if (event.key !== "Escape") return;
          clear();
          // The event's target is this input.
          (event.target as HTMLInputElement).blur();
        },
      }),
      choice(
        "Show",
        filters,
        (filter) => filterWords[filter],
        place.filter,
        (filter) => go({ filter }, "quietly"),
      ),
      choice(
        "Order",
        sorts,
        (sort) => sortWords[sort],
        place.sort,
        (sort) => go({ sort }, "quietly"),
      ),
    ),
    asked !== "" && searches
      ? foundList(found, asked, threads, go, clear)
      : h(VirtualList<ThreadItem>, {
          items: threads,
          rowHeight: 68,
          label: "Threads",
          selected: null,
          row: (thread) => threadRow(thread, thread.threadId === place.thread),
          onSelect: ({ threadId }) => go({ thread: threadId, seq: null, pane: "journal" }),
          empty:
            threads.loaded === 0
              ? "no thread yet: what any process writes to this store is shown here"
              : `none of ${counted(threads.loaded, "thread")}${threads.hasMore ? ", and there are more" : ""}`,
        }),
  );
};

/** Returns a text some moments after it was typed, so that not each letter is searched; an empty one at once. */
const useDelayed = (text: string): string => {
  const [delayed, set] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => set(text), 150);
    return () => clearTimeout(timer);
  }, [text]);
  return text === "" ? "" : delayed;
};

const filterWords: Readonly<Record<Filter, string>> = {
  all: "all threads",
  approval: "waiting for approval",
  running: "running",
  failed: "failed",
  done: "done",
};

const sortWords: Readonly<Record<Sort, string>> = {
  activity: "last active first",
  newest: "newest first",
  turns: "most turns first",
  tokens: "most tokens first",
  cost: "highest cost first",
};

const threadRow = (thread: ThreadItem, isOpen: boolean): ComponentChild => {
  const { threadId, title, turns, tokens, cost, updatedAt } = thread;
  const status = statusOf(thread);
  return div(
    isOpen ? "thread open" : "thread",
    div(
      "line",
      h("div", { class: "thread-title grow", dir: "auto" }, oneLine(title) || oneLine(threadId)),
      span(`mark ${status}`, status),
    ),
    div("line dim small", span("thread-id grow", oneLine(threadId)), h("time", null, timeOf(updatedAt))),
    div(
      "dim small",
      `${counted(turns, "turn")} · ${tokens === null ? "–" : numberOf(tokens)} tokens · cost ${cost?.text ?? "–"}`,
    ),
  );
};

/** Shows the listed threads whose titles match, and the messages that a search found. */
const foundList = (
  { value, problem }: Loaded<FoundView>,
  words: string,
  threads: Looking["threads"],
  go: Go,
  clear: () => void,
): ComponentChild => {
  // While a search runs, the value is that of the words before.
  const found = value?.words === words ? value : null;
  const note =
    found === null
      ? "searching …"
      : found.hits.length === 0
        ? `No message has all of these whole words: ${oneLine(words)}. `
        : `${counted(found.hits.length, "message")}${found.hasMore ? " and more" : ""}. `;
  const hit = (key: string, to: Parameters<Go>[0], title: string, beside: string, text: string): ComponentChild =>
    button(
      () => go({ pane: "journal", ...to }),
      { class: "hit", key },
      div("thread-id", oneLine(title), span("dim", beside)),
      div("small", oneLine(text).slice(0, 300)),
    );
  return div(
    "list found",
    p("note", problem ?? note, link("Show all threads", clear)),
    titled(threads, words).map(({ threadId, title }) =>
      hit(threadId, { thread: threadId, seq: null }, threadId, "", title),
    ),
    found?.hits.map(({ threadId, seq, at, excerpt }) =>
      hit(
        `${threadId} ${seq}`,
        { thread: threadId, seq, view: "timeline" },
        threadId,
        ` entry ${seq} · ${timeOf(at)}`,
        excerpt,
      ),
    ),
  );
};

/** Returns the first listed threads whose id or title has a text. */
const titled = (threads: Looking["threads"], words: string): readonly ThreadItem[] => {
  const wanted = words.toLowerCase();
  const matching: ThreadItem[] = [];
  indexOf(threads, (thread) => {
    if (`${thread.threadId} ${thread.title}`.toLowerCase().includes(wanted)) matching.push(thread);
    return matching.length === titledMax;
  });
  return matching;
};

const titledMax = 10;
