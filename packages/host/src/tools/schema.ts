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
    /** Where the vendor can say its schema as JSON Schema. */
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
      readonly output?: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
    };
    /** Only for inference; absent at run time. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/**
 * Gives a Standard Schema a JSON Schema, which a model is told, and which some vendors' schemas lack: those of `zod/mini`, of
 * zod before 4.2.0, and of valibot without `toStandardJsonSchema`. Values are validated by the schema alone.
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
 * Issues in words, for mending the value: where, and what was expected; the first twenty of them. A validator is foreign
 * code, and may quote a key; a schema may be foreign, and list any number of issues at any length.
 */
export const issuesInWords = (issues: readonly SchemaIssue[]): string => {
  const shown = issues.slice(0, issuesMax).map(({ message, path }) => pathInWords(path ?? []) + inWords(message));
  const left = issues.length - shown.length;
  return [...shown, ...(left > 0 ? [`and ${left} more`] : [])].join("; ");
};

/** What an issue says, without secrets, and not more than a model can use. */
export const inWords = (message: unknown): string => bounded(messageOf(message), wordsMax);

/** The beginning of a text. */
export const bounded = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max)}…`);

/** So many issues are shown. */
export const issuesMax = 20;
export const wordsMax = 400;

const pathInWords = (path: NonNullable<SchemaIssue["path"]>): string => {
  const keys = path.map((segment) => String(typeof segment === "object" ? segment.key : segment));
  return keys.length === 0 ? "" : `"${keys.join(".")}": `;
};
