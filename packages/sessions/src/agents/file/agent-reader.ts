import { realpath, open } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import type { Tool } from "@colloquy/host";
import {
  type Agent,
  type Subagent,
  type FieldsSchema,
  type AgentFields,
  nameFromFile,
  nameText,
  type SubagentFields,
  type SignatureFields,
} from "./agent.ts";
import { type AgentDocument, type PlacedProblem, readAgentDocument, type Path } from "./agent-document.ts";
import { referredFile, type AllowTools, loadTool, type ToolReference, toolReference } from "./tools.ts";
import { frozenCopy } from "@colloquy/machine/hosting";
import { readSignatureText } from "./signature-text.ts";
import { constants } from "node:fs";

export interface AgentFileProblem {
  readonly file: string;
  /** From 1; null if the problem is about the whole file. */
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
  /** The files that led to this one as a subagent, beginning with the requested file. */
  readonly chain: readonly string[];
}

/**
 * The error for an agent that cannot be made from its file. The message has a line for each of the first 50 problems:
 * `file:line:column: problem`.
 */
export class AgentFileError extends Error {
  override readonly name = "AgentFileError";
  readonly problems: readonly AgentFileProblem[];

  constructor(problems: readonly AgentFileProblem[], options?: ErrorOptions) {
    const more = problems.length - linesMax;
    super([...problems.slice(0, linesMax).map(lineOf), ...(more > 0 ? [`and ${more} more`] : [])].join("\n"), options);
    this.problems = problems;
  }
}

/** Every line of a file may have a problem. */
const linesMax = 50;

const lineOf = ({ file, line, column, message, chain }: AgentFileProblem): string => {
  const place = line === null || column === null ? file : `${file}:${line}:${column}`;
  const said = `${place}: ${message}${chain.length === 0 ? "" : ` (a subagent: ${[...chain, file].join(" → ")})`}`;
  // Joined to one line, because a key of the file or an error of a module must not look like another problem.
  const lines = said.split(/[\r\n\u2028\u2029]+/);
  return lines.length === 1 ? said : lines.map((each) => each.trim()).join(" ");
};

/** The allowed folder of files, and whether tool modules may be loaded. */
export interface ReaderOptions {
  readonly root: string;
  readonly allow: AllowTools;
}

/** An agent that was read from a file, with all its references, checked. No module has been loaded. */
interface ReadAgent {
  readonly real: string;
  readonly shown: string;
  /** The files that led to it. */
  readonly chain: readonly string[];
  readonly document: AgentDocument;
  /** Its path in that document, which may contain nested agents. */
  readonly path: Path;
  readonly name: string;
  readonly fields: AgentFields;
  readonly tools: readonly ToolReference[];
  readonly subagents: readonly {
    readonly index: number;
    readonly options: SubagentFields;
    readonly agent: ReadAgent;
  }[];
  /** The number of subagent levels below it. */
  readonly height: number;
}

/** The place of a reference to a file; a problem with the whole file is reported there. */
interface Referrer {
  readonly chain: readonly string[];
  /** Their real paths. Only a file that is on its own stack is a cycle; two agents may name the same file. */
  readonly stack: readonly string[];
  readonly problem: (message: string) => void;
}

/** Reads the file of an agent and those of its subagents, each once, and then loads their tools. */
export class AgentReader {
  readonly problems: AgentFileProblem[] = [];
  readonly #options: ReaderOptions;
  /** Null for a file without fields, whose problems are reported once. */
  readonly #read = new Map<string, ReadAgent | null>();
  readonly #made = new Map<ReadAgent, Agent>();

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  /** Returns the agent in a file; null if there are problems. Tools are loaded only if no file has a problem. */
  async agentIn(path: string): Promise<Agent | null> {
    const problem = (message: string): void => this.#add(path, [], { line: null, column: null, message });
    const real = await realpath(path).catch(() => path);
    const read = await this.#fileAt(real, path, { chain: [], stack: [], problem });
    const made = read === null || this.problems.length > 0 ? null : await this.#agentOf(read);
    return this.problems.length > 0 ? null : made;
  }

  async #fileAt(real: string, shown: string, by: Referrer): Promise<ReadAgent | null> {
    const known = this.#read.get(real);
    const chain = [...by.chain, shown];
    if (by.stack.includes(real)) {
      by.problem(`it leads back to itself: ${chain.join(" → ")}; an agent can't be its own subagent`);
      return null;
    }
    if (by.stack.length + (known?.height ?? 0) >= levelsMax) {
      by.problem(tooManyLevels(chain));
      return null;
    }
    return known === undefined ? this.#readFile(real, shown, by) : known;
  }

  async #readFile(real: string, shown: string, by: Referrer): Promise<ReadAgent | null> {
    if (!agentExtensions.includes(extname(real))) {
      by.problem(`it ends in "${extname(real)}"; the file of an agent ends in one of ${agentExtensions.join(", ")}`);
      return null;
    }
    const text = await fileText(real).catch((thrown: unknown) => by.problem(messageOf(thrown)));
    if (text === undefined) return null;
    const document = readAgentDocument(text, extname(real) === ".md");
    for (const problem of document.problems) this.#add(shown, by.chain, problem);
    if (document.fields === null) {
      this.#read.set(real, null);
      return null;
    }
    const { fields } = document;
    const place = { real, shown, chain: by.chain, document, path: [], fields };
    const name = fields.name ?? nameFromFile(basename(real));
    if (name === null) {
      const message = `name is missing, and the file is called ${JSON.stringify(basename(real))}, which gives none; it must be ${nameText}`;
      this.#addAt(place, [], message);
    }
    const read = await this.#withReferences({ ...place, name: name ?? "" }, by.stack);
    this.#read.set(real, read);
    return read;
  }

  async #withReferences(place: Place, stack: readonly string[]): Promise<ReadAgent> {
    const tools = await this.#toolsOf(place);
    const subagents = await this.#subagentsOf(place, stack);
    return { ...place, tools, subagents, height: Math.max(0, ...subagents.map(({ agent }) => agent.height + 1)) };
  }

  async #toolsOf(place: Place): Promise<readonly ToolReference[]> {
    const found: ToolReference[] = [];
    for (const [index, reference] of (place.fields.tools ?? []).entries()) {
      if (reference === "") continue;
      const problem = (thrown: unknown): void =>
        this.#addAt(place, ["tools", index], `tool ${JSON.stringify(reference)}: ${messageOf(thrown)}`);
      const tool = await toolReference(reference, place.real, this.#options).catch(problem);
      if (tool !== undefined) found.push(tool);
    }
    return found;
  }

  async #subagentsOf(place: Place, stack: readonly string[]): Promise<ReadAgent["subagents"]> {
    const found: ReadAgent["subagents"][number][] = [];
    const names = new Set<string>();
    for (const [index, given] of (place.fields.subagents ?? []).entries()) {
      const options = typeof given === "string" ? { file: given } : given;
      const agent = await this.#subagentOf(place, index, options, [...stack, place.real]);
      if (agent === null) continue;
      this.#takeName(place, ["subagents", index], names, options.name ?? agent.name);
      found.push({ index, options, agent });
    }
    return found;
  }

  async #subagentOf(
    place: Place,
    index: number,
    options: SubagentFields,
    stack: readonly string[],
  ): Promise<ReadAgent | null> {
    const { agent = options.file ?? "", name = "" } = options;
    if (agent === "") return null;
    const problem = (message: string): void =>
      this.#addAt(
        place,
        ["subagents", index],
        `subagent ${JSON.stringify(typeof agent === "string" ? agent : name)}: ${message}`,
      );
    if (typeof agent !== "string") {
      if (stack.length < levelsMax) {
        const path = [...place.path, "subagents", index, "agent"];
        return this.#withReferences({ ...place, path, name: agent.name ?? name, fields: agent }, stack);
      }
      problem(tooManyLevels([...place.chain, place.shown]));
      return null;
    }
    const setting = { root: this.#options.root, extensions: agentExtensions };
    const real = await referredFile(agent, place.real, setting).catch((thrown: unknown) => problem(messageOf(thrown)));
    if (real === undefined) return null;
    const referrer = { chain: [...place.chain, place.shown], stack, problem };
    return this.#fileAt(real, join(dirname(place.shown), agent), referrer);
  }

  async #agentOf(read: ReadAgent): Promise<Agent> {
    const known = this.#made.get(read);
    if (known !== undefined) return known;
    const names = new Set<string>();
    const tools: Tool[] = [];
    for (const [index, reference] of read.tools.entries()) {
      const problem = (thrown: unknown): void =>
        this.#addAt(read, ["tools", index], `tool ${JSON.stringify(reference.reference)}: ${messageOf(thrown)}`);
      const tool = await loadTool(reference).catch(problem);
      if (tool === undefined) continue;
      this.#takeName(read, ["tools", index], names, tool.declaration.name);
      tools.push(tool);
    }
    const subagents: Subagent[] = [];
    for (const { index, options, agent: below } of read.subagents) {
      const agent = await this.#agentOf(below);
      const name = options.name ?? agent.name;
      this.#takeName(read, ["subagents", index], names, name);
      const description = options.description ?? agent.description ?? `Asks the agent ${name}.`;
      subagents.push(Object.freeze({ name, description, memory: options.memory ?? "parent", agent }));
    }
    const made = agentOf({ file: read.real, name: read.name }, read.fields, tools, subagents);
    this.#made.set(read, made);
    return made;
  }

  #takeName(file: Place, path: Path, names: Set<string>, name: string): void {
    if (names.has(name))
      this.#addAt(file, path, `there are two tools called "${name}"; give a subagent another by name`);
    names.add(name);
  }

  #addAt(file: Omit<Place, "name">, path: Path, message: string): void {
    this.#add(file.shown, file.chain, file.document.problemAt([...file.path, ...path], message));
  }

  #add(
    file: string,
    chain: readonly string[],
    place: PlacedProblem | { readonly line: null; readonly column: null; readonly message: string },
  ): void {
    this.problems.push(Object.freeze({ file, ...place, chain }));
  }
}

type Place = Omit<ReadAgent, "tools" | "subagents" | "height">;

const agentExtensions = [".yaml", ".yml", ".md"];

/** The largest number of levels: an agent, its subagents, their subagents, and so on. */
const levelsMax = 8;

const tooManyLevels = (chain: readonly string[]): string =>
  `there are more than ${levelsMax} levels of agents: ${chain.join(" → ")}`;

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** Makes the agent of these fields, with defaults for missing ones. */
const agentOf = (
  { file, name }: Pick<Agent, "file" | "name">,
  fields: AgentFields,
  tools: readonly Tool[],
  subagents: readonly Subagent[],
): Agent => {
  const { description = null, model = null, modelParameters = {}, instructions = null } = fields;
  const signature = typeof fields.signature === "string" ? readSignatureText(fields.signature) : fields.signature;
  const { memory = {}, limits = {}, compression, max_context_turns, max_iters } = fields;
  return Object.freeze({
    file,
    name,
    description,
    model,
    modelParameters: frozenCopy(modelParameters),
    instructions,
    signature:
      signature === undefined
        ? null
        : frozenCopy({ inputs: objectOf(signature.inputs), outputs: objectOf(signature.outputs) }),
    tools: Object.freeze(tools),
    subagents: Object.freeze(subagents),
    memory: Object.freeze({
      maxTurns: memory.maxTurns ?? max_context_turns ?? 20,
      compression: memory.compression ?? compression ?? "concise",
    }),
    limits: Object.freeze({ steps: limits.steps ?? max_iters ?? 20 }),
  });
};

const objectOf = (fields: SignatureFields): FieldsSchema => ({
  type: "object",
  properties: Object.fromEntries(
    Object.entries(fields).map(([name, type]) => [name, typeof type === "string" ? { type } : type]),
  ),
  required: Object.keys(fields),
  additionalProperties: false,
});

/** The largest size of an agent's file, in bytes. */
const bytesMax = 262_144;

/**
 * Reads a file as UTF-8 text, without a byte order mark. Pipes and devices are refused, because reading one may never
 * end.
 *
 * @throws Error with a description for a path that does not exist, is not a file, is too large, or is not text.
 */
const fileText = async (path: string): Promise<string> => {
  // Without the flag, opening a pipe blocks until another process writes to it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((thrown: unknown) => {
    throw new Error(isMissing(thrown) ? "there is no such file" : `it can't be opened: ${String(thrown)}`);
  });
  try {
    const stats = await file.stat();
    if (stats.isDirectory()) throw new Error("it is a folder; name the file of an agent");
    if (!stats.isFile()) throw new Error("it is a pipe or a device; name the file of an agent");
    // One byte more than allowed, because the file may have grown since.
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(stats.size, bytesMax) + 1), 0);
    if (bytesRead > bytesMax) throw new Error(`it is larger than ${bytesMax} bytes, more than an agent takes`);
    return decoded(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
};

const decoded = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (thrown) {
    throw new Error("it is not text in UTF-8; save it in that encoding", { cause: thrown });
  }
};

const isMissing = (thrown: unknown): boolean => thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT";
