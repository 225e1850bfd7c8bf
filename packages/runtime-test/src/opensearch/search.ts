import type { Json, JsonObject } from "@colloquy/machine";
import {
  accepted,
  type Answer,
  badRequest,
  isObject,
  memberOf,
  missingIndex,
  refusal,
  shardFailure,
  unparsable,
  written,
} from "./answer.ts";
import type { DocumentIndex, StoredDocument } from "./documents.ts";
import { type Call, problemOfWindow } from "./routes.ts";

/**
 * Returns the error about a search: its body has one of three queries, `match_all`, `{ match: { field: words } }` or
 * `{ term: { field: value } }`, also in their long forms, and besides at most `from`, `size` and `sort`.
 */
export const problemOfSearch = ({ body }: Pick<Call, "body">): Answer | null => {
  if (body === undefined) return refusal(400, "parse_exception", "request body or source parameter is required");
  if (!isObject(body)) return unparsable("Expected [START_OBJECT] but found something else");
  const { query, from = 0, size = 10, sort: _, ...others } = body;
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) return unparsable(`Unknown key for a value in [${unknown}].`);
  if (typeof from !== "number" || typeof size !== "number") return unparsable("[from] and [size] must be numbers");
  if (query === undefined) return badRequest("inner bool query clause cannot be null");
  const [[name, clause] = [], ...more] = isObject(query) ? Object.entries(query) : [];
  if (name === undefined || more.length > 0) return unparsable("query malformed, must be an object with one query");
  if (!["match_all", "match", "term"].includes(name))
    return unparsable(`unknown query [${name}]: openSearchServer answers match_all, match and term`);
  if (!isObject(clause)) return unparsable(`[${name}] query malformed, no start_object after query name`);
  const values = Object.values(clause).map((given) => wantedIn(name, given));
  return name === "match_all" || (values.length === 1 && !values.some((value) => typeof value === "object"))
    ? null
    : unparsable(`[${name}] query malformed: openSearchServer answers one field with a text, a number or a boolean`);
};

/** Reads the long form of a value too: `{ query: words }` of a match, `{ value }` of a term. */
const wantedIn = (name: string, given: Json | undefined): Json | undefined => {
  const [[member, value] = [], ...more] = isObject(given) ? Object.entries(given) : [];
  return value !== undefined && more.length === 0 && member === (name === "match" ? "query" : "value") ? value : given;
};

/** Returns the hits among the documents that `allowed` accepts. Each scores 1, since relevance is not imitated. */
export const searchAnswer = (
  index: DocumentIndex,
  body: Json | undefined,
  allowed: (document: StoredDocument) => boolean,
): Answer => {
  if (!index.exists) return missingIndex(index.name);
  const { query, from, size, sort } = isObject(body) ? body : {};
  const [first, count] = [Number(from ?? 0), Number(size ?? 10)];
  const order = orderOf(sort);
  const problem = (order === null ? null : problemOfOrder(order, index)) ?? problemOfWindow(index.name, first, count);
  if (problem !== null) return problem;
  const found = index.all().filter((document) => allowed(document) && matches(document, query, index));
  const valueOf = ({ source }: StoredDocument): string | number | null => {
    const value = source[order?.field ?? ""];
    if (typeof value === "string") return index.mapping[order?.field ?? ""] === "date" ? Date.parse(value) : value;
    return typeof value === "number" ? value : null;
  };
  const ordered = order === null ? found : found.toSorted((a, b) => compared(valueOf(a), valueOf(b), order.sign));
  const hits = ordered.slice(first, first + count).map((document): JsonObject => ({
    _index: index.name,
    _id: document.id,
    _version: document.version,
    _seq_no: document.sequence,
    _primary_term: 1,
    _score: order === null ? 1 : null,
    _source: document.source,
    ...(order === null ? {} : { sort: [valueOf(document)] }),
  }));
  return accepted({
    took: 1,
    timed_out: false,
    _shards: { total: 1, successful: 1, skipped: 0, failed: 0 },
    hits: {
      total: { value: found.length, relation: "eq" },
      max_score: order === null && found.length > 0 ? 1 : null,
      hits,
    },
  });
};

/** Returns whether a document has any of the words (`match`), or has the value (`term`). Text is split into words. */
const matches = ({ source }: StoredDocument, query: Json | undefined, { mapping }: DocumentIndex): boolean => {
  const [name = "match_all", clause = {}] = Object.entries(isObject(query) ? query : {})[0] ?? [];
  if (name === "match_all") return true;
  const [field = "", given] = Object.entries(isObject(clause) ? clause : {})[0] ?? [];
  const wanted = wantedIn(name, given);
  const value = field
    .split(".")
    .reduce<Json | undefined>((outer, step) => (isObject(outer) ? memberOf(outer, step) : undefined), source);
  if (value === undefined || value === null) return false;
  if (memberOf(mapping, field) !== "text") return written(value) === written(wanted);
  const asked = name === "match" ? wordsOf(wanted) : [written(wanted)];
  return asked.some((word) => wordsOf(value).includes(word));
};

/** Splits a text into lower-case words, as the standard analyser does. */
const wordsOf = (value: Json | undefined): readonly string[] =>
  written(value)
    .toLowerCase()
    .match(/[\p{L}\p{N}_]+(?:['’.][\p{L}\p{N}_]+)*/gu) ?? [];

interface Order {
  readonly field: string;
  readonly direction: Json | undefined;
  readonly sign: 1 | -1;
}

/** Reads `"field"`, `{ field: "desc" }` or `{ field: { order: "desc" } }`, alone or in a list; null if there is none. */
const orderOf = (sort: Json | undefined): Order | null => {
  // Arrays are the only JSON values that `Array.isArray` accepts.
  const [first] = Array.isArray(sort) ? (sort as readonly Json[]) : [sort];
  if (first === undefined) return null;
  const [field = "", given] = isObject(first) ? (Object.entries(first)[0] ?? []) : [written(first), "asc"];
  const direction = isObject(given) ? given["order"] : given;
  return { field, direction, sign: direction === "desc" ? -1 : 1 };
};

const problemOfOrder = ({ field, direction }: Order, { name, mapping }: DocumentIndex): Answer | null => {
  if (direction !== "asc" && direction !== "desc")
    return badRequest(`No enum constant SortOrder.${written(direction)}`);
  const type = memberOf(mapping, field);
  if (type === undefined)
    return shardFailure(name, "query_shard_exception", `No mapping found for [${field}] in order to sort on`);
  return type === "text" || type === "flat_object"
    ? shardFailure(
        name,
        "illegal_argument_exception",
        `Text fields are not optimised for sorting: use a keyword field instead of [${field}]`,
      )
    : null;
};

/** Documents without a value come last, in either direction. */
const compared = (left: string | number | null, right: string | number | null, sign: 1 | -1): number => {
  if (left === right) return 0;
  if (left === null) return 1;
  if (right === null) return -1;
  return left < right ? -sign : sign;
};
