import type { Action } from "../input/keymap.ts";
import {
  type CompletableCommand,
  type Completion,
  completed,
  completionOf,
  layOutCompletion,
} from "../input/completion.ts";
import { type Editor, editorOf, emptyEditor, pasted, typed, expanded } from "../input/editor.ts";
import { edited, queryAfter } from "../input/edits.ts";
import { type HistoryPort, historyOf, type InputHistory, remembered, stepped } from "../input/history.ts";
import type { Key } from "../input/key.ts";
import { type InputFrame, layOut } from "../input/layout.ts";
import { type Size, line } from "../text/line.ts";
import type { AttachmentPort, TerminalConversationOptions } from "./options.ts";
import { withMatches, cutLine } from "../text/wrap.ts";
import { oneLine } from "../text/printable.ts";

interface TypedInputOptions {
  readonly history?: HistoryPort | null;
  readonly attachments?: AttachmentPort;
}

/** The input: the editor, the input history, and completion. */
export class TypedInput {
  #editor: Editor = emptyEditor;
  #history: InputHistory = historyOf([]);
  #search: HistorySearch | null = null;
  #completion: Completion | null = null;
  readonly #commands: () => readonly CompletableCommand[];
  readonly #port: HistoryPort | null;

  readonly #pathsFrom: AttachmentPort["pathsFrom"];

  constructor(commands: () => readonly CompletableCommand[], { history: port = null, attachments }: TypedInputOptions) {
    this.#pathsFrom = attachments?.pathsFrom ?? ((): readonly string[] => []);
    this.#commands = commands;
    this.#port = port;
  }

  get text(): string {
    return this.#editor.text;
  }

  get whole(): string {
    return expanded(this.#editor);
  }

  get isSearching(): boolean {
    return this.#search !== null;
  }

  async load(): Promise<void> {
    const before = await this.#port?.load();
    if (before !== undefined) this.#history = historyOf([...before, ...this.#history.inputs]);
  }

  /** Empties the input and returns its text, with pastes in full. */
  take(): string {
    const text = this.whole.trim();
    this.#put({ ...emptyEditor, killed: this.#editor.killed });
    return text;
  }

  async remember(text: string): Promise<void> {
    this.#history = remembered(this.#history, text);
    await this.#port?.append(text);
  }

  type(text: string): void {
    this.#put(typed(this.#editor, text));
  }

  paste(text: string): void {
    this.#put(pasted(this.#editor, text));
  }

  replace(text: string): void {
    this.#put({ ...editorOf(text), killed: this.#editor.killed });
  }

  /** Puts a text before the present input. */
  giveBack(text: string): void {
    const { text: meanwhile } = this;
    this.#put(typed({ ...this.#editor, cursor: 0 }, meanwhile === "" ? text : `${text}\n`));
    this.#put(edited(this.#editor, "inputEnd", anySize) ?? this.#editor);
  }

  /** Performs an action on the input. Returns false if it has no effect. */
  perform(action: Action, size: Size): boolean {
    if (action === "searchHistory" || action === "searchHistoryOrReset") {
      this.#search = searchOf(this.#history.inputs);
      return true;
    }
    const next = edited(this.#editor, action, size);
    if (next !== null) this.#put(next);
    else if (action === "up" || action === "down") this.#step(action === "up" ? -1 : 1);
    else return false;
    return true;
  }

  /** Handles a key while the history is searched. Returns true if it requests a reset. */
  pressInSearch(key: Key, action: Action | undefined): boolean {
    if (this.#search === null) return false;
    const step = pressInSearch(this.#search, key, action);
    this.#search = step.type === "search" ? step.search : null;
    if (step.type === "take") this.replace(step.text);
    return step.type === "reset";
  }

  /** Edits the input in another program. @throws Error if there is none */
  async editElsewhere({ editText, port }: Pick<TerminalConversationOptions, "editText" | "port">): Promise<void> {
    if (editText === undefined) throw new Error("there is no editor to edit it in: set EDITOR");
    await port.suspend(async () => {
      const after = await editText(this.whole);
      if (after !== null) this.replace(after.replace(/\n$/, ""));
    });
  }

  /** Takes the next offered completion. Returns false if there is none. */
  complete(by: 1 | -1): boolean {
    if (this.#completion === null) return false;
    const { editor, completion } = completed(this.#completion, by);
    this.#editor = { ...editor, killed: this.#editor.killed };
    this.#completion = completion;
    return true;
  }

  offer(): void {
    if (this.#completion?.taken === null || this.#completion === null)
      this.#completion = completionOf(this.#editor, this.#commands(), this.#pathsFrom);
  }

  frame(size: Size, prompt: string): InputFrame {
    if (this.#search !== null) return layOutSearch(this.#search, size);
    const { lines, cursor } = layOut(this.#editor, size, prompt);
    return {
      lines: [...lines, ...(this.#completion === null ? [] : layOutCompletion(this.#completion, size))],
      cursor,
    };
  }

  #step(by: 1 | -1): void {
    const step = stepped(this.#history, this.#editor, by);
    if (step === null) return;
    this.#history = step.history;
    this.#put(step.editor);
  }

  #put(editor: Editor): void {
    this.#editor = editor;
    this.#completion = completionOf(editor, this.#commands(), this.#pathsFrom);
  }
}

/** The end of a text does not depend on the size. */
const anySize: Size = { columns: 80, rows: 24 };

/** A search backwards through the input history. */
export interface HistorySearch {
  readonly inputs: readonly string[];
  readonly query: string;
  /** The index of the found input; null if there is none. */
  readonly at: number | null;
}

export const searchOf = (inputs: readonly string[]): HistorySearch => ({ inputs, query: "", at: null });

export type SearchStep =
  | { readonly type: "search"; readonly search: HistorySearch }
  | { readonly type: "take"; readonly text: string }
  | { readonly type: "close" }
  | { readonly type: "reset" };

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
