import { realpath } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import type { Tool } from "@colloquy/host";
import type { Agent, Subagent } from "./agent.ts";
import { type AgentDocument, type PlacedProblem, readAgentDocument } from "./agent-document.ts";
import type { AgentFields, SubagentFields } from "./agent-fields.ts";
import type { AgentFileProblem } from "./agent-file-error.ts";
import { agentOf } from "./agent-of.ts";
import { fileText } from "./file-text.ts";
import { referredFile } from "./references.ts";
import { type AllowTools, loadTool, type ToolReference, toolReference } from "./tools.ts";

/** Where files may be, and whether modules of tools may be loaded. */
export interface ReaderOptions {
  readonly root: string;
  readonly allow: AllowTools;
}

/** A file that was read, and all that it refers to, checked. Nothing of it has been loaded. */
interface ReadFile {
  readonly real: string;
  readonly shown: string;
  /** The files that led to it. */
  readonly chain: readonly string[];
  readonly document: AgentDocument;
  readonly fields: AgentFields;
  readonly tools: readonly ToolReference[];
  readonly subagents: readonly { readonly options: SubagentFields; readonly file: ReadFile }[];
  /** How many levels of subagents are below it. */
  readonly height: number;
}

/** Where a file is referred to: a problem with the file as a whole stands there. */
interface Referrer {
  readonly chain: readonly string[];
  /** Their real paths: a cycle is one of them met again, and no file that two of them name. */
  readonly stack: readonly string[];
  readonly problem: (message: string) => void;
}

/** Reads the file of an agent and those of its subagents, each of them once, and then loads their tools. */
export class AgentReader {
  readonly problems: AgentFileProblem[] = [];
  readonly #options: ReaderOptions;
  /** Null for a file whose own text is wrong, which is said once. */
  readonly #read = new Map<string, ReadFile | null>();
  readonly #made = new Map<string, Agent>();

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  /** The agent in a file; null where there are problems. No tool is loaded before all files are without. */
  async agentIn(path: string): Promise<Agent | null> {
    const problem = (message: string): void => this.#add(path, [], { line: null, column: null, message });
    const real = await realpath(path).catch(() => path);
    const read = await this.#fileAt(real, path, { chain: [], stack: [], problem });
    const made = read === null || this.problems.length > 0 ? null : await this.#agentOf(read);
    return this.problems.length > 0 ? null : made;
  }

  async #fileAt(real: string, shown: string, by: Referrer): Promise<ReadFile | null> {
    const known = this.#read.get(real);
    const chain = [...by.chain, shown];
    if (by.stack.includes(real)) {
      by.problem(`it leads back to itself: ${chain.join(" → ")}; an agent can't be its own subagent`);
      return null;
    }
    if (by.stack.length + (known?.height ?? 0) >= levelsMax) {
      by.problem(`there are more than ${levelsMax} levels of agents: ${chain.join(" → ")}`);
      return null;
    }
    return known === undefined ? this.#readFile(real, shown, by) : known;
  }

  async #readFile(real: string, shown: string, by: Referrer): Promise<ReadFile | null> {
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
    const place = { real, shown, chain: by.chain, document, fields };
    const tools = await this.#toolsOf(place);
    const subagents = await this.#subagentsOf(place, by);
    const height = Math.max(0, ...subagents.map(({ file }) => file.height + 1));
    const read: ReadFile = { ...place, tools, subagents, height };
    this.#read.set(real, read);
    return read;
  }

  async #toolsOf(file: Place): Promise<readonly ToolReference[]> {
    const found: ToolReference[] = [];
    for (const [index, reference] of (file.fields.tools ?? []).entries()) {
      const problem = (thrown: unknown): void =>
        this.#addAt(file, ["tools", index], `tool ${JSON.stringify(reference)}: ${messageOf(thrown)}`);
      const tool = await toolReference(reference, file.real, this.#options).catch(problem);
      if (tool !== undefined) found.push(tool);
    }
    return found;
  }

  async #subagentsOf(file: Place, by: Referrer): Promise<ReadFile["subagents"]> {
    const found: ReadFile["subagents"][number][] = [];
    for (const [index, given] of (file.fields.subagents ?? []).entries()) {
      const options = typeof given === "string" ? { file: given } : given;
      const problem = (message: string): void =>
        this.#addAt(file, ["subagents", index], `subagent ${JSON.stringify(options.file)}: ${message}`);
      const setting = { root: this.#options.root, extensions: agentExtensions };
      const real = await referredFile(options.file, file.real, setting).catch((thrown: unknown) =>
        problem(messageOf(thrown)),
      );
      if (real === undefined) continue;
      const referrer = { chain: [...file.chain, file.shown], stack: [...by.stack, file.real], problem };
      const read = await this.#fileAt(real, join(dirname(file.shown), options.file), referrer);
      if (read !== null) found.push({ options, file: read });
    }
    return found;
  }

  async #agentOf(file: ReadFile): Promise<Agent> {
    const known = this.#made.get(file.real);
    if (known !== undefined) return known;
    const names = new Set<string>();
    const tools: Tool[] = [];
    for (const [index, reference] of file.tools.entries()) {
      const problem = (thrown: unknown): void =>
        this.#addAt(file, ["tools", index], `tool ${JSON.stringify(reference.reference)}: ${messageOf(thrown)}`);
      const tool = await loadTool(reference).catch(problem);
      if (tool === undefined) continue;
      this.#takeName(file, ["tools", index], names, tool.declaration.name);
      tools.push(tool);
    }
    const subagents: Subagent[] = [];
    for (const [index, { options, file: below }] of file.subagents.entries()) {
      const agent = await this.#agentOf(below);
      const name = options.name ?? agent.name;
      this.#takeName(file, ["subagents", index], names, name);
      const description = options.description ?? agent.description ?? `Asks the agent ${name}.`;
      subagents.push(Object.freeze({ name, description, memory: options.memory ?? "parent", agent }));
    }
    const made = agentOf(file.real, file.fields, tools, subagents);
    this.#made.set(file.real, made);
    return made;
  }

  #takeName(file: Place, path: readonly PropertyKey[], names: Set<string>, name: string): void {
    if (names.has(name))
      this.#addAt(file, path, `there are two tools called "${name}"; a subagent gets another by { file, name }`);
    names.add(name);
  }

  #addAt(file: Place, path: readonly PropertyKey[], message: string): void {
    this.#add(file.shown, file.chain, file.document.problemAt(path, message));
  }

  #add(
    file: string,
    chain: readonly string[],
    place: PlacedProblem | { readonly line: null; readonly column: null; readonly message: string },
  ): void {
    this.problems.push(Object.freeze({ file, ...place, chain }));
  }
}

type Place = Pick<ReadFile, "real" | "shown" | "chain" | "document" | "fields">;

const agentExtensions = [".yaml", ".yml", ".md"];

/** An agent, its subagents, theirs, and so on. */
const levelsMax = 8;

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
