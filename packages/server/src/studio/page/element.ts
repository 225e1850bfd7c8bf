import { type ComponentChild, type ComponentChildren, h } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** An element that has only a class. */
type Classed = (name: string, ...within: readonly ComponentChild[]) => ComponentChild;

const classed =
  (tag: string): Classed =>
  (name, ...within) =>
    h(tag, { class: name }, ...within);

export const div: Classed = classed("div");
export const span: Classed = classed("span");
export const p: Classed = classed("p");
export const header: Classed = classed("header");
export const article: Classed = classed("article");
export const td: Classed = classed("td");

/** Makes a part that scrolls, which keys can reach. */
export const scroll: Classed = (name, ...within) => h("div", { class: `scroll ${name}`, tabIndex: 0 }, ...within);

/** Makes a button. @param more its further attributes */
export const button = (press: () => void, more: object, ...shows: readonly ComponentChild[]): ComponentChild =>
  h("button", { type: "button", onClick: press, ...more }, ...shows);

/** Makes a button that looks like a link in a text. */
export const link = (says: string, press: () => void): ComponentChild => button(press, { class: "link" }, says);

/** Makes a button with a symbol instead of a text. */
export const sign = (shows: string, label: string, press: () => void, more: object = {}): ComponentChild =>
  button(press, { "aria-label": label, ...more }, shows);

/** Returns the value of an event's element, which always has one here. */
export const valueIn = (event: Event): string => (event.target as HTMLInputElement).value;

/** Makes a selection of one of several names. @param wordsOf returns a name in words */
export const choice = <Name extends string>(
  label: string,
  names: readonly Name[],
  wordsOf: (name: Name) => string,
  value: Name,
  choose: (name: Name) => void,
): ComponentChild =>
  h(
    "select",
    // Its options are these names.
    { "aria-label": label, value, onChange: (event: Event) => choose(valueIn(event) as Name) },
    names.map((name) => h("option", { key: name, value: name }, wordsOf(name))),
  );

/** Makes a list of tabs of which one is selected. */
export const tabList = <Name extends string>(
  names: readonly Name[],
  present: Name,
  choose: (name: Name) => void,
): ComponentChild =>
  h(
    "div",
    { class: "tabs", role: "tablist" },
    names.map((name) =>
      button(() => choose(name), { key: name, role: "tab", "aria-selected": name === present }, name),
    ),
  );

export interface DialogOptions {
  readonly title: string;
  readonly close: () => void;
  readonly children?: ComponentChildren;
}

/** Shows a dialog above the page, until Escape. */
export const Dialog = ({ title, close, children }: DialogOptions): ComponentChild => {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => box.current?.showModal(), []);
  return h(
    "dialog",
    {
      ref: box,
      "aria-label": title,
      onClose: close,
      onClick: (event: Event) => event.target === box.current && close(),
    },
    div(
      "dialog",
      h("header", null, h("h2", { class: "grow" }, title), sign("×", "Close", close, { class: "close" })),
      h("div", { class: "dialog-body", tabIndex: 0 }, children),
    ),
  );
};
