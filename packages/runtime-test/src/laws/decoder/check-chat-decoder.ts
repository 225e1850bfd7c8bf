import type { Json, JsonObject } from "@colloquy/machine";
import fc from "fast-check";
import { recordOf } from "../../arbitraries/record.ts";
import { differenceOf } from "../evidence/difference.ts";
import { LawBroken } from "../evidence/law-broken.ts";
import { type HostLawRun, parametersOf } from "../host/host-under-test.ts";
import { type ChatForm, chatForms, eventsIn, type WrittenReply } from "./chat-forms.ts";

/** A reply as a decoder of streamed chat completions returned it. */
export interface DecodedReply {
  readonly text: string;
  readonly calls: readonly {
    readonly name: string;
    /** The text that the model wrote. */
    readonly arguments: string;
  }[];
  /** Null if none was reported. */
  readonly usage: { readonly input: number | undefined; readonly output: number | undefined } | null;
}

/** Decodes one streamed reply; the pieces are its bytes. */
export type ChatDecoder = (pieces: readonly Uint8Array[]) => DecodedReply | Promise<DecodedReply>;

/**
 * Checks a decoder with the forms in which servers stream a reply:
 *
 * - Calls are told apart by ids, by indexes (also as texts, or from 1), by names, or by their places in a list.
 * - `{}` comes before the arguments, all arguments are repeated at the end, or an object replaces a text.
 * - The text is in one choice and the calls in another.
 * - Usage is in one of four places, with zeros after it.
 * - There are empty and null deltas; lines, comments and bytes are cut anywhere.
 *
 * @param run the default is 300 replies.
 */
export const checkChatDecoder = async (decode: ChatDecoder, run: HostLawRun = {}): Promise<void> =>
  fc.assert(
    fc.asyncProperty(replies, chatForms, framings, (reply, form, framing) => holds(decode, reply, form, framing)),
    parametersOf("checkChatDecoder", run, 300),
  );

const holds = async (decode: ChatDecoder, reply: WrittenReply, form: ChatForm, framing: Framing): Promise<void> => {
  const { text, calls, usage } = await decode(framed(eventsIn(reply, form), framing));
  const read = { text, calls: calls.map(({ name, arguments: given }) => ({ name, input: parsed(given) })), usage };
  const difference = differenceOf(reply, read);
  if (difference !== null) throw new LawBroken("decoded", `the same reply in another form is another: ${difference}`);
};

const parsed = (text: string): Json => {
  try {
    // JSON.parse returns JSON.
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
};

/** Strings with characters that a careless reader mistakes for the end of an object or an event. */
const value = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 6 }),
  fc.constantFrom("}{", '"', "\\", "\n\ndata: x", "\r", "{}", "Grüße 👋🏽"),
  fc.integer(),
  fc.constant(null),
);

const input = fc
  .dictionary(
    fc.constantFrom("city", "days", "}{"),
    fc.oneof(value, fc.record({ inner: value }, { noNullPrototype: true })),
    {
      minKeys: 1,
      noNullPrototype: true,
    },
  )
  .map((object): JsonObject => object);

const replies: fc.Arbitrary<WrittenReply> = recordOf({
  text: fc.oneof(fc.constant(""), fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 })),
  calls: fc.uniqueArray(recordOf({ name: fc.constantFrom("weather", "search"), input }), {
    maxLength: 3,
    selector: (call) => JSON.stringify(call),
  }),
  usage: recordOf({ input: fc.integer({ min: 1, max: 999 }), output: fc.integer({ min: 1, max: 99 }) }),
});

/** The way in which events are written, and their bytes are split. */
interface Framing {
  readonly lineEnd: "\n" | "\r\n" | "\r";
  readonly mark: "" | "\uFEFF";
  readonly comments: boolean;
  readonly space: "" | " ";
  /** An event is split over several `data:` lines. */
  readonly lines: boolean;
  /** The last event has no empty line after it. */
  readonly isOpen: boolean;
  readonly done: boolean;
  /** The sizes of successive pieces, in bytes, repeated. */
  readonly sizes: readonly number[];
}

const framings: fc.Arbitrary<Framing> = recordOf<Framing>({
  lineEnd: fc.constantFrom("\n", "\r\n", "\r"),
  mark: fc.constantFrom("", "\uFEFF"),
  comments: fc.boolean(),
  space: fc.constantFrom("", " "),
  lines: fc.boolean(),
  isOpen: fc.boolean(),
  done: fc.boolean(),
  sizes: fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 6 }),
});

/** Returns the bytes of a stream of these events, in pieces. */
const framed = (events: readonly JsonObject[], framing: Framing): readonly Uint8Array[] => {
  const { lineEnd, mark, comments, space, isOpen, done, sizes } = framing;
  const written = events.map((event) => JSON.stringify(event, null, framing.lines ? 1 : undefined));
  const texts = [...written, ...(done ? ["[DONE]"] : [])].map((data) =>
    data
      .split("\n")
      .map((line) => `data:${space}${line}`)
      .join(lineEnd),
  );
  const between = `${lineEnd}${lineEnd}${comments ? `: keep-alive${lineEnd}${lineEnd}event: chunk${lineEnd}` : ""}`;
  const bytes = new TextEncoder().encode(mark + texts.join(between) + (isOpen ? "" : lineEnd + lineEnd));
  const pieces: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? bytes.length;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
};
