import type { StoredThread } from "@colloquy/host";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ThreadPage } from "@colloquy/host";
import { asking, get, useEvents } from "./server.ts";
import type { Items } from "./virtual-list.ts";

/** The threads of the store, newest first, kept up to date. */
export interface Threads extends Items<StoredThread> {
  /** Whether the page receives changes. */
  readonly isLive: boolean;
  /** Returns the last known number of a thread's entries. */
  readonly entriesOf: (threadId: string | null) => number;
}

/** Loads threads page by page, and merges changed ones. */
export const useThreads = (): Threads => {
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
