/** An input at the keyboard. */
export type Key = NamedKey | Typed | Pasted;

/** A key by its name, as in keymaps: `enter`, `ctrl+o`, `alt+enter`, `shift+tab`, `pageup`, … */
interface NamedKey {
  readonly type: "key";
  readonly name: string;
}

/** Text that was typed. */
interface Typed {
  readonly type: "text";
  readonly text: string;
}

/** A paste: one event, whatever its size; its line ends are `\n`. */
interface Pasted {
  readonly type: "paste";
  readonly text: string;
}

/** A key that is pressed together with another key. */
export type Modifier = (typeof modifierOrder)[number];

/**
 * Returns the unique name of a key: `ctrl+alt+shift+x`. Keys that terminals cannot tell apart have the same name on all
 * of them.
 */
export const nameOf = (key: string, modifiers: readonly Modifier[]): string => {
  const held = new Set(modifiers);
  const lower = key === " " ? "space" : key.toLowerCase();
  if (lower !== key && key !== " ") held.add("shift");
  const same = held.has("ctrl") && !held.has("shift") ? sameWithControl[lower] : undefined;
  if (same !== undefined) held.delete("ctrl");
  return [...modifierOrder.filter((modifier) => held.has(modifier)), same ?? lower].join("+");
};

/** Parses the name of a key as a person writes it, such as `Ctrl+Shift+X`; null if there is no such key. */
export const keyNameOf = (written: string): string | null => {
  const [, before = "", key = ""] = /^((?:[a-z]+\+)*)([a-z\d]+|.)$/su.exec(written.trim().toLowerCase()) ?? [];
  const modifiers = before.split("+").filter((each) => each !== "");
  if (!modifiers.every(isModifier) || (!namedKeys.has(key) && !/^[\p{L}\p{N}\p{P}\p{S}]$/u.test(key))) return null;
  return nameOf(key, modifiers);
};

const isModifier = (word: string): word is Modifier => modifierOrder.some((modifier) => modifier === word);

const modifierOrder = ["ctrl", "alt", "shift", "super"] as const;

const sameWithControl: Readonly<Record<string, string>> = { i: "tab", m: "enter", h: "backspace", "[": "escape" };

const namedKeys: ReadonlySet<string> = new Set([
  ..."enter tab escape space backspace delete insert up down left right home end pageup pagedown".split(" "),
  ...Array.from({ length: 12 }, (_, index) => `f${index + 1}`),
]);
