import type { Key, Line, Size, View, ViewStep } from "../../../src/terminal/index.ts";

/** Returns the text of a line, without colours. */
export const textOfLine = (line: Line): string => line.map(({ text }) => text).join("");

/**
 * Returns the lines of a view, without invisible text at their ends, and without the empty lines before the last one.
 */
export const screenOf = (view: View, size: Size): string =>
  view
    .show(size)
    .lines.map((line) => textOfLine(line).trimEnd())
    .join("\n")
    .replace(/\n+(?=[^\n]*$)/, "\n");

/** Returns a named key, or typed text. */
const keyOf = (name: string): Key => (isNamed.test(name) ? { type: "key", name } : { type: "text", text: name });

const isNamed = /^(up|down|left|right|page(up|down)|home|end|enter|escape|backspace|ctrl\+.)$/;

/**
 * Presses keys one after the other, and returns the step of the last. @throws if one before the last closes the view
 */
export const pressing = (view: View, size: Size, ...names: readonly string[]): ViewStep => {
  const before = names.slice(0, -1).reduce((shown, name) => viewBehind(shown, shown.press(keyOf(name), size)), view);
  return before.press(keyOf(names.at(-1) ?? ""), size);
};

/** Returns the view after some keys. @throws if one of them closes it */
export const after = (view: View, size: Size, ...names: readonly string[]): View =>
  names.reduce((shown, name) => viewBehind(shown, shown.press(keyOf(name), size)), view);

const viewBehind = (view: View, step: ViewStep): View => {
  if (step.view === null) throw new Error(`${view.title} was closed`);
  return step.view ?? view;
};
