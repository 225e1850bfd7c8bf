import { append, chunksOf } from "../thread/chunks.ts";
import { messageFromDraft } from "../thread/draft.ts";
import type { Content, Message, MessageDraft } from "../thread/message.ts";
import { noUsage } from "../thread/usage.ts";
import type { Cut } from "../prompt/cut.ts";
import { callLlm, waitTimer } from "./call.ts";
import type { ConversationData, OpenTurn, QueuedAsk } from "./data.ts";
import type { Effect } from "./effect.ts";
import { deadlineId } from "./effect-id.ts";
import type { Decided } from "./event.ts";
import type { Plan } from "./plan.ts";
import { closeTurn } from "./turn-closing.ts";

/** An ask opens a turn: what was appended before leads it, then what is asked. */
export const openTurn = (data: ConversationData, ask: QueuedAsk, decided: Decided, at: number): Plan => {
  const open = openedTurn(data, ask, decided, at);
  const opened = { ...data, conversation: { ...data.conversation, appended: [] }, open };
  const next = nextCall(opened, open, decided, at);
  return {
    ...next,
    effects: () => [
      {
        type: "publish",
        signal: { type: "turn.started", turn: open.number, askIds: open.asks.map(({ askId }) => askId) },
      },
      ...deadlineTimer(data.threadId, open),
      ...next.effects(),
    ],
  };
};

/** The next model call of the open turn; or its end, where a limit stands before it. */
export const nextCall = (data: ConversationData, open: OpenTurn, decided: Decided, at: number): Plan => {
  return attemptCall(data, { ...open, step: open.step + 1 }, 1, decided, at);
};

/** An attempt of the present step's model call. */
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
  // What was measured led to this, so the next ask does without it: nothing that is sent could correct it.
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
  const idleTimeoutMs = data.configuration.idleTimeoutMs ?? null;
  const { system, pins } = data.conversation;
  const call = { attempt, cut, system, pins, idleTimeoutMs, counted: decided.counted ?? null, partial: null };
  const calling: OpenTurn = { ...open, stage: { type: "responding", call } };
  const after = { ...data, cut, open: calling };
  return {
    data: after,
    arrow: "responding",
    effects: () => [callLlm(after, calling, call)],
  };
};

/** The call that waited for a summary is made, or the turn ends. */
export const goOnCompacted = (
  data: ConversationData,
  open: OpenTurn,
  attempt: number,
  decided: Decided,
  at: number,
): Plan => (attempt === 1 ? nextCall(data, open, decided, at) : attemptCall(data, open, attempt, decided, at));

/** The messages that an ask says. */
export const draftsOf = (ask: Pick<QueuedAsk, "input" | "name" | "metadata">): readonly MessageDraft[] => {
  const { input } = ask;
  if (isDrafts(input)) return input;
  const draft: MessageDraft = { role: "user", content: input };
  return [
    {
      ...draft,
      ...(ask.name === undefined ? {} : { name: ask.name }),
      ...(ask.metadata === undefined ? {} : { metadata: ask.metadata }),
    },
  ];
};

const openedTurn = (data: ConversationData, ask: QueuedAsk, decided: Decided, at: number): OpenTurn => {
  const number = data.conversation.turns.length + 1;
  const led = data.conversation.appended;
  const said = draftsOf(ask).map((draft, index): Message => messageFromDraft(`${number}.${led.length + index}`, draft));
  return {
    number,
    parent: data.conversation.head,
    asks: [{ askId: ask.askId, askedAt: ask.at }],
    startedAt: at,
    messages: said.reduce((messages, message) => append(messages, message), chunksOf(led)),
    waiting: [],
    made: led.length + said.length,
    step: 0,
    toolCalls: 0,
    usage: noUsage,
    answer: null,
    metadata: isDrafts(ask.input) ? (ask.metadata ?? null) : null,
    model: { ...data.configuration.model, ...data.model, ...ask.model },
    limits: ask.limits ?? {},
    deadlineAt: decided.deadlineAt ?? null,
    stage: { type: "running", calls: [] },
  };
};

const isDrafts = (input: Content | readonly MessageDraft[]): input is readonly MessageDraft[] =>
  typeof input !== "string" && input.every((item) => "role" in item && !("type" in item));

const deadlineTimer = (threadId: string, open: OpenTurn): readonly Effect[] =>
  open.deadlineAt === null
    ? []
    : [
        {
          type: "startTimer",
          id: deadlineId(threadId, open.number),
          threadId,
          purpose: "deadline",
          dueAt: open.deadlineAt,
        },
      ];

/** Every first call of a thread has a cut on its entry; this stands for journals that lack it. */
const nothingCut: Cut = { policy: "keep-all@1", from: null, interrupted: "keep" };
