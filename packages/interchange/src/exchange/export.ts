import * as Either from "fp-ts/lib/Either.js";
import {
  digestOfMessage,
  canonicalText,
  messageFromDraft,
  messageFromReply,
  messageFromResult,
  toolCallsOf,
  toolResultOf,
} from "@colloquy/machine";
import type { Message, Part, ToolCallPart, ToolResultPart, SeedDraft } from "@colloquy/machine";
import { isForeign, withoutField } from "./foreign.ts";
import { caught, type ImportProblem } from "./import-problem.ts";
import { pairResults } from "./pairing.ts";
import type { Lose, Loss, Piece, Reading } from "./reading.ts";

/** A conversation in another format, and everything that the format cannot hold. */
export interface Exported<Value> {
  readonly value: Value;
  readonly losses: readonly Loss[];
}

/** A format, as an export needs it. */
export interface Format<Item> {
  /** Returns the items of messages that go into the same ones. */
  readonly write: (messages: readonly Message[], round: Round) => readonly Item[];
  /** Returns whether a message goes into the items of those before it. By default each has its own. */
  readonly continues?: (message: Message, before: Message) => boolean;
  readonly read: (items: unknown) => Reading;
  readonly reasons: Reasons;
}

/** The newest calls so far, and their ids in the other format by `callId`, without duplicates; null for no id. */
export interface Round {
  readonly calls: readonly ToolCallPart[];
  readonly ids: ReadonlyMap<string, string | null>;
}

/** The texts that tell why a format cannot hold something. */
export interface Reasons {
  /** For a field of a message: `name`, `metadata`, `incomplete`, `synthesised`, `truncated`, and its provider's. */
  readonly field: string;
  /** For fields of the provider, if another reason applies. */
  readonly provider?: string;
  /** For a part that is left out or changed. */
  readonly parts: { readonly [type in Part["type"]]?: string | ((part: Part) => string) };
  readonly otherPart: string;
  /** For a call that gets another id. */
  readonly callId: string;
  /** True if the format holds the outcome of a tool call. */
  readonly outcomes: boolean;
}

/**
 * Writes a conversation in a format, with everything that is lost. It reads the items again and compares each message
 * with the result, so no loss goes unnoticed, whatever a message holds.
 *
 * @param missing tells whether a call without an id gets one that is derived from its own.
 */
export const exported = <Item>(
  messages: readonly Message[],
  { write, continues = () => false, read, reasons }: Format<Item>,
  missing: "derived" | "absent" = "derived",
): Exported<readonly Item[]> => {
  const together: Placed[][] = [];
  for (const [index, message] of messages.entries()) {
    const group = together.at(-1);
    const first = group?.[0];
    if (group !== undefined && first !== undefined && continues(message, first.message)) group.push({ message, index });
    else together.push([{ message, index }]);
  }
  const value: Item[] = [];
  let round: Round = { calls: [], ids: new Map() };
  const groups = together.map((placed): Group => {
    const said = placed.map(({ message }) => message);
    const calls = said.flatMap(toolCallsOf);
    if (calls.length > 0) round = { calls, ids: idsOf(calls, missing) };
    const from = value.length;
    value.push(...write(said, round));
    return { messages: placed, from, to: value.length };
  });
  return {
    value,
    losses: lossesOf(
      groups,
      caught(() => read(value)),
      reasons,
    ),
  };
};

const idsOf = (calls: readonly ToolCallPart[], missing: "derived" | "absent"): Round["ids"] => {
  const given = new Map<string, ToolCallPart>();
  for (const call of calls) {
    const id = call.providerCallId;
    if (id !== null && !given.has(id)) given.set(id, call);
  }
  const taken = new Set(given.keys());
  const ids = new Map<string, string | null>();
  for (const call of calls) {
    const { callId, providerCallId } = call;
    if (providerCallId === null ? missing === "absent" : given.get(providerCallId) === call) {
      ids.set(callId, providerCallId);
      continue;
    }
    let id = derivedCallId(callId);
    while (taken.has(id)) id += "_";
    taken.add(id);
    ids.set(callId, id);
  }
  return ids;
};

/** Returns the id for a call without one. It consists of letters, digits and `_`, which all servers accept. */
export const derivedCallId = (callId: string): string => `call_${callId.replaceAll(/[^0-9A-Za-z]/g, "_")}`;

interface Placed {
  readonly message: Message;
  readonly index: number;
}

/** Messages that went into the same items. */
interface Group {
  readonly messages: readonly Placed[];
  /** The index of its first item, and the index after its last. */
  readonly from: number;
  readonly to: number;
}

const lossesOf = (
  groups: readonly Group[],
  read: Either.Either<ImportProblem, Reading>,
  reasons: Reasons,
): readonly Loss[] => {
  if (Either.isLeft(read)) return [unreadable(groups, read.left)];
  const { pieces } = read.right;
  const losses: Loss[] = [];
  const loseOf =
    ({ message, index }: Placed): Lose =>
    (path, what, why) =>
      losses.push({ index, messageId: message.id, path, what, why });
  let next = pieces.length;
  let joined = false;
  for (const group of groups.toReversed()) {
    const { messages } = group;
    const end = next;
    while ((pieces[next - 1]?.index ?? -1) >= group.from) next--;
    const own = pieces.slice(next, end);
    const isApart = !joined && own.length === messages.length;
    const why = isApart ? "" : whyOf(group, own, joined);
    for (const [position, placed] of messages.entries()) {
      const lose = loseOf(placed);
      const { message } = placed;
      const piece = isApart ? own[position] : (own[0] ?? pieces[next - 1]);
      if (!isApart) loseBoundary(message, piece, why, lose, reasons);
      else if (piece !== undefined) loseChanges(message, piece.draft, lose, reasons);
    }
    joined = own.length === 0 && messages.length > 0;
  }
  loseOpenRounds(groups, pieces, loseOf);
  return losses.sort((left, right) => left.index - right.index);
};

const whyOf = ({ messages }: Group, pieces: readonly Piece[], joined: boolean): string => {
  if (joined) return "what follows is read as one message with it";
  return pieces.length > messages.length
    ? "it is read as several messages"
    : "it is read as one message with what is beside it";
};

/**
 * Reports the losses of a message that does not come back by itself: its boundaries, and what the piece that contains
 * its beginning lacks.
 */
const loseBoundary = (message: Message, piece: Piece | undefined, why: string, lose: Lose, reasons: Reasons): void => {
  lose("", "where the message begins and ends", why);
  if (piece === undefined || piece.draft.role === "tool" || message.role === "tool") return;
  const back = messageOf(message, piece.draft);
  loseFields(withoutOrigin(message), withoutOrigin(back), lose, reasons);
  for (const [place, part] of message.parts.entries())
    if (!back.parts.some((each) => isSame(part, each))) losePart({ place, part, back: undefined }, lose, reasons);
};

const loseChanges = (given: Message, draft: SeedDraft, lose: Lose, reasons: Reasons): void => {
  const message = withoutOrigin(given);
  const back = withoutOrigin(messageOf(given, draft));
  const result = toolResultOf(message);
  let isLost = false;
  const noted: Lose = (...loss) => {
    isLost = true;
    lose(...loss);
  };
  loseFields(message, back, noted, reasons);
  if (result !== undefined) loseResult(result, toolResultOf(back), noted, reasons);
  else for (const change of lostParts(message.parts, back.parts)) losePart(change, noted, reasons);
  if (!isLost && digestOfMessage(back) !== message.digest)
    lose("", "how it is put together", "it is read in another shape that says the same");
};

const loseFields = (message: Message, back: Message, lose: Lose, { field, provider = field }: Reasons): void => {
  for (const [name, what] of Object.entries(fields)) {
    // They are named after members of a message.
    const [given, read] = [message, back].map((each) => each[name as keyof typeof fields]);
    if (given !== undefined && canonicalText(given) !== canonicalText(read))
      lose(name, what, name === "provider" ? provider : field);
  }
};

const fields = {
  role: "role",
  name: "name",
  metadata: "metadata",
  provider: "fields of the provider",
  incomplete: "the mark that it ended early",
  synthesised: "the mark that no speaker said it",
  truncated: "the mark that it was cut",
};

const losePart = ({ place, part, back }: Change, lose: Lose, reasons: Reasons): void => {
  const path = `parts.${place}`;
  const isSameCall = part.type === "toolCall" && back?.type === "toolCall" && part.arguments === back.arguments;
  if (!isSameCall) return lose(path, partName(part), reasonFor(part, reasons));
  const { field, provider = field, callId } = reasons;
  if (part.providerCallId !== back.providerCallId)
    lose(`${path}.providerCallId`, `the id of ${partName(part)}`, callId);
  if (canonicalText(part.provider ?? null) !== canonicalText(back.provider ?? null))
    lose(`${path}.provider`, `fields of the provider of ${partName(part)}`, provider);
};

const loseResult = (result: ToolResultPart, back: ToolResultPart | undefined, lose: Lose, reasons: Reasons): void => {
  for (const { place, part } of lostParts(result.content, back?.content ?? []))
    lose(`parts.0.content.${place}`, partName(part), reasonFor(part, reasons));
  if (back?.providerCallId !== result.providerCallId)
    lose("parts.0.providerCallId", "the id of its call", reasons.callId);
  if (result.outcome !== "completed" && !reasons.outcomes)
    lose("parts.0.outcome", `the outcome "${result.outcome}"`, "the result's content stands for it");
};

const reasonFor = (part: Part, { parts, otherPart }: Reasons): string => {
  if (part.type === "opaque" && isForeign(part.value)) return "only the format that it came from has it";
  const reason = parts[part.type];
  if (reason !== undefined) return typeof reason === "string" ? reason : reason(part);
  return "text" in part && part.text === "" ? "an empty text is no content" : otherPart;
};

/** Returns the message that was read back, with the original's ids. */
const messageOf = (message: Message, draft: SeedDraft): Message => {
  if (draft.role === "assistant") return messageFromReply(message.id, message.id, draft);
  if (draft.role !== "tool") return messageFromDraft(message.id, draft);
  const call = { callId: message.id, providerCallId: draft.toolCallId, name: toolResultOf(message)?.name ?? "" };
  return messageFromResult(call, "completed", draft.content);
};

/** Removes the note about the origin of provider fields, which is never sent. */
const withoutOrigin = (message: Message): Message => {
  if (message.provider?.["origin"] === undefined) return message;
  const { provider, ...others } = message;
  const kept = withoutField(provider, "origin");
  const left = { ...others, ...(kept === undefined ? {} : { provider: kept }) };
  return { ...left, digest: digestOfMessage(left) };
};

interface Change {
  readonly place: number;
  readonly part: Part;
  /** The part that came back in its place, if any. */
  readonly back: Part | undefined;
}

/** Returns the parts that did not come back unchanged. */
const lostParts = (parts: readonly Part[], back: readonly Part[]): readonly Change[] => {
  const lost: Change[] = [];
  let next = 0;
  for (const [place, part] of parts.entries()) {
    const candidate = back[next];
    if (candidate !== undefined && isSame(part, candidate)) {
      next++;
      continue;
    }
    const changed = parts.length - place === back.length - next;
    lost.push({ place, part, back: changed ? candidate : undefined });
    if (changed) next++;
  }
  return lost;
};

/**
 * Returns whether a part came back unchanged. A call never does, because it gets a new internal id, which is not a
 * loss.
 */
const isSame = (part: Part, back: Part): boolean => canonicalText(part) === canonicalText(back);

const partName = (part: Part): string => (part.type === "toolCall" ? `the call of "${part.name}"` : names[part.type]);

const names = {
  text: "a text",
  data: "a data field",
  image: "an image",
  opaque: "an attachment",
  reasoning: "reasoning",
  refusal: "a refusal",
  toolResult: "a result",
};

/** Reports calls without a result, which no importer accepts. */
const loseOpenRounds = (groups: readonly Group[], pieces: readonly Piece[], loseOf: (said: Placed) => Lose): void => {
  for (const { index, repair } of pairResults(pieces).irregularities) {
    const messages = groupAt(groups, index)?.messages ?? [];
    // A group may also hold results. A missing result belongs to its last call.
    const said = messages.findLast(({ message }) => message.role === "assistant") ?? messages[0];
    const why = "there is none yet; end the turn first, or import with { repair: true }";
    if (said !== undefined) loseOf(said)("", repair.what, why);
  }
};

const groupAt = (groups: readonly Group[], item: number | null): Group | undefined =>
  groups.find(({ from, to }) => item !== null && from <= item && item < to);

const unreadable = (groups: readonly Group[], { index, reason }: ImportProblem): Loss => {
  const first = groupAt(groups, index)?.messages[0];
  return {
    index: first?.index ?? 0,
    ...(first === undefined ? {} : { messageId: first.message.id }),
    path: "",
    what: "the message",
    why: `it can't be read again: ${reason}`,
  };
};
