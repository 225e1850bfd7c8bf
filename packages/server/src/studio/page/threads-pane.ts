import type { StoredThread } from "@colloquy/host";
import { h, type ComponentChild } from "preact";
import { useState } from "preact/hooks";
import type { FoundView } from "../wire/wire.ts";
import type { Looking } from "./looking.ts";
import type { Go } from "./place.ts";
import { type Loaded, useLoaded } from "./server.ts";
import { counted, oneLine, timeOf } from "./text.ts";
import { VirtualList } from "./virtual-list.ts";
import { button, div, link, p, span, valueIn } from "./element.ts";

/** Shows the list of threads, or the matches of a search. */
export const ThreadsPane = ({ setup, threads, place, go }: Looking): ComponentChild => {
  const [words, setWords] = useState("");
  const [asked, setAsked] = useState("");
  const found = useLoaded<FoundView>("search", asked === "" ? null : { words: asked });
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
          setWords(valueIn(event));
          if (valueIn(event) === "") setAsked("");
        },
        onKeyDown: (event: KeyboardEvent) => {
          if (event.key !== "Escape") return;
          clear();
          // The event's target is this input.
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
      : foundList(found, asked, go, clear),
  );
};

const threadRow = ({ threadId, seq, updatedAt, metadata }: StoredThread, isOpen: boolean): ComponentChild =>
  div(
    isOpen ? "thread open" : "thread",
    div("thread-id", oneLine(threadId)),
    div(
      "dim small",
      `${counted(seq + 1, "entry", "entries")} · ${timeOf(updatedAt)}`,
      Object.keys(metadata).length > 0 && ` · ${oneLine(JSON.stringify(metadata)).slice(0, 200)}`,
    ),
  );

const foundList = (
  { value: found, problem }: Loaded<FoundView>,
  words: string,
  go: Go,
  clear: () => void,
): ComponentChild => {
  const note = found === null ? "searching …" : `${found.hits.length}${found.hasMore ? "+" : ""} × ${oneLine(words)} `;
  return div(
    "list found",
    p("note", problem ?? note, link("all threads", clear)),
    found?.hits.map(({ threadId, seq, at, excerpt }) =>
      button(
        () => go({ thread: threadId, seq, pane: "journal", view: "timeline" }),
        { class: "hit", key: `${threadId} ${seq}` },
        div("thread-id", oneLine(threadId), span("dim", ` entry ${seq} · ${timeOf(at)}`)),
        div("small", oneLine(excerpt).slice(0, 300)),
      ),
    ),
  );
};
