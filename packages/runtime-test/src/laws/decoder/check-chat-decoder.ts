import type { Json, JsonObject } from "@colloquy/machine";
import fc from "fast-check";
import { type Drawn, recordOf } from "../../arbitraries/values.ts";
import { differenceOf, LawBroken, checkedParameters, type HostLawRun } from "../evidence/law-broken.ts";

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
    checkedParameters("checkChatDecoder", run, 300),
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

const member = fc.oneof(value, recordOf({ inner: value }));

const input = fc
  .dictionary(fc.constantFrom("city", "days", "}{"), member, { minKeys: 1, noNullPrototype: true })
  .map((object): JsonObject => object);

const replies: fc.Arbitrary<WrittenReply> = recordOf({
  text: fc.oneof(fc.constant(""), fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 })),
  calls: fc.uniqueArray(recordOf({ name: fc.constantFrom("weather", "search"), input }), {
    maxLength: 3,
    selector: (call) => JSON.stringify(call),
  }),
  usage: recordOf({ input: fc.integer({ min: 1, max: 999 }), output: fc.integer({ min: 1, max: 99 }) }),
});

const framings = recordOf({
  lineEnd: fc.constantFrom("\n", "\r\n", "\r"),
  mark: fc.constantFrom("", "\uFEFF"),
  comments: fc.boolean(),
  space: fc.constantFrom("", " "),
  /** An event is split over several `data:` lines. */
  lines: fc.boolean(),
  /** The last event has no empty line after it. */
  isOpen: fc.boolean(),
  done: fc.boolean(),
  /** The sizes of successive pieces, in bytes, repeated. */
  sizes: fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 6 }),
});

type Framing = Drawn<typeof framings>;

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

/** The content of a model's reply. */
export interface WrittenReply {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly input: JsonObject }[];
  readonly usage: { readonly input: number; readonly output: number };
}

/**
 * The forms in which servers stream a reply. Sources: reports about Ollama, LiteLLM, Copilot, and the endpoints of
 * Gemini, Groq and Moonshot.
 */
const forms = recordOf({
  ids: fc.constantFrom("first", "each", "none"),
  index: fc.constantFrom("right", "text", "from 1", "all 0", "none"),
  names: fc.constantFrom("first", "each"),
  /** A value that comes as arguments before the real ones. */
  opening: fc.constantFrom("nothing", "empty text", "empty object"),
  closing: fc.constantFrom("nothing", "repeated", "repeated object"),
  given: fc.constantFrom("pieces", "object"),
  /** The pieces of the calls alternate, or each call comes whole, or all calls come in one list. */
  order: fc.constantFrom("one by one", "in turns", "one list"),
  /** "apart": the calls are in a separate choice. */
  choices: fc.constantFrom("one", "apart"),
  usage: fc.constantFrom("chunk", "choice", "x_groq", "zeros after it"),
  padding: fc.boolean(),
  /** Name and arguments are beside the id. */
  flat: fc.boolean(),
  /** The length, in characters, of the pieces of a text. */
  size: fc.integer({ min: 1, max: 9 }),
});

type ChatForm = Drawn<typeof forms>;

const chatForms = forms.map(told);

/** Makes calls distinguishable if necessary, since no server can stream two calls that nothing tells apart. */
function told(form: ChatForm): ChatForm {
  const isIndexed = form.index !== "all 0" && form.index !== "none";
  const names = form.ids !== "none" || isIndexed ? form.names : "first";
  if (form.order === "one list") return { ...form, names };
  const isTold = isIndexed || form.ids === "each";
  return { ...form, names, order: isTold ? form.order : "one by one" };
}

const eventsIn = ({ text, calls, usage }: WrittenReply, form: ChatForm): readonly JsonObject[] => {
  const rows = calls.map((call, position) => piecesOf(call, position, form));
  const entries: readonly (readonly JsonObject[])[] =
    form.order === "one list"
      ? oneList(calls, rows, form)
      : (form.order === "in turns" ? inTurns(rows) : rows.flat()).map((piece) => [piece]);
  const inText = cut(text, form.size).map((content) => chunkOf({ content }));
  const index = form.choices === "apart" && text !== "" ? 1 : 0;
  const inCalls = entries.flatMap((list) => [...padded(form), chunkOf({ tool_calls: list }, null, index)]);
  const reason = calls.length > 0 ? "tool_calls" : "stop";
  const report = {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
  };
  const inChoice = form.usage === "choice" ? { usage: report } : {};
  const last = chunkOf({}, reason, calls.length > 0 ? index : 0, inChoice);
  const ends = calls.length > 0 && index === 1 ? [chunkOf({}, "stop"), last] : [last];
  return [
    chunkOf({ role: "assistant", content: "" }),
    ...inText,
    ...inCalls,
    ...padded(form),
    ...ends,
    ...reports(form, report),
  ];
};

const reports = ({ usage }: ChatForm, report: JsonObject): readonly JsonObject[] => {
  if (usage === "choice") return [];
  if (usage === "x_groq") return [{ choices: [], x_groq: { id: "r", usage: report } }];
  const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  return [{ choices: [], usage: report }, ...(usage === "chunk" ? [] : [{ choices: [], usage: zeros }])];
};

const chunkOf = (delta: JsonObject, reason: string | null = null, index = 0, more: JsonObject = {}): JsonObject => ({
  id: "c",
  object: "chat.completion.chunk",
  model: "m",
  choices: [{ index, delta, finish_reason: reason, ...more }],
});

const padded = ({ padding }: ChatForm): readonly JsonObject[] =>
  padding
    ? [
        { ...chunkOf({ content: null, tool_calls: null, refusal: null }), usage: null },
        { choices: [{ index: 0, delta: null, finish_reason: null }] },
        { choices: null },
        chunkOf({ content: "" }),
      ]
    : [];

const piecesOf = (
  { name, input }: WrittenReply["calls"][number],
  position: number,
  form: ChatForm,
): readonly JsonObject[] => {
  const whole = JSON.stringify(input);
  const opening = { nothing: [], "empty text": ["{}"], "empty object": [{}] }[form.opening];
  const middle = form.given === "object" ? [input] : cut(whole, form.size);
  const closing = { nothing: [], repeated: [whole], "repeated object": [input] }[form.closing];
  return [...opening, ...middle, ...closing].map((given, place) => entryOf(form, name, position, given, place === 0));
};

const entryOf = (
  form: ChatForm,
  name: string,
  position: number,
  given: string | JsonObject,
  isFirst: boolean,
): JsonObject => {
  const number = position + (form.index === "from 1" ? 1 : 0);
  const index = { right: number, text: String(number), "from 1": number, "all 0": 0, none: undefined }[form.index];
  const called = { ...(isFirst || form.names === "each" ? { name } : {}), arguments: given };
  return {
    ...(index === undefined ? {} : { index }),
    ...(form.ids === "each" || (form.ids === "first" && isFirst) ? { id: `call_${position}` } : {}),
    ...(form.flat ? called : { type: "function", function: called }),
  };
};

/** Returns all calls whole in one list, and again at the end if ids or indexes identify them. */
const oneList = (
  calls: WrittenReply["calls"],
  rows: readonly (readonly JsonObject[])[],
  form: ChatForm,
): readonly (readonly JsonObject[])[] => {
  if (rows.length === 0) return [];
  const list = calls.map(({ name, input }, position) => entryOf(form, name, position, JSON.stringify(input), true));
  const isTold = form.ids !== "none" || (form.index !== "all 0" && form.index !== "none");
  return form.closing === "nothing" || !isTold ? [list] : [list, list];
};

/** Returns the first pieces of all calls, then the second ones, and so on. */
const inTurns = (rows: readonly (readonly JsonObject[])[]): readonly JsonObject[] => {
  const longest = Math.max(0, ...rows.map((row) => row.length));
  return Array.from({ length: longest }, (_, place) => rows.flatMap((row) => row.slice(place, place + 1))).flat();
};

const cut = (text: string, size: number): readonly string[] => {
  const characters = Array.from(text);
  const pieces: string[] = [];
  for (let at = 0; at < characters.length; at += size) pieces.push(characters.slice(at, at + size).join(""));
  return pieces;
};
