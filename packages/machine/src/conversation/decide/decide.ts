// Decides whether an event fits the state. Answers have helpers beside this file; asks and timers are decided here.
import * as Either from "fp-ts/lib/Either.js";
import {
  type ConversationData,
  type DroppedBecause,
  type OpenTurn,
  type QueuedAsk,
  remembered,
} from "../protocol/data.ts";
import { decideApproval, decideTool } from "./tool-call.ts";
import { decideCheck, decideFailure, decideReply } from "./outcome.ts";
import { decideOpening, decideStep, interruptedResults } from "./step.ts";
import { limitSpent } from "./limits.ts";
import { decideSummaryOutcome, decideWaited } from "./summary.ts";
import { decideMove, decideUnconfigured, turnAnswering } from "./unconfigured.ts";
import { type Awaited, awaited, callsOf, llmId } from "../protocol/effect-id.ts";
import type {
  AskReceived,
  CallerTool,
  Event,
  LlmCompleted,
  LlmFailed,
  LlmProgressed,
  TimerFired,
} from "../protocol/event.ts";
import type { Decided } from "../protocol/entry.ts";
import { type Decision, type Refusal, refuse, stale } from "../protocol/refusal.ts";
import type { Settings } from "./settings.ts";
import { isThreadEmpty } from "../../thread/thread.ts";
import { findNewest } from "../../thread/chunks.ts";
import { preview } from "../../thread/plain-data.ts";
import type { Ask } from "../../thread/turn.ts";
import { draftsOf, isDrafts, movedFor, nameClashing, problemOfCalls } from "../update/turn-opening.ts";
import { problemOfLimits } from "../protocol/limits.ts";
import { refusalOfRepeat } from "../read/same-ask.ts";

/**
 * Decides whether an event fits, and what the configuration adds to it. Only this function and its helpers depend on
 * the configuration. The journal stores the decision, so `update` needs no configuration.
 */
export const decide = (settings: Settings, data: ConversationData, event: Event): Decision => {
  switch (event.type) {
    case "ask.received":
      return decideAsk(settings, data, event);
    case "llm.completed":
    case "llm.failed":
    case "llm.progressed":
      return decideModel(settings, data, event);
    case "output.accepted":
    case "output.refused": {
      const check = awaitedExactly(data, event);
      return check?.of === "check"
        ? Either.right(decideCheck(settings, data, check.open, event))
        : stale(event.effectId, "check");
    }
    case "tool.started":
    case "tool.withheld":
    case "tool.completed":
    case "tool.failed":
      return decideTool(settings, data, event);
    case "approval.answered":
      return decideApproval(settings, data, event);
    case "timer.fired":
      return decideTimer(settings, data, event);
    default:
      return decideUnconfigured(data, event);
  }
};

/** Returns the outstanding effect that an answer names. The thread counts: an id of another one names nothing here. */
const awaitedExactly = (data: ConversationData, { effectId }: { readonly effectId: string }): Awaited | undefined => {
  const named = awaited(data, effectId);
  return named?.id === effectId ? named : undefined;
};

const decideModel = (
  settings: Settings,
  data: ConversationData,
  event: LlmCompleted | LlmFailed | LlmProgressed,
): Decision => {
  const { open } = data;
  // Most events are a reply for the open turn: to find out what else an id may name takes longer than to decide it.
  if (
    event.type === "llm.completed" &&
    open?.stage.type === "responding" &&
    event.effectId === llmId(data.threadId, open.number, open.step, open.stage.call.attempt)
  )
    return Either.right(decideReply(settings, data, open, event));
  const call = awaitedExactly(data, event);
  if (call?.of === "summary")
    return event.type === "llm.progressed"
      ? refuse("invalid", "the progress of a summary is not kept: send its outcome")
      : Either.right(decideSummaryOutcome(settings, data, call.summarising, event));
  if (call?.of !== "reply") return stale(event.effectId, "model call");
  switch (event.type) {
    case "llm.progressed":
      return Either.right({});
    case "llm.completed":
      return Either.right(decideReply(settings, data, call.open, event));
    case "llm.failed":
      return Either.right(decideFailure(settings, data, call.open, call.attempt, event));
  }
};

const decideTimer = (settings: Settings, data: ConversationData, event: TimerFired): Decision => {
  const timer = awaitedExactly(data, event);
  const { at } = event;
  switch (timer?.of) {
    case "queue": {
      const asks = nextOf(settings, data.queue);
      const opens = asks.length === 1 ? {} : { opens: asks.length };
      return Either.right({ ...opens, ...decideOpening(settings, data, asks, at) });
    }
    case "deadline": {
      const { open, dueAt } = timer;
      const allowed = dueAt - open.startedAt;
      const limit = { limit: "deadlineMs" as const, allowed, reached: Math.max(allowed, at - open.startedAt) };
      return Either.right({ limit, ...interruptedResults(open, "the deadline of the turn passed") });
    }
    case "retry": {
      const { open } = timer;
      const limit = limitSpent(settings, open, at);
      if (limit !== null) return Either.right({ limit });
      const saysNothing = open.messages.length === 0;
      return Either.right(decideStep(settings, data, { open: () => open, saysNothing, at }));
    }
    case "wait":
      return Either.right(decideWaited(settings, data, timer.open, at));
    default:
      return stale(event.effectId, "timer");
  }
};

/** Decides whether an ask is accepted, and whether it opens a turn or waits. */
const decideAsk = (settings: Settings, data: ConversationData, event: AskReceived): Decision => {
  const refusal = refusalOfAsk(data, event, settings.askIds);
  if (refusal !== null) return Either.left(refusal);
  if (event.output?.mode === "tool" && settings.toolNames.has(event.output.name))
    return Either.left(invalid(`output.name "${event.output.name}" is the name of a tool: call the output otherwise`));
  const taken = event.output?.mode === "tool" ? event.output.name : null;
  const own = event.tools?.find(({ name }) => settings.toolNames.has(name) || name === taken);
  if (own !== undefined)
    return refuse(
      "invalid",
      `tool "${own.name}" of the ask has the name of a tool of the machine, or of the output; name it otherwise`,
    );
  if (event.from !== undefined) return decideFrom(settings, data, event, event.from);
  if (data.open === null && data.queue.length === 0)
    return Either.right(decideOpening(settings, data, [event], event.at));
  return decideOverlap(settings, data, event);
};

/** Returns why an ask is refused under every configuration, or null. The configuration may still refuse it. */
export const refusalOfAsk = (
  data: ConversationData,
  event: AskReceived,
  askIds?: Settings["askIds"],
): Refusal | null => {
  if (event.askId === "") return invalid("an ask needs an askId that is not empty");
  const repeated = whereAsked(data, event.askId, askIds);
  if (repeated !== null) return refusalOfRepeat({ context: data }, event) ?? repeated;
  const problem = problemOfAsk(data, event);
  if (problem !== null) return invalid(problem);
  const elsewhere = event.from === undefined ? null : refusalOfFrom(data, event, event.from);
  if (elsewhere !== null) return elsewhere;
  const problemOfJoining = event.joins === undefined ? null : problemOfJoins(data.open, event.joins.askId);
  return problemOfJoining === null ? null : { kind: "stale", reason: problemOfJoining };
};

/** Decides a turn that opens after a given turn, as if the head had moved there first. */
const decideFrom = (
  settings: Settings,
  data: ConversationData,
  event: AskReceived,
  from: NonNullable<AskReceived["from"]>,
): Decision =>
  Either.map((moved: Decided): Decided => {
    const there = moved.summaryStale === true ? { ...data, summarising: null } : data;
    return { ...moved, ...decideOpening(settings, movedFor(there, event), [event], event.at) };
  })(decideMove(data, from));

/** Returns the asks that the next turn answers: the oldest one, and those after it that can be merged with it. */
const nextOf = ({ overlap }: Settings, queue: readonly QueuedAsk[]): readonly QueuedAsk[] => {
  const alone = queue.findIndex(
    (ask, index) => (ask.overlap ?? overlap.type) !== "merge" || nameClashing(queue.slice(0, index + 1)) !== null,
  );
  return alone === -1 ? queue : queue.slice(0, Math.max(alone, 1));
};

/** Returns the fields that an open turn has in common with an ask. */
const turnAsAsk = ({ callerTools, output }: OpenTurn): Pick<QueuedAsk, "tools" | "output"> => ({
  ...(callerTools === undefined ? {} : { tools: callerTools }),
  ...(output === undefined ? {} : { output }),
});

const decideOverlap = (settings: Settings, data: ConversationData, event: AskReceived): Decision => {
  const { open, queue } = data;
  const type = event.joins === undefined ? (event.overlap ?? settings.overlap.type) : "steer";
  const max = "max" in settings.overlap ? settings.overlap.max : defaultMax;
  const superseding: Decided = queue.length === 0 ? {} : { supersedes: true };
  switch (type) {
    case "reject": {
      const turn = data.conversation.turns.length + 1;
      const awaited = (open === null ? [] : callsOf(data)).filter(
        ({ by, result }) => by === "caller" && result === null,
      );
      return refuse(
        "busy",
        awaited.length === 0
          ? `turn ${turn} is open; wait for its end, cancel it, or ${toWait}`
          : `turn ${turn} waits for the caller's answers to ${awaited.map(({ callId }) => callId).join(", ")}; give them, cancel it, or take its place: overlap: "interrupt" of the ask`,
      );
    }
    case "latest":
      return Either.right({ queued: 1, ...superseding });
    case "interrupt":
      return Either.right(
        open === null
          ? { queued: 1, ...superseding }
          : {
              interrupts: true,
              ...superseding,
              ...interruptedResults(open, `ask "${event.askId}" interrupted the turn`),
            },
      );
    case "steer": {
      if (open === null) return waits(queue, max);
      if (saysNothing(event)) return Either.left(invalid("an ask that joins a turn has to say something"));
      const clashing = nameClashing([turnAsAsk(open), ...open.joining, event]);
      if (clashing !== null)
        return refuse(
          "invalid",
          `tool "${clashing}" would have the name of the output in turn ${open.number}; name the ask's otherwise, or let it wait`,
        );
      return open.joining.length >= max
        ? refuse(
            "full",
            `${waiting(open.joining.length)} already to join turn ${open.number}, and at most ${max} may; wait for the turn's end, or ${toHoldMore}`,
          )
        : Either.right({ joins: true });
    }
    case "queue":
    case "merge":
      return waits(queue, max);
  }
};

/** The bound for asks that choose to wait themselves, if the machine's overlap has none. */
const defaultMax = 64;

const waits = (queue: readonly QueuedAsk[], max: number): Decision =>
  queue.length >= max
    ? refuse(
        "full",
        `${waiting(queue.length)} already, and the queue holds ${max}; wait until one is answered, withdraw one, or ${toHoldMore}`,
      )
    : Either.right({ queued: queue.length + 1 });

const waiting = (asks: number): string => (asks === 1 ? "1 ask waits" : `${asks} asks wait`);

const toWait =
  'let asks wait: overlap: { type: "queue", max } of the machine for all, or overlap: "queue" of the ask for one';

const toHoldMore = "raise the max of the machine's overlap";

const problemOfJoins = (open: OpenTurn | null, askId: string | undefined): string | null => {
  if (open === null) return "no turn is open: there is nothing to join; ask instead";
  const asks = open.asks.map((ask) => ask.askId);
  return askId === undefined || asks.includes(askId)
    ? null
    : `the open turn ${open.number} does not answer ask "${askId}"; it answers ${asks.map((id) => `"${id}"`).join(", ")}`;
};

/** Returns why a turn cannot open at the place that the ask names, or null if it can. */
const refusalOfFrom = (
  data: ConversationData,
  { overlap = "reject", joins }: AskReceived,
  from: NonNullable<AskReceived["from"]>,
): Refusal | null => {
  if (joins !== undefined || overlap !== "reject")
    return invalid(
      `an ask that says where its turn opens never ${joins === undefined ? "waits or interrupts" : "joins another"}; leave out from, or ${joins === undefined ? `overlap: "${overlap}"` : "joins"}`,
    );
  const move = decideMove(data, from);
  if (Either.isLeft(move)) return move.left;
  const turn = turnAnswering(data);
  if (turn === null) return null;
  const reason = `turn ${turn} is open or about to be, so the head can't move; wait for its end, cancel it, or ask in a fork: whenBusy: "fork" of the host's ask makes one`;
  return { kind: "busy", reason };
};

const saysNothing = (event: AskReceived): boolean =>
  draftsOf(event).every(({ content }) =>
    typeof content === "string"
      ? content.trim() === ""
      : content.every((part) => part.type === "text" && part.text.trim() === ""),
  );

const invalid = (reason: string): Refusal => ({ kind: "invalid", reason });

const whereAsked = (data: ConversationData, askId: string, askIds?: Settings["askIds"]): Refusal | null => {
  const { open } = data;
  if (open !== null && isAmong([...open.asks, ...open.joining], askId)) return repeatedIn(askId, open.number);
  // Thousands of asks may wait. To copy the list and walk the copy takes half as long as to walk the frozen list.
  if (isAmong([...data.queue], askId)) return { kind: "stale", reason: `ask "${askId}" waits in the queue already` };
  const dropped = data.dropped.find((ask) => ask.askId === askId);
  if (dropped !== undefined)
    return { kind: "stale", reason: `ask "${askId}" ${inWords[dropped.because]}; ask again under another id` };
  const answered = findNewest(
    data.conversation.turns,
    remembered,
    ({ asks }) => isAmong(asks, askId),
    (turns) => askIds?.(turns).has(askId) ?? true,
  );
  return answered === undefined ? null : repeatedIn(askId, answered.number);
};

/** A loop, because `some` takes ten times as long on a frozen list. */
const isAmong = (asks: readonly Pick<Ask, "askId">[], askId: string): boolean => {
  for (let index = 0; index < asks.length; index++) if (asks[index]?.askId === askId) return true;
  return false;
};

const inWords: { readonly [because in DroppedBecause]: string } = {
  withdrawn: "was withdrawn before its turn came",
  superseded: "was superseded by another while it waited",
  returned: "joined a turn that ended before it could be shown",
  left: "was left behind in the thread that this one was forked from",
};

const repeatedIn = (askId: string, turn: number): Refusal => ({
  kind: "stale",
  reason: `ask "${askId}" was made before; turn ${turn} answers it`,
  turn,
});

const problemOfAsk = (data: ConversationData, event: AskReceived): string | null => {
  const { input } = event;
  const lost = isDrafts(input) ? problemOfCalls(input, false) : null;
  if (lost !== null) return lost;
  const named: readonly Pick<AskReceived, "name">[] = isDrafts(input) ? input : [event];
  const unfit = named.find(({ name }) => name !== undefined && !speakerName.test(name))?.name;
  if (unfit !== undefined)
    return `the name ${preview(unfit)} is not one that servers take; it must match ${speakerName.source}, and the metadata can hold any other`;
  const problemOfNames = event.tools === undefined ? null : problemOfTools(event.tools);
  if (problemOfNames !== null) return problemOfNames;
  if (event.limits !== undefined) {
    const problem = problemOfLimits(event.limits);
    if (problem !== null) return problem;
  }
  if (event.output?.name === "") return "an output needs a name that is not empty";
  return event.input.length === 0 && isEmpty(movedFor(data, event))
    ? "there is nothing to send: the thread is empty, and so is the input"
    : null;
};

/** The speaker names that servers accept, by `name` of a message in OpenAI's chat completions. */
const speakerName = /^[a-zA-Z0-9_-]{1,64}$/;

/** Checks that the names of the ask's tools differ. The configuration compares them with the machine's tools. */
const problemOfTools = (tools: readonly CallerTool[]): string | null => {
  const names = tools.map(({ name }) => name);
  if (names.includes("")) return "a tool of the ask has no name";
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? null : `the ask has two tools of the name "${twice}"; names must differ`;
};

const isEmpty = (data: ConversationData): boolean => data.open === null && isThreadEmpty(data.conversation);
