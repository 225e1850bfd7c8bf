import type { Json } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { type Answer, badRequest, isObject, listOf, memberOf, shardFailure, written } from "./answer.ts";
import type { DocumentIndex, StoredDocument } from "./documents.ts";

/** The order of hits, and the sort values of each. */
export interface Order {
  readonly compare: (left: StoredDocument, right: StoredDocument) => number;
  readonly valuesOf: (document: StoredDocument) => readonly Json[];
}

/**
 * Parses `"field"`, `{ field: "desc" }`, `{ field: { order: "desc" } }`, or a list of these; null if nothing is given.
 */
export const orderOf = (sort: Json | undefined, index: DocumentIndex): Either.Either<Answer, Order | null> => {
  if (sort === undefined) return Either.right(null);
  const keys: SortKey[] = [];
  for (const each of listOf(sort)) {
    for (const [field, direction] of Object.entries(isObject(each) ? each : { [written(each)]: "asc" })) {
      const key = keyOf(field, direction, index);
      if (Either.isLeft(key)) return key;
      keys.push(key.right);
    }
  }
  if (keys.length === 0) return Either.right(null);
  return Either.right({
    compare: (left, right) =>
      keys.reduce(
        (so, key) => (so !== 0 ? so : key.sign * compare(key.valueOf(left), key.valueOf(right), key.sign)),
        0,
      ),
    valuesOf: (document) => keys.map((key) => key.valueOf(document)),
  });
};

interface SortKey {
  readonly sign: 1 | -1;
  readonly valueOf: (document: StoredDocument) => number | string | null;
}

const keyOf = (field: string, direction: Json | undefined, index: DocumentIndex): Either.Either<Answer, SortKey> => {
  const order = isObject(direction) ? (direction["order"] ?? "asc") : direction;
  if (order !== "asc" && order !== "desc")
    return Either.left(badRequest(`No enum constant SortOrder.${written(order)}`));
  const type = memberOf(index.mapping, field);
  if (type === undefined) {
    return Either.left(
      shardFailure(index.name, "query_shard_exception", `No mapping found for [${field}] in order to sort on`),
    );
  }
  if (type === "text" || type === "flat_object") return Either.left(unsortable(field, index));
  return Either.right({
    sign: order === "asc" ? 1 : -1,
    valueOf: ({ source }) => {
      const value = source[field];
      if (type === "date") return typeof value === "string" ? Date.parse(value) : null;
      return typeof value === "string" || typeof value === "number" ? value : null;
    },
  });
};

const unsortable = (field: string, index: DocumentIndex): Answer =>
  shardFailure(
    index.name,
    "illegal_argument_exception",
    "Text fields are not optimised for operations that require per-document field data like aggregations and sorting, " +
      "so these operations are disabled by default. Please use a keyword field instead. " +
      `Alternatively, set fielddata=true on [${field}] in order to load field data by uninverting the inverted index. ` +
      "Note that this can use significant memory.",
  );

/** Documents without a value come last, in either direction. */
const compare = (left: number | string | null, right: number | string | null, sign: 1 | -1): number => {
  if (left === right) return 0;
  if (left === null) return sign;
  if (right === null) return -sign;
  return left < right ? -1 : 1;
};
