import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import {
  type CallLlm,
  type Json,
  type JsonObject,
  outstanding,
  type SeedDraft,
  start,
  transition,
} from "@colloquy/machine";
import { fromChatMessage } from "@colloquy/interchange";
import {
  canonicalJson,
  canonicalOf,
  type CanonicalMessage,
  firstDifference,
  protocolProblemOf,
  type RecordedChatCase,
  type RecordedExchange,
  recordingMachine,
  type RecordedExpectation,
  type RecordedReply,
  sha256OfMessages,
} from "@colloquy/runtime-test/recordings";
import * as Either from "fp-ts/lib/Either.js";
import type { ReplayedCase } from "./cases.ts";
import { play, type Played } from "./playback.ts";
import { replyDifference, responseProblem } from "./replies.ts";
import { count, type Finding, keyOfCall, type Report } from "./report.ts";

/**
 * Sends the model calls of the replayed cases with the official SDK to a server that gives the recorded response.
 * Compares each request body that arrives, and the reply that is read, with the recorded ones. An exchange without a
 * replayed call is sent from a thread that is seeded with its messages.
 */
export const reportOfRequests = async (
  exchanges: readonly RecordedExchange[],
  replayed: readonly ReplayedCase[],
): Promise<Report> => {
  const known = new Map(exchanges.map((exchange) => [keyOfCall(exchange.source, exchange), exchange]));
  const fromCases = replayed.flatMap((each) => requestsOf(each, known));
  const sent = new Set(fromCases.map(({ exchange }) => exchange));
  const inexpressible: Finding[] = [];
  const alone = exchanges.flatMap((exchange) => {
    if (sent.has(exchange) || !isChat(exchange)) return [];
    const request = seededRequest(exchange);
    if (Either.isRight(request)) return [request.right];
    inexpressible.push({ id: exchange.id, words: request.left });
    return [];
  });
  const requests = [...fromCases, ...alone];
  const outcomes = await play(requests.map(({ played }) => played));
  const failures = requests.flatMap(({ id, exchange, reply, expected }, index) => {
    const came = outcomes[index];
    const words =
      came === undefined
        ? "nothing came"
        : (changedMessages(exchange, expected) ??
          bodyDifference(came.body, exchange.request.body, isRewritten(exchange, expected)) ??
          responseProblem(exchange) ??
          replyDifference(came.outcome, reply));
    return words === null ? [] : [{ id, words }];
  });
  return {
    title: "request bodies, through the SDK over HTTP",
    lines: [
      `reproduced: ${count(requests.length - failures.length)} of ${count(requests.length)}, ${count(alone.length)} of them outside any replayed call`,
    ],
    passed: requests.length - failures.length,
    failures,
    inexpressible,
  };
};

interface Request {
  readonly id: string;
  readonly exchange: RecordedExchange;
  readonly played: Played;
  /** The recorded reply to compare with; null for an exchange without a case. */
  readonly reply: RecordedReply | null;
  /** The call that the case expects; null for an exchange without a case. */
  readonly expected: RecordedExpectation["calls"][number] | null;
}

/** Checks that the client rewrote older messages for a later call. The request's own hash then attests them. */
const isRewritten = ({ request }: RecordedExchange, expected: Request["expected"]): boolean =>
  expected?.wire_sha256 !== undefined &&
  sha256OfMessages(messagesIn(request.body).map(canonicalOf)) !== expected.sha256;

const changedMessages = ({ request }: RecordedExchange, expected: Request["expected"]): string | null => {
  if (expected?.wire_sha256 === undefined) return null;
  const messages = canonicalJson(messagesIn(request.body));
  return createHash("sha256").update(messages, "utf8").digest("hex") === expected.wire_sha256
    ? null
    : "the messages of the request do not have the hash of its case: they were changed after the recording, or the hash was";
};

const requestsOf = (
  { recorded, replay }: ReplayedCase,
  known: ReadonlyMap<string, RecordedExchange>,
): readonly Request[] => {
  if (recorded.api === "responses") return [];
  return recorded.steps
    .filter((step) => step.type === "llm")
    .flatMap((step, k) => {
      const exchange = step.exchange === undefined ? undefined : known.get(keyOfCall(recorded.source, step.exchange));
      const call = replay.calls[k];
      return exchange === undefined || call === undefined || !isChat(exchange)
        ? []
        : [
            {
              id: `${recorded.id}, model call ${k}`,
              exchange,
              played: {
                call: { ...call, model: askedWith(recorded, step, k, exchange) },
                response: exchange.response,
                host: exchange.host,
              },
              reply: step,
              expected: recorded.expect.calls[k] ?? null,
            },
          ];
    });
};

/**
 * Returns the parameters of a case's k-th call. A case records those of its first call; if it is tagged
 * `params-change`, a later call may offer or choose other tools.
 */
const askedWith = (
  { model, params, tools, tags }: RecordedChatCase,
  { stream }: RecordedReply,
  k: number,
  { request: { body } }: RecordedExchange,
): JsonObject => {
  const later = k > 0 && tags.includes("params-change");
  const offered = later ? body["tools"] : tools;
  const choice = later ? body["tool_choice"] : params?.["tool_choice"];
  const { tool_choice: _, ...others } = params ?? {};
  return {
    model: model ?? null,
    ...others,
    ...(choice === undefined ? {} : { tool_choice: choice }),
    ...(Array.isArray(offered) && offered.length > 0 ? { tools: offered } : {}),
    // A request without streaming may state so or not.
    ...(stream === true ? { stream: true } : body["stream"] === false ? { stream: false } : {}),
  };
};

/** Returns the request of a thread that is seeded with the recorded messages and gets an empty input. */
const seededRequest = (exchange: RecordedExchange): Either.Either<string, Request> => {
  const messages = messagesIn(exchange.request.body);
  const problem = protocolProblemOf(messages.map(canonicalOf));
  if (problem !== null) return Either.left(`a machine does not send it: ${problem.reason}`);
  const seed: SeedDraft[] = [];
  for (const message of messages) {
    const draft = fromChatMessage(message);
    if (Either.isLeft(draft)) return draft;
    seed.push(draft.right);
  }
  const machine = recordingMachine();
  const { state } = start(machine, { threadId: exchange.id, at: 0, seed });
  const asked = transition(machine, state, { type: "ask.received", at: 1, askId: "ask", input: [] });
  const call = outstanding(asked.state).find((effect) => effect.type === "callLlm");
  if (call === undefined) return Either.left("the thread did not call a model");
  return Either.right({ id: exchange.id, exchange, played: playedOf(call, exchange), reply: null, expected: null });
};

const playedOf = (call: CallLlm, { request, response, host }: RecordedExchange): Played => {
  const { messages: _, ...model } = request.body;
  return { call: { ...call, model }, response, host };
};

/** Returns the first difference between two request bodies: messages in canonical form, all other fields exactly. */
const bodyDifference = (came: Json | undefined, recorded: JsonObject, isRewritten: boolean): string | null => {
  if (typeof came !== "object" || came === null || Array.isArray(came)) return "no JSON object arrived";
  // JSON that is neither a list nor a scalar is an object.
  const body = came as JsonObject;
  const expected = messagesIn(recorded).map(canonicalOf);
  const different = firstDifference(withIdsOf(expected, messagesIn(body).map(canonicalOf)), expected);
  if (different !== null && !isRewritten) return different;
  const field = [...new Set([...Object.keys(body), ...Object.keys(recorded)])].find(
    (key) => key !== "messages" && !isDeepStrictEqual(body[key], recorded[key]),
  );
  return field === undefined
    ? null
    : `${field}: sent ${JSON.stringify(body[field])?.slice(0, 120)}, recorded ${JSON.stringify(recorded[field])?.slice(0, 120)}`;
};

/** Removes ids that were derived for calls without a recorded id, from the calls and their results. */
const withIdsOf = (
  expected: readonly CanonicalMessage[],
  came: readonly CanonicalMessage[],
): readonly CanonicalMessage[] =>
  came.map((message, index) => {
    const recorded = expected[index];
    if (message.tool_call_id !== undefined && recorded?.role === "tool" && recorded.tool_call_id === undefined) {
      const { tool_call_id: _, ...rest } = message;
      return rest;
    }
    const calls = message.tool_calls?.map((call, position) =>
      recorded?.tool_calls?.[position]?.id === null ? { ...call, id: null } : call,
    );
    return calls === undefined ? message : { ...message, tool_calls: calls };
  });

const messagesIn = (body: JsonObject): readonly JsonObject[] => {
  const messages = body["messages"];
  // The messages of a chat request are objects.
  return Array.isArray(messages) ? (messages as readonly JsonObject[]) : [];
};

const isChat = ({ request }: RecordedExchange): boolean => Array.isArray(request.body["messages"]);
