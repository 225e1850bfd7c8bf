// Stories in the form of the OpenSearch API specification: requests in order, with their expected answers.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";

const stepSchema = z.strictObject({
  synopsis: z.string().optional(),
  id: z.string().optional(),
  path: z.string(),
  method: z.string(),
  parameters: z.record(z.string(), z.unknown()).default({}),
  request: z.strictObject({ payload: z.unknown() }).optional(),
  status: z.union([z.number(), z.array(z.number())]).optional(),
  response: z.strictObject({ status: z.number().optional(), payload: z.unknown().optional() }).optional(),
  output: z.record(z.string(), z.string()).default({}),
});

const storySchema = z.strictObject({
  $schema: z.string().optional(),
  description: z.string(),
  version: z.string().optional(),
  prologues: z.array(stepSchema).default([]),
  chapters: z.array(stepSchema),
  epilogues: z.array(stepSchema).default([]),
});

export type Step = z.infer<typeof stepSchema>;

export interface Story extends z.infer<typeof storySchema> {
  readonly file: string;
}

/** Reads every story below a folder. */
export const storiesIn = (folder: string): readonly Story[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".yaml"))
    .toSorted()
    .map((file) => ({ file, ...storySchema.parse(parse(readFileSync(join(folder, file), "utf8"))) }));

/** Checks that a story applies to a version: `>= 2.12`, or several such bounds. */
export const appliesTo = ({ version: range, file }: Story, version: string): boolean =>
  (range?.match(/\S+\s*\S+/g) ?? []).every((bound) => {
    const [, relation = "", than = ""] = /^(>=|<|>|<=)\s*([\d.]+)$/.exec(bound) ?? [];
    const order = compareVersions(version, than);
    const holds = { ">=": order >= 0, "<": order < 0, ">": order > 0, "<=": order <= 0 }[relation];
    if (holds === undefined) throw new Error(`${file}: the version "${range ?? ""}" can't be read`);
    return holds;
  });

const compareVersions = (left: string, right: string): number => left.localeCompare(right, "en", { numeric: true });
