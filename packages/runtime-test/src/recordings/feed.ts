import type {
  AppendedResult,
  AskReceived,
  CallTool,
  Content,
  ContentPart,
  MessageDraft,
  SeedDraft,
  SeedReply,
  SeedResult,
} from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { type Drive, send, toolCallsOut } from "./drive.ts";
import { difference, type Drafted, firstObstacle, type Given, inexpressible, type Obstacle } from "./script.ts";

/**
 * Sends the machine all messages between two model calls. If tools are outstanding, these are the results of their
 * round. Other messages are then sent before the last result, because the machine calls the model after it. Otherwise
 * an ask opens a turn, after the messages that the client inserted.
 */
export const feed = (driven: Drive, given: readonly Given[], callFollows: boolean): Obstacle | null =>
  toolCallsOut(driven).length > 0 ? feedRound(driven, given) : feedGap(driven, given, callFollows);

const feedRound = (driven: Drive, given: readonly Given[]): Obstacle | null => {
  const pieces = piecesOf(given);
  const results = pieces.filter(isResult);
  const closing = results.length === toolCallsOut(driven).length ? results.length - 1 : results.length;
  return (
    firstObstacle(results.slice(0, closing), (result) => giveResult(driven, result)) ??
    firstObstacle(pieces, (piece) => (isResult(piece) ? null : append(driven, piece))) ??
    firstObstacle(results.slice(closing), (result) => giveResult(driven, result))
  );
};

const feedGap = (driven: Drive, given: readonly Given[], callFollows: boolean): Obstacle | null => {
  const from = given.findLastIndex(({ asks }) => !asks) + 1;
  const asked = given.slice(from);
  return (
    firstObstacle(piecesOf(given.slice(0, from)), (piece) =>
      isResult(piece) ? difference(piece.index, "a tool result while no tool is out") : append(driven, piece),
    ) ?? (asked.length > 0 || callFollows ? ask(driven, asked) : null)
  );
};

/** A message, or a whole round that the client inserted: an assistant's message with calls, and their results. */
interface Piece extends Pick<Given, "index" | "name"> {
  readonly draft: Drafted<SeedDraft>;
  readonly results: readonly Drafted<SeedDraft>[];
}

type Result = Piece & { readonly draft: Either.Right<SeedResult> };

const isResult = (piece: Piece): piece is Result => Either.isRight(piece.draft) && piece.draft.right.role === "tool";

/** Groups messages. The results after an inserted message with calls belong to its calls, as many as it has. */
const piecesOf = (given: readonly Given[]): readonly Piece[] => {
  const pieces: Piece[] = [];
  for (let place = 0; place < given.length;) {
    const first = given[place++];
    if (first === undefined) break;
    const results: Drafted<SeedDraft>[] = [];
    for (let next = given[place]; next !== undefined && isResult({ ...next, results }); next = given[++place]) {
      if (results.length >= callsOf(first.draft)) break;
      results.push(next.draft);
    }
    pieces.push({ ...first, results });
  }
  return pieces;
};

const callsOf = (draft: Drafted<SeedDraft>): number =>
  Either.isRight(draft) && isReply(draft.right) ? (draft.right.toolCalls?.length ?? 0) : 0;

const isReply = (draft: SeedDraft): draft is SeedReply => draft.role === "assistant" && "toolCalls" in draft;

/** Sends an ask of one user message, or of several as a list. Without one, the model continues the thread. */
const ask = (driven: Drive, asked: readonly Given[]): Obstacle | null => {
  const drafts: MessageDraft[] = [];
  for (const { index, draft } of asked) {
    const message = Either.chain(appendable)(draft);
    if (Either.isLeft(message)) return inexpressible(index, message.left);
    drafts.push(message.right);
  }
  const askId = `ask-${driven.entries.length}`;
  return heard(asked[0]?.index ?? null, send(driven, { type: "ask.received", askId, ...inputOf(drafts) }));
};

const inputOf = (drafts: readonly MessageDraft[]): Pick<AskReceived, "input" | "name"> => {
  const [only] = drafts;
  // Empty content as the input adds no message; a draft with empty content adds an empty one.
  if (only === undefined || drafts.length > 1 || only.content.length === 0) return { input: drafts };
  return { input: only.content, ...(only.name === undefined ? {} : { name: only.name }) };
};

const append = (driven: Drive, { index, draft, results }: Piece): Obstacle | null => {
  if (Either.isRight(draft) && isReply(draft.right) && callsOf(draft) > 0)
    return appendRound(driven, index, draft.right, results);
  const message = Either.chain(appendable)(draft);
  return Either.isLeft(message)
    ? inexpressible(index, message.left)
    : heard(index, send(driven, { type: "message.appended", message: message.right }));
};

const appendRound = (
  driven: Drive,
  index: number | null,
  { role: _, metadata: __, ...reply }: SeedReply,
  drafts: readonly Drafted<SeedDraft>[],
): Obstacle | null => {
  const results = drafts.flatMap((draft) => (Either.isRight(draft) && draft.right.role === "tool" ? draft.right : []));
  const calls = reply.toolCalls ?? [];
  if (calls.length !== results.length || calls.some(({ id }, place) => id !== results[place]?.toolCallId))
    return inexpressible(
      index,
      "an assistant message with calls that lacks a result for each, in the order of the calls",
    );
  const answers = results.map(({ content }): AppendedResult => ({ outcome: "completed", content }));
  const event = { type: "round.appended", reply, results: answers } as const;
  return heard(index, send(driven, event));
};

const giveResult = (driven: Drive, { index, name, draft }: Result): Obstacle | null => {
  const out = toolCallsOut(driven);
  const { toolCallId, content } = draft.right;
  const call = out.find(({ providerCallId }) => providerCallId === toolCallId);
  if (call === undefined) return difference(index, nobodyWaits(toolCallId, out));
  if (name !== undefined && name !== call.name)
    return difference(index, `the result is recorded of tool "${name}", and its call is of "${call.name}"`);
  return heard(index, send(driven, { type: "tool.completed", effectId: call.id, content }));
};

const nobodyWaits = (id: string | null, out: readonly CallTool[]): string =>
  `no call waits for the result of ${JSON.stringify(id)}; out are ${JSON.stringify(out.map(({ providerCallId }) => providerCallId))}`;

/** Converts a draft to a message to append, which can have no reasoning and no refusal. */
const appendable = (draft: SeedDraft): Drafted<MessageDraft> => {
  if (draft.role === "tool") return Either.left("a tool result can't be appended outside a round");
  if (draft.role !== "assistant") return Either.right(draft);
  const { name, provider, content = "" } = draft;
  if (!isSayable(content))
    return Either.left("reasoning or a refusal that the client put there itself, outside a round of calls");
  return Either.right({
    role: "assistant",
    content,
    ...(name === undefined ? {} : { name }),
    ...(provider === undefined ? {} : { provider }),
  });
};

const isSayable = (content: string | readonly { readonly type: string }[]): content is Content =>
  typeof content === "string" || content.every(isContent);

/** Returns whether a part may be in a message that is not the model's. */
export const isContent = (part: { readonly type: string }): part is ContentPart =>
  part.type !== "reasoning" && part.type !== "refusal";

const heard = (step: number | null, refused: string | null): Obstacle | null =>
  refused === null ? null : difference(step, refused);
