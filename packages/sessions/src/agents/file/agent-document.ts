import {
  type Document,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  type Node,
  parseDocument,
  Scalar,
  visit,
  type YAMLMap,
} from "yaml";
import type { core } from "zod";
import { agentFields, type AgentFields, foreignFields, knownFields, aliases } from "./agent.ts";

/** A problem with its place; lines and columns count from 1. */
export interface PlacedProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** The fields of a file, and the place of each. */
export interface AgentDocument {
  /** If there are problems, only the tools and subagents, so that they are checked in the same run. */
  readonly fields: AgentFields;
  readonly problems: readonly PlacedProblem[];
  /** Makes a problem of the value at a path. */
  readonly problemAt: (path: Path, message: string) => PlacedProblem;
}

/** A file without fields. */
export type NoFields = Pick<AgentDocument, "problems"> & { readonly fields: null };

/** Reads the text of a YAML file, or of Markdown with front matter, whose body is the instructions. Never throws. */
export const readAgentDocument = (text: string, isMarkdown: boolean): AgentDocument | NoFields => {
  const matter = isMarkdown ? frontMatter.exec(text) : null;
  if (isMarkdown && matter === null)
    return { fields: null, problems: [{ line: 1, column: 1, message: noFrontMatter }] };
  const yaml = matter?.[1] ?? text;
  // Normalises line ends as YAML does.
  const body = text
    .slice(matter?.[0].length ?? text.length)
    .trim()
    .replaceAll("\r\n", "\n");
  const lines = new LineCounter();
  const parsed = parseDocument(yaml, { ...strictly, lineCounter: lines });
  return new Reading(parsed, lines).read(body === "" ? null : body);
};

const strictly = {
  version: "1.2",
  schema: "core",
  strict: true,
  // The parser compares each key with every other, which takes minutes for a hostile file.
  uniqueKeys: false,
  stringKeys: true,
  resolveKnownTags: false,
  prettyErrors: false,
  // Problems are returned, not printed.
  logLevel: "error",
} as const;

/** Matches from a line of three dashes to the next one. */
const frontMatter = /^(---[ \t]*\r?\n(?:[^]*?\r?\n)??)---[ \t]*(?:\r?\n|$)/;

const noFrontMatter =
  "Markdown begins with no front matter; begin with a line ---, fields such as name: helper, and a line ---";

const levelsMax = 32;
const tooDeep = `it is nested more deeply than ${levelsMax} levels; an agent takes fewer`;

/** Keys that can make an object differ from its text. */
const forbiddenKeys: ReadonlySet<unknown> = new Set(["__proto__", "constructor", "prototype", "<<"]);

class Reading {
  readonly #parsed: Document.Parsed;
  readonly #lines: LineCounter;

  constructor(parsed: Document.Parsed, lines: LineCounter) {
    this.#parsed = parsed;
    this.#lines = lines;
  }

  read(body: string | null): AgentDocument | NoFields {
    const { problems, isReadable } = this.#problemsOfYaml();
    if (!isReadable) return { fields: null, problems };
    const value: unknown = this.#parsed.toJS({ maxAliasCount: 0 });
    const given = body === null || !isRecord(value) ? value : { instructions: body, ...value };
    const found = [
      ...problems,
      ...this.#problemsOfFields(given),
      ...contradictionsIn(value, body !== null).map(([path, message]) => this.#problemAt(path, message)),
    ];
    const fields = found.length === 0 ? agentFields.parse(given) : isRecord(given) ? referencesIn(given) : null;
    return { fields, problems: found, problemAt: this.#problemAt };
  }

  /** Reports and removes forbidden nodes, so that the fields can be checked in the same run. */
  #problemsOfYaml(): { readonly problems: readonly PlacedProblem[]; readonly isReadable: boolean } {
    const { errors, warnings, directives } = this.#parsed;
    // After a syntax error, the rest is not reliable.
    const [first] = errors;
    if (first !== undefined) return refused(this.#at(first.pos[0], inWords(first.code, first.message)));
    if (directives.yaml.version !== "1.2")
      return refused(this.#at(0, `%YAML is ${directives.yaml.version}; it must be 1.2, which also holds without it`));
    const problems = warnings.map(({ pos, code, message }) => this.#at(pos[0], inWords(code, message)));
    const add = (node: Node, message: string): void => void problems.push(this.#atNode(node, message));
    let isReadable = true;
    visit(this.#parsed, {
      Alias: (_, node) => {
        add(node, `*${node.source} is an alias; write out what it stands for`);
        return new Scalar(refusedAlias);
      },
      Collection: (_, node, path) => {
        // A mapping and its pair are two steps of the path.
        if (path.filter((each) => isNode(each)).length > levelsMax) {
          add(node, tooDeep);
          isReadable = false;
          return visit.BREAK;
        }
        if (!isMap(node)) return undefined;
        const wrong = new Set<unknown>();
        for (const [key, message] of problemsOfKeys(node)) {
          add(key, message);
          wrong.add(key);
        }
        node.items = node.items.filter(({ key }) => !wrong.has(key));
        return undefined;
      },
    });
    return { problems, isReadable };
  }

  #problemsOfFields(given: unknown): readonly PlacedProblem[] {
    const read = agentFields.safeParse(given);
    return read.success ? [] : read.error.issues.flatMap((issue) => this.#problemsOf(issue, given));
  }

  #problemsOf(issue: core.$ZodIssue, given: unknown): readonly PlacedProblem[] {
    const value = valueAt(given, issue.path);
    // Reported already, at its own place.
    if (value === refusedAlias) return [];
    if (issue.code === "invalid_union" && isRecord(value)) {
      const ofMapping = issue.errors.find((issues) => issues.some(isWithin));
      if (ofMapping !== undefined)
        return ofMapping.flatMap((each) => this.#problemsOf({ ...each, path: [...issue.path, ...each.path] }, given));
    }
    if (issue.code !== "unrecognized_keys") return [this.#problemAt(issue.path, describe(issue, value))];
    const keys = this.#keysAt(issue.path);
    return issue.keys.map((key) => this.#atNode(keys.get(key), unknownField(issue.path, key)));
  }

  readonly #problemAt = (path: Path, message: string): PlacedProblem => {
    for (let end = path.length; end >= 0; end--) {
      const node = this.#parsed.getIn(path.slice(0, end), true);
      if (isNode(node)) return this.#atNode(node, message);
    }
    return this.#atNode(undefined, message);
  };

  #keysAt(path: Path): ReadonlyMap<unknown, Scalar> {
    const node = this.#parsed.getIn(path);
    const keys = isMap(node) ? node.items.flatMap(({ key }) => (isScalar(key) ? [key] : [])) : [];
    return new Map(keys.map((key) => [key.value, key]));
  }

  /** Makes a problem at a node; at the beginning of the file if there is none. */
  #atNode(node: Node | undefined, message: string): PlacedProblem {
    return this.#at(node?.range?.[0] ?? 0, message);
  }

  #at(offset: number, message: string): PlacedProblem {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1), message };
  }
}

const refused = (problem: PlacedProblem) => ({ problems: [problem], isReadable: false });

/** Replaces a refused alias, so that its value is not refused again. */
const refusedAlias = Symbol("alias");

/** Returns whether an issue of a union is about members, so that the value was meant to have that form. */
const isWithin = ({ code, path }: core.$ZodIssue): boolean => code === "unrecognized_keys" || path.length > 0;

/** Yields the problems of a mapping's keys, each with its key. */
const problemsOfKeys = function* ({ items }: YAMLMap): Generator<readonly [Scalar, string]> {
  const seen = new Set<unknown>();
  for (const { key } of items) {
    if (!isScalar(key)) continue;
    if (forbiddenKeys.has(key.value)) yield [key, `"${String(key.value)}" can't be a field here`];
    if (seen.has(key.value)) yield [key, "this field is there twice; leave one of them out"];
    seen.add(key.value);
  }
};

const inWords = (code: string, message: string): string => {
  if (code === "MULTIPLE_DOCS")
    return "another document begins here; an agent is one: leave out the --- and what follows";
  // The parser recurses for each level, and reports a stack overflow as an error.
  if (message.includes("call stack")) return tooDeep;
  if (code === "TAG_RESOLVE_FAILED") return `${message}; write the value without a tag`;
  return `it is no YAML: ${message}`;
};

const describe = ({ path, message }: core.$ZodIssue, value: unknown): string => {
  const field = path.length === 0 ? "the file" : path.map(String).join(".");
  if (value === undefined) return `${field} is missing; it must be ${message}`;
  if (value === null && path.length === 0) return `the file is empty; it must be ${message}`;
  const shown = typeof value === "number" ? String(value) : JSON.stringify(value);
  return `${field} is ${shown.length > 60 ? `${shown.slice(0, 59)}…` : shown}; it must be ${message}`;
};

const unknownField = (path: Path, key: string): string => {
  const field = [...path, key].map(String).join(".");
  // The fields of a nested agent are those of a file.
  const within = path.slice(path.lastIndexOf("agent") + 1);
  const ours = within.length === 0 && Object.hasOwn(foreignFields, key) ? foreignFields[key] : undefined;
  if (ours !== undefined) return `there is no field ${field}; here it is ${ours}`;
  const known = knownFields[String(within[0] ?? "")];
  return `there is no field ${JSON.stringify(field)}${known === undefined ? "" : `; there are ${known.join(", ")}`}`;
};

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (within, key) => (typeof within === "object" && within !== null ? Reflect.get(within, key) : undefined),
    value,
  );

/** A path of members in a file. */
export type Path = readonly PropertyKey[];

type Problem = readonly [path: Path, message: string];

/** Returns the problems between fields of an agent or of its nested agents: contradictions, and subagents without an agent. */
const contradictionsIn = (value: unknown, hasBody: boolean, path: Path = []): readonly Problem[] => {
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
const referencesIn = ({ name, tools, subagents }: Readonly<Record<string, unknown>>): AgentFields => ({
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

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
