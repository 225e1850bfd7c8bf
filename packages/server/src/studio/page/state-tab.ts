import { Fragment, h, type ComponentChild } from "preact";
import type { EntryView, Page, Setup } from "../wire/wire.ts";
import type { Message } from "@colloquy/machine";
import { StateChart } from "./chart.ts";
import { MessageView } from "./message.ts";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useLoaded } from "./server.ts";
import { counted, JsonText, oneLine } from "./text.ts";
import { div, link, p, span } from "./element.ts";

/** Shows the state after an entry: the machine's state, the facts, and the entry that led there. */
export const StateTab = ({
  setup,
  view,
}: {
  readonly setup: Setup | null;
  readonly view: EntryView;
}): ComponentChild => {
  const { type: _, at: __, ...event } = view.entry.event;
  const decided = "decided" in view.entry ? view.entry.decided : undefined;
  return div(
    "scroll state-tab",
    setup !== null && h(StateChart, { chart: setup.chart, came: view.came, place: view.place }),
    h(
      "dl",
      { class: "facts" },
      view.facts.map(([label, text]) =>
        h(Fragment, { key: label }, h("dt", null, label), h("dd", null, oneLine(text))),
      ),
    ),
    h("h3", null, span("event-type", view.entry.event.type)),
    h(JsonText, { value: event }),
    decided !== undefined && h(Fragment, null, h("h3", null, "decided"), h(JsonText, { value: decided })),
  );
};

/** Shows the conversation after an entry: its newest messages, and the earlier ones on request. */
export const SaidTab = ({ thread, seq }: { readonly thread: string; readonly seq: number }): ComponentChild => {
  const [shown, setShown] = useState(saidAtFirst);
  const size = useLoaded<Page<Message>>("said", { thread, seq, limit: 0 });
  const total = size.value?.total ?? null;
  const from = total === null ? null : Math.max(total - shown, 0);
  const said = useLoaded<Page<Message>>("said", from === null ? null : { thread, seq, from, limit: shown });
  const problem = size.problem ?? said.problem;
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (box.current !== null && shown === saidAtFirst) box.current.scrollTop = box.current.scrollHeight;
  }, [said.value]);
  return h(
    "div",
    { class: "scroll said", ref: box },
    problem !== null && p("problem", problem),
    from !== null && from > 0 && link(counted(from, "earlier message"), () => setShown(Math.min(shown + 100, saidMax))),
    said.value?.items.map((message) => h(MessageView, { key: message.id, message })),
    total === 0 && p("note", "nothing was said yet"),
  );
};

const saidAtFirst = 30;
const saidMax = 500;
