import { named } from "../text/printable.ts";
import { type Action, actions } from "./action.ts";
import { keyNameOf } from "./key-name.ts";

/** What keys do, by their names. A key that is not in it does nothing; text is typed. */
export type Keymap = Readonly<Record<string, Action>>;

const editing: Keymap = {
  left: "left",
  "ctrl+b": "left",
  right: "right",
  "ctrl+f": "right",
  up: "up",
  down: "down",
  pageup: "pageUp",
  pagedown: "pageDown",
  "ctrl+left": "wordLeft",
  "alt+left": "wordLeft",
  "alt+b": "wordLeft",
  "ctrl+right": "wordRight",
  "alt+right": "wordRight",
  "alt+f": "wordRight",
  home: "lineStart",
  "ctrl+a": "lineStart",
  end: "lineEnd",
  "ctrl+e": "lineEnd",
  "ctrl+home": "inputStart",
  "ctrl+end": "inputEnd",
  backspace: "deleteBackward",
  "shift+backspace": "deleteBackward",
  delete: "deleteForward",
  "ctrl+w": "deleteWordBackward",
  "alt+backspace": "deleteWordBackward",
  "ctrl+backspace": "deleteWordBackward",
  "alt+d": "deleteWordForward",
  "ctrl+delete": "deleteWordForward",
  "ctrl+k": "killToLineEnd",
  "ctrl+u": "killToLineStart",
  "ctrl+y": "yank",
};

const standard: Keymap = {
  enter: "send",
  tab: "completeOrQueue",
  "shift+tab": "completeBackward",
  "shift+enter": "newline",
  "alt+enter": "newline",
  "ctrl+j": "newline",
  escape: "closeOrStop",
  "ctrl+c": "interrupt",
  "ctrl+d": "deleteForwardOrQuit",
  "ctrl+n": "newThreadWhenEmpty",
  "ctrl+r": "searchHistoryOrReset",
  "ctrl+g": "editElsewhere",
  "ctrl+o": "toolDetails",
  "ctrl+t": "transcript",
  "ctrl+l": "reprint",
  "ctrl+z": "suspend",
  ...editing,
};

/** The keymaps to choose from. `seed` has those of the terminal that Jido's agents were to have. */
export const keymaps = {
  standard,
  seed: {
    ...standard,
    "ctrl+n": "newThread",
    "ctrl+r": "reset",
    "ctrl+u": "clearInput",
    escape: "quit",
  },
} satisfies Record<string, Keymap>;

/** A preset with keys of one's own, such as `{ "ctrl+x": "quit" }`. Throws what is wrong with the names in it. */
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
const isAction = (name: string): name is Action => Object.hasOwn(actions, name);
