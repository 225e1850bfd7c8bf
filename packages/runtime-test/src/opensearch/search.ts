import type { Json, JsonObject } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { accepted, type Answer, badRequest, isObject, parseFailure, refusal } from "./answer.ts";
import type { DocumentIndex, StoredDocument } from "./documents.ts";
import { problemOfWindow } from "./page.ts";
import { type Matches, matcherOf, parsingFailure } from "./query.ts";
import { type Order, orderOf } from "./sort.ts";

/** A parsed search body: `query`, `from`, `size` and `sort`. */
export interface Search {
  readonly matches: Matches;
  readonly from: number;
  readonly size: number;
  /** Not parsed; it is interpreted with the mapping of an index. */
  readonly sort: Json | undefined;
}

/** Parses a body. Any other field is refused, and so is a body without a query, as by the service. */
export const searchOf = (body: Json | undefined, index: DocumentIndex): Either.Either<Answer, Search> => {
  if (body === undefined) return Either.left(parseFailure("request body or source parameter is required"));
  if (!isObject(body)) return Either.left(parsingFailure("Expected [START_OBJECT] but found something else"));
  const { query, from = 0, size = 10, sort, ...others } = body;
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) return Either.left(parsingFailure(`Unknown key for a value in [${unknown}].`));
  if (typeof from !== "number" || typeof size !== "number") {
    return Either.left(parsingFailure("[from] and [size] have to be numbers"));
  }
  if (query === undefined) return Either.left(badRequest("inner bool query clause cannot be null"));
  return Either.map((matches: Matches) => ({ matches, from, size, sort }))(matcherOf(query, index.mapping));
};

/**
 * Returns a search's hits among the documents that `allowed` accepts. Each hit scores 1, because relevance is not
 * imitated. Without a sort, hits are in the order of their documents.
 */
export const searchAnswer = (
  index: DocumentIndex,
  { matches, from, size, sort }: Search,
  allowed: (document: StoredDocument) => boolean,
): Answer => {
  const ordered = orderOf(sort, index);
  if (Either.isLeft(ordered)) return ordered.left;
  const order = ordered.right;
  const problem = problemOfWindow(index, from, size);
  if (problem !== null) return problem;
  const found = index.all().filter((document) => allowed(document) && matches(document));
  const hits = (order === null ? found : found.toSorted(order.compare)).slice(from, from + size);
  return accepted({
    took: 1,
    timed_out: false,
    _shards: { total: 1, successful: 1, skipped: 0, failed: 0 },
    hits: {
      total: { value: found.length, relation: "eq" },
      max_score: order === null && found.length > 0 ? 1 : null,
      hits: hits.map((document) => hitOf(index, document, order)),
    },
  });
};

/** Returns the error for a search of an index that does not exist yet. */
export const refusalOfMissing = (index: DocumentIndex): Answer =>
  refusal(404, "index_not_found_exception", `no such index [${index.name}]`, {
    index: index.name,
    index_uuid: "_na_",
    "resource.id": index.name,
    "resource.type": "index_or_alias",
  });

const hitOf = (index: DocumentIndex, document: StoredDocument, order: Order | null): JsonObject => ({
  _index: index.name,
  _id: document.id,
  _version: document.version,
  _seq_no: document.sequence,
  _primary_term: 1,
  _score: order === null ? 1 : null,
  _source: document.source,
  ...(order === null ? {} : { sort: order.valuesOf(document) }),
});
