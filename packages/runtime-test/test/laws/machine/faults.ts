import { clearResults, compose, summariseTurns, tokenWindow } from "@colloquy/machine/policies";
import { explain } from "@colloquy/machine/inspect";
import { fold } from "@colloquy/machine/journal";
import { type MachineOptions, promptOf, transition } from "@colloquy/machine";
import { realSubject, type Subject } from "@colloquy/runtime-test/arbitraries";
import type { laws } from "@colloquy/runtime-test/laws";
import * as wrong from "./wrong-functions.ts";
import * as wrongExplanations from "./wrong-explanations.ts";
import * as wrongAsks from "./wrong-asks.ts";
import * as wrongOutputs from "./wrong-outputs.ts";

/** A machine that is wrong in one way, and the law that must notice. */
export interface Fault {
  readonly law: keyof typeof laws;
  readonly what: string;
  /** The options needed to notice the fault, beside those that all faults are tried with. */
  readonly options?: MachineOptions;
  /** Makes a new subject for each run, since some faults have a memory. */
  readonly subject: () => Subject;
}

const transitions = (law: Fault["law"], what: string, make: () => typeof transition): Fault => ({
  law,
  what,
  subject: () => ({ ...realSubject, transition: make() }),
});

const outstandings = (law: Fault["law"], what: string, outstanding: Subject["outstanding"]): Fault => ({
  law,
  what,
  subject: () => ({ ...realSubject, outstanding }),
});

const prompts = (law: Fault["law"], what: string, make: () => typeof promptOf): Fault => ({
  law,
  what,
  subject: () => ({ ...realSubject, promptOf: make() }),
});

const explains = (law: Fault["law"], what: string, wrongly: typeof explain): Fault => ({
  law,
  what,
  options: { policy: compose(clearResults({ keep: 0 }), tokenWindow()), budget: { tokens: 80, reserve: 0 } },
  subject: () => ({ ...realSubject, explain: wrongly }),
});

const folds = (law: Fault["law"], what: string, wrongFold: typeof fold): Fault => ({
  law,
  what,
  subject: () => ({ ...realSubject, fold: wrongFold }),
});

export const faults: readonly Fault[] = [
  transitions("M1", "counts in a variable of its own", wrong.counting),
  transitions("M1", "reads a clock", wrong.readingAClock),
  prompts("M1", "shows another prompt at the second look", wrong.moody),
  transitions("M2", "throws for an answer that nobody waits for", () => wrong.throwingWhenStale),
  transitions("M2", "copies the state when it refuses", () => wrong.copyingWhenRefused),
  transitions("M2", "refuses without a reason", () => wrong.silent),
  transitions("M2", "gives an entry the seq of the one before", () => wrong.oneBehind),
  transitions("M3", "keeps a date in the state", () => wrong.keepingADate),
  transitions("M3", "keeps an undefined member in an effect", () => wrong.keepingUndefined),
  transitions("M3", "knows a state by its reference", wrong.knowingByReference),
  transitions("M4", "pushes onto the messages that were appended", () => wrong.pushing),
  transitions("M4", "writes into the event", () => wrong.writingIntoEvent),
  transitions("M4", "hands out a state that can be written to", () => wrong.handingOutWhatIsLive),
  transitions("M4", "keeps the event that it was handed", () => wrong.keepingTheEvent),
  folds("M5", "a fold that drops what was decided", wrong.foldWithoutDecisions),
  folds("M5", "a fold that drops the newest entry", wrong.foldWithoutTheNewest),
  outstandings("M6", "misses one of the effects that are out", wrong.missingTheLast),
  outstandings("M6", "forgets that a tool started", wrong.neverStarted),
  transitions("M6", "lets a tool answer twice", () => wrong.answeringAgain),
  transitions("M6", "asks for an effect twice", () => wrong.askingTwice),
  transitions("M6", "gives another state for a stale answer", () => wrong.copyingWhenRefused),
  transitions("M6", "starts a call that is the caller's", () => wrongAsks.startingCallers),
  outstandings("M6", "forgets what somebody is asked", wrongAsks.neverAsking),
  transitions("M6", "runs other arguments than were approved", () => wrongAsks.runningOtherwise),
  transitions("M6", "takes an answer about something else", () => wrongAsks.takingAnyDigest),
  transitions("M13", "takes any answer for an output", () => wrongOutputs.acceptingAll),
  transitions("M13", "has an answer mended for ever", () => wrongOutputs.mendingForEver),
  transitions("M13", "shows later turns what was refused", () => wrongOutputs.showingWhatWasRefused),
  explains("explain", "calls whole what is shown shorter", wrongExplanations.allWhole),
  explains("explain", "leaves out a unit that is not shown", wrongExplanations.onlyShown),
  explains("explain", "shows what is not sent", wrongExplanations.sendingAll),
  explains("explain", "counts a token too few", wrongExplanations.miscounting),
  explains("explain", "says nothing of why", wrongExplanations.silent),
  outstandings("M7", "has a model call beside a question about a tool", wrongAsks.callingBesideQuestion),
  outstandings("M7", "has a model call out beside tool calls", wrong.callingBeside),
  {
    law: "M7",
    what: "has the same summary written twice at once",
    options: { policy: summariseTurns() },
    subject: () => ({ ...realSubject, outstanding: wrong.writingTwice }),
  },
  {
    law: "M8",
    what: "charges summaries to nobody's turn",
    options: { policy: summariseTurns() },
    subject: () => ({ ...realSubject, transition: wrong.chargingNobody }),
  },
  {
    law: "M9",
    what: "takes a summary for something that was said",
    options: { policy: summariseTurns() },
    subject: () => ({ ...realSubject, transition: wrong.sayingSummaries }),
  },
  transitions("M8", "forgets the calls that were cancelled", () => wrong.forgettingCancelled),
  transitions("M8", "counts unknown tokens as none", () => wrong.unknownAsZero),
  transitions("M9", "forgets what a reply had shown when it was stopped", () => wrong.forgettingPartials),
  transitions("M9", "goes on without what was said before", () => wrong.forgettingThePast),
  transitions("M9", "shows interrupted turns that should be left out", () => wrong.showingInterrupted),
  transitions("M9", "says twice what was appended", () => wrong.appendingTwice),
  prompts("M10", "a renderer that splits a round", () => wrong.splitting),
  prompts("M10", "a prompt without the end of the open turn", () => wrong.withoutTheEnd),
  transitions("M10", "results in another order than their calls", () => wrong.swappingResults),
  transitions("M10", "a prompt without the system message", () => wrong.withoutSystem),
  transitions("M10", "takes the system message away from a turn without words", () => wrong.takingSystemAway),
  transitions("M11", "forgets what waited when a turn is interrupted", () => wrongAsks.forgettingTheQueue),
  transitions("M11", "answers an ask that waited, and lets it wait on", () => wrongAsks.answeringTwice),
  transitions("M11", "tells nobody that an ask was superseded", () => wrongAsks.supersedingInSilence),
  transitions("M12", "delivers what the prompt does not show", () => wrongAsks.deliveringUnseen),
  transitions("M12", "does not tell what is delivered", () => wrongAsks.deliveringInSilence),
  transitions("M12", "says that an ask is withdrawn that should be given back", () => wrongAsks.withdrawingReturned),
  { law: "R5", what: "cuts otherwise when it is replayed", subject: wrong.otherOnReplay },
];
