import { named } from "../text/printable.ts";
import { keyNameOf } from "./key.ts";

/** The actions of keys, by name. Keys without an entry do nothing; text is typed. */
export type Keymap = Readonly<Record<string, Action>>;

/** The actions of keys: the description of each, for help and docs, and its keys in the standard keymap. */
const actionTable = {
  send: ["sends what is typed; while an answer runs, it steers that, or queues where it can't", "enter"],
  completeOrQueue: ["completes a command; while an answer runs, queues what is typed", "tab"],
  completeBackward: ["goes back through what is offered", "shift+tab"],
  newline: ["begins a new line", "alt+enter", "ctrl+j", "shift+enter"],
  closeOrStop: ["closes what is open, or stops the answer; twice, when nothing is, shows the tree", "escape"],
  closeOrStopOrQuit: ["closes what is open, or stops the answer; quits when nothing is"],
  interrupt: ["stops the answer, then clears the input, then twice quits", "ctrl+c"],
  deleteForwardOrQuit: ["deletes the character at the cursor; quits where nothing is typed", "ctrl+d"],
  quit: ["quits"],
  newThread: ["begins a new thread"],
  newThreadWhenEmpty: ["begins a new thread where nothing is typed", "ctrl+n"],
  reset: ["resets the conversation; redo undoes it"],
  searchHistory: ["searches what was typed before"],
  searchHistoryOrReset: [
    "searches what was typed before; again with nothing searched for, resets the conversation",
    "ctrl+r",
  ],
  editElsewhere: ["edits what is typed in $EDITOR", "ctrl+g"],
  toolDetails: ["shows tool calls whole, or short", "ctrl+o"],
  transcript: ["shows the transcript", "ctrl+t"],
  reprint: ["prints the screen again", "ctrl+l"],
  suspend: ["suspends the program", "ctrl+z"],
  left: ["moves left", "left", "ctrl+b"],
  right: ["moves right", "right", "ctrl+f"],
  up: ["moves up; from the first row, takes a queued message back, or shows what was typed before", "up"],
  down: ["moves down; from the last row, shows what was typed after", "down"],
  pageUp: ["moves up by what is shown", "pageup"],
  pageDown: ["moves down by what is shown", "pagedown"],
  wordLeft: ["moves to the beginning of a word", "ctrl+left", "alt+left", "alt+b"],
  wordRight: ["moves to the end of a word", "ctrl+right", "alt+right", "alt+f"],
  lineStart: ["moves to the line's start", "home", "ctrl+a"],
  lineEnd: ["moves to the line's end", "end", "ctrl+e"],
  inputStart: ["moves to the start of the input", "ctrl+home"],
  inputEnd: ["moves to the end of the input", "ctrl+end"],
  deleteBackward: ["deletes the character before the cursor", "backspace", "shift+backspace"],
  deleteForward: ["deletes the character at the cursor", "delete"],
  deleteWordBackward: ["deletes the word before the cursor", "ctrl+w", "alt+backspace", "ctrl+backspace"],
  deleteWordForward: ["deletes the word after the cursor", "alt+d", "ctrl+delete"],
  killToLineStart: ["clears to the line's start", "ctrl+u"],
  killToLineEnd: ["clears to the line's end", "ctrl+k"],
  clearInput: ["clears the input"],
  yank: ["brings back what was cleared last", "ctrl+y"],
  nothing: ["does nothing"],
} as const;

export type Action = keyof typeof actionTable;

const rows: readonly (readonly [action: string, row: readonly [does: string, ...keys: string[]]])[] =
  Object.entries(actionTable);

/** The actions of keys, each with a description in one line. Help and docs are generated from them. */
export const actions: Readonly<Record<Action, string>> = Object.fromEntries(
  rows.map(([action, [does]]) => [action, does]),
  // Its members are those of the table.
) as Readonly<Record<Action, string>>;

const isAction = (name: string): name is Action => Object.hasOwn(actionTable, name);

const standard: Keymap = Object.fromEntries(
  rows.flatMap(([action, [, ...keys]]) => (isAction(action) ? keys.map((key) => [key, action]) : [])),
);

/** The available keymaps. `seed` has the keys of the terminal that Jido's agents were to have. */
export const keymaps: Readonly<Record<"standard" | "seed", Keymap>> = {
  standard,
  seed: {
    ...standard,
    "ctrl+n": "newThread",
    "ctrl+r": "reset",
    "ctrl+u": "clearInput",
    escape: "closeOrStopOrQuit",
  },
};

/** Returns the first key of one of these actions, such as `Esc` or `Ctrl+C`; null if there is none. */
export const keyFor = (keymap: Keymap, ...wanted: readonly Action[]): string | null => {
  const key = wanted
    .flatMap((action) => Object.entries(keymap).filter(([, does]) => does === action))
    .map(([name]) => name)[0];
  return key === undefined ? null : keyLabel(key);
};

const keyLabel = (key: string): string =>
  key
    .split("+")
    .map((part) => (part === "escape" ? "Esc" : part.charAt(0).toUpperCase() + part.slice(1)))
    .join("+");

/** Makes a keymap from a preset and custom keys, such as `{ "ctrl+x": "quit" }`. Throws for an unknown name in it. */
export const keymapOf = (preset: string, keys: Readonly<Record<string, string>> = {}): Keymap => {
  if (!isPreset(preset)) throw new Error(`there is no keymap ${named(preset)}; ${listed(Object.keys(keymaps))}`);
  const own = Object.entries(keys).map(([key, action]) => [keyOf(key), actionOf(key, action)] as const);
  return { ...keymaps[preset], ...Object.fromEntries(own) };
};

const keyOf = (written: string): string => {
  const name = keyNameOf(written);
  if (name === null)
    throw new Error(`there is no key ${named(written)}; keys are written such as ctrl+x, alt+enter, shift+tab, f5`);
  if (/^(?:shift\+)?(?:.|space)$/u.test(name))
    throw new Error(`the key ${named(written)} types a character; press ctrl or alt with it, such as alt+x`);
  if (name === "ctrl+s" || name === "ctrl+q")
    throw new Error(`terminals keep ${name} for themselves, to stop and go on with what is shown; choose another key`);
  if (/^ctrl\+[a-z[]$/.test(written.trim().toLowerCase()) && !name.startsWith("ctrl"))
    throw new Error(`terminals can't tell ${written} from ${name}; choose another key`);
  return name;
};

const actionOf = (key: string, written: string): Action => {
  if (!isAction(written))
    throw new Error(`the key ${named(key)} can't do ${named(written)}; ${listed(Object.keys(actions))}`);
  return written;
};

const listed = (names: readonly string[]): string => `there are ${names.join(", ")}`;

const isPreset = (name: string): name is keyof typeof keymaps => Object.hasOwn(keymaps, name);
