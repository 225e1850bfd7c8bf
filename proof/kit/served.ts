import { Child } from "./child.ts";

interface ServedOptions {
  readonly args?: readonly string[];
  /** Variables beside those of this process. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The file for its standard error. Default: it is printed. */
  readonly log?: string;
}

/** A server that is killed and started again. It prints its URL when it listens. */
export class Served {
  readonly #program: string;
  readonly #options: ServedOptions;
  #child: Child | null = null;
  #url: string | null = null;

  constructor(program: string, options: ServedOptions) {
    this.#program = program;
    this.#options = options;
  }

  /** Null while it is down. */
  get url(): string | null {
    return this.#url;
  }

  /** Starts it. Resolves with its URL when it listens. */
  async start(): Promise<string> {
    const { args = [], variables = {}, log = null } = this.#options;
    const env = { ...process.env, ...variables };
    this.#child = new Child([process.execPath, this.#program, ...args], { env, log });
    const [url] = await this.#child.said(/^http.*$/);
    return (this.#url = url);
  }

  async kill(signal?: NodeJS.Signals): Promise<void> {
    this.#url = null;
    await this.#child?.kill(signal);
  }
}
