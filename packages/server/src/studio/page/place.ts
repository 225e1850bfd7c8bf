import { useEffect, useState } from "preact/hooks";

/** The displayed place. All of it is in the address, so that back, reload and sharing the link work. */
export interface Place {
  readonly pane: Pane;
  readonly thread: string | null;
  /** The entry; null for the newest at any time. */
  readonly seq: number | null;
  readonly view: "timeline" | "tree";
  readonly tab: Tab;
  /** The configuration for viewing a prompt; null for the sent prompt. */
  readonly policy: string | null;
  /** The thread and the entry to compare with. */
  readonly other: string | null;
  readonly otherSeq: number | null;
  /** The threads that are listed, and their order. */
  readonly filter: Filter;
  readonly sort: Sort;
}

/** The pane that receives keys, and that a narrow window shows. */
export type Pane = (typeof panes)[number];
export const panes = ["threads", "journal", "detail"] as const;

export type Tab = (typeof tabs)[number];
export const tabs = ["conversation", "turn", "prompt", "state", "compare"] as const;

export type Filter = (typeof filters)[number];
export const filters = ["all", "approval", "running", "failed", "done"] as const;

export type Sort = (typeof sorts)[number];
export const sorts = ["activity", "newest", "turns", "tokens", "cost"] as const;

/** Goes to a place. `quietly`: adds no entry to the browser's history. */
export type Go = (to: Partial<Place>, how?: "quietly") => void;

/** Returns the place of the page, and the function that changes it. */
export const usePlace = (): readonly [Place, Go] => {
  const [place, set] = useState(() => placeIn(location.hash));
  useEffect(() => {
    const follow = (): void => set(placeIn(location.hash));
    addEventListener("popstate", follow);
    addEventListener("hashchange", follow);
    return () => {
      removeEventListener("popstate", follow);
      removeEventListener("hashchange", follow);
    };
  }, []);
  const go: Go = (to, how) => {
    const next = { ...placeIn(location.hash), ...to };
    const hash = hashOf(next);
    if (how === "quietly") history.replaceState(null, "", hash);
    else if (hash !== location.hash) history.pushState(null, "", hash);
    set(next);
  };
  return [place, go];
};

const hashOf = (place: Place): string => {
  const given = Object.entries(place).filter(
    ([name, value]) => value !== null && value !== defaults[name as keyof Place],
  );
  return `#${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`;
};

const defaults: Partial<Place> = {
  pane: "threads",
  view: "timeline",
  tab: "conversation",
  filter: "all",
  sort: "activity",
};

const placeIn = (hash: string): Place => {
  const given = new URLSearchParams(hash.slice(1));
  const among = <Name extends string>(name: string, names: readonly Name[], otherwise: Name): Name =>
    names.find((each) => each === given.get(name)) ?? otherwise;
  const number = (name: string): number | null => {
    const text = given.get(name) ?? "";
    return /^\d{1,15}$/.test(text) ? Number(text) : null;
  };
  return {
    pane: among("pane", panes, "threads"),
    thread: given.get("thread"),
    seq: number("seq"),
    view: among("view", ["timeline", "tree"], "timeline"),
    tab: among("tab", tabs, "conversation"),
    policy: given.get("policy"),
    other: given.get("other"),
    otherSeq: number("otherSeq"),
    filter: among("filter", filters, "all"),
    sort: among("sort", sorts, "activity"),
  };
};
