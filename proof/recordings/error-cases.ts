import { createHash } from "node:crypto";
import { canonicalJson, type RecordedError } from "@colloquy/runtime-test/recordings";
import type { Verdict } from "./error-words.ts";

/** What is known of a case by hand. */
export interface KnownCase {
  readonly verdict: Verdict;
  /** Its status, headers and body are those that it had. */
  readonly isAsRecorded: boolean;
}

/** Cases that a person has read, by the digests of their ids. */
export type CaseTable = ReadonlyMap<string, Case>;

interface Case {
  /** The digest of its response. */
  readonly response: string;
  readonly verdict: Verdict;
}

/** What a table knows of a recorded error; null for a case that is not in it. */
export const knownCase = (error: RecordedError, table: CaseTable): KnownCase | null => {
  const known = table.get(digestOf(error.id));
  return known === undefined
    ? null
    : { verdict: known.verdict, isAsRecorded: known.response === digestOf(textOf(error)) };
};

/** The entry of a table for an error as it is. */
export const caseOf = (error: RecordedError, verdict: Verdict): readonly [string, Case] => [
  digestOf(error.id),
  { response: digestOf(textOf(error)), verdict },
];

const textOf = (error: RecordedError): string => canonicalJson(contentOf(error));

const contentOf = ({ response: { status, headers, body, sse } }: RecordedError) => ({
  status,
  headers: { ...headers },
  body: body ?? null,
  sse: sse ?? null,
});

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

const badRequest: Verdict = { kind: "bad_request", retryable: false };
const wrongKey: Verdict = { kind: "auth", retryable: false };
const tooMany: Verdict = { kind: "rate_limit", retryable: true };

/** Those of the recordings, which are no part of this repository. */
export const knownCases: CaseTable = new Map<string, Case>([
  // A file of a type that the model does not take.
  ["cd47a330c37d6059", { response: "9223e56f30427282", verdict: badRequest }],
  ["f7ba29442c70cb93", { response: "7fc460e67c5b5146", verdict: badRequest }],
  ["e59ff374994aef4f", { response: "6da001fadb7898b9", verdict: badRequest }],
  // An option that the model does not have.
  ["ec664ff1dfe0cf31", { response: "c47c1d0a7f51f74a", verdict: badRequest }],
  // Reasoning without what must follow it.
  ["72f646cdeac40274", { response: "6cabed8fed261d2a", verdict: badRequest }],
  // More requests than are allowed; the server says when to come again.
  ["0ea8a6229c4880d7", { response: "a745293e2e38c4b3", verdict: tooMany }],
  // A wrong key.
  ["f22061f6aa076107", { response: "6f825315c6fa7a7f", verdict: wrongKey }],
  // Status 400 with an error of a test, of an undocumented type.
  ["23ce9c020cc17cb0", { response: "201c46168d871b71", verdict: badRequest }],
  ["8f276ca49ab2fd85", { response: "201c46168d871b71", verdict: badRequest }],
  // A deployment that is not there.
  ["8875391d6a75d8ac", { response: "30d9951614cfcd83", verdict: badRequest }],
  ["15d72e989ea83b74", { response: "30d9951614cfcd83", verdict: badRequest }],
  // No key at all.
  ["326b4f80e52ff9e6", { response: "b0af3108c091f7f2", verdict: wrongKey }],
  // An address that is not there.
  ["862b666afcb505f8", { response: "73cb813a3c73344d", verdict: badRequest }],
  // A parameter that is missing.
  ["2c80cab87e989801", { response: "19e5d9deb0481747", verdict: badRequest }],
  // A model that does not chat.
  ["45304ffe993f70dc", { response: "dd8501cb2ae288de", verdict: badRequest }],
]);
