/** Something that is wrong with the file of an agent, and what to do about it. */
export interface AgentFileProblem {
  readonly file: string;
  /** From 1; null where it is about the file as a whole. */
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
  /** The files that led to this one as a subagent, the first of them the one that was asked for. */
  readonly chain: readonly string[];
}

/** An agent can't be made from its file. The message has a line for each of the first 50 problems: `file:line:column: what is wrong`. */
export class AgentFileError extends Error {
  override readonly name = "AgentFileError";
  readonly problems: readonly AgentFileProblem[];

  constructor(problems: readonly AgentFileProblem[], options?: ErrorOptions) {
    const more = problems.length - linesMax;
    super([...problems.slice(0, linesMax).map(lineOf), ...(more > 0 ? [`and ${more} more`] : [])].join("\n"), options);
    this.problems = problems;
  }
}

/** A file may be wrong in every line. */
const linesMax = 50;

const lineOf = ({ file, line, column, message, chain }: AgentFileProblem): string => {
  const place = line === null || column === null ? file : `${file}:${line}:${column}`;
  const said = `${place}: ${message}${chain.length === 0 ? "" : ` (a subagent: ${[...chain, file].join(" → ")})`}`;
  // Keys of a file, and what a module throws, must not pass for another problem.
  const lines = said.split(/[\r\n\u2028\u2029]+/);
  return lines.length === 1 ? said : lines.map((each) => each.trim()).join(" ");
};
