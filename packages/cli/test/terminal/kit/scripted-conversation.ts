import type { InputFrame, Key, Line, ScreenConversation, Shown, Size, View } from "../../../src/terminal/index.ts";
import { wrapped, widthOf } from "../../../src/terminal/text/wrap.ts";

/** A conversation that shows the lines that it is given. */
export class ScriptedConversation implements ScreenConversation {
  readonly finished: { readonly id: number; readonly lines: () => readonly Line[] }[] = [];
  open: readonly string[] = [];
  input = "";
  status = "idle";
  view: View | null = null;
  onKey: (key: Key, size: Size) => void = (key) => this.typeInto(key);
  readonly ended: Promise<void>;
  readonly end: () => void;
  readonly #listeners = new Set<() => void>();

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.end = resolve;
  }

  finish(...texts: readonly string[]): void {
    this.finished.push({ id: this.finished.length, lines: () => texts.map(lineOf) });
  }

  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  typeInto(key: Key): void {
    if (key.type !== "key") this.input += key.text;
    else if (key.name === "backspace") this.input = this.input.slice(0, -1);
  }

  shown(): Shown {
    const lines = this.input.split("\n");
    return {
      finished: this.finished,
      open: () => this.open.map(lineOf),
      input: ({ columns }) => inputFrame(lines, columns),
      status: () => lineOf(this.status),
      view: this.view,
    };
  }

  drawn(): void {}

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  press(key: Key, size: Size): void {
    this.onKey(key, size);
    this.changed();
  }
}

const lineOf = (text: string): Line => [{ text, roles: [] }];

/** Returns the ends of the typed lines, and the cursor after the last. */
const inputFrame = (texts: readonly string[], columns: number): InputFrame => {
  const rows = texts.map((text) => wrapped(lineOf(`> ${text}`), columns - 2).at(-1) ?? []);
  const last =
    rows
      .at(-1)
      ?.map(({ text }) => text)
      .join("") ?? "";
  return { lines: rows, cursor: { row: rows.length - 1, column: widthOf(last) } };
};
