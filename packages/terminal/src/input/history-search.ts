import { line, type Size } from "../text/line.ts";
import { withMatches } from "../text/match.ts";
import { oneLine } from "../text/printable.ts";
import { cutLine } from "../text/wrap.ts";
import type { Action } from "./action.ts";
import { editorOf } from "./editor.ts";
import type { Key } from "./key.ts";
import { type InputFrame, layOut } from "./layout.ts";
import { queryAfter } from "./query.ts";

/** A search backwards through what was typed before. */
export interface HistorySearch {
  readonly inputs: readonly string[];
  readonly query: string;
  /** Which input is found; null: none. */
  readonly at: number | null;
}

export const searchOf = (inputs: readonly string[]): HistorySearch => ({ inputs, query: "", at: null });

/** What a key makes of a search. */
export type SearchStep =
  | { readonly type: "search"; readonly search: HistorySearch }
  /** It comes into the input. */
  | { readonly type: "take"; readonly text: string }
  /** The input is what it was. */
  | { readonly type: "close" }
  | { readonly type: "reset" };

/** `action`: what the key does by the keymap. */
export const pressInSearch = (search: HistorySearch, key: Key, action: Action | undefined): SearchStep => {
  const { inputs, query, at } = search;
  const next = queryAfter(query, key, action);
  if (next !== null) {
    // With more words, what was found may still have them.
    const from = key.type === "key" ? null : at;
    return { type: "search", search: { inputs, query: next, at: found(inputs, next, from ?? inputs.length - 1) } };
  }
  if (action === "searchHistory" || action === "searchHistoryOrReset") {
    if (query === "") return action === "searchHistory" ? { type: "search", search } : { type: "reset" };
    return { type: "search", search: { ...search, at: found(inputs, query, (at ?? 0) - 1) ?? at } };
  }
  const text = at === null ? undefined : inputs[at];
  // Escape also where a keymap has it do something else.
  const isLeft = (key.type === "key" && key.name === "escape") || action === "closeOrStop" || action === "interrupt";
  return isLeft || text === undefined ? { type: "close" } : { type: "take", text };
};

/** The search in the place of the input, with what it found below. */
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
