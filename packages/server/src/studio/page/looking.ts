import type {
  EntryView,
  RunningView,
  Setup,
  ThreadItem,
  ThreadItems,
  ThreadOverview,
  TimelineRow,
  TreeItem,
} from "../wire/wire.ts";
import { type Filter, type Go, type Place, type Sort, usePlace } from "./place.ts";
import { type Loaded, useLoaded, asking, get, useEvents } from "./server.ts";
import { type Items, usePages } from "./virtual-list.ts";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

/** The displayed place, and the data loaded for it. */
export interface Looking {
  readonly place: Place;
  readonly go: Go;
  readonly setup: Setup | null;
  readonly threads: Threads;
  readonly overview: Loaded<ThreadOverview>;
  readonly timeline: Items<TimelineRow>;
  readonly tree: Items<TreeItem>;
  /** The row of the displayed turn in the tree; null if it is unknown. */
  readonly treeRow: number | null;
  readonly entry: Loaded<EntryView>;
  /** The displayed entry, and its turn. */
  readonly seq: number | null;
  readonly turn: number | null;
  /** The newest entry. */
  readonly newest: number | null;
  /** The open turn. */
  readonly running: RunningView | null;
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
  const threads = useThreads(place);
  const revision = threads.entriesOf(thread);
  const ofThread = { thread: thread ?? "" };
  const overview = useLoaded<ThreadOverview>("thread", thread === null ? null : { thread }, revision);
  const timeline = usePages<TimelineRow>(thread === null ? null : "timeline", ofThread, revision);
  const tree = usePages<TreeItem>(thread === null || view !== "tree" ? null : "tree", ofThread, revision);
  const newest = overview.value?.threadId === thread ? overview.value.entries - 1 : null;
  const seq = place.seq ?? newest;
  const entry = useLoaded<EntryView>("entry", thread === null || seq === null ? null : { thread, seq });
  const turn = entry.value?.turn ?? null;
  const rowOf = thread === null || view !== "tree" || turn === null ? null : { thread, turn };
  const treeRow = useLoaded<{ readonly row: number }>("tree-row", rowOf, revision).value?.row ?? null;
  const running = useRunning(newest === null ? null : (overview.value ?? null), revision);
  return { place, go, setup, threads, overview, timeline, tree, treeRow, entry, seq, turn, newest, running };
};

/** Polls the open turn of a thread, since no entry says how far its answer is. */
const useRunning = (overview: ThreadOverview | null, revision: number): RunningView | null => {
  const [beat, setBeat] = useState(0);
  const isOpen = overview !== null && !closedPlaces.has(overview.place);
  const everyMs = overview?.place === "responding" ? 400 : 2_000;
  useEffect(() => {
    if (!isOpen) return undefined;
    const timer = setInterval(() => document.hidden || setBeat((beats) => beats + 1), everyMs);
    return () => clearInterval(timer);
  }, [isOpen, everyMs]);
  const query = isOpen ? { thread: overview.threadId } : null;
  return (
    useLoaded<{ readonly running: RunningView | null }>("running", query, `${revision} ${beat}`).value?.running ?? null
  );
};

/** The states in which no turn is open. */
const closedPlaces: ReadonlySet<string> = new Set(["idle", "completed", "error"]);

/** Returns the state of a thread in the words of the list. */
export const statusOf = ({ place, approvals }: ThreadItem): Exclude<Filter, "all"> | "unreadable" => {
  if (place === null) return "unreadable";
  if (approvals > 0) return "approval";
  if (place === "error") return "failed";
  return closedPlaces.has(place) ? "done" : "running";
};

/** The threads of the store, kept up to date, as they are filtered and sorted. */
interface Threads extends Items<ThreadItem> {
  /** Whether the page receives changes. */
  readonly isLive: boolean;
  /** The number of loaded threads, and whether there are more. */
  readonly loaded: number;
  readonly hasMore: boolean;
  /** Returns the last known number of a thread's entries. */
  readonly entriesOf: (threadId: string | null) => number;
}

/** Loads threads page by page, and merges changed ones. */
const useThreads = ({ filter, sort }: Place): Threads => {
  const [known, setKnown] = useState<ReadonlyMap<string, ThreadItem>>(new Map());
  const [problem, setProblem] = useState<string | null>(null);
  const next = useRef<string | null | undefined>(undefined);
  const isAsking = useRef(false);
  const merge = (read: readonly ThreadItem[]): void =>
    setKnown((before) => {
      const fresh = read.filter((thread) => !isOlder(thread, before.get(thread.threadId)));
      return new Map([...before, ...fresh.map((thread) => [thread.threadId, thread] as const)]);
    });
  const more = (): void => {
    if (next.current === null || isAsking.current) return;
    isAsking.current = true;
    void asking(
      get<ThreadItems>("threads", { after: next.current }),
      (page) => {
        isAsking.current = false;
        next.current = page.next;
        merge(page.threads);
        setProblem(null);
      },
      (words) => {
        isAsking.current = false;
        setProblem(words);
      },
    );
  };
  // The first thousand are loaded at once, so that filter and order find what a person looks for.
  useEffect(() => {
    if (known.size < loadedAtOnce) more();
  }, [known.size]);
  // The server is in this package, and sends this type.
  const isLive = useEvents("threads", (changed) => merge(changed as readonly ThreadItem[]));
  const threads = useMemo(() => listed([...known.values()], filter, sort), [known, filter, sort]);
  return {
    total: next.current === undefined && problem === null ? null : threads.length,
    at: (index) => threads[index],
    need: (_, last) => {
      if (last >= threads.length) more();
    },
    problem: known.size === 0 ? problem : null,
    isLive,
    loaded: known.size,
    hasMore: next.current !== null && next.current !== undefined,
    entriesOf: (threadId) => ((threadId === null ? undefined : known.get(threadId))?.seq ?? -1) + 1,
  };
};

/** Returns whether a thread was read before it changed to what is known: a page may arrive after a change. */
const isOlder = (thread: ThreadItem, known: ThreadItem | undefined): boolean =>
  known !== undefined && known.createdAt === thread.createdAt && known.seq > thread.seq;

const loadedAtOnce = 1_000;

/** Filters and sorts threads: those that wait for an approval first, then the greatest. */
const listed = (threads: readonly ThreadItem[], filter: Filter, sort: Sort): readonly ThreadItem[] =>
  threads
    .filter((thread) => filter === "all" || statusOf(thread) === filter)
    .sort(
      (one, other) =>
        Number(statusOf(other) === "approval") - Number(statusOf(one) === "approval") ||
        rankBy[sort](other) - rankBy[sort](one) ||
        (one.threadId < other.threadId ? 1 : -1),
    );

const rankBy: Readonly<Record<Sort, (thread: ThreadItem) => number>> = {
  activity: ({ updatedAt }) => updatedAt,
  newest: ({ createdAt }) => createdAt,
  turns: ({ turns }) => turns,
  tokens: ({ tokens }) => tokens ?? -1,
  cost: ({ cost }) => cost?.nano ?? -1,
};
