import type { EntryView, Setup, ThreadOverview, TimelineRow, TreeItem } from "../wire/wire.ts";
import { type Go, type Place, usePlace } from "./place.ts";
import { type Loaded, useLoaded, asking, get, useEvents } from "./server.ts";
import { type Items, usePages } from "./virtual-list.ts";
import type { StoredThread, ThreadPage } from "@colloquy/host";
import { useEffect, useRef, useState } from "preact/hooks";

/** The displayed place, and the data loaded for it. */
export interface Looking {
  readonly place: Place;
  readonly go: Go;
  readonly setup: Setup | null;
  readonly threads: Threads;
  readonly overview: Loaded<ThreadOverview>;
  readonly timeline: Items<TimelineRow>;
  readonly tree: Items<TreeItem>;
  readonly entry: Loaded<EntryView>;
  /** The displayed entry, and its turn. */
  readonly seq: number | null;
  readonly turn: number | null;
  /** The newest entry. */
  readonly newest: number | null;
}

export interface LookingAtEntry extends Looking {
  readonly thread: string;
  readonly seq: number;
}

/** Loads the data for the address. */
export const useLooking = (): Looking => {
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

/** The threads of the store, newest first, kept up to date. */
interface Threads extends Items<StoredThread> {
  /** Whether the page receives changes. */
  readonly isLive: boolean;
  /** Returns the last known number of a thread's entries. */
  readonly entriesOf: (threadId: string | null) => number;
}

/** Loads threads page by page, and merges changed ones. */
const useThreads = (): Threads => {
  const [threads, setThreads] = useState<readonly StoredThread[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const next = useRef<string | null | undefined>(undefined);
  const isAsking = useRef(false);
  const more = (): void => {
    if (next.current === null || isAsking.current) return;
    isAsking.current = true;
    void asking(
      get<ThreadPage>("threads", { after: next.current }),
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
  // The server is in this package, and sends this type.
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

/** Merges threads: newest first, each once, in its last known version. */
const merged = (known: readonly StoredThread[], changed: readonly StoredThread[]): readonly StoredThread[] => {
  const byId = new Map([...known, ...changed].map((thread) => [thread.threadId, thread]));
  return [...byId.values()].sort(
    (one, other) => other.createdAt - one.createdAt || (one.threadId < other.threadId ? 1 : -1),
  );
};
