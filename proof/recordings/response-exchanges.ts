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
  sameItem,
} from "@colloquy/runtime-test/recordings";
import * as Either from "fp-ts/lib/Either.js";
import type { ReplayedCase } from "./cases.ts";
import { count, type Finding, type Report } from "./report.ts";
import { pieces, pieceSizes } from "./streams.ts";

/**
 * Raw exchanges over the Responses API: the items of each request are read into a thread and written again, and each
 * answer, whole or streamed and cut anywhere, is decoded, compared with what the replayed case has of it, read into
 * a reply and written again.
 */
export const reportOfResponseExchanges = async (
  exchanges: readonly RecordedExchange[],
  replayed: readonly ReplayedCase[],
): Promise<Report> => {
  const recorded = outputsOf(replayed);
  const failures: Finding[] = [];
  const inexpressible: Finding[] = [];
  let requests = 0;
  let inCases = 0;
  for (const exchange of exchanges) {
    const written = writtenInput(exchange.request.body);
    if (Either.isLeft(written)) inexpressible.push({ id: exchange.id, words: `its request: ${written.left}` });
    else requests++;
    const output = recorded.get(keyOf(exchange.source, exchange));
    if (output !== undefined) inCases++;
    const words =
      (Either.isRight(written) ? written.right : null) ?? (await answerDifference(exchange, output ?? null));
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

/** What is wrong with the items of a request, once they were a thread; on the left why they are none. */
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
    return decoded === null ? "the answer is read as none" : decodedDifference(decoded, recorded);
  }
  const bytes = new TextEncoder().encode(sse);
  const whole = await decodeResponseStream(bytes);
  for (const size of pieceSizes) {
    if (!isDeepStrictEqual(await decodeResponseStream(pieces(bytes, size)), whole))
      return `in pieces of ${size} bytes it is read otherwise than whole`;
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
  if (Either.isLeft(reply)) return `the answer is read as no reply: ${reply.left.reason}`;
  const written = toResponseItems([messageFromReply("reply", "reply", reply.right)]).value.map(canonicalItemOf);
  const rewritten = came.length === 0 ? null : itemsDifference(written, came);
  if (rewritten !== null) return `the reply is written otherwise: ${rewritten}`;
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

const outputsOf = (replayed: readonly ReplayedCase[]): ReadonlyMap<string, RecordedOutput> =>
  new Map(
    replayed.flatMap(({ recorded }) =>
      recorded.api === "responses"
        ? recorded.steps.flatMap((step) =>
            step.type === "llm" && step.exchange !== undefined
              ? [[keyOf(recorded.source ?? "", step.exchange), step] as const]
              : [],
          )
        : [],
    ),
  );

const keyOf = (source: string, { cassette, index }: { readonly cassette: string; readonly index: number }): string =>
  `${source}|${cassette}|${index}`;
