import { line, type Size } from "../text/line.ts";
import { withMatches } from "../text/match.ts";
import { oneLine } from "../text/printable.ts";
import { cutLine } from "../text/wrap.ts";
import type { Action } from "./action.ts";
import { editorOf } from "./editor.ts";
import type { Key } from "./key.ts";
import { type InputFrame, layOut } from "./layout.ts";
import { queryAfter } from "./query.ts";

/** A search backwards through the input history. */
export interface HistorySearch {
  readonly inputs: readonly string[];
  readonly query: string;
  /** The index of the found input; null if there is none. */
  readonly at: number | null;
}

export const searchOf = (inputs: readonly string[]): HistorySearch => ({ inputs, query: "", at: null });

/** The effect of a key in a search. */
export type SearchStep =
  | { readonly type: "search"; readonly search: HistorySearch }
  /** The text replaces the input. */
  | { readonly type: "take"; readonly text: string }
  /** The input stays as it was. */
  | { readonly type: "close" }
  | { readonly type: "reset" };

/** Handles a key. @param action of the key in the keymap. */
export const pressInSearch = (search: HistorySearch, key: Key, action: Action | undefined): SearchStep => {
  const { inputs, query, at } = search;
  const next = queryAfter(query, key, action);
  if (next !== null) {
    // With a longer query, the found input may still match.
    const from = key.type === "key" ? null : at;
    return { type: "search", search: { inputs, query: next, at: found(inputs, next, from ?? inputs.length - 1) } };
  }
  if (action === "searchHistory" || action === "searchHistoryOrReset") {
    if (query === "") return action === "searchHistory" ? { type: "search", search } : { type: "reset" };
    return { type: "search", search: { ...search, at: found(inputs, query, (at ?? 0) - 1) ?? at } };
  }
  const text = at === null ? undefined : inputs[at];
  // Escape leaves the search even if a keymap assigns another action to it.
  const isLeft = (key.type === "key" && key.name === "escape") || action === "closeOrStop" || action === "interrupt";
  return isLeft || text === undefined ? { type: "close" } : { type: "take", text };
};

/** Lays out the search in place of the input, with the found input below. */
export const layOutSearch = ({ inputs, query, at }: HistorySearch, size: Size): InputFrame => {
  const { lines, cursor } = layOut(editorOf(query), size, "search: ");
  const input = line(at === null ? "" : oneLine(inputs[at] ?? ""), "dim");
  return { lines: [...lines, withMatches(cutLine(input, size.columns - 1), query)], cursor };
};

const found = (inputs: readonly string[], query: string, from: number): number | null => {
  const wanted = query.toLowerCase();
  const at = inputs.findLastIndex((text, index) => index <= from && oneLine(text).toLowerCase().includes(wanted));
  return at < 0 || wanted === "" ? null : at;
};
