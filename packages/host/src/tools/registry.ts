import { canonicalText, ConfigurationError, type Json, type ToolDeclaration } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import { checkTools, type Tool } from "./tool.ts";

/** The tools of a host by name, each with the slots for its calls. */
export type ToolRegistry = ReadonlyMap<string, RegisteredTool>;

export interface RegisteredTool extends Tool {
  /** Null if all calls may run at once. */
  readonly slots: Slots | null;
}

/**
 * Makes the registry of a host's tools.
 *
 * @throws ConfigurationError when a tool that the machine declares has no function, when a tool with a function is not
 * declared, or when the two differ.
 */
export const toolRegistry = (tools: readonly Tool[], declared: readonly ToolDeclaration[]): ToolRegistry => {
  const registry = new Map<string, RegisteredTool>();
  checkTools(tools);
  for (const tool of tools) {
    const { name, concurrency } = tool.declaration;
    if (registry.has(name))
      throw new ConfigurationError(`the host is given two tools of the name "${name}"; names must differ`);
    registry.set(name, {
      ...tool,
      declaration: frozenCopy(tool.declaration),
      slots: concurrency === undefined ? null : new Slots(concurrency),
    });
  }
  for (const declaration of declared) {
    const { name } = declaration;
    const registered = registry.get(name);
    if (registered === undefined) {
      throw new ConfigurationError(
        `the machine declares the tool "${name}", and the host has no function for it; give createHost one`,
      );
    }
    const other = memberThatDiffers(declaration, registered.declaration);
    if (other === undefined) continue;
    throw new ConfigurationError(
      `the machine declares ${other} of the tool "${name}" as ${wordsOf(declaration[other])}, and the host has ` +
        `${wordsOf(registered.declaration[other])}; declare declarationsOf(tools)`,
    );
  }
  const names = new Set(declared.map(({ name }) => name));
  const undeclared = tools.find(({ declaration }) => !names.has(declaration.name));
  if (undeclared === undefined) return registry;
  throw new ConfigurationError(
    `the host has the tool "${undeclared.declaration.name}", and the machine does not declare it; declare declarationsOf(tools)`,
  );
};

const memberThatDiffers = (left: ToolDeclaration, right: ToolDeclaration): keyof ToolDeclaration | undefined =>
  members.find((member) => canonicalText(left[member] ?? null) !== canonicalText(right[member] ?? null));

const members = ["version", "approval", "recovery", "timeoutMs", "concurrency", "description", "parameters"] as const;

const wordsOf = (member: Json | undefined): string => (member === undefined ? "(none)" : JSON.stringify(member));

/** A semaphore: a number of slots, and a queue for them, first come first served. A caller may leave the queue. */
class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(slots: number) {
    this.#free = slots;
  }

  /** Calls back when there is a slot: at once, or when one is given back. */
  take(callback: () => void): void {
    if (this.#free === 0) {
      this.#waiting.push(callback);
      return;
    }
    this.#free--;
    callback();
  }

  /** Gives back a slot, or leaves the queue. The next caller waits a microtask: it may be about to leave too. */
  giveBack(callback: () => void): void {
    const index = this.#waiting.indexOf(callback);
    if (index >= 0) {
      this.#waiting.splice(index, 1);
      return;
    }
    const following = this.#waiting.shift();
    if (following === undefined) this.#free++;
    else void Promise.resolve().then(following);
  }
}
