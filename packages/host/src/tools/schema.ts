import { messageOf } from "../boundary/thrown.ts";

/**
 * The part of a Standard Schema (standardschema.dev) that the host uses: zod, valibot, arktype and others have it. Their
 * own types are wider and fit this one, so that no package is needed for it.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** Present if the vendor can convert its schema to JSON Schema. */
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
      readonly output?: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
    };
    /** Only for inference; absent at run time. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/**
 * Adds a JSON Schema for the model to a Standard Schema that has none: one of `zod/mini`, of zod before 4.2.0, or of valibot
 * without `toStandardJsonSchema`. Values are validated by the schema alone.
 */
export const withJsonSchema = <Input, Output>(
  schema: StandardSchema<Input, Output>,
  jsonSchema: object,
): StandardSchema<Input, Output> => ({
  "~standard": { ...schema["~standard"], jsonSchema: { input: () => ({ ...jsonSchema }) } },
});

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * Describes the first twenty issues by their places and messages, so that the value can be fixed. A validator is
 * foreign code, and may quote a key. A foreign schema may produce any number of issues of any length.
 */
export const issuesInWords = (issues: readonly SchemaIssue[]): string => {
  const shown = issues.slice(0, issuesMax).map(({ message, path }) => pathInWords(path ?? []) + inWords(message));
  const left = issues.length - shown.length;
  return [...shown, ...(left > 0 ? [`and ${left} more`] : [])].join("; ");
};

/** Returns the message of an issue without secrets, shortened to a length that a model can use. */
export const inWords = (message: unknown): string => bounded(messageOf(message), wordsMax);

/** Shortens a text to its first `max` characters. */
export const bounded = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max)}…`);

export const issuesMax = 20;
export const wordsMax = 400;

const pathInWords = (path: NonNullable<SchemaIssue["path"]>): string => {
  const keys = path.map((segment) => String(typeof segment === "object" ? segment.key : segment));
  return keys.length === 0 ? "" : `"${keys.join(".")}": `;
};
