import { type ZodType, z } from "zod";
import type { Json } from "@colloquy/machine";

/**
 * A file from dspy-session: `Session.save` in version 2 (version 1 had `input_field_override` in place of
 * `history_input_fields`), or `SessionState.save` in its own version 1, with the history of each turn. A file without a
 * version counts as 1.
 */
export interface DspyFile {
  /** The input that contains the history in dspy-session. */
  readonly history_field?: string | null | undefined;
  readonly max_turns?: number | null | undefined;
  readonly max_stored_turns?: number | null | undefined;
  readonly exclude_fields?: readonly string[] | null | undefined;
  readonly history_input_fields?: readonly string[] | null | undefined;
  readonly input_field_override?: readonly string[] | null | undefined;
  readonly history_policy?: string | null | undefined;
  readonly turns: readonly DspyTurn[];
  readonly initial_history?: { readonly messages: readonly DspyFields[] } | null | undefined;
  readonly l2_memory?: string | null | undefined;
  readonly node_states?: Readonly<Record<string, unknown>> | null | undefined;
}

interface DspyTurn {
  readonly index?: number | undefined;
  readonly inputs: DspyFields;
  readonly outputs: DspyFields;
  readonly score?: number | null | undefined;
  readonly history_snapshot?: unknown;
}

interface DspyFields {
  readonly [field: string]: Json;
}

const fields = z.record(z.string(), z.json());
const count = z.int().nonnegative().nullish();
const names = z.array(z.string()).nullish();

/** The schema of a file whose version is known to be supported. */
export const dspyFile: ZodType<DspyFile> = z.looseObject({
  history_field: z.string().nullish(),
  max_turns: count,
  max_stored_turns: count,
  exclude_fields: names,
  history_input_fields: names,
  input_field_override: names,
  history_policy: z.string().nullish(),
  turns: z.array(
    z.looseObject({
      index: z.number().optional(),
      inputs: fields,
      outputs: fields,
      score: z.number().nullish(),
      history_snapshot: z.unknown().optional(),
    }),
  ),
  initial_history: z.looseObject({ messages: z.array(fields) }).nullish(),
  l2_memory: z.string().nullish(),
  node_states: z.record(z.string(), z.unknown()).nullish(),
});

/** The schema of any file with a version, read before the rest. */
export const versioned: ZodType<{ readonly version?: unknown }> = z.looseObject({ version: z.unknown().optional() });
