import type { SchemaIssue, StandardSchema } from "@colloquy/host";
import { type Fields, fieldsGiven } from "./fields.ts";

/** The inputs and outputs of a program, each a Standard Schema, as of zod, valibot, arktype and others. */
export interface Signature<Given extends object, Inputs extends object, Outputs extends object, Result extends object> {
  readonly inputs: StandardSchema<Given, Inputs>;
  readonly outputs: StandardSchema<Outputs, Result>;
}

/** The inputs or outputs of a program do not match its signature. */
export class SignatureError extends TypeError {
  override readonly name = "SignatureError";
  readonly issues: readonly SchemaIssue[];

  constructor(what: string, issues: readonly SchemaIssue[]) {
    super(`${what} do not fit its signature: ${issues.map(inWords).join("; ")}`);
    this.issues = issues;
  }
}

/**
 * Validates a value by a schema, and returns the result as plain JSON, for the thread. Without a schema, returns the
 * value. It is copied at once, so that later changes by its owner have no effect.
 *
 * @param what names the value: `the inputs of "qa"`.
 * @throws SignatureError if it does not match, TypeError if a journal cannot contain it
 */
export const validated = async (
  what: string,
  schema: StandardSchema<never, object> | StandardSchema<object, object> | undefined,
  given: unknown,
): Promise<Fields> => {
  if (schema === undefined) return fieldsGiven(what, given);
  const result = await schema["~standard"].validate(copyOf(given));
  if (result.issues !== undefined) throw new SignatureError(what, result.issues);
  return fieldsGiven(what, result.value);
};

/** Returns the fields of a schema that allows no others; null for any other schema. */
export const fieldsNamedBy = (
  schema: StandardSchema<never, object> | StandardSchema<object, object> | undefined,
): readonly string[] | null => {
  try {
    const said = schema?.["~standard"].jsonSchema?.output?.({ target: "draft-2020-12" });
    const { properties, additionalProperties } = said ?? {};
    return additionalProperties === false && typeof properties === "object" ? Object.keys(properties ?? {}) : null;
  } catch {
    // The output of a transformation has no JSON Schema.
    return null;
  }
};

/** Returns a copy; a value that cannot be copied is left for the schema to judge. */
const copyOf = (given: unknown): unknown => {
  try {
    return structuredClone(given);
  } catch {
    return given;
  }
};

const inWords = ({ message, path = [] }: SchemaIssue): string => {
  const keys = path.map((segment) => String(typeof segment === "object" ? segment.key : segment));
  return keys.length === 0 ? message : `"${keys.join(".")}": ${message}`;
};
