import { h, type ComponentChild } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Dialog } from "./dialog.ts";

/** The effect of a key; null for a key that is only listed. */
export interface Key {
  readonly keys: readonly string[];
  readonly does: string;
  readonly press: () => void;
}

/** Listens to keys while the person is not typing and no dialog is open. */
export const useKeys = (keys: readonly Key[]): void => {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event)) return;
      const key = latest.current.find((each) => each.keys.includes(event.key));
      if (key === undefined) return;
      event.preventDefault();
      key.press();
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
};

/** Returns whether the person is typing, or about to press a button. */
const isTyping = ({ target, key }: KeyboardEvent): boolean =>
  target instanceof HTMLElement &&
  (/^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
    (key === "Enter" && /^(?:BUTTON|A|SUMMARY)$/.test(target.tagName)) ||
    target.closest("dialog") !== null);

/** Shows all keys, and their effects. */
export const Help = ({ keys, close }: { readonly keys: readonly Key[]; readonly close: () => void }): ComponentChild =>
  h(
    Dialog,
    { title: "Keys", close },
    h(
      "table",
      { class: "keys" },
      h(
        "tbody",
        null,
        keys.map(({ keys: names, does }) =>
          h(
            "tr",
            { key: does },
            h(
              "td",
              null,
              names.map((name) => h("kbd", { key: name }, shownAs[name] ?? name)),
            ),
            h("td", null, does),
          ),
        ),
      ),
    ),
  );

const shownAs: Readonly<Record<string, string>> = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→" };
