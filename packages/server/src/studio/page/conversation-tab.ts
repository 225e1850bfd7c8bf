import type { Message } from "@colloquy/machine";
import { h, type ComponentChild } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Page, TurnSpan, TurnView } from "../wire/wire.ts";
import { article, button, div, link, p, scroll, span } from "./element.ts";
import type { LookingAtEntry } from "./looking.ts";
import { Markdown } from "./markdown.ts";
import { messageView } from "./message.ts";
import { useLoaded } from "./server.ts";
import { counted, durationOf, oneLine, placeWords } from "./text.ts";

/** Shows the conversation after an entry: its newest messages, earlier ones on request, and an answer as it streams. */
export const ConversationTab = ({ thread, seq, newest, running, overview, entry }: LookingAtEntry): ComponentChild => {
  const [shown, setShown] = useState(shownAtFirst);
  const { value: said, problem } = useLoaded<Page<Message>>("said", { thread, seq, limit: shown });
  const event = entry.value?.entry.event;
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (box.current !== null && shown === shownAtFirst) box.current.scrollTop = box.current.scrollHeight;
  }, [said, running?.text]);
  return h(
    "div",
    { class: "scroll said", tabIndex: 0, ref: box },
    problem !== null && p("problem", problem),
    said !== null &&
      said.from > 0 &&
      link(counted(said.from, "earlier message"), () => setShown(Math.min(shown + 100, shownMax))),
    said?.items.map(messageView),
    said?.total === 0 && p("note", "nothing was said yet"),
    event?.type === "llm.failed" && p("problem", oneLine(event.failure.message)),
    running !== null &&
      seq === newest &&
      article(
        "message assistant running",
        div(
          "message-head",
          h("strong", null, "assistant"),
          span(
            "dim",
            `turn ${running.turn}, ${placeWords(overview.value?.place ?? "open")} for ${durationOf(running.forMs)}`,
          ),
        ),
        running.text !== "" && h(Markdown, { text: running.text }),
      ),
  );
};

const shownAtFirst = 30;
const shownMax = 500;

/** Shows a turn as a waterfall: its model calls, tool calls and waits, with the time that each took. */
export const TurnTab = ({ thread, turn, threads, running, go }: LookingAtEntry): ComponentChild => {
  const revision = `${threads.entriesOf(thread)} ${running?.forMs}`;
  const { value, problem } = useLoaded<TurnView>("turn", turn === null ? null : { thread, turn }, revision);
  if (turn === null) return p("note", "No turn yet.");
  if (value === null) return p(problem === null ? "note" : "problem", problem ?? "loading …");
  const took = value.until - value.from;
  const row = (each: TurnSpan): ComponentChild => {
    const lasts = (each.until ?? value.until) - each.from;
    const share = (ms: number): string => `${Math.min(Math.max((ms / Math.max(took, 1)) * 100, 0), 100)}%`;
    const press = (): void => go({ seq: each.seq, tab: each.kind === "model" ? "prompt" : "state" });
    return h(
      "li",
      { key: `${each.seq} ${each.name}` },
      button(
        press,
        { class: `span ${each.kind}${each.failed ? " failed" : ""}` },
        span("span-name", oneLine(each.name), each.until === null && span("mark", "now")),
        span("took", durationOf(lasts)),
        span("track", h("i", { style: { left: share(each.from - value.from), width: share(lasts) } })),
        span("dim small", oneLine(each.detail)),
      ),
    );
  };
  return scroll(
    "turn-tab",
    p("figures", h("strong", null, `Turn ${value.turn}`), ` ${value.status}, ${durationOf(took)}`),
    p("dim", value.usage),
    value.spans.length === 0
      ? p("note", "It called no model here: it was added by hand, imported or copied.")
      : h("ol", { class: "spans" }, value.spans.map(row)),
  );
};
