import { contentText, type Message, type Part } from "@colloquy/machine";
import { h, type ComponentChild } from "preact";
import { Markdown } from "./markdown.ts";
import { JsonText, LongText, oneLine } from "./text.ts";
import { div, p, span } from "./element.ts";

/** Shows a message, part by part: texts as Markdown; an image as its address, which is not loaded. */
export const messageView = (message: Message): ComponentChild => {
  const marks = (["incomplete", "synthesised", "truncated"] as const).filter((mark) => message[mark] !== undefined);
  return h(
    "article",
    { class: `message ${message.role}`, key: message.id },
    div(
      "message-head",
      h("strong", null, message.role),
      message.name !== undefined && h("span", null, oneLine(message.name)),
      span("dim", oneLine(message.id)),
      marks.map((mark) => h("span", { class: "mark", key: mark }, mark)),
    ),
    message.parts.map((part, index) => h(PartView, { key: index, part })),
  );
};

/** Shows messages that one of two sides has, under a title. */
export const sideView = (side: "there" | "here", title: string, messages: readonly Message[]): ComponentChild =>
  div(
    `side ${side}`,
    h("h2", null, title),
    messages.length === 0 ? p("note", "nothing more") : messages.map(messageView),
  );

const PartView = ({ part }: { readonly part: Part }): ComponentChild => {
  switch (part.type) {
    case "text":
      return h(Markdown, { text: part.text });
    case "reasoning":
    case "refusal":
      return div(`aside ${part.type}`, span("label dim", part.type), h(LongText, { text: part.text }));
    case "data":
      return div("aside", span("label dim", oneLine(part.field)), h(JsonText, { value: part.value }));
    case "image":
      return div("aside", span("label dim", "image"), h(LongText, { text: part.url.slice(0, 2_000) }));
    case "opaque":
      return div("aside", span("label dim", "attachment"), h(JsonText, { value: part.value }));
    case "toolCall":
      return div(
        "aside call",
        span("label dim", `calls ${oneLine(part.name)}`),
        h(LongText, { text: part.arguments, class: "json" }),
      );
    case "toolResult":
      return div(
        "aside result",
        span("label dim", `${oneLine(part.name)} ${part.outcome}`),
        h(LongText, { text: contentText(part.content) }),
      );
  }
};
