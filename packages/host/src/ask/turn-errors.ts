import type {
  ContextUnfit,
  Failure,
  LimitReached,
  Message,
  OutputFailure,
  OutputIssue,
  Usage,
} from "@colloquy/machine";

/** What there is of a turn, however it ended. */
export interface TurnSummary {
  readonly threadId: string;
  readonly askId: string;
  /** The number of the turn; null for an ask for which no turn was opened. */
  readonly turn: number | null;
  /** The text of its last assistant message; of a message that ended early, the part that had been shown. */
  readonly text: string;
  /** All messages of the turn, the ask's first. */
  readonly messages: readonly Message[];
  readonly usage: Usage;
}

/** An ask got no answer. `summary` has what there is of its turn. */
export class TurnError extends Error {
  override readonly name: string = "TurnError";
  readonly summary: TurnSummary;

  constructor(summary: TurnSummary, message: string, options?: { readonly cause: unknown }) {
    const { threadId, askId, turn } = summary;
    super(`thread "${threadId}", ${turn === null ? `ask "${askId}"` : `turn ${turn}`}: ${message}`, options);
    this.summary = summary;
  }
}

/** The model call failed, and no retry helped or was allowed. */
export class TurnFailedError extends TurnError {
  override readonly name = "TurnFailedError";
  readonly failure: Failure;

  constructor(summary: TurnSummary, failure: Failure) {
    super(summary, `the model call failed (${failure.kind}): ${failure.message}`);
    this.failure = failure;
  }
}

/** A limit ended the turn. Asking again opens another, with limits of its own. */
export class LimitReachedError extends TurnError {
  override readonly name = "LimitReachedError";
  readonly reached: LimitReached;

  constructor(summary: TurnSummary, reached: LimitReached) {
    super(summary, `the limit ${reached.limit} of ${reached.allowed} was reached (${reached.reached})`);
    this.reached = reached;
  }
}

/**
 * The prompt of the turn's next model call took more room than there is, after all that the policy may leave out or
 * shorten; so it was not sent. Asking again helps only with less to say, or under another configuration.
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
 * There is no output that fits what was asked for. Nothing else is passed off as one: `text` is what the model said last.
 * `failure.kind` says whether it was never valid, could not be checked, was declined by the model or was cut off.
 */
export class OutputError extends TurnError {
  override readonly name = "OutputError";
  readonly failure: OutputFailure;
  /** What the last answer got wrong; empty where it was not checked. */
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

/** The turn was cancelled, or the ask before it had one. `cause` is the reason of the abort signal, where one did it. */
export class TurnCancelledError extends TurnError {
  override readonly name = "TurnCancelledError";
  readonly reason: string | null;

  constructor(summary: TurnSummary, reason: string | null, options?: { readonly cause: unknown }) {
    super(summary, `cancelled${reason === null ? "" : `: ${reason}`}`, options);
    this.reason = reason;
  }
}

/** Another ask replaced this one while it waited in the queue, under the overlap `latest` or `interrupt`. The model saw nothing of it. */
export class AskSupersededError extends TurnError {
  override readonly name = "AskSupersededError";
  /** The ask that replaced it; null where the state does not name it any more. */
  readonly by: string | null;

  constructor(summary: TurnSummary, by: string | null) {
    const other = by === null ? "another ask" : `ask "${by}"`;
    super(summary, `${other} took its place while it waited. Ask it again, under another askId, if it is still wanted`);
    this.by = by;
  }
}

/** The ask joined an open turn, which ended before a prompt could show it. The model saw nothing of it. */
export class AskReturnedError extends TurnError {
  override readonly name = "AskReturnedError";
  /** The turn that it joined; null where that is not known any more. */
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

/** Whether the largest message is to blame: it is at least half of what must be shown, and without it the rest would fit. */
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
