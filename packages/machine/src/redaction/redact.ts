import type { Decided, SynthesisedResult, Entry, FirstEntry, LaterEntry } from "../conversation/protocol/entry.ts";
import { redactedText } from "../conversation/update/redacted.ts";
import type { ThreadStarted } from "../conversation/protocol/event.ts";
import { redactEvent } from "./event.ts";
import { redactMetadata, redactSeed, redactSystem, redactText } from "./words.ts";

/**
 * The entry without its words, at the same place, of the same type and structure: "[redacted]" stands for texts, `{}` for
 * arguments, and metadata, people's names (who approved among them), provider fields and what else could tell of the words
 * are gone. What somebody named stays, so that what follows folds as before: ids, roles, tools and their versions, fields,
 * annotations, checkpoints, models; finish reasons and codes of failures that are single words; times and usage. Put
 * nothing private into those names. Doing it again changes nothing.
 */
export const redactEntry = (entry: Entry): Entry => (isFirst(entry) ? redactFirst(entry) : redactLater(entry));

const isFirst = (entry: Entry): entry is FirstEntry => entry.event.type === "thread.started";

const redactFirst = ({ seq, format, event }: FirstEntry): FirstEntry => ({
  seq,
  format,
  event: redactStarted(event),
  redacted: true,
});

/** Model parameters and the configuration are nothing that was said, and what is asked next needs them. */
const redactStarted = ({
  type,
  at,
  threadId,
  system,
  seed,
  metadata,
  model,
  configuration,
}: ThreadStarted): ThreadStarted => ({
  type,
  at,
  threadId,
  ...(system === undefined ? {} : { system: redactSystem(system) }),
  ...(seed === undefined ? {} : { seed: seed.map(redactSeed) }),
  ...redactMetadata(metadata),
  ...(model === undefined ? {} : { model }),
  ...(configuration === undefined ? {} : { configuration }),
});

const redactLater = ({ seq, event, decided, recovered }: LaterEntry): LaterEntry => ({
  seq,
  event: redactEvent(event),
  ...(decided === undefined ? {} : { decided: redactDecided(decided) }),
  ...(recovered === undefined ? {} : { recovered }),
  redacted: true,
});

/** Decisions are what folding applies: all stay, without the words of those that have some. */
const redactDecided = (decided: Decided): Decided => ({
  ...decided,
  ...(decided.results === undefined ? {} : { results: decided.results.map(redactResult) }),
  ...(decided.summaryFailed === undefined ? {} : { summaryFailed: redactText(decided.summaryFailed) }),
  ...(decided.policyFailed === undefined ? {} : { policyFailed: redactText(decided.policyFailed) }),
});

const redactResult = ({ position, outcome, content }: SynthesisedResult): SynthesisedResult => ({
  position,
  outcome,
  // A list of parts stays one.
  content: content.map(() => ({ type: "text", text: redactedText })),
});
