import type { StoredThread } from "@colloquy/host";
import { h, type ComponentChild } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { SearchView, Setup, ThreadList } from "../wire/wire.ts";
import type { Go, Place } from "./place.ts";
import { asking, get, useEvents, useLoaded } from "./server.ts";
import { counted, oneLine, timeOf } from "./text.ts";
import { type Items, VirtualList } from "./virtual-list.ts";

/** The threads of the store, newest first, as they change. */
export interface Threads extends Items<StoredThread> {
  /** Whether changes are heard of. */
  readonly isLive: boolean;
  /** Of a thread how many entries it has, as far as that was heard of. */
  readonly entriesOf: (threadId: string | null) => number;
}

/** Reads threads page by page, and puts those that change in their places. */
export const useThreads = (): Threads => {
  const [threads, setThreads] = useState<readonly StoredThread[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const next = useRef<string | null | undefined>(undefined);
  const isAsking = useRef(false);
  const more = (): void => {
    if (next.current === null || isAsking.current) return;
    isAsking.current = true;
    void asking(
      get<ThreadList>("threads", { after: next.current }),
      (page) => {
        isAsking.current = false;
        next.current = page.next;
        setThreads((known) => merged(known, page.threads));
        setProblem(null);
      },
      (words) => {
        isAsking.current = false;
        setProblem(words);
      },
    );
  };
  useEffect(more, []);
  // What the server writes, which is of this package.
  const isLive = useEvents("threads", (changed) =>
    setThreads((known) => merged(known, changed as readonly StoredThread[])),
  );
  return {
    total: next.current === undefined && problem === null ? null : threads.length,
    at: (index) => threads[index],
    need: (_, last) => {
      if (last >= threads.length) more();
    },
    problem: threads.length === 0 ? problem : null,
    isLive,
    entriesOf: (threadId) => (threads.find((thread) => thread.threadId === threadId)?.seq ?? -1) + 1,
  };
};

/** Newest first, each once, as it was heard of last. */
const merged = (known: readonly StoredThread[], changed: readonly StoredThread[]): readonly StoredThread[] => {
  const byId = new Map([...known, ...changed].map((thread) => [thread.threadId, thread]));
  return [...byId.values()].sort(
    (one, other) => other.createdAt - one.createdAt || (one.threadId < other.threadId ? 1 : -1),
  );
};

export interface ThreadsPaneOptions {
  readonly setup: Setup | null;
  readonly threads: Threads;
  readonly place: Place;
  readonly go: Go;
}

/** The list of threads; while words are searched for, where they were said. */
export const ThreadsPane = ({ setup, threads, place, go }: ThreadsPaneOptions): ComponentChild => {
  const [words, setWords] = useState("");
  const [asked, setAsked] = useState("");
  const found = useLoaded<SearchView>("search", asked === "" ? null : { words: asked });
  const submit = (event: Event): void => {
    event.preventDefault();
    if (setup?.searches === false) go({ thread: words.trim(), seq: null, pane: "journal" });
    else setAsked(words.trim());
  };
  const clear = (): void => {
    setWords("");
    setAsked("");
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
        onInput: (event: Event) => {
          // It is of this input.
          const { value } = event.target as HTMLInputElement;
          setWords(value);
          if (value === "") setAsked("");
        },
        onKeyDown: (event: KeyboardEvent) => {
          if (event.key !== "Escape") return;
          clear();
          (event.target as HTMLInputElement).blur();
        },
      }),
    ),
    asked === ""
      ? h(VirtualList<StoredThread>, {
          items: threads,
          rowHeight: 52,
          label: "Threads",
          selected: null,
          row: (thread) => threadRow(thread, thread.threadId === place.thread),
          onSelect: ({ threadId }) => go({ thread: threadId, seq: null, pane: "journal" }),
          empty: "no thread yet: what any process writes to this store is shown here",
        })
      : h(Found, { found: found.value, problem: found.problem, words: asked, go, clear }),
  );
};

const threadRow = ({ threadId, seq, updatedAt, metadata }: StoredThread, isOpen: boolean): ComponentChild =>
  h(
    "div",
    { class: isOpen ? "thread open" : "thread" },
    h("div", { class: "thread-id" }, oneLine(threadId)),
    h(
      "div",
      { class: "dim small" },
      `${counted(seq + 1, "entry", "entries")} · ${timeOf(updatedAt)}`,
      Object.keys(metadata).length > 0 && ` · ${oneLine(JSON.stringify(metadata)).slice(0, 200)}`,
    ),
  );

interface FoundOptions {
  readonly found: SearchView | null;
  readonly problem: string | null;
  readonly words: string;
  readonly go: Go;
  readonly clear: () => void;
}

const Found = ({ found, problem, words, go, clear }: FoundOptions): ComponentChild =>
  h(
    "div",
    { class: "list found" },
    h(
      "p",
      { class: "note" },
      problem ??
        (found === null ? "searching …" : `${found.hits.length}${found.next === null ? "" : "+"} × ${oneLine(words)} `),
      h("button", { class: "link", type: "button", onClick: clear }, "all threads"),
    ),
    found?.hits.map(({ threadId, seq, at, excerpt }) =>
      h(
        "button",
        {
          class: "hit",
          type: "button",
          key: `${threadId} ${seq}`,
          onClick: () => go({ thread: threadId, seq, pane: "journal", view: "timeline" }),
        },
        h(
          "div",
          { class: "thread-id" },
          oneLine(threadId),
          h("span", { class: "dim" }, ` entry ${seq} · ${timeOf(at)}`),
        ),
        h("div", { class: "small" }, oneLine(excerpt).slice(0, 300)),
      ),
    ),
  );
