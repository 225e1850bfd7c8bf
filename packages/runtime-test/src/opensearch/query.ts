import type { Json, JsonObject } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { type Answer, isObject, listOf, memberOf, refusal, written } from "./answer.ts";
import type { FieldType, Mapping, StoredDocument } from "./documents.ts";

export type Matches = (document: StoredDocument) => boolean;

/**
 * Compiles a query of the query DSL: `match_all`, `match_none`, `match`, `term`, `terms`, `exists`, `range` and `bool`.
 * Any other is refused as unknown. Text is split into lower-case words, as the standard analyser does.
 */
export const matcherOf = (query: Json, mapping: Mapping): Either.Either<Answer, Matches> => {
  if (!isObject(query)) return Either.left(parsingFailure("query malformed, must start with start_object"));
  const [clause, ...more] = Object.entries(query);
  if (clause === undefined) return Either.left(parsingFailure("query malformed, empty clause found"));
  const [name, body] = clause;
  if (more.length > 0) {
    return Either.left(parsingFailure(`[${name}] malformed query, expected [END_OBJECT] but found [FIELD_NAME]`));
  }
  const parse = memberOf(queries, name);
  if (parse === undefined) return Either.left(parsingFailure(`unknown query [${name}]`));
  if (!isObject(body)) {
    return Either.left(parsingFailure(`[${name}] query malformed, no start_object after query name`));
  }
  return parse(body, mapping);
};

export const parsingFailure = (reason: string): Answer => refusal(400, "parsing_exception", reason);

type Parse = (body: JsonObject, mapping: Mapping) => Either.Either<Answer, Matches>;

/** Makes a query of one field; its value may be in an object under `key`. */
const fieldQuery =
  (
    key: string,
    matches: (given: Json, values: readonly Json[], type: FieldType, options: JsonObject) => boolean,
  ): Parse =>
  (body, mapping) => {
    const entry = Object.entries(body)[0];
    if (entry === undefined || Object.keys(body).length > 1) {
      return Either.left(parsingFailure("query doesn't support multiple fields, and needs one"));
    }
    const [field, given] = entry;
    const options = isObject(given) ? given : {};
    const value = isObject(given) ? given[key] : given;
    if (value === undefined) return Either.left(parsingFailure(`no [${key}] given for field [${field}]`));
    return Either.right(({ source }) => matches(value, valuesAt(source, field), typeOf(field, mapping), options));
  };

const range: Parse = (body, mapping) => {
  const [field, bounds] = Object.entries(body)[0] ?? [];
  if (field === undefined || !isObject(bounds))
    return Either.left(parsingFailure("[range] needs a field and its bounds"));
  const unknown = Object.keys(bounds).find((bound) => !Object.hasOwn(within, bound));
  if (unknown !== undefined) return Either.left(parsingFailure(`[range] query does not support [${unknown}]`));
  const type = typeOf(field, mapping);
  return Either.right(({ source }) =>
    valuesAt(source, field).some((value) =>
      Object.entries(bounds).every(([bound, given]) =>
        within[bound]?.(comparable(value, type), comparable(given ?? null, type)),
      ),
    ),
  );
};

const within: Readonly<Record<string, (value: string | number, bound: string | number) => boolean>> = {
  gt: (value, bound) => value > bound,
  gte: (value, bound) => value >= bound,
  lt: (value, bound) => value < bound,
  lte: (value, bound) => value <= bound,
};

const bool: Parse = (body, mapping) => {
  const clauses: Record<string, readonly Matches[]> = {};
  const { minimum_should_match: minimum, ...lists } = body;
  for (const [name, given] of Object.entries(lists)) {
    if (!["must", "filter", "should", "must_not"].includes(name)) {
      return Either.left(parsingFailure(`[bool] query does not support [${name}]`));
    }
    const matchers = [];
    for (const query of listOf(given)) {
      const matcher = matcherOf(query, mapping);
      if (Either.isLeft(matcher)) return matcher;
      matchers.push(matcher.right);
    }
    clauses[name] = matchers;
  }
  const { must = [], filter = [], should = [], must_not: mustNot = [] } = clauses;
  const required = [...must, ...filter];
  const least = typeof minimum === "number" ? minimum : required.length === 0 && should.length > 0 ? 1 : 0;
  return Either.right(
    (document) =>
      required.every((matches) => matches(document)) &&
      !mustNot.some((matches) => matches(document)) &&
      should.filter((matches) => matches(document)).length >= least,
  );
};

const queries: Readonly<Record<string, Parse>> = {
  match_all: () => Either.right(() => true),
  match_none: () => Either.right(() => false),
  match: fieldQuery("query", (given, values, type, { operator }) => {
    const asked = termsOf(given, type);
    const found = new Set(values.flatMap((value) => termsOf(value, type)));
    const all = typeof operator === "string" && operator.toLowerCase() === "and";
    return all ? asked.every((term) => found.has(term)) : asked.some((term) => found.has(term));
  }),
  // The value of the query is not analysed; the searched text is.
  term: fieldQuery("value", (given, values, type) =>
    values.some((value) => termsOf(value, type).includes(type === "text" ? written(given) : comparable(given, type))),
  ),
  terms: (body, mapping) => {
    const [field, given] = Object.entries(body)[0] ?? [];
    if (field === undefined || !Array.isArray(given))
      return Either.left(parsingFailure("[terms] needs a field and a list"));
    return bool(
      { should: listOf(given).map((value) => ({ term: { [field]: value } })), minimum_should_match: 1 },
      mapping,
    );
  },
  exists: ({ field }) =>
    typeof field === "string"
      ? Either.right(({ source }) => valuesAt(source, field).length > 0)
      : Either.left(parsingFailure("[exists] must be provided with a [field]")),
  range,
  bool,
};

/**
 * Returns the values at a path. Below a flat object, the path names a member; the object itself represents all its
 * values.
 */
const valuesAt = (source: JsonObject, field: string): readonly Json[] => {
  const [first = "", ...path] = field.split(".");
  let value = memberOf(source, first);
  for (const name of path) value = isObject(value) ? memberOf(value, name) : undefined;
  return leavesOf(value);
};

const leavesOf = (value: Json | undefined): readonly Json[] => {
  if (value === undefined || value === null) return [];
  return typeof value === "object" ? Object.values(value).flatMap(leavesOf) : [value];
};

const typeOf = (field: string, mapping: Mapping): FieldType =>
  memberOf(mapping, field.split(".")[0] ?? "") ?? "keyword";

const termsOf = (value: Json, type: FieldType): readonly (string | number)[] =>
  type === "text" ? (written(value).toLowerCase().match(word) ?? []) : [comparable(value, type)];

const word = /[\p{L}\p{N}_]+(?:['’.][\p{L}\p{N}_]+)*/gu;

const comparable = (value: Json, type: FieldType): string | number => {
  if (type === "date") return typeof value === "number" ? value : Date.parse(written(value));
  return type === "long" ? Number(value) : written(value);
};
