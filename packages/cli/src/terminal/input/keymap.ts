import { named } from "../text/printable.ts";
import { type Action, actions } from "./action.ts";
import { keyNameOf } from "./key-name.ts";

/** The actions of keys, by name. Keys without an entry do nothing; text is typed. */
export type Keymap = Readonly<Record<string, Action>>;

const standardKeys: Partial<Record<Action, readonly string[]>> = {
  send: ["enter"],
  completeOrQueue: ["tab"],
  completeBackward: ["shift+tab"],
  newline: ["alt+enter", "ctrl+j", "shift+enter"],
  closeOrStop: ["escape"],
  interrupt: ["ctrl+c"],
  deleteForwardOrQuit: ["ctrl+d"],
  newThreadWhenEmpty: ["ctrl+n"],
  searchHistoryOrReset: ["ctrl+r"],
  editElsewhere: ["ctrl+g"],
  toolDetails: ["ctrl+o"],
  transcript: ["ctrl+t"],
  reprint: ["ctrl+l"],
  suspend: ["ctrl+z"],
  left: ["left", "ctrl+b"],
  right: ["right", "ctrl+f"],
  up: ["up"],
  down: ["down"],
  pageUp: ["pageup"],
  pageDown: ["pagedown"],
  wordLeft: ["ctrl+left", "alt+left", "alt+b"],
  wordRight: ["ctrl+right", "alt+right", "alt+f"],
  lineStart: ["home", "ctrl+a"],
  lineEnd: ["end", "ctrl+e"],
  inputStart: ["ctrl+home"],
  inputEnd: ["ctrl+end"],
  deleteBackward: ["backspace", "shift+backspace"],
  deleteForward: ["delete"],
  deleteWordBackward: ["ctrl+w", "alt+backspace", "ctrl+backspace"],
  deleteWordForward: ["alt+d", "ctrl+delete"],
  killToLineStart: ["ctrl+u"],
  killToLineEnd: ["ctrl+k"],
  yank: ["ctrl+y"],
};

const isAction = (name: string): name is Action => Object.hasOwn(actions, name);

const standard: Keymap = Object.fromEntries(
  Object.keys(actions)
    .filter(isAction)
    .flatMap((action) => (standardKeys[action] ?? []).map((key) => [key, action])),
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

/** Formats a key for hints. */
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
