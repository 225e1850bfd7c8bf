import { type Line, type Size, span } from "../text/line.ts";
import { oneLine } from "../text/printable.ts";
import { widthOf, cutLine } from "../text/wrap.ts";
import { type Editor, editorOf } from "./editor.ts";

export interface CompletableCommand {
  readonly name: string;
  readonly usage: string;
  readonly does: string;
  /** Returns the possible arguments with this typed prefix. */
  readonly complete?: (prefix: string) => readonly string[];
}

export interface Completion {
  readonly offers: readonly Offer[];
  /** The index of the offer in the input; null if none was taken yet. */
  readonly taken: number | null;
}

interface Offer {
  readonly text: string;
  readonly shown: string;
  readonly does: string;
}

/**
 * Returns the completions of a typed input: of a command, or of the path behind its last `@`; null if there are none.
 * After a whole command, they are its usage.
 */
export const completionOf = (
  editor: Editor,
  commands: readonly CompletableCommand[],
  pathsFrom: (prefix: string) => readonly string[] = () => [],
): Completion | null => {
  const { text, cursor } = editor;
  if (cursor < text.length) return null;
  const [, name, prefix] = /^(\/\S*)(?: +(.*))?$/.exec(text) ?? [];
  const [, before = "", path] = /^((?:.*\s)?@)(\S*)$/s.exec(text) ?? [];
  const offers =
    path !== undefined
      ? pathsFrom(path).map((each) => ({ text: `${before}${each}`, shown: oneLine(each), does: "" }))
      : name === undefined
        ? []
        : prefix === undefined
          ? commandsOf(name, commands)
          : argumentsOf(text, name, prefix, commands);
  return offers.length === 0 ? null : { offers, taken: null };
};

/** Takes the next offer (1) or the previous one (-1). */
export const completed = (
  { offers, taken }: Completion,
  by: 1 | -1,
): { readonly editor: Editor; readonly completion: Completion } => {
  const first = by === 1 ? 0 : offers.length - 1;
  const next = taken === null ? first : (taken + by + offers.length) % offers.length;
  return { editor: editorOf(offers[next]?.text ?? ""), completion: { offers, taken: next } };
};

/** Lays out the offers, below the input, in a limited number of rows so that other content has room. */
export const layOutCompletion = ({ offers, taken }: Completion, { columns, rows }: Size): readonly Line[] => {
  const height = Math.min(6, Math.max(Math.floor(rows / 4), 1));
  const from = Math.min(Math.max((taken ?? 0) - height + 1, 0), offers.length);
  const width = Math.max(...offers.map(({ shown }) => widthOf(shown)));
  return offers.slice(from, from + height).map(({ shown, does }, index) => {
    const first = span(`  ${shown}`, from + index === taken ? "selected" : "name");
    const gap = does === "" ? "" : " ".repeat(width - widthOf(shown) + 2);
    return cutLine([first, span(gap + does, "dim")], columns - 1);
  });
};

const commandsOf = (typed: string, commands: readonly CompletableCommand[]): readonly Offer[] =>
  commands
    .filter(({ name }) => name.startsWith(typed))
    .map(({ name, usage, does }) => ({ text: usage === name ? name : `${name} `, shown: usage, does }));

const argumentsOf = (
  text: string,
  name: string,
  prefix: string,
  commands: readonly CompletableCommand[],
): readonly Offer[] => {
  const command = commands.find((each) => each.name === name);
  if (command === undefined) return [];
  const offered = command.complete?.(prefix) ?? [];
  if (offered.length === 0) return [{ text, shown: command.usage, does: command.does }];
  return offered.map((argument) => ({ text: `${name} ${argument}`, shown: oneLine(argument), does: "" }));
};
