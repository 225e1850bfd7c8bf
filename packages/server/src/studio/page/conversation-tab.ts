import type { Message } from "@colloquy/machine";
import { h, type ComponentChild } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Page } from "../wire/wire.ts";
import { article, div, link, p, span } from "./element.ts";
import type { LookingAtEntry } from "./looking.ts";
import { Markdown } from "./markdown.ts";
import { MessageView } from "./message.ts";
import { useLoaded } from "./server.ts";
import { counted, durationOf } from "./text.ts";

/** Shows the conversation after an entry: its newest messages, the earlier ones on request, and an answer as it comes. */
export const ConversationTab = ({ thread, seq, newest, running }: LookingAtEntry): ComponentChild => {
  const [shown, setShown] = useState(shownAtFirst);
  const size = useLoaded<Page<Message>>("said", { thread, seq, limit: 0 });
  const total = size.value?.total ?? null;
  const from = total === null ? null : Math.max(total - shown, 0);
  const said = useLoaded<Page<Message>>("said", from === null ? null : { thread, seq, from, limit: shown });
  const problem = size.problem ?? said.problem;
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (box.current !== null && shown === shownAtFirst) box.current.scrollTop = box.current.scrollHeight;
  }, [said.value, running?.text]);
  return h(
    "div",
    { class: "scroll said", tabIndex: 0, ref: box },
    problem !== null && p("problem", problem),
    from !== null &&
      from > 0 &&
      link(counted(from, "earlier message"), () => setShown(Math.min(shown + 100, shownMax))),
    said.value?.items.map((message) => h(MessageView, { key: message.id, message })),
    total === 0 && p("note", "nothing was said yet"),
    running !== null &&
      seq === newest &&
      article(
        "message assistant running",
        div(
          "message-head",
          h("strong", null, "assistant"),
          span("dim", `turn ${running.turn}, open for ${durationOf(running.forMs)}`),
        ),
        running.text !== "" && h(Markdown, { text: running.text }),
      ),
  );
};

const shownAtFirst = 30;
const shownMax = 500;
