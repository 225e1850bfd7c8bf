import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { z } from "zod";

/** Returns the violations of a response's schema, one sentence each. */
export type SchemaCheck = (method: string, path: string, status: number, payload: unknown) => readonly string[];

/** Checks nothing, since without a specification the responses are unknown. */
export const unchecked: SchemaCheck = () => [];

/**
 * Checks responses against `ml.yaml` and `ml._common.yaml` of a folder, as strictly as the specification's own runner:
 * an object may only have the members in its schema.
 */
export const specificationIn = (folder: string): SchemaCheck => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  const paths = pathsSchema.parse(added(ajv, "namespaces/ml.yaml", read(folder, "ml.yaml"))).paths;
  added(ajv, "schemas/ml._common.yaml", read(folder, "ml._common.yaml"));
  added(ajv, "schemas/_common.yaml", { components: { schemas: common } });
  return (method, path, status, payload) => {
    if (status !== 200) return [];
    const pointer = paths[path]?.[method.toLowerCase()]?.responses["200"]?.$ref;
    if (pointer === undefined) return [`the specification does not have ${method} ${path}`];
    const validate = ajv.getSchema(`${base}namespaces/ml.yaml${pointer}/content/application~1json/schema`);
    if (validate === undefined) return [`the specification has no schema for ${method} ${path}`];
    // A schema without $async is synchronous.
    return (validate(payload) as boolean) ? [] : [`${ajv.errorsText(validate.errors)} in ${JSON.stringify(payload)}`];
  };
};

const base = "https://specification.invalid/";

const pathsSchema = z.looseObject({
  paths: z.record(
    z.string(),
    z.record(z.string(), z.looseObject({ responses: z.record(z.string(), z.looseObject({ $ref: z.string() })) })),
  ),
});

const read = (folder: string, file: string): unknown => parse(readFileSync(join(folder, file), "utf8"));

const added = (ajv: Ajv2020, file: string, document: unknown): unknown => {
  const closed = closing(document);
  ajv.addSchema({ ...z.record(z.string(), z.unknown()).parse(closed), $id: base + file });
  return closed;
};

/**
 * Closes every schema of a document that names members and does not open itself. References to missing files allow
 * anything.
 */
const closing = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(closing);
  if (typeof value !== "object" || value === null) return value;
  const elsewhere = /(?:^|\/)_common[\w.]*\.yaml#\/components\/schemas\/(\w+)$/.exec(
    "$ref" in value ? String(value.$ref) : "",
  );
  if (elsewhere !== null && !Object.hasOwn(common, elsewhere[1] ?? "")) return {};
  const members = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, closing(member)]));
  const names = members["properties"];
  const isClosed = "additionalProperties" in members || typeof names !== "object" || names === null;
  return isClosed || Object.keys(names).length === 0 ? members : { ...members, unevaluatedProperties: false };
};

/** The schemas of the specification's `_common.yaml` that the memory API uses. */
const common = {
  Name: { type: "string" },
  Id: { type: "string" },
  IndexName: { type: "string" },
  VersionNumber: { type: "integer" },
  SequenceNumber: { type: "integer" },
  ShardStatistics: {
    type: "object",
    properties: { ...counts("failed", "skipped", "successful", "total"), failures: { type: "array" } },
    required: ["failed", "successful", "total"],
  },
  WriteResponseBase: {
    type: "object",
    properties: {
      _index: { type: "string" },
      _id: { type: "string" },
      result: { enum: ["created", "deleted", "noop", "not_found", "updated"] },
      forced_refresh: { type: "boolean" },
      _shards: { $ref: "#/components/schemas/ShardStatistics" },
      ...counts("_primary_term", "_seq_no", "_version"),
    },
    required: ["_id", "_index", "_shards", "_version", "result"],
  },
};

function counts(...names: readonly string[]): Record<string, { readonly type: "integer" }> {
  return Object.fromEntries(names.map((name) => [name, { type: "integer" as const }]));
}
