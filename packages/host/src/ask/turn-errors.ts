import type {
  ContextUnfit,
  Failure,
  LimitReached,
  Message,
  OutputFailure,
  OutputIssue,
  Usage,
} from "@colloquy/machine";

/** The content of a turn, however it ended. */
export interface TurnSummary {
  readonly threadId: string;
  readonly askId: string;
  /** The number of the turn; null for an ask for which no turn was opened. */
  readonly turn: number | null;
  /** The text of its last assistant message. If that message ended early, the part that had been shown. */
  readonly text: string;
  /** All messages of the turn, the ask's first. */
  readonly messages: readonly Message[];
  readonly usage: Usage;
}

/** Error of an ask that got no answer. `summary` has the content of its turn. */
export class TurnError extends Error {
  override readonly name: string = "TurnError";
  readonly summary: TurnSummary;

  constructor(summary: TurnSummary, message: string, options?: { readonly cause: unknown }) {
    const { threadId, askId, turn } = summary;
    super(`thread "${threadId}", ${turn === null ? `ask "${askId}"` : `turn ${turn}`}: ${message}`, options);
    this.summary = summary;
  }
}

/** Error of a model call that failed, and that no retry could help. */
export class TurnFailedError extends TurnError {
  override readonly name = "TurnFailedError";
  readonly failure: Failure;

  constructor(summary: TurnSummary, failure: Failure) {
    super(summary, `the model call failed (${failure.kind}): ${failure.message}`);
    this.failure = failure;
  }
}

/** Error of a turn that a limit ended. Asking again opens another turn, with limits of its own. */
export class LimitReachedError extends TurnError {
  override readonly name = "LimitReachedError";
  readonly reached: LimitReached;

  constructor(summary: TurnSummary, reached: LimitReached) {
    super(
      summary,
      `the limit "${reached.limit}" ended the turn: ${reached.reached} ${measured[reached.limit]}, ${reached.allowed} allowed`,
    );
    this.reached = reached;
  }
}

/** Steps and tool calls are counted before they are made, the others after. */
const measured: { readonly [Limit in LimitReached["limit"]]: string } = {
  steps: "needed",
  toolCalls: "needed",
  tokens: "used",
  costNano: "spent",
  deadlineMs: "passed",
};

/**
 * Error of a turn whose next prompt took more room than there is, even after everything that the policy may leave out
 * or shorten. The prompt was not sent. Asking again helps only with a shorter ask, or under another configuration.
 */
export class ContextUnfitError extends TurnError {
  override readonly name = "ContextUnfitError";
  readonly unfit: ContextUnfit;

  constructor(summary: TurnSummary, unfit: ContextUnfit) {
    super(summary, unfitInWords(unfit));
    this.unfit = unfit;
  }
}

/**
 * Error of an ask that got no valid output. `text` is the model's last answer; no other text is passed off as an
 * output. `failure.kind` says whether the output was never valid, could not be checked, was declined by the model, or
 * was cut off.
 */
export class OutputError extends TurnError {
  override readonly name = "OutputError";
  readonly failure: OutputFailure;
  /** The issues of the last answer; empty if it was not checked. */
  readonly issues: readonly OutputIssue[];
  readonly text: string;

  constructor(summary: TurnSummary, failure: OutputFailure, issues: readonly OutputIssue[], text: string) {
    super(summary, `${outputFailures[failure.kind]}: ${failure.message}`);
    this.failure = failure;
    this.issues = issues;
    this.text = text;
  }
}

const outputFailures: { readonly [Kind in OutputFailure["kind"]]: string } = {
  invalid: "the output is not valid",
  unchecked: "the output could not be checked",
  refused: "the model declined to give the output",
  cut: "the output was cut off",
};

/**
 * Error of a turn that was cancelled, or of an ask that was cancelled before it had one. `cause` is the reason of the
 * abort signal, if one cancelled it.
 */
export class TurnCancelledError extends TurnError {
  override readonly name = "TurnCancelledError";
  readonly reason: string | null;

  constructor(summary: TurnSummary, reason: string | null, options?: { readonly cause: unknown }) {
    super(summary, `cancelled${reason === null ? "" : `: ${reason}`}`, options);
    this.reason = reason;
  }
}

/**
 * Error of an ask that another ask replaced while it waited in the queue, under the overlap `latest` or `interrupt`.
 * The model saw nothing of it.
 */
export class AskSupersededError extends TurnError {
  override readonly name = "AskSupersededError";
  /** The ask that replaced it; null if the state no longer names it. */
  readonly by: string | null;

  constructor(summary: TurnSummary, by: string | null) {
    const other = by === null ? "another ask" : `ask "${by}"`;
    super(summary, `${other} took its place while it waited. Ask it again, under another askId, if it is still wanted`);
    this.by = by;
  }
}

/** Error of an ask that joined an open turn, which ended before a prompt could show it. The model saw nothing of it. */
export class AskReturnedError extends TurnError {
  override readonly name = "AskReturnedError";
  /** The turn that it joined; null if no longer known. */
  readonly joined: number | null;

  constructor(summary: TurnSummary, joined: number | null) {
    const turn = joined === null ? "a turn" : `turn ${joined}`;
    super(
      summary,
      `it joined ${turn}, which ended before its next prompt could show it. Ask it again, under another askId: it then gets a turn of its own`,
    );
    this.joined = joined;
  }
}

/** Returns whether the largest message is to blame: at least half of the fixed part, which fits without it. */
const isFilledBy = (largest: ContextUnfit["largest"], fixed: number, available: number): boolean =>
  largest !== null && 2 * largest.tokens >= fixed && fixed - largest.tokens <= available;

const unfitInWords = ({ tokens, available, budget, reserve, fixed, largest }: ContextUnfit): string => {
  const room = `${available} tokens (a budget of ${budget}, of which ${reserve} are left free for the answer)`;
  const most = largest === null ? "" : `; the largest message of the turn, ${largest.message}, takes ${largest.tokens}`;
  const wayOut =
    fixed > available
      ? `the system message, what is pinned and the turn itself take ${fixed}, and no policy leaves them out${most}. ` +
        (isFilledBy(largest, fixed, available)
          ? "Give the machine a larger budget or a policy that shortens what is too long (fitOversized, limitResults), or ask for less."
          : "Give the machine a larger budget or the thread a shorter system prompt, pin less, or ask for less; where texts of the turn are long, a policy that shortens them (fitOversized, limitResults) helps too.")
      : `the policy shows more than it must: ${fixed} would do${most}. ` +
        "Give the machine a larger budget, or a policy that leaves older turns out (tokenWindow).";
  return `the prompt takes ${tokens} tokens and there is room for ${room}: ${wayOut}`;
};
