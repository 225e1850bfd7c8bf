import { h, type ComponentChild } from "preact";
import { useState } from "preact/hooks";
import type { Made, Setup } from "../wire/wire.ts";
import type { Go } from "./place.ts";
import { asking, post } from "./server.ts";
import { oneLine } from "./text.ts";
import { choice, div, p, valueIn, Dialog } from "./element.ts";

export interface AgainDialogOptions {
  readonly setup: Setup;
  readonly thread: string;
  readonly turn: number;
  readonly go: Go;
  readonly close: () => void;
}

/** Tries a turn again in a fork: with another policy, another model, or another text. The thread stays unchanged. */
export const AgainDialog = ({ setup, thread, turn, go, close }: AgainDialogOptions): ComponentChild => {
  const [policy, setPolicy] = useState(setup.policies[0] ?? "");
  const [model, setModel] = useState("");
  const [input, setInput] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const submit = (event: Event): void => {
    event.preventDefault();
    const given = { turn, policy, ...(model === "" ? {} : { model }), ...(input === "" ? {} : { input }) };
    void asking(
      post<Made>("again", { thread }, given),
      (made) => {
        close();
        go({ thread: made.threadId, seq: null, pane: "journal", view: "timeline", other: thread, otherSeq: null });
      },
      setProblem,
    );
  };
  return h(
    Dialog,
    { title: `Try turn ${turn} again`, close },
    h(
      "form",
      { class: "again", onSubmit: submit },
      p("dim", "The thread is copied up to the turn before, and asked there. Nothing else is run again."),
      h("label", null, "Policy", choice("Policy", setup.policies, oneLine, policy, setPolicy)),
      field("Model", "input", model, setModel, { list: "models", placeholder: "the one that is configured" }),
      h(
        "datalist",
        { id: "models" },
        setup.models.map((name) => h("option", { key: name, value: name }, oneLine(name))),
      ),
      field("Ask", "textarea", input, setInput, { placeholder: "what the turn was asked" }),
      problem !== null && p("problem", problem),
      div("buttons", h("button", { class: "primary", type: "submit" }, "Try again")),
    ),
  );
};

const field = (
  label: string,
  element: string,
  value: string,
  set: (value: string) => void,
  more: object,
): ComponentChild =>
  h("label", null, label, h(element, { ...more, value, onInput: (event: Event) => set(valueIn(event)) }));
