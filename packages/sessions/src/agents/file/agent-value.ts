import { type AgentFields, aliases } from "./agent-fields.ts";

/** A path of members in a file. */
export type Path = readonly PropertyKey[];

type Problem = readonly [path: Path, message: string];

/** Returns the problems between fields of an agent or of its nested agents: contradictions, and subagents without an agent. */
export const contradictionsIn = (value: unknown, hasBody: boolean, path: Path = []): readonly Problem[] => {
  if (!isRecord(value)) return [];
  const problems: Problem[] = [];
  for (const [alias, group, field] of aliases) {
    const fields = value[group];
    if (value[alias] === undefined || !isRecord(fields) || fields[field] === undefined) continue;
    const message = `${alias} is another word for ${group}.${field}, which is there too; leave one of them out`;
    problems.push([[...path, alias], message]);
  }
  if (hasBody && value["instructions"] !== undefined) {
    const message = "instructions is there, and so is a body, which is the same; leave one of them out";
    problems.push([["instructions"], message]);
  }
  for (const [index, entry] of listIn(value["subagents"]).entries())
    if (isRecord(entry)) problems.push(...contradictionsOf(entry, [...path, "subagents", index]));
  return problems;
};

const contradictionsOf = ({ file, agent, name }: Readonly<Record<string, unknown>>, path: Path): readonly Problem[] => {
  if (file !== undefined && agent !== undefined)
    return [[[...path, "agent"], "agent and file both say which agent it is; leave one of them out"]];
  if (file === undefined && agent === undefined)
    return [[path, "it has neither file nor agent; name the file of the agent, or write its fields under agent"]];
  if (!isRecord(agent)) return [];
  const within = contradictionsIn(agent, false, [...path, "agent"]);
  if (name !== undefined || agent["name"] !== undefined) return within;
  return [[path, "an agent within the file of another has no name of its own; add name beside agent"], ...within];
};

/**
 * Returns the tools and subagents of an invalid agent, so that the files which it names are checked in the same run. An
 * invalid entry becomes "": its problem is already reported.
 */
export const referencesIn = ({ name, tools, subagents }: Readonly<Record<string, unknown>>): AgentFields => ({
  ...nameIn(name),
  tools: listIn(tools).map((tool) => (typeof tool === "string" ? tool : "")),
  subagents: listIn(subagents).map((entry) => {
    if (!isRecord(entry)) return typeof entry === "string" ? entry : "";
    const { file, agent } = entry;
    if (file !== undefined && agent !== undefined) return "";
    if (typeof file === "string") return { ...nameIn(entry["name"]), file };
    if (typeof agent === "string") return { ...nameIn(entry["name"]), agent };
    return isRecord(agent) ? { ...nameIn(entry["name"]), agent: referencesIn(agent) } : "";
  }),
});

const nameIn = (name: unknown): Pick<AgentFields, "name"> => (typeof name === "string" ? { name } : {});

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
