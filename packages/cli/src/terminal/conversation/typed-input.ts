import type { Action } from "../input/action.ts";
import {
  type CompletableCommand,
  type Completion,
  completed,
  completionOf,
  layOutCompletion,
} from "../input/completion.ts";
import { type Editor, editorOf, emptyEditor, pasted, typed } from "../input/editor.ts";
import { edited } from "../input/edits.ts";
import { type HistoryPort, historyOf, type InputHistory, remembered, stepped } from "../input/history.ts";
import { type HistorySearch, layOutSearch, pressInSearch, searchOf } from "../input/history-search.ts";
import type { Key } from "../input/key.ts";
import { type InputFrame, layOut } from "../input/layout.ts";
import { expanded } from "../input/marked-text.ts";
import type { Size } from "../text/line.ts";
import type { TerminalConversationOptions } from "./options.ts";

/** The input: the editor, the input history, and completion. */
export class TypedInput {
  #editor: Editor = emptyEditor;
  #history: InputHistory = historyOf([]);
  #search: HistorySearch | null = null;
  #completion: Completion | null = null;
  readonly #commands: () => readonly CompletableCommand[];
  readonly #port: HistoryPort | null;

  constructor(commands: () => readonly CompletableCommand[], port: HistoryPort | null) {
    this.#commands = commands;
    this.#port = port;
  }

  /** The typed text, with pastes as marks. */
  get text(): string {
    return this.#editor.text;
  }

  /** The typed text, with pastes in full. */
  get whole(): string {
    return expanded(this.#editor);
  }

  get isSearching(): boolean {
    return this.#search !== null;
  }

  /** Loads the inputs of earlier conversations. */
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

  /** Adds a sent text to the history. */
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

  /** Replaces the whole input. */
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

  /** Updates the offered completions. */
  offer(): void {
    if (this.#completion?.taken === null || this.#completion === null)
      this.#completion = completionOf(this.#editor, this.#commands());
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
    this.#completion = completionOf(editor, this.#commands());
  }
}

/** The end of a text does not depend on the size. */
const anySize: Size = { columns: 80, rows: 24 };
