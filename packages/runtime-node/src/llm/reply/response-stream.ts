import type { LlmDelta } from "@colloquy/host";
import type { Json, JsonObject } from "@colloquy/machine";
import { jsonEvents } from "./json-events.ts";
import { isObject, isText, listOf, parseJson } from "./loose-json.ts";
import { ResponseItems } from "./response-items.ts";
import { laterReport } from "./usage.ts";
import { type AnswerDecoder, decodedFrom, decodedWhole, isStream, newState } from "./whole-stream.ts";

/** What an answer of the Responses API says, whether it came in one piece or in many. In the words of the wire. */
export interface DecodedResponse {
  /** The items of the output, in order. */
  readonly output: readonly JsonObject[];
  /** How it ended, such as `completed`, `incomplete`, `failed`; null when it did not come to its end. */
  readonly status: string | null;
  /** Why it is incomplete. */
  readonly reason?: string;
  /** Null when there was no report. */
  readonly usage: JsonObject | null;
  readonly model?: string;
  readonly responseId?: string;
  /** What the server reported in place of an answer, or in the middle of one. */
  readonly error?: Json;
}

/** Decodes a streamed answer as it comes, and reports the pieces of the reply. */
export const responseStream = (onDelta: (delta: LlmDelta) => void = () => {}): AnswerDecoder<DecodedResponse> => {
  const state = newState();
  const items = new ResponseItems(onDelta);
  let said: Omit<DecodedResponse, "output" | "error"> = { status: null, usage: null };
  let error: Json | undefined;

  const finish = (): void => {
    state.heard += 1;
    state.finished = true;
    state.done = true;
  };
  const fail = (reported: Json): void => {
    state.begun = true;
    error ??= reported;
    finish();
  };
  const onEvent = (event: JsonObject, name: string | undefined): void => {
    const type = isText(event["type"]) ? event["type"] : (name ?? "");
    if (type === "error" || (type === "" && event["error"] !== undefined)) {
      fail(errorOf(event));
      return;
    }
    state.begun = true;
    if (type.startsWith("response.") && !waiting.has(type) && event["delta"] !== "") state.heard += 1;
    const { response } = event;
    if (isObject(response)) {
      const facts = factsOf(response);
      said = { ...said, ...facts, usage: laterReport(said.usage, facts.usage ?? null) };
    }
    if (type === "response.output_item.added") items.begin(event);
    else if (type === "response.output_item.done") items.finish(event);
    else if (terminal.has(type)) {
      const ended = isObject(response) ? response : {};
      const { status } = ended;
      // Some servers end an answer that they still call unfinished.
      const isSaid = isText(status) && status !== "in_progress" && status !== "queued";
      said = { ...said, status: isSaid ? status : type.slice("response.".length) };
      if (isObject(ended["error"])) error ??= ended["error"];
      items.complete(listOf(ended["output"]));
      finish();
    } else items.grow(event, type);
  };
  const { feed, end } = jsonEvents({
    onObject: (event, name) => {
      if (isObject(event) && !state.finished) onEvent(event, name);
    },
    onError: fail,
    onDone: () => {
      state.begun = true;
      state.done = true;
    },
    onDamage: () => (state.damaged ||= !state.finished),
  });
  return {
    feed,
    end,
    state,
    decoded: () => ({
      ...said,
      output: items.items(),
      status: state.finished ? said.status : null,
      ...(error === undefined ? {} : { error }),
    }),
  };
};

/**
 * Decodes a whole streamed answer of the Responses API: its bytes, or pieces of them cut anywhere. What can't be read is
 * passed over; a source that fails makes the promise fail. Items are taken as they are when they are done, which alone has
 * all that is encrypted in them.
 */
export const decodeResponseStream = (
  source: Uint8Array | AsyncIterable<Uint8Array>,
  onDelta?: (delta: LlmDelta) => void,
): Promise<DecodedResponse> => decodedFrom(responseStream(onDelta), source);

/** Decodes the body of an answer that came in one piece. Null when it is nothing of the kind. */
export const decodeResponseBody = (text: string): DecodedResponse | null => {
  if (isStream(text)) return decodedWhole(responseStream(), text);
  const body = parseJson(text);
  const [first] = listOf(body);
  // Gateways report an error as a list of one.
  const response = isObject(body) ? body : isObject(first) && isObject(first["error"]) ? first : null;
  if (response === null) return null;
  const { output, error } = response;
  const answers = Array.isArray(output);
  // A body without an output is about what went wrong, under whatever name.
  const reported = error ?? (answers ? null : response);
  const { status = answers ? "completed" : null, ...facts } = factsOf(response);
  return {
    usage: null,
    ...facts,
    output: listOf(output).filter(isObject),
    status,
    ...(reported === null ? {} : { error: reported }),
  };
};

/** Events that say that there is nothing yet. */
const waiting: ReadonlySet<string> = new Set(["response.created", "response.queued", "response.in_progress"]);

const terminal: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.failed"]);

/** An event of the type `error` has its facts under `error`, or beside its type. */
const errorOf = ({ type: _type, sequence_number: _number, ...facts }: JsonObject): Json => facts["error"] ?? facts;

/** What a response says beside its output. What says nothing leaves what was said before. */
const factsOf = (response: JsonObject): Partial<Omit<DecodedResponse, "output" | "error">> => {
  const { status, incomplete_details: details, usage, model, id } = response;
  const reason = isObject(details) ? details["reason"] : undefined;
  return {
    ...(isText(status) ? { status } : {}),
    ...(isText(reason) ? { reason } : {}),
    ...(isObject(usage) ? { usage } : {}),
    ...(isText(model) ? { model } : {}),
    ...(isText(id) ? { responseId: id } : {}),
  };
};
