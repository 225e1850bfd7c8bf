import type { State } from "@colloquy/machine";
import { decodeJournal, type Entry, fold, type ForkedJournal, type ForkInput, forkOf } from "@colloquy/machine/journal";
import { entriesToRedact, redactEntry, type RedactionTarget } from "@colloquy/machine/storage";
import * as Either from "fp-ts/lib/Either.js";

/** A file of `vectors/journals`: a journal, and its state. */
export interface JournalVector extends JournalScript {
  readonly profile: "journals";
  readonly state?: State;
  /** Why it does not fold, otherwise. */
  readonly refused?: { readonly seq: number; readonly kind: JournalProblem };
  /** The copy that `fork` requests. */
  readonly forked?: ForkedJournal;
  /** The entries that `redact` changes. */
  readonly redacted?: readonly Entry[];
}

/** The input of a journal vector. */
export interface JournalScript {
  readonly name: string;
  readonly says: string;
  /** The entries as read, some of which may be invalid. */
  readonly entries: readonly unknown[];
  readonly fork?: ForkInput;
  readonly redact?: RedactionTarget;
}

/**
 * `format`: missing, or not the machine's. `event`: an unknown type. `beginning`: missing, or a second one. `sequence`:
 * a gap or a repetition. `shape`: a member has an invalid value.
 */
export type JournalProblem = "format" | "event" | "beginning" | "sequence" | "shape";

/** Returns a journal with its state. @throws Error if it cannot be copied or redacted as requested */
export const journalVectorOf = (script: JournalScript): JournalVector => {
  const { name, says, entries, fork, redact } = script;
  const read = readJournal(entries);
  const given = { profile: "journals", name, says, entries } as const;
  if ("kind" in read) return { ...given, refused: { seq: read.seq, kind: read.kind } };
  const vector: JournalVector = {
    ...given,
    state: read.state,
    ...(fork === undefined ? {} : { fork, forked: rightOf(forkOf(read.entries, fork)) }),
    ...(redact === undefined ? {} : { redact, redacted: redactedBy(read.entries, redact) }),
  };
  // Plain JSON keeps its type.
  return JSON.parse(JSON.stringify(vector)) as JournalVector;
};

const redactedBy = (entries: readonly Entry[], target: RedactionTarget): readonly Entry[] => {
  const seqs = new Set(rightOf(entriesToRedact(entries, target)));
  return entries.filter(({ seq }) => seqs.has(seq)).map(redactEntry);
};

const rightOf = <Value>(either: Either.Either<string, Value>): Value => {
  if (Either.isLeft(either)) throw new Error(either.left);
  return either.right;
};

type Read =
  | { readonly entries: readonly Entry[]; readonly state: State }
  | { readonly seq: number; readonly kind: JournalProblem };

const readJournal = (values: readonly unknown[]): Read => {
  const decoded = decodeJournal(values);
  if (Either.isLeft(decoded)) {
    const { index, path, reason } = decoded.left;
    return { seq: index ?? 0, kind: kindOf(index ?? 0, path, reason) };
  }
  const folded = fold(decoded.right);
  if (Either.isRight(folded)) return { entries: decoded.right, state: folded.right };
  const { seq, reason } = folded.left;
  return {
    seq,
    kind: /stands where/.test(reason) ? "sequence" : /beginning|empty/.test(reason) ? "beginning" : "shape",
  };
};

/** Returns the problem's kind for other programs, as the machine gives sentences. */
const kindOf = (index: number, path: string, reason: string): JournalProblem => {
  if (path.endsWith("format")) return "format";
  if (reason.includes("beginning") || (index === 0 && path === "event.type")) return "beginning";
  if (reason.includes("unknown event type")) return "event";
  return path === "seq" ? "sequence" : "shape";
};
