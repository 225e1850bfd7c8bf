import { isDeepStrictEqual } from "node:util";
import { type JsonObject, messageFromReply, messagesFromSeed, type SeedDraft } from "@colloquy/machine";
import { fromResponseItems, replyFromResponseItems, toResponseItems } from "@colloquy/interchange";
import { decodeResponseBody, type DecodedResponse, decodeResponseStream } from "@colloquy/runtime-node";
import {
  canonicalInput,
  type CanonicalItem,
  canonicalItemOf,
  type RecordedExchange,
  type RecordedOutput,
  type RecordedResponsesCase,
  sameItem,
  sha256OfItems,
} from "@colloquy/runtime-test/recordings";
import * as Either from "fp-ts/lib/Either.js";
import type { ReplayedCase } from "./cases.ts";
import { exchangeProblem, glimpse } from "./response-rules.ts";
import { modelProblem } from "./replies.ts";
import { count, type Finding, keyOfCall, type Report } from "./report.ts";
import { pieces, pieceSizes } from "./streams.ts";

/**
 * Checks raw exchanges over the Responses API. Reads the items of each request into a thread and writes them again.
 * Decodes each answer, whole or streamed and cut anywhere, compares it with the replayed case, reads it into a reply
 * and writes it again.
 */
export const reportOfResponseExchanges = async (
  exchanges: readonly RecordedExchange[],
  replayed: readonly ReplayedCase[],
): Promise<Report> => {
  const recorded = callsOf(replayed);
  const failures: Finding[] = [];
  const inexpressible: Finding[] = [];
  let requests = 0;
  let inCases = 0;
  for (const exchange of exchanges) {
    const written = writtenInput(exchange.request.body);
    if (Either.isLeft(written)) inexpressible.push({ id: exchange.id, words: `its request: ${written.left}` });
    else requests++;
    const call = recorded.get(keyOfCall(exchange.source, exchange));
    if (call !== undefined) inCases++;
    const words =
      (Either.isRight(written) ? written.right : null) ??
      (call === undefined ? null : requestDifference(exchange, call)) ??
      exchangeProblem(exchange) ??
      modelProblem(exchange) ??
      (await answerDifference(exchange, call?.output ?? null));
    if (words !== null) failures.push({ id: exchange.id, words });
  }
  return {
    title: "exchanges over the Responses API",
    lines: [
      `requests whose items are reproduced: ${count(requests)}; answers decoded: ${count(exchanges.length)}, ${count(inCases)} of them compared with their case`,
    ],
    passed: exchanges.length - failures.length - inexpressible.length,
    failures,
    inexpressible,
  };
};

/**
 * Reads a request's items into a thread and writes them again. Returns the difference or null; on the left why they
 * cannot be a thread.
 */
const writtenInput = (body: JsonObject): Either.Either<string, string | null> => {
  const input = body["input"] ?? [];
  const read = fromResponseItems(input);
  if (Either.isLeft(read)) return Either.left(read.left.reason);
  const { system, turns } = read.right;
  const leading: readonly SeedDraft[] =
    system === null ? [] : [typeof system === "string" ? { role: "system", content: system } : system];
  const messages = messagesFromSeed(0, [...leading, ...turns.flat()]);
  if (Either.isLeft(messages)) return Either.left(messages.left);
  return Either.right(
    itemsDifference(toResponseItems(messages.right).value.map(canonicalItemOf), canonicalInput(input)),
  );
};

const answerDifference = async (
  { response }: RecordedExchange,
  recorded: RecordedOutput | null,
): Promise<string | null> => {
  const { body, sse } = response;
  if (sse === undefined) {
    const decoded = decodeResponseBody(JSON.stringify(body ?? null));
    return decoded === null ? "the answer cannot be decoded" : decodedDifference(decoded, recorded);
  }
  const bytes = new TextEncoder().encode(sse);
  const whole = await decodeResponseStream(bytes);
  for (const size of pieceSizes) {
    if (!isDeepStrictEqual(await decodeResponseStream(pieces(bytes, size)), whole))
      return `in pieces of ${size} bytes it decodes differently from the whole`;
  }
  return decodedDifference(whole, recorded);
};

const decodedDifference = (
  { output, status, usage, error }: DecodedResponse,
  recorded: RecordedOutput | null,
): string | null => {
  if (error !== undefined && recorded === null) return null;
  const came = output.map(canonicalItemOf);
  const reply = replyFromResponseItems(output);
  if (Either.isLeft(reply)) return `the answer cannot be read as a reply: ${reply.left.reason}`;
  const written = toResponseItems([messageFromReply("reply", "reply", reply.right)]).value.map(canonicalItemOf);
  const rewritten = came.length === 0 ? null : itemsDifference(written, came);
  if (rewritten !== null) return `the reply is written differently: ${rewritten}`;
  if (recorded === null) return null;
  const different = itemsDifference(came, recorded.output.map(canonicalItemOf));
  if (different !== null) return `the answer: ${different}`;
  if (status !== recorded.status)
    return `the answer's status was read as ${String(status)}, recorded ${String(recorded.status)}`;
  const field = Object.keys(recorded.usage ?? {}).find((key) => usage?.[key] !== recorded.usage?.[key]);
  return field === undefined
    ? null
    : `the answer's ${field} were read as ${JSON.stringify(usage?.[field])}, recorded ${JSON.stringify(recorded.usage?.[field])}`;
};

const itemsDifference = (came: readonly CanonicalItem[], recorded: readonly CanonicalItem[]): string | null => {
  for (let index = 0; index < Math.max(came.length, recorded.length); index++) {
    const [actual, expected] = [came[index], recorded[index]];
    if (actual === undefined || expected === undefined || !sameItem(actual, expected))
      return `item ${index}: came ${shown(actual)}, recorded ${shown(expected)}`;
  }
  return null;
};

const shown = (item: CanonicalItem | undefined): string =>
  item === undefined ? "nothing" : JSON.stringify(item).slice(0, 160);

interface RecordedCall {
  readonly recorded: RecordedResponsesCase;
  readonly expected: RecordedResponsesCase["expect"]["calls"][number] | undefined;
  readonly output: RecordedOutput;
  readonly isFirst: boolean;
}

const callsOf = (replayed: readonly ReplayedCase[]): ReadonlyMap<string, RecordedCall> =>
  new Map(
    replayed.flatMap(({ recorded }) => {
      if (recorded.api !== "responses") return [];
      const outputs = recorded.steps.filter((step) => step.type === "llm");
      return outputs.flatMap((output, k): [string, RecordedCall][] =>
        output.exchange === undefined
          ? []
          : [
              [
                keyOfCall(recorded.source, output.exchange),
                { recorded, expected: recorded.expect.calls[k], output, isFirst: k === 0 },
              ],
            ],
      );
    }),
  );

const requestDifference = (
  { request: { body } }: RecordedExchange,
  { recorded: { model, instructions, tools }, expected, isFirst }: RecordedCall,
): string | null => {
  if (expected !== undefined && sha256OfItems(canonicalInput(body["input"])) !== expected.sha256)
    return "the items of the request do not have the hash of its case: they were changed after the recording, or the hash was";
  // A case records only its first call's parameters; later calls may ask another agent.
  const asked: JsonObject = {
    ...(isFirst ? { model: model ?? body["model"], instructions, tools: tools ?? [] } : {}),
    previous_response_id: expected?.previous_response_id ?? null,
  };
  const field = Object.keys(asked).find(
    (name) => !isDeepStrictEqual(body[name] ?? (name === "tools" ? [] : null), asked[name]),
  );
  return field === undefined ? null : `${field}: sent ${glimpse(body[field])}, recorded ${glimpse(asked[field])}`;
};
