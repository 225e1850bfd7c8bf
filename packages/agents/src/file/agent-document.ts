import {
  type Document,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  visit,
  type YAMLMap,
} from "yaml";
import type { core } from "zod";
import { agentFields, type AgentFields, aliases, foreignFields, knownFields } from "./agent-fields.ts";

/** A path of members in a file. */
type Path = readonly PropertyKey[];

/** What is wrong, and where: lines and columns from 1. */
export interface PlacedProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** What a file says, and where it says it. */
export interface AgentDocument {
  /** Null where there are problems. */
  readonly fields: AgentFields | null;
  readonly problems: readonly PlacedProblem[];
  /** A problem with what stands at a path. */
  readonly problemAt: (path: Path, message: string) => PlacedProblem;
}

/** Reads the text of a YAML file, or of Markdown with front matter, whose body is the instructions. Total. */
export const readAgentDocument = (text: string, isMarkdown: boolean): AgentDocument => {
  const matter = isMarkdown ? frontMatter.exec(text) : null;
  if (isMarkdown && matter === null) return unread([{ line: 1, column: 1, message: noFrontMatter }]);
  const yaml = matter?.[1] ?? text;
  // Line ends as YAML has them.
  const body = text
    .slice(matter?.[0].length ?? text.length)
    .trim()
    .replaceAll("\r\n", "\n");
  const lines = new LineCounter();
  try {
    const parsed = parseDocument(yaml, { ...strictly, lineCounter: lines });
    return new Reading(parsed, lines).read(body === "" ? null : body);
  } catch (thrown) {
    if (thrown instanceof RangeError) return unread([{ line: 1, column: 1, message: tooDeep }]);
    throw thrown;
  }
};

const strictly = {
  version: "1.2",
  schema: "core",
  strict: true,
  // Its own check compares each key with each other, which takes minutes for a hostile file.
  uniqueKeys: false,
  stringKeys: true,
  merge: false,
  resolveKnownTags: false,
  prettyErrors: false,
  // Problems are given, not printed.
  logLevel: "error",
} as const;

/** Begins with a line of three dashes, and ends with one. */
const frontMatter = /^(---[ \t]*\r?\n(?:[^]*?\r?\n)??)---[ \t]*(?:\r?\n|$)/;

const noFrontMatter =
  "Markdown begins with no front matter; begin with a line ---, fields such as name: helper, and a line ---";

const levelsMax = 32;
const tooDeep = `it is nested more deeply than ${levelsMax} levels; an agent takes fewer`;

const unread = (problems: readonly PlacedProblem[]): AgentDocument => ({
  fields: null,
  problems,
  problemAt: (_, message) => ({ line: 1, column: 1, message }),
});

/** Members by which objects have been made other than they look. */
const forbiddenKeys: ReadonlySet<unknown> = new Set(["__proto__", "constructor", "prototype", "<<"]);

/** One document on its way to fields. */
class Reading {
  readonly #parsed: Document.Parsed;
  readonly #lines: LineCounter;

  constructor(parsed: Document.Parsed, lines: LineCounter) {
    this.#parsed = parsed;
    this.#lines = lines;
  }

  read(body: string | null): AgentDocument {
    const problems = this.#problemsOfYaml();
    if (problems.length > 0) return { ...unread(problems), problemAt: this.#problemAt };
    const value: unknown = this.#parsed.toJS({ maxAliasCount: 0 });
    const given = body === null || !isRecord(value) ? value : { instructions: body, ...value };
    const found = [...this.#problemsOfFields(given), ...this.#twice(value, body)];
    const fields = found.length === 0 ? agentFields.parse(given) : null;
    return { fields, problems: found, problemAt: this.#problemAt };
  }

  #problemsOfYaml(): readonly PlacedProblem[] {
    const { errors, warnings, directives } = this.#parsed;
    const first = errors[0] ?? warnings[0];
    if (first !== undefined) return [this.#at(first.pos[0], inWords(first.code, first.message))];
    if (directives.yaml.version !== "1.2")
      return [this.#at(0, `%YAML is ${directives.yaml.version}; it must be 1.2, which also holds without it`)];
    const problems: PlacedProblem[] = [];
    const add = (node: Node, message: string): void => void problems.push(this.#at(node.range?.[0] ?? 0, message));
    visit(this.#parsed, {
      Alias: (_, node) => add(node, `*${node.source} is an alias; write out what it stands for`),
      Collection: (_, node, path) => {
        if (isMap(node)) for (const [key, message] of problemsOfKeys(node)) add(key, message);
        // A mapping and its pair are two steps.
        if (path.filter((each) => isNode(each)).length <= levelsMax) return undefined;
        add(node, tooDeep);
        return visit.BREAK;
      },
    });
    return problems;
  }

  #problemsOfFields(given: unknown): readonly PlacedProblem[] {
    const read = agentFields.safeParse(given);
    return read.success ? [] : read.error.issues.flatMap((issue) => this.#problemsOf(issue, given));
  }

  #problemsOf(issue: core.$ZodIssue, given: unknown): readonly PlacedProblem[] {
    if (issue.code !== "unrecognized_keys")
      return [this.#problemAt(issue.path, describe(issue, valueAt(given, issue.path)))];
    const offsets = this.#offsetsOfKeys(issue.path);
    return issue.keys.map((key) => this.#at(offsets.get(key) ?? 0, unknownField(issue.path, key)));
  }

  /** What is said under both of its names, or in both of its places. */
  #twice(value: unknown, body: string | null): readonly PlacedProblem[] {
    if (!isRecord(value)) return [];
    const both = aliases.filter(([alias, group, field]) => {
      const there = value[group];
      return value[alias] !== undefined && isRecord(there) && there[field] !== undefined;
    });
    const doubled = both.map(([alias, group, field]) =>
      this.#problemAt(
        [alias],
        `${alias} is another word for ${group}.${field}, which is there too; leave one of them out`,
      ),
    );
    return body === null || value["instructions"] === undefined
      ? doubled
      : [
          ...doubled,
          this.#problemAt(
            ["instructions"],
            "instructions is there, and so is a body, which is the same; leave one of them out",
          ),
        ];
  }

  readonly #problemAt = (path: Path, message: string): PlacedProblem => {
    for (let end = path.length; end > 0; end--) {
      const node = this.#parsed.getIn(path.slice(0, end), true);
      if (isNode(node)) return this.#at(node.range?.[0] ?? 0, message);
    }
    return this.#at(this.#parsed.contents?.range[0] ?? 0, message);
  };

  #offsetsOfKeys(path: Path): ReadonlyMap<unknown, number> {
    const node = path.length === 0 ? this.#parsed.contents : this.#parsed.getIn(path, true);
    const keys = isMap(node) ? node.items.flatMap(({ key }) => (isScalar(key) ? [key] : [])) : [];
    return new Map(keys.map((key) => [key.value, key.range?.[0] ?? 0]));
  }

  #at(offset: number, message: string): PlacedProblem {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1), message };
  }
}

/** What is wrong with the keys of a mapping, and with which. */
const problemsOfKeys = function* ({ items }: YAMLMap): Generator<readonly [Scalar, string]> {
  const seen = new Set<unknown>();
  for (const { key } of items) {
    if (!isScalar(key)) continue;
    if (forbiddenKeys.has(key.value)) yield [key, `"${String(key.value)}" can't be a field here`];
    if (seen.has(key.value)) yield [key, "this field is there twice; leave one of them out"];
    seen.add(key.value);
  }
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const inWords = (code: string, message: string): string => {
  if (code === "MULTIPLE_DOCS")
    return "another document begins here; an agent is one: leave out the --- and what follows";
  // The parser calls itself for each level, and gives what that comes to as an error.
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
  const ours = path.length === 0 && Object.hasOwn(foreignFields, key) ? foreignFields[key] : undefined;
  if (ours !== undefined) return `there is no field ${field}; here it is ${ours}`;
  const known = knownFields[path.map(String).join(".")];
  return `there is no field ${JSON.stringify(field)}${known === undefined ? "" : `; there are ${known.join(", ")}`}`;
};

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (within, key) => (typeof within === "object" && within !== null ? Reflect.get(within, key) : undefined),
    value,
  );
