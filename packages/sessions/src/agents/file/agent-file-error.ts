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
