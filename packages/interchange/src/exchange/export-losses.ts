import * as Either from "fp-ts/lib/Either.js";
import {
  digestOfMessage,
  canonicalText,
  messageFromDraft,
  messageFromReply,
  messageFromResult,
  toolResultOf,
} from "@colloquy/machine";
import type { Message, Part, ToolResultPart, SeedDraft } from "@colloquy/machine";
import type { ImportProblem } from "./import-problem.ts";
import type { Loss } from "./loss.ts";
import { pairResults } from "./pairing.ts";
import type { Piece, Reading } from "./piece.ts";

/** The texts that tell why a format cannot hold something. */
export interface Reasons {
  /** For a field of a message: `name`, `metadata`, `provider`, `incomplete`, `synthesised`, `truncated`. */
  readonly field: (name: string) => string;
  /** For a part that is left out or changed. */
  readonly part: (part: Part) => string;
  /** For a call that gets another id. */
  readonly callId: string;
  /** True if the format holds the outcome of a tool call. */
  readonly outcomes: boolean;
}

/** Messages that went into the same items. */
export interface Group {
  readonly messages: readonly { readonly message: Message; readonly index: number }[];
  /** The index of its first item, and the index after its last. */
  readonly from: number;
  readonly to: number;
}

/**
 * Returns everything that an export lost. It reads the exported items again and compares each message with the result,
 * so no loss goes unnoticed, whatever a message holds.
 */
export const exportLosses = (
  groups: readonly Group[],
  read: Either.Either<ImportProblem, Reading>,
  reasons: Reasons,
): readonly Loss[] => {
  if (Either.isLeft(read)) return [unreadable(groups, read.left)];
  const { pieces } = read.right;
  const losses: Loss[] = [];
  let next = pieces.length;
  let joined = false;
  for (const group of groups.toReversed()) {
    const end = next;
    while ((pieces[next - 1]?.index ?? -1) >= group.from) next--;
    const own = pieces.slice(next, end);
    if (joined || own.length !== group.messages.length)
      losses.push(...lossesOfBoundary(group, own[0] ?? pieces[next - 1], whyOf(group, own, joined), reasons));
    else losses.push(...lossesOfGroup(group, own, reasons));
    joined = own.length === 0 && group.messages.length > 0;
  }
  return [...losses, ...openRounds(groups, pieces)].sort((left, right) => left.index - right.index);
};

const whyOf = ({ messages }: Group, pieces: readonly Piece[], joined: boolean): string => {
  if (joined) return "what follows is read as one message with it";
  return pieces.length > messages.length
    ? "it is read as several messages"
    : "it is read as one message with what is beside it";
};

/**
 * Returns the losses of messages that do not come back one by one: their boundaries, and what the piece that contains
 * their beginning lacks.
 */
const lossesOfBoundary = (
  { messages }: Group,
  piece: Piece | undefined,
  why: string,
  reasons: Reasons,
): readonly Loss[] =>
  messages.flatMap(({ message, index }) => {
    const lost = lossOf(message, index);
    const boundary = lost("", "where the message begins and ends", why);
    if (piece === undefined || piece.draft.role === "tool" || message.role === "tool") return [boundary];
    const back = messageOf(message, piece.draft);
    const gone = message.parts.flatMap((part, place) =>
      back.parts.some((each) => isSame(part, each))
        ? []
        : lossesOfPart({ place, part, back: undefined }, lost, reasons),
    );
    return [boundary, ...lossesOfFields(withoutOrigin(message), withoutOrigin(back), lost, reasons), ...gone];
  });

const lossesOfGroup = ({ messages }: Group, pieces: readonly Piece[], reasons: Reasons): readonly Loss[] =>
  messages.flatMap(({ message, index }, position) => {
    const draft = pieces[position]?.draft;
    return draft === undefined ? [] : lossesOfMessage(message, index, draft, reasons);
  });

const lossesOfMessage = (given: Message, index: number, draft: SeedDraft, reasons: Reasons): readonly Loss[] => {
  const lost = lossOf(given, index);
  const message = withoutOrigin(given);
  const back = withoutOrigin(messageOf(given, draft));
  const result = toolResultOf(message);
  const parts =
    result === undefined
      ? lostParts(message.parts, back.parts).flatMap((change) => lossesOfPart(change, lost, reasons))
      : lossesOfResult(result, toolResultOf(back), lost, reasons);
  const losses = [...lossesOfFields(message, back, lost, reasons), ...parts];
  const changed = losses.length === 0 && digestOfMessage(back) !== message.digest;
  return changed ? [lost("", "how it is put together", "it is read in another shape that says the same")] : losses;
};

const lossesOfFields = (message: Message, back: Message, lost: Lost, reasons: Reasons): readonly Loss[] =>
  fieldNames.flatMap((name) =>
    message[name] === undefined || canonicalText(message[name]) === canonicalText(back[name])
      ? []
      : [lost(name, words[name] ?? name, reasons.field(name))],
  );

const lossOf =
  (message: Message, index: number): Lost =>
  (path, what, why) => ({ index, messageId: message.id, path, what, why });

type Lost = (path: string, what: string, why: string) => Loss;

const lossesOfPart = ({ place, part, back }: Change, lost: Lost, reasons: Reasons): readonly Loss[] => {
  const path = `parts.${place}`;
  const isSameCall = part.type === "toolCall" && back?.type === "toolCall" && part.arguments === back.arguments;
  if (!isSameCall) return [lost(path, partName(part), reasons.part(part))];
  const provider = canonicalText(part.provider ?? null) === canonicalText(back.provider ?? null);
  return [
    ...(part.providerCallId === back.providerCallId
      ? []
      : [lost(`${path}.providerCallId`, `the id of ${partName(part)}`, reasons.callId)]),
    ...(provider
      ? []
      : [lost(`${path}.provider`, `fields of the provider of ${partName(part)}`, reasons.field("provider"))]),
  ];
};

const lossesOfResult = (
  result: ToolResultPart,
  back: ToolResultPart | undefined,
  lost: Lost,
  reasons: Reasons,
): readonly Loss[] => [
  ...lostParts(result.content, back?.content ?? []).map(({ place, part }) =>
    lost(`parts.0.content.${place}`, partName(part), reasons.part(part)),
  ),
  ...(back?.providerCallId === result.providerCallId
    ? []
    : [lost("parts.0.providerCallId", "the id of its call", reasons.callId)]),
  ...(result.outcome === "completed" || reasons.outcomes
    ? []
    : [lost("parts.0.outcome", `the outcome "${result.outcome}"`, "the result's content stands for it")]),
];

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
  const { origin: _, ...fields } = provider ?? {};
  const left = { ...others, ...(Object.keys(fields).length === 0 ? {} : { provider: fields }) };
  return { ...left, digest: digestOfMessage(left) };
};

const fieldNames = ["role", "name", "metadata", "provider", "incomplete", "synthesised", "truncated"] as const;

const words: { readonly [name: string]: string } = {
  provider: "fields of the provider",
  incomplete: "the mark that it ended early",
  synthesised: "the mark that no speaker said it",
  truncated: "the mark that it was cut",
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
const openRounds = (groups: readonly Group[], pieces: readonly Piece[]): readonly Loss[] => {
  const { irregularities } = pairResults(pieces);
  if (irregularities.length === 0) return [];
  const groupOf = new Map(
    groups.flatMap((group) => Array.from({ length: group.to - group.from }, (_, item) => [group.from + item, group])),
  );
  return irregularities.flatMap(({ index, repair }) => {
    const messages = groupOf.get(index)?.messages ?? [];
    // A group may also hold results. A missing result belongs to its last call.
    const said = messages.findLast(({ message }) => message.role === "assistant") ?? messages[0];
    if (said === undefined) return [];
    const why = "there is none yet; end the turn first, or import with { repair: true }";
    return [{ index: said.index, messageId: said.message.id, path: "", what: repair.what, why }];
  });
};

const unreadable = (groups: readonly Group[], { index, reason }: ImportProblem): Loss => {
  const group = groups.find(({ from, to }) => index !== null && from <= index && index < to);
  const first = group?.messages[0];
  return {
    index: first?.index ?? 0,
    ...(first === undefined ? {} : { messageId: first.message.id }),
    path: "",
    what: "the message",
    why: `it can't be read again: ${reason}`,
  };
};
