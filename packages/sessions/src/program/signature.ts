import type { SchemaIssue, StandardSchema } from "@colloquy/host";
import { type Fields, fieldsGiven } from "./fields.ts";

/** What goes into a program and what comes out, each by a Standard Schema: zod, valibot, arktype and others have it. */
export interface Signature<Given extends object, Inputs extends object, Outputs extends object, Result extends object> {
  readonly inputs: StandardSchema<Given, Inputs>;
  readonly outputs: StandardSchema<Outputs, Result>;
}

/** Inputs or outputs do not fit the signature of their program. */
export class SignatureError extends TypeError {
  override readonly name = "SignatureError";
  readonly issues: readonly SchemaIssue[];

  constructor(what: string, issues: readonly SchemaIssue[]) {
    super(`${what} do not fit its signature: ${issues.map(inWords).join("; ")}`);
    this.issues = issues;
  }
}

/**
 * What the schema makes of a value, as plain JSON, which is what a thread keeps; without a schema, the value. It is copied
 * at once: what its holder changes afterwards changes nothing.
 *
 * @param what the value is: `the inputs of "qa"`.
 * @throws SignatureError where it does not fit, TypeError where a journal could not keep it
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

/** The fields of which a schema says that there are no others; null where it does not say so. */
export const fieldsNamedBy = (
  schema: StandardSchema<never, object> | StandardSchema<object, object> | undefined,
): readonly string[] | null => {
  try {
    const said = schema?.["~standard"].jsonSchema?.output?.({ target: "draft-2020-12" });
    const { properties, additionalProperties } = said ?? {};
    return additionalProperties === false && typeof properties === "object" ? Object.keys(properties ?? {}) : null;
  } catch {
    // What a transformation makes has no JSON Schema.
    return null;
  }
};

/** What can't be copied is for the schema to judge. */
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
