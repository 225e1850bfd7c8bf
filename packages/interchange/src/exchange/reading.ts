import type {
  ContentPart,
  ImagePart,
  JsonObject,
  ReasoningPart,
  RefusalPart,
  SeedDraft,
  SeedReply,
  ToolCallDraft,
} from "@colloquy/machine";
import { isEmpty } from "./json.ts";

/** A piece of a conversation that the other format, or the thread, has no place for. */
export interface Loss {
  /** The index of the message (exporting) or of the item (importing) in its list, from 0. */
  readonly index: number;
  /** The id of the message, when exporting. */
  readonly messageId?: string;
  /** The path in the message: `parts.1`, `metadata`. Empty for the whole message. */
  readonly path: string;
  /** The piece that was lost or changed. */
  readonly what: string;
  readonly why: string;
}

/** The content of a list, before calls and results are paired. */
export interface Reading {
  readonly pieces: readonly Piece[];
  readonly losses: readonly Loss[];
  /** Problems apart from unpaired calls and results. The pieces are in their repaired form. */
  readonly irregularities: readonly Irregularity[];
}

/** The draft of a foreign item. An item may give several pieces. */
export interface Piece {
  /** The index of the item in its list. */
  readonly index: number;
  readonly draft: SeedDraft;
  /** A user's message that is not an ask (an item that only its own format can read); it opens no turn. */
  readonly opensNoTurn?: true;
}

/** A problem of a list that a repair can fix. */
export interface Irregularity {
  readonly index: number;
  /** Tells what is wrong and how to fix it. */
  readonly reason: string;
  /** The loss that a repair causes. */
  readonly repair: Loss;
}

/** Makes the problem of an item: its reason, and the loss that a repair causes. */
export const irregularity = (index: number, reason: string, what: string, why: string): Irregularity => ({
  index,
  reason: `${reason}; or import with { repair: true }`,
  repair: { index, path: "", what, why },
});

/** Collects what the readers of one list find. */
export interface Notebook extends Reading {
  readonly add: (index: number, draft: SeedDraft, opensNoTurn?: true) => void;
  readonly mend: (...problem: Parameters<typeof irregularity>) => void;
  /** Returns a function that reports losses of an item. */
  readonly loseAt: (index: number) => Lose;
}

/** Reports a loss of the current item. */
export type Lose = (path: string, what: string, why: string) => void;

/** Creates an empty notebook. */
export const notebook = (): Notebook => {
  const pieces: Piece[] = [];
  const losses: Loss[] = [];
  const irregularities: Irregularity[] = [];
  return {
    pieces,
    losses,
    irregularities,
    mend: (...problem) => irregularities.push(irregularity(...problem)),
    add: (index, draft, opensNoTurn) =>
      pieces.push({ index, draft, ...(opensNoTurn === undefined ? {} : { opensNoTurn }) }),
    loseAt: (index) => (path, what, why) => losses.push({ index, path, what, why }),
  };
};

/**
 * Returns whether a value is empty: null, absent, false, an empty text, list or object. Leaving it out loses nothing.
 */
export const saysNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === "" ||
  (typeof value === "object" && isEmpty(value));

/** Returns a function that reports losses within a path. */
export const loseIn =
  (lose: Lose, outer: string): Lose =>
  (path, what, why) =>
    lose(path === "" ? outer : `${outer}.${path}`, what, why);

/** Reports each non-empty member of an object that was not read. */
export const loseRest = (lose: Lose, path: string, rest: object, why: string): void => {
  for (const [key, value] of Object.entries(rest))
    if (!saysNothing(value)) lose(path === "" ? key : `${path}.${key}`, `the field "${key}"`, why);
};

/** A part of a model's reply, apart from its calls. */
export type ReplyPart = ContentPart | ReasoningPart | RefusalPart;

/** The fields of a message beside its parts. */
export interface MessageFields {
  readonly name?: string;
  readonly metadata?: JsonObject;
  readonly provider?: JsonObject;
}

/** Creates the draft of a reply: a single text as a string, otherwise its parts; calls last. */
export const replyDraft = (
  parts: readonly ReplyPart[],
  calls: readonly ToolCallDraft[],
  fields: MessageFields,
): SeedReply & MessageFields => ({
  role: "assistant",
  ...(parts.length === 0 ? {} : { content: plainText(parts) ?? parts }),
  ...(calls.length === 0 ? {} : { toolCalls: calls }),
  ...fields,
});

/** Returns the text of parts in a wire format if they are one plain text; undefined otherwise. */
export const onlyText = (
  [only, second]: readonly JsonObject[],
  types: readonly unknown[] = ["text"],
): string | undefined => {
  const { type, text, ...rest } = only ?? {};
  const isPlain = second === undefined && types.includes(type) && isEmpty(rest);
  return isPlain && typeof text === "string" && text !== "" ? text : undefined;
};

/** Returns the text if the parts are one plain text; undefined otherwise. */
export const plainText = ([only, second]: readonly ReplyPart[]): string | undefined =>
  second === undefined && only?.type === "text" && only.text !== "" && !("provider" in only) ? only.text : undefined;

/** Returns the text of a data field, as formats without such fields have it. */
export const dataText = (field: string, value: unknown): string => `${field}: ${JSON.stringify(value)}`;

/** Reads an image that has only a URL and a detail; undefined for others. */
export const imageIn = ({ url, detail, ...others }: JsonObject): ImagePart | undefined => {
  if (typeof url !== "string" || !isEmpty(others)) return undefined;
  if (detail === undefined) return { type: "image", url };
  return typeof detail === "string" ? { type: "image", url, detail } : undefined;
};
