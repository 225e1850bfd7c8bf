import type { EntryView, Setup, ThreadOverview, TimelineRow, TreeItem } from "../wire/wire.ts";
import { type Go, type Place, usePlace } from "./place.ts";
import { type Loaded, useLoaded } from "./server.ts";
import { type Threads, useThreads } from "./threads.ts";
import { type Items, usePages } from "./virtual-list.ts";

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

/** A displayed entry of a thread. */
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
