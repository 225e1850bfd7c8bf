import type { Line, Size, Span } from "../text/line.ts";
import { oneLine } from "../text/printable.ts";
import { cutTo } from "../text/width.ts";
import type { Action } from "./action.ts";
import { type Editor, emptyEditor, typed } from "./editor.ts";
import { edited } from "./edits.ts";
import type { Key } from "./key.ts";
import { type InputFrame, layOut } from "./layout.ts";

/** A search backwards through what was typed before. */
export interface HistorySearch {
  readonly inputs: readonly string[];
  readonly query: Editor;
  /** Which input is found; null: none. */
  readonly at: number | null;
}

export const searchOf = (inputs: readonly string[]): HistorySearch => ({ inputs, query: emptyEditor, at: null });

/** What a key makes of a search. */
export type SearchStep =
  | { readonly type: "search"; readonly search: HistorySearch }
  /** It comes into the input. */
  | { readonly type: "take"; readonly text: string }
  /** The input is what it was. */
  | { readonly type: "close" }
  | { readonly type: "reset" };

/** `action`: what the key does by the keymap. */
export const pressInSearch = (search: HistorySearch, key: Key, action: Action | undefined, size: Size): SearchStep => {
  const { inputs, query, at } = search;
  if (key.type !== "key") {
    const text = key.type === "paste" ? oneLine(key.text) : key.text;
    return lookedFor(inputs, typed(query, text), at ?? inputs.length - 1);
  }
  if (action === "searchHistory" || action === "searchHistoryOrReset") {
    if (query.text === "") return action === "searchHistory" ? { type: "search", search } : { type: "reset" };
    const older = found(inputs, query.text, (at ?? 0) - 1);
    return { type: "search", search: { ...search, at: older ?? at } };
  }
  // The key too, where a keymap has it do something else.
  if (key.name === "escape" || action === "closeOrStop" || action === "interrupt") return { type: "close" };
  const next = action === undefined || !editsQuery.has(action) ? null : edited(query, action, size);
  if (next !== null) return lookedFor(inputs, next, inputs.length - 1);
  const text = at === null ? undefined : inputs[at];
  return text === undefined ? { type: "close" } : { type: "take", text };
};

/** The search in the place of the input, with what it found below. */
export const layOutSearch = ({ inputs, query, at }: HistorySearch, size: Size): InputFrame => {
  const { lines, cursor } = layOut(query, size, "search: ");
  const shown = at === null ? "" : cutTo(oneLine(inputs[at] ?? ""), Math.max(size.columns - 1, 0));
  return { lines: [...lines, matched(shown, query.text)], cursor };
};

const editsQuery: ReadonlySet<Action> = new Set([
  "deleteBackward",
  "deleteWordBackward",
  "killToLineStart",
  "clearInput",
]);

const lookedFor = (inputs: readonly string[], query: Editor, from: number): SearchStep => {
  const at = query.text === "" ? null : found(inputs, query.text, from);
  return { type: "search", search: { inputs, query, at } };
};

const found = (inputs: readonly string[], query: string, from: number): number | null => {
  const wanted = query.toLowerCase();
  const at = inputs.findLastIndex((text, index) => index <= from && oneLine(text).toLowerCase().includes(wanted));
  return at < 0 ? null : at;
};

const matched = (text: string, query: string): Line => {
  const at = text.toLowerCase().indexOf(query.toLowerCase());
  const end = at + query.length;
  // Some letters become longer as small ones: then nothing is marked.
  if (at < 0 || text.toLowerCase().length !== text.length) return [{ text, roles: ["dim"] }];
  const spans: readonly Span[] = [
    { text: text.slice(0, at), roles: ["dim"] },
    { text: text.slice(at, end), roles: ["match"] },
    { text: text.slice(end), roles: ["dim"] },
  ];
  return spans.filter((span) => span.text !== "");
};
