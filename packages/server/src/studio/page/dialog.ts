import { type ComponentChildren, h, type ComponentChild } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { div, sign } from "./element.ts";

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
      h("header", null, h("h2", null, title), sign("×", "Close", close, { class: "close" })),
      div("dialog-body", children),
    ),
  );
};
