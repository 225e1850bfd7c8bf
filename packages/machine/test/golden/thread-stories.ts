import type { MachineOptions } from "../../src/index.ts";
import { ask, call, calls, failed, fired, reply, result, round, type Story } from "./story.ts";

const approved: MachineOptions = {
  tools: [{ name: "delete_file", version: "2", approval: "always" }, { name: "list_files" }],
};

const calling = { role: "assistant" as const, content: "", toolCalls: [call("list_files", "{}")] };

const overlapping: readonly Story[] = [
  {
    name: "merge",
    options: { overlap: { type: "merge", max: 2 } },
    told: [
      ask(1, "a", "What is a thread?"),
      "What is asked meanwhile waits, so many at most.",
      ask(2, "b", "And a turn?"),
      ask(3, "c", "And a step?", { model: { temperature: 0 } }),
      ask(4, "d", "And a part?"),
      reply(5, "t/1.1#1", "A conversation."),
      "One turn answers all that wait; one that says otherwise would have waited for its own.",
      fired(6, "t/4!queue"),
      "One of them can be withdrawn: the turn goes on for the other, and ends with it.",
      { type: "cancel.requested", at: 7, askId: "b" },
      { type: "cancel.requested", at: 8, askId: "c" },
    ],
  },
  {
    name: "latest",
    options: { overlap: { type: "latest" } },
    told: [
      ask(1, "a", "Weather in Paris?"),
      ask(2, "b", "No, in Rome."),
      "The newest one takes the place of those that wait.",
      ask(3, "c", "I meant Oslo."),
      reply(4, "t/1.1#1", "Sunny."),
      fired(5, "t/4!queue"),
      "One that was superseded is told so when it comes again.",
      ask(6, "b", "No, in Rome."),
      reply(7, "t/2.1#1", "Snow."),
    ],
  },
  {
    name: "interrupt",
    options: { ...approved, overlap: { type: "interrupt" } },
    told: [
      ask(1, "a", "List my files, all of them."),
      calls(2, "t/1.1#1", [call("list_files", '{"path":"/"}')]),
      "A new ask cancels the turn that is open, and is the next.",
      ask(3, "b", "Stop, only those of today."),
      "Before it is opened, a newer one takes its place.",
      ask(4, "c", "Only those of this morning."),
      fired(5, "t/3!queue"),
      result(6, "t/1.1.0#1", "too late"),
      "What had been shown of a reply is kept.",
      ask(7, "d", "Only the oldest.", { partial: { content: "There a" } }),
      fired(8, "t/6!queue"),
      reply(9, "t/3.1#1", "It is from 1999."),
    ],
  },
  {
    name: "steer",
    options: { ...approved, overlap: { type: "steer", max: 1 } },
    told: [
      ask(1, "a", "Q1"),
      "What is asked meanwhile joins the open turn; a turn that has its answer goes on for it.",
      ask(2, "b", "Q2"),
      ask(3, "c", "one too many"),
      reply(4, "t/1.1#1", "A1"),
      calls(5, "t/1.2#1", [call("list_files", "{}")]),
      "It may say that it is only for the turn that another ask opened.",
      ask(6, "d", "not the hidden ones", { joins: { askId: "a" } }),
      ask(7, "e", "for somebody else", { joins: { askId: "z" } }),
      "It stands in the next prompt, behind the round.",
      result(8, "t/1.2.0#1", "a, b"),
      reply(9, "t/1.3#1", "A2"),
      ask(10, "f", "nothing to join", { joins: {} }),
    ],
  },
  {
    name: "steer-returned",
    options: { overlap: { type: "steer", max: 9 }, limits: { steps: 1 } },
    told: [
      ask(1, "a", "Q1"),
      ask(2, "b", "   "),
      ask(3, "b", "Q2"),
      ask(4, "c", "Q3"),
      "One that was not shown yet can be withdrawn alone.",
      { type: "cancel.requested", at: 5, askId: "c" },
      "The limit allows no further step: the answer stands, and what was not shown is given back.",
      reply(6, "t/1.1#1", "A1"),
      ask(7, "d", "Q4"),
      ask(8, "e", "Q5"),
      "So it is when the turn fails.",
      failed(9, "t/2.1#1", { kind: "auth", retryable: false }),
      ask(10, "e", "Q5"),
    ],
  },
];

const withheld = (at: number, effectId: string, path: string, because: "declared" | "unknown_outcome" = "declared") =>
  ({ type: "tool.withheld", at, effectId, because, version: "2", arguments: { path } }) as const;
const approval = (at: number, effectId: string, isApproved: boolean, more: { reason?: string; digest?: string } = {}) =>
  ({ type: "approval.answered", at, effectId, approved: isApproved, ...more }) as const;

const approvals: readonly Story[] = [
  {
    name: "approvals",
    options: approved,
    told: [
      ask(1, "a", "Delete a and b, and tell me what is left."),
      calls(2, "t/1.1#1", [
        call("delete_file", '{"path":"a"}'),
        call("delete_file", '{"path":"b"}'),
        call("list_files", "{}"),
      ]),
      "A tool that needs approval can't be started, nor its result told.",
      { type: "tool.started", at: 3, effectId: "t/1.1.0#1" },
      result(4, "t/1.1.0#1", "deleted"),
      "Its arguments were validated: somebody is asked.",
      withheld(5, "t/1.1.0#1", "a"),
      withheld(6, "t/1.1.1#1", "b"),
      "With the last tool that ran, only approvals are awaited.",
      result(7, "t/1.1.2#1", "a, b, c"),
      "An answer about something else than what was asked is refused.",
      approval(8, "t/1.1.0!approval-1", true, { digest: "another" }),
      approval(9, "t/1.1.0!approval-1", true),
      "The version of the tool is another by now: it is asked anew.",
      { ...withheld(10, "t/1.1.0#2", "a"), version: "3" },
      approval(11, "t/1.1.0!approval-1", true),
      approval(12, "t/1.1.0!approval-2", true),
      result(13, "t/1.1.0#3", "deleted"),
      "What is denied is a result that says so.",
      approval(14, "t/1.1.1!approval-1", false, { reason: "b is needed" }),
      reply(15, "t/1.2#1", "Deleted a; b stays."),
    ],
  },
  {
    name: "approval-cancelled",
    options: approved,
    told: [
      ask(1, "a", "Delete a."),
      calls(2, "t/1.1#1", [call("delete_file", '{"path":"a"}')]),
      withheld(3, "t/1.1.0#1", "a"),
      { type: "cancel.requested", at: 4, askId: "a", reason: "changed my mind" },
      approval(5, "t/1.1.0!approval-1", true),
    ],
  },
  {
    name: "unknown-outcome",
    options: { tools: [{ name: "pay", recovery: "ask" }] },
    told: [
      ask(1, "a", "Pay the bill."),
      calls(2, "t/1.1#1", [call("pay", '{"amount":5}'), call("pay", '{"amount":7}')]),
      "Nobody can say what became of a call that was never started.",
      withheld(3, "t/1.1.0#1", "", "unknown_outcome"),
      { type: "tool.started", at: 4, effectId: "t/1.1.0#1" },
      { type: "tool.started", at: 5, effectId: "t/1.1.1#1" },
      "The process that ran them is gone: somebody is asked whether to run them again.",
      { type: "tool.withheld", at: 6, effectId: "t/1.1.0#1", because: "unknown_outcome", arguments: { amount: 5 } },
      { type: "tool.withheld", at: 7, effectId: "t/1.1.1#1", because: "unknown_outcome", arguments: { amount: 7 } },
      approval(8, "t/1.1.0!approval-1", true),
      { type: "tool.started", at: 9, effectId: "t/1.1.0#2" },
      result(10, "t/1.1.0#2", "paid"),
      approval(11, "t/1.1.1!approval-1", false),
      reply(12, "t/1.2#1", "Paid 5; whether 7 were paid is not known."),
    ],
  },
];

const edits: readonly Story[] = [
  {
    name: "system-reset",
    input: { threadId: "t", at: 0, system: "A", metadata: { name: "first" } },
    told: [
      { type: "system.changed", at: 1, system: "B" },
      ask(2, "a", "Hello"),
      { type: "system.reset", at: 3 },
      { type: "metadata.changed", at: 4, metadata: { name: "second" } },
      reply(5, "t/1.1#1", "Hi."),
      ask(6, "b", "Again"),
    ],
  },
  {
    name: "ask-from",
    options: { overlap: { type: "queue", max: 1 } },
    told: [
      ask(1, "a", "Name a colour."),
      reply(2, "t/1.1#1", "Red."),
      ask(3, "b", "Another one."),
      reply(4, "t/2.1#1", "Blue."),
      "An ask that says behind which turn its own opens needs format 2 of the journal.",
      ask(5, "c", "A darker one.", { from: 1 }),
      { type: "thread.configured", at: 6, format: 2, configuration: { fingerprint: "as before" } },
      "The head moves and the turn opens in one entry.",
      ask(7, "c", "A darker one.", { from: 1 }),
      "It never waits: where it would open is known only now.",
      ask(8, "d", "A lighter one.", { from: 2 }),
      reply(9, "t/3.1#1", "Maroon."),
      ask(10, "d", "A lighter one.", { from: 7 }),
      ask(11, "d", "A lighter one.", { from: { checkpoint: "home" } }),
    ],
  },
  {
    name: "round-appended",
    options: { ...approved, overlap: { type: "queue", max: 1 } },
    told: [
      "A round that was had elsewhere needs format 2 of the journal.",
      round(1, [call("list_files", "{}")], ["a, b"]),
      { type: "thread.configured", at: 2, format: 2, configuration: { fingerprint: "as before" } },
      "Calls stand in a thread with their results only, one for each.",
      { type: "message.appended", at: 3, message: { ...calling } },
      round(4, [call("list_files", "{}"), call("list_files", "{}")], ["a, b"]),
      "Between turns it leads the next one. Ids of a provider may repeat: those of the thread do not.",
      round(5, [call("list_files", '{"of":"today"}'), call("list_files", "{}", null)], ["a", null], "Let me look."),
      ask(6, "a", "Which one is new?"),
      "While a call is out it waits, and while a tool is: it comes after the round, whole.",
      round(7, [call("list_files", "{}")], ["a, b, c"]),
      calls(8, "t/1.1#1", [call("list_files", "{}")]),
      round(9, [call("delete_file", '{"name":"c"}')], ["not yours"], undefined, "failed"),
      "Nobody waits for its calls.",
      result(10, "t/1.r3.0#1", "too late"),
      result(11, "t/1.1.0#1", "a, b"),
      reply(12, "t/1.2#1", "c was."),
      ask(13, "b", "And now?"),
    ],
  },
];

export const threadStories: readonly Story[] = [...overlapping, ...approvals, ...edits];
