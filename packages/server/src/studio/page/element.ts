import { type ComponentChild, h } from "preact";

/** An element that has only a class. */
type Classed = (name: string, ...within: readonly ComponentChild[]) => ComponentChild;

const classed =
  (tag: string): Classed =>
  (name, ...within) =>
    h(tag, { class: name }, ...within);

export const div: Classed = classed("div");
export const span: Classed = classed("span");
export const p: Classed = classed("p");

/** Makes a button that looks like a link in a text. */
export const link = (says: string, press: () => void): ComponentChild =>
  h("button", { class: "link", type: "button", onClick: press }, says);

/** Makes a button with a symbol instead of a text. */
export const sign = (shows: string, label: string, press: () => void, more: object = {}): ComponentChild =>
  h("button", { type: "button", "aria-label": label, onClick: press, ...more }, shows);

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
      h(
        "button",
        { key: name, type: "button", role: "tab", "aria-selected": name === present, onClick: () => choose(name) },
        name,
      ),
    ),
  );
