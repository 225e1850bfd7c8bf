import type { JsonObject } from "@colloquy/machine";
import fc from "fast-check";
import { recordOf } from "../../arbitraries/record.ts";

/** The content of a model's reply. */
export interface WrittenReply {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly input: JsonObject }[];
  readonly usage: { readonly input: number; readonly output: number };
}

/** The form in which a server streams a reply. */
export interface ChatForm {
  readonly ids: "first" | "each" | "none";
  readonly index: "right" | "text" | "from 1" | "all 0" | "none";
  readonly names: "first" | "each";
  /** A value that comes as arguments before the real ones. */
  readonly opening: "nothing" | "empty text" | "empty object";
  readonly closing: "nothing" | "repeated" | "repeated object";
  readonly given: "pieces" | "object";
  /** The pieces of the calls alternate, or each call comes whole, or all calls come in one list. */
  readonly order: "one by one" | "in turns" | "one list";
  /** "apart": the calls are in a separate choice. */
  readonly choices: "one" | "apart";
  readonly usage: "chunk" | "choice" | "x_groq" | "zeros after it";
  readonly padding: boolean;
  /** Name and arguments are beside the id. */
  readonly flat: boolean;
  /** The length, in characters, of the pieces of a text. */
  readonly size: number;
}

/** Sources: reports about Ollama, LiteLLM, Copilot, and the endpoints of Gemini, Groq and Moonshot. */
export const chatForms: fc.Arbitrary<ChatForm> = recordOf<ChatForm>({
  ids: fc.constantFrom("first", "each", "none"),
  index: fc.constantFrom("right", "text", "from 1", "all 0", "none"),
  names: fc.constantFrom("first", "each"),
  opening: fc.constantFrom("nothing", "empty text", "empty object"),
  closing: fc.constantFrom("nothing", "repeated", "repeated object"),
  given: fc.constantFrom("pieces", "object"),
  order: fc.constantFrom("one by one", "in turns", "one list"),
  choices: fc.constantFrom("one", "apart"),
  usage: fc.constantFrom("chunk", "choice", "x_groq", "zeros after it"),
  padding: fc.boolean(),
  flat: fc.boolean(),
  size: fc.integer({ min: 1, max: 9 }),
}).map(told);

/**
 * Returns the form, changed if necessary so that its calls can be told apart. No server can stream two calls that
 * nothing distinguishes.
 */
function told(form: ChatForm): ChatForm {
  const isIndexed = form.index !== "all 0" && form.index !== "none";
  const names = form.ids !== "none" || isIndexed ? form.names : "first";
  if (form.order === "one list") return { ...form, names };
  const isTold = isIndexed || form.ids === "each";
  return { ...form, names, order: isTold ? form.order : "one by one" };
}

/** Returns the chunks of the reply. */
export const eventsIn = ({ text, calls, usage }: WrittenReply, form: ChatForm): readonly JsonObject[] => {
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

/** Returns empty chunks. */
const padded = ({ padding }: ChatForm): readonly JsonObject[] =>
  padding
    ? [
        { ...chunkOf({ content: null, tool_calls: null, refusal: null }), usage: null },
        { choices: [{ index: 0, delta: null, finish_reason: null }] },
        { choices: null },
        chunkOf({ content: "" }),
      ]
    : [];

/** Returns the entries of `tool_calls` that make up a call. */
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
