import type { Content, ContentPart } from "@colloquy/machine";
import { shortened } from "../text/printable.ts";
import type { ShellPort } from "./options.ts";

/**
 * Runs typed lines that begin with `!` in a shell, each only after a second Enter. The next question takes along what
 * they printed.
 */
export class ShellLines {
  readonly #port: ShellPort;
  readonly #say: (text: string) => void;
  #outputs: readonly ContentPart[] = [];
  /** The question that last took outputs along. */
  #attached: { readonly text: string; readonly outputs: readonly ContentPart[] } | null = null;
  readonly #running = new Set<AbortController>();

  /** @param say shows a text below the conversation */
  constructor(port: ShellPort, say: (text: string) => void) {
    this.#port = port;
    this.#say = say;
  }

  get isRunning(): boolean {
    return this.#running.size > 0;
  }

  /** Says what a second Enter does. */
  ask(line: string): void {
    this.#say(`Enter again runs it in ${this.#port.folder}: ${shortened(commandIn(line))}`);
  }

  /** Runs a line, and shows the output. Rejects if nothing may run. */
  async run(line: string): Promise<void> {
    const command = commandIn(line);
    const stopping = new AbortController();
    this.#running.add(stopping);
    try {
      const { output, ending } = await this.#port.run(command, stopping.signal);
      this.#say(`${output.trimEnd()}\n(${ending}; the next question takes this along)`.trimStart());
      const text = `# Attached: the output of \`${command}\` (${ending})\n\n${output}`;
      this.#outputs = [...this.#outputs, { type: "text", text }];
    } finally {
      this.#running.delete(stopping);
    }
  }

  /** Stops the commands that run. */
  stop(): void {
    for (const stopping of this.#running) stopping.abort();
  }

  /** Adds the outputs so far to the content of a typed question. */
  attach(text: string, content: Content): Content {
    if (this.#outputs.length === 0) return content;
    const parts: readonly ContentPart[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
    const all = [...parts, ...this.#outputs];
    this.#attached = { text, outputs: this.#outputs };
    this.#outputs = [];
    return all;
  }

  /** Keeps the outputs for the next question, where this one took them along and was not asked. */
  detach(text: string): void {
    if (this.#attached?.text !== text) return;
    this.#outputs = [...this.#attached.outputs, ...this.#outputs];
    this.#attached = null;
  }
}

/** Returns whether a typed text is a command for a shell. */
export const isShellLine = (text: string): boolean => /^!\s*\S/.test(text);

const commandIn = (line: string): string => line.slice(1).trim();
