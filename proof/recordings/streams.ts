import { isDeepStrictEqual } from "node:util";
import type { Json, JsonObject } from "@colloquy/machine";
import { type DecodedChat, decodeChatStream } from "@colloquy/runtime-node";
import { canonicalOf, firstDifference, type RecordedStream } from "@colloquy/runtime-test/recordings";
import { count, type Finding, lengthOf, type Report } from "./report.ts";

/** Decodes recorded streams, whole and cut into pieces anywhere, and compares the results with the recording. */
export const reportOfStreams = async (file: string, streams: readonly RecordedStream[]): Promise<Report> => {
  const failures: Finding[] = [];
  let toolCalls = 0;
  for (const stream of streams) {
    const bytes = new TextEncoder().encode(stream.sse);
    const whole = await decodeChatStream(bytes);
    const words = differenceOf(whole, stream) ?? (await piecesDifference(whole, bytes));
    if (words !== null) failures.push({ id: `${stream.id} [${stream.tags.join(" ")}]`, words });
    for (const { message } of whole.choices) toolCalls += lengthOf(message["tool_calls"]);
  }
  return {
    title: file,
    lines: [
      `decoded whole and in pieces of ${pieceSizes.join(", ")} bytes: ${count(streams.length)} streams, ${count(toolCalls)} tool calls`,
    ],
    passed: streams.length - failures.length,
    failures,
    inexpressible: [],
  };
};

/** The sizes of the pieces in which a stream is decoded again. */
export const pieceSizes = [1, 7, 61] as const;

const piecesDifference = async (whole: DecodedChat, bytes: Uint8Array): Promise<string | null> => {
  for (const size of pieceSizes) {
    const decoded = await decodeChatStream(pieces(bytes, size));
    if (!isDeepStrictEqual(decoded, whole)) return `in pieces of ${size} bytes it decodes differently from the whole`;
  }
  return null;
};

// A synchronous iterable would do, but the decoder takes a response body.
export async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < bytes.length; offset += size) yield bytes.subarray(offset, offset + size);
}

const differenceOf = (decoded: DecodedChat, { expect, sse, tags }: RecordedStream): string | null => {
  const isDone = /^data: ?\[DONE\]/m.test(sse);
  if (tags.includes(isDone ? "no-DONE" : "DONE"))
    return `it has ${isDone ? "an" : "no"} end mark, but its tags disagree`;
  if (decoded.error !== undefined && expect.choices.some((choice) => choice.finish_reason !== null))
    return `it carries an error (${text(decoded.error).slice(0, 120)}), but its reply is recorded as complete`;
  const came = decoded.choices.toSorted((left, right) => left.index - right.index);
  if (came.length !== expect.choices.length) return `${came.length} choices came, recorded ${expect.choices.length}`;
  for (const [position, recorded] of expect.choices.toSorted((left, right) => left.index - right.index).entries()) {
    const choice = came[position];
    if (choice?.index !== recorded.index) return `choice ${recorded.index} is missing`;
    if (choice.finish_reason !== recorded.finish_reason) {
      return `choice ${recorded.index}, finish_reason: came ${text(choice.finish_reason)}, recorded ${text(recorded.finish_reason)}`;
    }
    const different =
      firstDifference([canonicalOf(choice.message)], [canonicalOf(recorded.message)]) ??
      fieldDifference("refusal", choice.message, recorded.message);
    if (different !== null) return `choice ${recorded.index}: ${different}`;
  }
  return usageDifference(decoded.usage, expect.usage);
};

/** Compares the members that the recording has with those of the last usage report. */
const usageDifference = (came: JsonObject | null, recorded: JsonObject | null): string | null => {
  if (recorded === null) return came === null ? null : `usage came (${text(came)}), none is recorded`;
  const field = Object.keys(recorded).find((key) => came?.[key] !== recorded[key]);
  return field === undefined ? null : `usage, ${field}: came ${text(came?.[field])}, recorded ${text(recorded[field])}`;
};

const fieldDifference = (field: string, came: JsonObject, recorded: JsonObject): string | null =>
  (came[field] ?? "") === (recorded[field] ?? "")
    ? null
    : `${field}: came ${text(came[field])}, recorded ${text(recorded[field])}`;

const text = (value: Json | undefined): string => JSON.stringify(value) ?? "nothing";
