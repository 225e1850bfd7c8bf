import { h, type ComponentChild } from "preact";
import type { TurnSpan, TurnView } from "../wire/wire.ts";
import { button, p, scroll, span } from "./element.ts";
import type { LookingAtEntry } from "./looking.ts";
import { useLoaded } from "./server.ts";
import { durationOf, oneLine } from "./text.ts";

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
