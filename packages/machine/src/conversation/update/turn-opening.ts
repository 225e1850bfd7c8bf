import { withoutAppended } from "../../thread/appended.ts";
import { append, chunksOf } from "../../thread/chunks.ts";
import { messageFromDraft } from "../../thread/draft.ts";
import { frozen } from "../../thread/frozen.ts";
import type { JsonObject } from "../../thread/json.ts";
import type { Message } from "../../thread/message.ts";
import { noUsage } from "../../thread/usage.ts";
import type { Cut } from "../../prompt/cut.ts";
import { askBringing, draftsOf, isDrafts } from "./ask-drafts.ts";
import { callerToolsOf, offeredWith } from "./caller-tools.ts";
import { callLlm, deadlineTimer, waitTimer } from "./call.ts";
import type { ConversationData, OpenTurn, QueuedAsk } from "../protocol/data.ts";
import type { Decided } from "../protocol/entry.ts";
import { deliveries, withJoined } from "./joining.ts";
import type { Limits } from "../protocol/limits.ts";
import type { Plan } from "./plan.ts";
import { publish } from "../protocol/effect.ts";
import { closeTurn } from "./turn-closing.ts";

/** Opens a turn for asks: first the appended messages, then the content of the asks. */
export const openTurn = (data: ConversationData, asks: readonly QueuedAsk[], decided: Decided, at: number): Plan => {
  const open = openedTurn(data, asks, decided, at);
  const opened = { ...data, conversation: withoutAppended(data.conversation), open };
  const next = nextCall(opened, open, decided, at);
  return {
    ...next,
    effects: (prompts) => [
      publish({
        type: "turn.started",
        turn: open.number,
        askIds: Object.freeze(open.asks.map(({ askId }) => askId)),
      }),
      ...deadlineTimer(data.threadId, open),
      ...next.effects(prompts),
    ],
  };
};

/** Makes the next model call of the open turn, or ends it if a limit forbids the call. */
export const nextCall = (data: ConversationData, open: OpenTurn, decided: Decided, at: number): Plan => {
  return attemptCall(data, { ...open, step: open.step + 1 }, 1, decided, at);
};

/** Makes an attempt of the current step's model call. */
export const attemptCall = (
  data: ConversationData,
  open: OpenTurn,
  attempt: number,
  decided: Decided,
  at: number,
): Plan => {
  const { limit, unfit, compacting } = decided;
  // A step that is never made does not count.
  const unmade = attempt === 1 ? { ...open, step: open.step - 1 } : open;
  if (limit !== undefined) return closeTurn(data, unmade, { status: "failed", limit }, at);
  // The measurement led to this, so the next ask ignores it. Otherwise nothing would be sent that could correct it.
  if (unfit !== undefined) return closeTurn({ ...data, measured: null }, unmade, { status: "failed", unfit }, at);
  if (compacting !== undefined) {
    const stage = { type: "compacting" as const, attempt, dueAt: compacting.dueAt };
    const waiting: OpenTurn = { ...unmade, stage };
    const { threadId } = data;
    return {
      data: { ...data, open: waiting },
      arrow: "compacting",
      effects: () => [waitTimer(threadId, waiting, stage)],
    };
  }
  const cut = decided.cut ?? data.cut ?? nothingCut;
  const { idleTimeoutMs = null, tools } = data.configuration;
  const { system, pins } = data.conversation;
  const counted = decided.counted ?? null;
  const known = { attempt, cut, system, pins, idleTimeoutMs, counted, partial: null };
  // While a journal is folded, its values may not be frozen yet.
  const joined = withJoined(open);
  const call = frozen(tools === undefined ? known : { ...known, tools: offeredWith(tools, joined) });
  const calling: OpenTurn = { ...joined, stage: Object.freeze({ type: "responding", call }) };
  const after = { ...data, cut, open: calling };
  return {
    data: after,
    arrow: "responding",
    effects: (prompts) => [...deliveries(open), callLlm(after, calling, call, prompts)],
  };
};

/** Makes the call that waited for a summary, or ends the turn. */
export const goOnCompacted = (
  data: ConversationData,
  open: OpenTurn,
  attempt: number,
  decided: Decided,
  at: number,
): Plan => (attempt === 1 ? nextCall(data, open, decided, at) : attemptCall(data, open, attempt, decided, at));

const openedTurn = (data: ConversationData, asks: readonly QueuedAsk[], decided: Decided, at: number): OpenTurn => {
  const number = data.conversation.turns.length + 1;
  const led = data.conversation.appended;
  const said = asks
    .flatMap(draftsOf)
    .map((draft, index): Message => messageFromDraft(`${number}.${led.length + index}`, draft));
  return {
    number,
    parent: data.conversation.head,
    asks: asks.map((ask) => askBringing(ask, draftsOf(ask))),
    startedAt: at,
    messages: said.reduce((messages, message) => append(messages, message), chunksOf(led)),
    waiting: [],
    joining: [],
    made: led.length + said.length,
    step: 0,
    toolCalls: 0,
    usage: noUsage,
    answer: null,
    metadata: metadataOf(asks),
    model: asks.reduce((model, ask) => ({ ...model, ...ask.model }), { ...data.configuration.model, ...data.model }),
    ...callerToolsOf([], asks),
    limits: limitsOf(asks),
    deadlineAt: decided.deadlineAt ?? null,
    ...outputOf(asks),
    stage: noCalls,
  };
};

const noCalls = frozen<OpenTurn["stage"]>({ type: "running", calls: [] });

/** Returns the limits by which asks override the machine's; later asks override earlier ones. */
export const limitsOf = (asks: readonly QueuedAsk[]): Limits =>
  asks.reduce<Limits>((limits, ask) => ({ ...limits, ...ask.limits }), {});

/** Returns the required output of asks: that of the last ask that has one. */
const outputOf = (asks: readonly QueuedAsk[]): Pick<OpenTurn, "output"> => {
  const output = asks.findLast((ask) => ask.output !== undefined)?.output;
  return output === undefined ? {} : { output };
};

/** Returns the metadata of asks whose input is whole messages. */
const metadataOf = (asks: readonly QueuedAsk[]): JsonObject | null =>
  asks.reduce<JsonObject | null>(
    (metadata, ask) =>
      ask.metadata === undefined || !isDrafts(ask.input) ? metadata : { ...metadata, ...ask.metadata },
    null,
  );

/** The entry of a thread's first call always has a cut. This default is for journals that lack it. */
const nothingCut: Cut = Object.freeze({ policy: "keep-all@1", from: null, interrupted: "keep" });
