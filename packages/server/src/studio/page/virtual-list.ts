import { h, type ComponentChild } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Page } from "../wire/wire.ts";
import { asking, get, type Query } from "./server.ts";
import { p } from "./element.ts";

/** A long list of which a part is loaded. */
export interface Items<Item> {
  /** Null while it is unknown. */
  readonly total: number | null;
  readonly at: (index: number) => Item | undefined;
  /** Loads missing items between two indexes. */
  readonly need: (first: number, last: number) => void;
  readonly problem: string | null;
}

/** Returns the index of an item in the loaded part; -1 if it is not found. */
export const indexOf = <Item>({ total, at }: Items<Item>, is: (item: Item) => boolean): number => {
  for (let index = 0; index < (total ?? 0); index++) {
    const item = at(index);
    if (item !== undefined && is(item)) return index;
  }
  return -1;
};

export interface VirtualListOptions<Item> {
  readonly items: Items<Item>;
  readonly rowHeight: number;
  readonly label: string;
  /** The index of the item to scroll to; null for none, negative for the last. */
  readonly selected: number | null;
  readonly row: (item: Item, before: Item | undefined, isSelected: boolean) => ComponentChild;
  readonly onSelect: (item: Item, index: number) => void;
  readonly empty: string;
}

export const VirtualList = <Item>(options: VirtualListOptions<Item>): ComponentChild => {
  const { rowHeight, selected } = options;
  const { total, at, need, problem } = options.items;
  const box = useRef<HTMLDivElement>(null);
  const [[top, height], setSeen] = useState<readonly [number, number]>([0, 0]);
  const look = (): void => setSeen([box.current?.scrollTop ?? 0, box.current?.clientHeight ?? 0]);
  const index = selected === null ? null : selected < 0 ? (total ?? 0) - 1 : selected;
  useLayoutEffect(() => {
    if (box.current === null) return undefined;
    const observer = new ResizeObserver(look);
    observer.observe(box.current);
    look();
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || index === null || total === null) return;
    const [above, below] = [index * rowHeight, (index + 1) * rowHeight];
    if (above < element.scrollTop) element.scrollTop = above;
    else if (below > element.scrollTop + element.clientHeight) element.scrollTop = below - element.clientHeight;
    look();
  }, [index, total === null, height]);
  const first = Math.max(Math.floor(top / rowHeight) - beside, 0);
  const last = Math.min(Math.ceil((top + height) / rowHeight) + beside, total ?? pageSize);
  useEffect(() => need(first, last));
  const rows = Array.from({ length: Math.max(last - first, 0) }, (_, offset) => first + offset).flatMap((place) => {
    const item = at(place);
    if (item === undefined) return [];
    const is = place === index;
    const style = { top: `${place * rowHeight}px`, height: `${rowHeight}px` };
    const name = is ? "row selected" : "row";
    const onClick = (): void => options.onSelect(item, place);
    return h(
      "div",
      { key: place, class: name, role: "option", "aria-selected": is, style, onClick },
      options.row(item, at(place - 1), is),
    );
  });
  const note = problem ?? (total === 0 ? options.empty : null);
  return h(
    "div",
    { class: "list", ref: box, role: "listbox", tabIndex: 0, "aria-label": options.label, onScroll: look },
    note === null
      ? h("div", { class: "rows", style: { height: `${(total ?? 0) * rowHeight}px` } }, rows)
      : p("note", note),
  );
};

/** The number of rows that are drawn beyond each edge. */
const beside = 8;

const pageSize = 100;

interface Kept<Item> {
  readonly source: string;
  readonly items: Map<number, { readonly revision: number | string; readonly items: readonly Item[] }>;
  readonly asked: Set<string>;
  total: number | null;
}

/** Loads a list page by page, on demand. A page of an older revision is shown until the new one arrives. */
export const usePages = <Item>(path: string | null, query: Query, revision: number | string = 0): Items<Item> => {
  const source = `${path}?${JSON.stringify(query)}`;
  const kept = useRef<Kept<Item>>({ source: "", items: new Map(), asked: new Set(), total: null });
  const [problem, setProblem] = useState<string | null>(null);
  const [, draw] = useState(0);
  if (kept.current.source !== source) kept.current = { source, items: new Map(), asked: new Set(), total: null };
  const pages = kept.current;
  const ask = (page: number): void => {
    const key = `${page}@${revision}`;
    if (path === null || pages.asked.has(key)) return;
    pages.asked.add(key);
    void asking(
      get<Page<Item>>(path, { ...query, from: page * pageSize, limit: pageSize }),
      ({ total, items }) => {
        pages.items.set(page, { revision, items });
        pages.total = total;
        setProblem(null);
        draw((times) => times + 1);
      },
      (words) => {
        // Allows another attempt.
        pages.asked.delete(key);
        setProblem(words);
      },
    );
  };
  return {
    total: pages.total,
    at: (index) => pages.items.get(Math.floor(index / pageSize))?.items[index % pageSize],
    need: (first, last) => {
      for (let page = Math.floor(first / pageSize); page * pageSize < Math.max(last, first + 1); page++) {
        if (pages.items.get(page)?.revision !== revision) ask(page);
      }
    },
    problem,
  };
};
