import { h, type ComponentChild } from "preact";
import type { ThreadOverview, TimelineRow, TreeItem } from "../wire/wire.ts";
import type { Looking } from "./looking.ts";
import type { Go } from "./place.ts";
import { addressOf, asking, post } from "./server.ts";
import { counted, durationOf, oneLine, placeWords, timeOf, JsonText } from "./text.ts";
import { VirtualList } from "./virtual-list.ts";
import { button, div, header, link, p, sign, span, tabList, valueIn } from "./element.ts";
import type { RequestApproval } from "@colloquy/machine";
import { useState } from "preact/hooks";

export interface JournalPaneOptions extends Looking {
  readonly actions: ComponentChild;
}

/** Shows a thread: its entries in order, or its turns as a tree. */
export const JournalPane = (options: JournalPaneOptions): ComponentChild => {
  const { place, go, timeline, tree, treeRow, turn, running } = options;
  const { value: overview, problem } = options.overview;
  if (place.thread === null)
    return h("section", { class: "pane journal empty" }, p("note", "Choose a thread. ? shows the keys."));
  return h(
    "section",
    { class: "pane journal", "aria-label": "Journal" },
    header(
      "pane-head",
      sign("‹", "Back to the threads", () => go({ pane: "threads" }), { class: "back" }),
      div(
        "grow",
        h("h2", { title: visibleId(place.thread) }, oneLine(place.thread)),
        div("dim small", overview === null ? (problem ?? " ") : aboutThread(overview, running, go)),
      ),
      tabList(["timeline", "tree"], place.view, (view) => go({ view, pane: "journal" })),
    ),
    options.actions,
    overview !== null &&
      overview.approvals.length > 0 &&
      div(
        "approvals",
        overview.approvals.map((approval) => h(Approval, { key: approval.id, thread: overview.threadId, approval })),
      ),
    place.view === "timeline"
      ? h(VirtualList<TimelineRow>, {
          items: timeline,
          rowHeight: 32,
          label: "Timeline",
          selected: place.seq ?? -1,
          row: (row, before) => timelineRow(row, before, go),
          onSelect: ({ seq }) => go({ seq, pane: "detail" }),
          empty: "nothing was journalled yet",
        })
      : h(VirtualList<TreeItem>, {
          items: tree,
          rowHeight: 32,
          label: "Tree of turns",
          selected: treeRow,
          row: (item) => branchRow(item, turn),
          onSelect: ({ seq }) => go({ seq, pane: "detail" }),
          empty: "no turn yet",
        }),
  );
};

/** Returns the address of a thread's journal, as a file. */
export const exportOf = (thread: string): string => addressOf("export", { thread });

const visibleId = (thread: string): string => oneLine(thread).slice(0, 500);

const aboutThread = (
  { entries, turns, usage, forkedFrom, place }: ThreadOverview,
  running: Looking["running"],
  go: Go,
): readonly (ComponentChild | string)[] => [
  `${counted(entries, "entry", "entries")}, ${counted(turns, "turn")}, ${usage} · ${placeWords(place)}${running === null ? "" : ` for ${durationOf(running.forMs)}`}`,
  ...(forkedFrom === null
    ? []
    : [
        " · forked from ",
        link(`${oneLine(forkedFrom.threadId)}, turn ${forkedFrom.turn}`, () =>
          go({ thread: forkedFrom.threadId, seq: null }),
        ),
      ]),
];

const timelineRow = (row: TimelineRow, before: TimelineRow | undefined, go: Go): ComponentChild => {
  const begins = row.turn !== null && before?.turn !== row.turn;
  return div(
    `entry ${row.kind}${begins ? " begins" : ""}`,
    span("seq", row.seq),
    span("turn", begins ? row.turn : ""),
    h("span", { class: "dot", title: placeWords(row.place) }),
    span("type", row.type),
    h("span", { class: "words grow", dir: "auto" }, oneLine(row.words)),
    row.marks.map((mark) => h("span", { class: "mark", key: mark }, mark)),
    row.asks && h("span", { class: "asks", onClick: () => go({ tab: "prompt" }, "quietly") }, "prompt"),
    h("time", { class: "dim", title: timeOf(row.at) }, timeOf(row.at, false)),
  );
};

const branchRow = (item: TreeItem, turn: number | null): ComponentChild =>
  h(
    "div",
    {
      class: `branch${item.onPath ? " on-path" : ""}${item.begins ? " begins" : ""}${item.turn === turn ? " present" : ""}`,
      style: { paddingLeft: `${8 + Math.min(item.depth, 12) * 16}px` },
    },
    span(`knot ${item.status}`),
    span("turn", item.turn === 0 ? "·" : item.turn),
    h("span", { class: "words grow", dir: "auto" }, item.turn === 0 ? "the beginning" : oneLine(item.words)),
    item.names.map((name) => h("span", { class: "mark", key: name }, oneLine(name))),
    item.isHead && span("mark head", "head"),
    item.status !== "completed" && item.turn !== 0 && span("mark", item.status),
  );

interface ApprovalOptions {
  readonly thread: string;
  readonly approval: RequestApproval;
}

/** Shows a tool call that waits for approval, with exactly the arguments that would run. */
const Approval = ({ thread, approval }: ApprovalOptions): ComponentChild => {
  const [reason, setReason] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [isSent, setSent] = useState(false);
  const { id, digest, name, version, because } = approval;
  const send = (approve: boolean): void => {
    setSent(true);
    setProblem(null);
    const body = { id, digest, approve, ...(approve || reason === "" ? {} : { reason }) };
    void asking(
      post("approval", { thread }, body),
      () => {},
      (words) => {
        setSent(false);
        setProblem(words);
      },
    );
  };
  return h(
    "form",
    { class: "approval", onSubmit: (event: Event) => event.preventDefault() },
    div(
      "approval-what",
      h("strong", null, oneLine(name), version === null ? "" : `@${oneLine(version)}`),
      because === "declared" ? " waits for your approval" : " was started, and its outcome is unknown: run it again?",
      h(
        "code",
        { class: "dim digest", title: "the digest of tool, version and arguments: the answer is about exactly these" },
        digest,
      ),
    ),
    h(JsonText, { value: approval.arguments }),
    div(
      "buttons",
      button(() => send(true), { class: "primary approve", disabled: isSent }, "Approve ", h("kbd", null, "a")),
      button(() => send(false), { class: "deny", disabled: isSent }, "Deny ", h("kbd", null, "d")),
      h("input", {
        type: "text",
        placeholder: "why not, for the model",
        "aria-label": "Reason of a denial",
        value: reason,
        onInput: (event: Event) => setReason(valueIn(event)),
      }),
    ),
    problem !== null && p("problem", problem),
  );
};
