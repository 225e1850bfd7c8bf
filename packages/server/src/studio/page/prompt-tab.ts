import { Fragment, h, type ComponentChild } from "preact";
import { useState } from "preact/hooks";
import type { PromptChange, PromptView, Segment, SegmentKind, UnitItem, UnitView } from "../wire/wire.ts";
import { messageView, sideView } from "./message.ts";
import type { LookingAtEntry } from "./looking.ts";
import type { Go } from "./place.ts";
import { type Query, useLoaded } from "./server.ts";
import { counted, JsonText, numberOf, oneLine } from "./text.ts";
import { usePages, VirtualList } from "./virtual-list.ts";
import { button, choice, div, link, p, scroll, span, Dialog } from "./element.ts";

/** Shows the prompt of a call: the shown and omitted parts of the thread, the reasons, and the sizes. */
export const PromptTab = ({ setup, place, go, seq, thread }: LookingAtEntry): ComponentChild => {
  const query = { thread, seq, policy: place.policy };
  const { value: prompt, problem } = useLoaded<PromptView>("prompt", query);
  const units = usePages<UnitItem>("units", query);
  const [selected, select] = useState<number | null>(null);
  const [opened, open] = useState<UnitItem | null>(null);
  const [showsChange, setShowsChange] = useState(false);
  const otherSeq = place.other === thread && place.otherSeq !== seq ? place.otherSeq : null;
  return h(
    Fragment,
    null,
    div(
      "prompt-head",
      h(
        "label",
        { class: "policy" },
        "shown ",
        choice(
          "Policy",
          ["", ...(setup?.policies ?? [])],
          (policy) => (policy === "" ? "as it was sent" : `as ${oneLine(policy)} would send it`),
          place.policy ?? "",
          (policy) => go({ policy: policy || null }),
        ),
      ),
      " ",
      button(
        () => setShowsChange(!showsChange),
        { "aria-pressed": showsChange },
        otherSeq === null ? "Changes since the call before" : `Changes since entry ${otherSeq}`,
      ),
      problem !== null && p("problem", problem),
      prompt !== null && promptHead(prompt, go, select),
    ),
    showsChange && h(Change, { query: { ...query, otherSeq }, go }),
    !showsChange &&
      h(VirtualList<UnitItem>, {
        items: units,
        rowHeight: 46,
        label: "Units of the thread",
        selected,
        row: unitRow,
        onSelect: (unit, index) => {
          select(index);
          open(unit);
        },
        empty: "the prompt is empty",
      }),
    opened !== null &&
      h(UnitDialog, { unit: opened, query: { ...query, from: opened.index, limit: 1 }, close: () => open(null) }),
  );
};

/** Shows how the prompt differs from that of the call before, or of the call that the person keeps to compare. */
const Change = ({ query, go }: { readonly query: Query; readonly go: Go }): ComponentChild => {
  const { value, problem } = useLoaded<PromptChange>("prompt-change", query);
  if (value === null) return p(problem === null ? "note" : "problem", problem ?? "loading …");
  const { before, after, alike, removed, added, changed } = value;
  const settings = (["model", "tools"] as const).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const group = (title: string, side: "there" | "here", messages: PromptChange["added"]): ComponentChild =>
    messages.length > 0 && sideView(side, `${title}: ${counted(messages.length, "message")}`, messages);
  return scroll(
    "change",
    p(
      "figures",
      "since ",
      link(`call ${before.turn}.${before.step}#${before.attempt}`, () => go({ seq: before.seq })),
      `: ${counted(alike, "message is alike", "messages are alike")}, ${numberOf(added.length)} new, ${numberOf(removed.length)} gone, ${numberOf(changed.length)} shown otherwise`,
    ),
    settings.map((name) => p("reason", `other ${name}: ${oneLine(JSON.stringify(after[name]))}`)),
    group("New", "here", added),
    group("Gone", "there", removed),
    group(
      "Shown otherwise, now",
      "here",
      changed.map((pair) => pair.after),
    ),
    group(
      "Shown otherwise, before",
      "there",
      changed.map((pair) => pair.before),
    ),
  );
};

const promptHead = (prompt: PromptView, go: Go, show: (index: number) => void): ComponentChild => {
  const { call, counts, tokens, wholeTokens, available, fits, calibration, besideTokens } = prompt;
  const share = tokens === null || available === null || available <= 0 ? null : Math.round((tokens / available) * 100);
  const { model, tools } = call;
  return h(
    Fragment,
    null,
    p(
      "figures",
      h("strong", { class: fits ? "" : "problem" }, numberOf(tokens)),
      available === null
        ? " tokens, no bound"
        : ` of ${counted(available, "token")}${share === null ? "" : ` (${share} %)`}`,
      !fits && h("strong", { class: "problem" }, " does not fit"),
      wholeTokens !== null && wholeTokens !== tokens && span("dim", `, all would take ${numberOf(wholeTokens)}`),
      call.reported !== null && span("dim", `; the provider reported ${numberOf(call.reported)}`),
    ),
    budgetBar(prompt, show),
    div("dim small bar-label", "the thread from its beginning to its end"),
    bar("The thread", prompt.whole, sumOf(prompt.whole), show),
    legend(counts),
    p("reason", h("code", null, oneLine(prompt.policy)), ` ${oneLine(prompt.reason)}`),
    prompt.failed !== undefined && p("problem", oneLine(prompt.failed)),
    !prompt.configured &&
      p(
        "dim small",
        "The thread ran under another configuration than this studio's, which counts here and has the budget.",
      ),
    h(
      "details",
      null,
      h(
        "summary",
        null,
        "call ",
        h("code", null, `${call.turn}.${call.step}#${call.attempt}`),
        h("code", { class: "dim digest" }, call.digest),
      ),
      p(
        "",
        "asked by ",
        link(`entry ${call.seq}`, () => go({ seq: call.seq })),
      ),
      h(JsonText, { value: { model, tools, calibration, tokensBesideMessages: besideTokens } }),
    ),
  );
};

/** Shows how much of the room the prompt takes, unit by unit, and the reserved part. */
const budgetBar = (prompt: PromptView, show: (index: number) => void): ComponentChild => {
  const { budget, calibration, sent, besideTokens, tokens } = prompt;
  const room = budget === null ? 0 : budget.tokens / calibration;
  const reserve = budget === null ? 0 : budget.reserve / calibration;
  const scale = Math.max(room, (tokens ?? sumOf(sent)) + reserve, 1);
  return bar("The budget", sent, scale, show, besideTokens ?? 0, reserve);
};

/** Draws segments. @param scale the number of tokens of the whole bar */
const bar = (
  label: string,
  segments: readonly Segment[],
  scale: number,
  show: (index: number) => void,
  beside = 0,
  reserve = 0,
): ComponentChild => {
  const segment = (kind: string, tokens: number, title: string, more: object = {}): ComponentChild => {
    const style = { width: `${Math.min((tokens / Math.max(scale, 1)) * 100, 100)}%` };
    return h("span", {
      class: `segment ${kind}`,
      style,
      title: `${title}${counted(Math.round(tokens), "token")}`,
      ...more,
    });
  };
  return h(
    "div",
    { class: "bar", role: "img", "aria-label": label },
    segments.map(({ kind, tokens, units, from }) => {
      const title = `${kindWords[kind]}: ${counted(units, "unit")}, `;
      return segment(kind, tokens, title, { key: from, onClick: () => show(from) });
    }),
    beside > 0 && segment("beside", beside, "around the messages: "),
    reserve > 0 && segment("reserve", reserve, "kept free for the answer: "),
  );
};

const sumOf = (segments: readonly Segment[]): number => segments.reduce((sum, { tokens }) => sum + tokens, 0);

const kindWords: Readonly<Record<SegmentKind, string>> = {
  system: "system",
  summary: "a summary of older turns",
  pinned: "pinned",
  whole: "kept whole",
  shrunk: "shown in part",
  open: "the turn that is asked about",
  summarised: "told by the summary",
  out: "left out",
};

const legend = (counts: PromptView["counts"]): ComponentChild =>
  p(
    "legend",
    (["whole", "shrunk", "summary", "out"] as const)
      .filter((shown) => counts[shown] > 0)
      .map((shown) => {
        const glyph = h("i", { class: `glyph ${shown}` });
        return h("span", { key: shown }, glyph, `${numberOf(counts[shown])} ${shownWords[shown]}`);
      }),
  );

const shownWords = { whole: "whole", shrunk: "in part", summary: "in the summary", out: "left out" } as const;

const unitRow = ({ turn, name, shown, rule, why, tokens, sentTokens, words }: UnitItem): ComponentChild =>
  div(
    `unit ${shown}`,
    h("i", { class: `glyph ${rule === "summary" ? rule : shown}` }),
    span("turn", turn),
    div(
      "grow",
      h("div", { class: "words", dir: "auto" }, span("unit-name", name), oneLine(words)),
      div("why dim small", span("mark", rule), oneLine(why)),
    ),
    span("tokens dim", sentTokens === tokens ? numberOf(tokens) : `${numberOf(sentTokens)} / ${numberOf(tokens)}`),
  );

interface UnitDialogOptions {
  readonly unit: UnitItem;
  readonly query: Query;
  readonly close: () => void;
}

const UnitDialog = ({ unit, query, close }: UnitDialogOptions): ComponentChild => {
  const { value, problem } = useLoaded<UnitView>("unit", query);
  return h(
    Dialog,
    { title: `${unit.name}${unit.turn === "" ? "" : `, turn ${unit.turn}`}: ${shownWords[unit.shown]}`, close },
    h("p", null, span("mark", unit.rule), oneLine(unit.why)),
    problem !== null && p("problem", problem),
    value?.messages.map(messageView),
    unit.shown === "shrunk" &&
      value !== null &&
      h(Fragment, null, h("h2", null, "as the prompt shows it"), value.sent.map(messageView)),
  );
};
