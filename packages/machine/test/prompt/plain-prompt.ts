// A model of the next prompt of a conversation, as plain and as slow as can be. It goes through flat lists from the
// beginning each time, and uses no code of the machine's.

export interface Config {
  readonly policy: PlainPolicy;
  readonly budget: { readonly tokens: number; readonly reserve: number } | null;
  readonly interrupted: "keep" | "omit";
}

export type PlainPolicy =
  | { readonly type: "all" }
  | { readonly type: "turns"; readonly count: number }
  | { readonly type: "window" }
  /** The hand-made policy of that name. */
  | {
      readonly type: "rolling";
      readonly keep: number;
      readonly when: "always" | "full";
      readonly without: "keep" | "drop";
    };

/** A message. `unit` is the id of the first message of its round, or its own. */
export interface Said {
  readonly id: string;
  readonly role: string;
  readonly text: string;
  readonly unit: string;
  readonly tokens: number;
}

export interface PlainTurn {
  readonly number: number;
  readonly parent: number;
  readonly completed: boolean;
  said: readonly Said[];
  readonly answer: string | null;
  summaries: readonly { readonly from: number; readonly text: string }[];
  failures: number;
}

/** The messages of a thread, and the other facts that prompts depend on. */
export interface PlainThread {
  readonly config: Config;
  readonly system: Said | null;
  readonly seed: readonly Said[];
  readonly turns: readonly PlainTurn[];
  readonly head: number;
  readonly pins: readonly string[];
  /** Tokens that a model reports for one that is counted. */
  readonly calibration: number;
}

export interface PlainUnfit {
  readonly tokens: number;
  readonly available: number;
  readonly budget: number;
  readonly reserve: number;
  readonly fixed: number;
  readonly largest: { readonly message: string; readonly tokens: number } | null;
}

/** The tokens of a message, and of a prompt, beside those of their texts. */
export const perMessage = 1;
export const perPrompt = 2;
const givenUpAfter = 2;
/** The model that writes a summary can read so many turns. */
export const mostTurnsRead = 10;
const triedFreely = 4;

export const said = (id: string, role: string, text: string): Said => ({
  id,
  role,
  text,
  unit: id,
  tokens: perMessage + text.length,
});

export const tokensOf = (prompt: readonly Said[]): number =>
  prompt.reduce((sum, { tokens }) => sum + tokens, perPrompt);

/** Turns of the path, oldest first. */
export const pathOf = ({ turns, head }: PlainThread): readonly PlainTurn[] => {
  const path: PlainTurn[] = [];
  for (let number = head; number !== 0;) {
    const turn = turns[number - 1];
    if (turn === undefined) throw new Error(`no turn ${number}`);
    path.unshift(turn);
    number = turn.parent;
  }
  return path;
};

/** Whether a turn is on the path to another, or that one itself. */
export const leadsThrough = (thread: PlainThread, number: number, last: number): boolean =>
  pathOf({ ...thread, head: last }).some((turn) => turn.number === number);

export const availableIn = ({ config: { budget }, calibration }: PlainThread): number | null =>
  budget === null ? null : Math.floor((budget.tokens - budget.reserve) / calibration);

export const fitsInto = (thread: PlainThread, prompt: readonly Said[]): boolean => {
  const available = availableIn(thread);
  return available === null || tokensOf(prompt) <= available;
};

/** The prompt of a call whose own turn has said so much. */
export const plainPrompt = (thread: PlainThread, last: readonly Said[], withoutSummary: boolean): readonly Said[] => {
  const { policy } = thread.config;
  const visible = visibleIn(thread).map(({ number }) => number);
  switch (policy.type) {
    case "all":
      return showing(thread, last, 0);
    case "turns": {
      const newest = policy.count === 0 ? [] : visible.slice(-policy.count);
      return showing(thread, last, newest[0] ?? Number.POSITIVE_INFINITY);
    }
    case "window":
      return newestThatFit(thread, last);
    case "rolling": {
      const covered = coveredIn(thread);
      const summary = covered === null ? [] : [summaryOf(covered)];
      const shown = showing(thread, last, covered === null ? 0 : covered.to + 1, summary);
      const until = visible.at(-1 - policy.keep);
      if (policy.without === "keep" || !withoutSummary || until === undefined || fitsInto(thread, shown)) return shown;
      return showing(thread, last, until + 1);
    }
  }
};

/** The turns that the hand-made policy wants summarised before a call, or after it; null for none. */
export const wantedIn = (
  thread: PlainThread,
  last: readonly Said[],
): { readonly from: number; readonly to: number } | null => {
  const { policy } = thread.config;
  if (policy.type !== "rolling") return null;
  if (policy.when === "full" && fitsInto(thread, plainPrompt(thread, last, false))) return null;
  const visible = visibleIn(thread);
  const [oldest] = visible;
  const until = visible.at(-1 - policy.keep);
  if (oldest === undefined || until === undefined || until.turn === null || until.turn.failures >= givenUpAfter)
    return null;
  const covered = coveredIn(thread);
  return covered !== null && covered.to >= until.number ? null : { from: oldest.number, to: until.number };
};

/** Whether the request for a summary fits: of what there is a summary already, it reads that. */
export const isReadable = (thread: PlainThread, { to }: { readonly to: number }): boolean => {
  const covered = coveredIn(thread)?.to ?? -1;
  return visibleIn(thread).filter(({ number }) => number > covered && number <= to).length <= mostTurnsRead;
};

/** Whether so many summaries failed that one which can't be read is not tried again for as many turns. */
export const isTriedInVain = (thread: PlainThread): boolean => {
  const path = pathOf(thread);
  const failures = path.reduce((sum, turn) => sum + turn.failures, 0);
  const since = path.length - 1 - path.findLastIndex((turn) => turn.failures > 0);
  return failures >= triedFreely && since < failures;
};

/** The numbers of a prompt that does not fit. */
export const numbersOf = (thread: PlainThread, prompt: readonly Said[], last: readonly Said[]): PlainUnfit => {
  const pinned = unitsIn(thread).flatMap((unit) => (unit.pinned ? unit.messages : []));
  const most = Math.max(...last.map(({ tokens }) => tokens));
  const largest = last.find(({ tokens }) => tokens === most);
  return {
    tokens: tokensOf(prompt),
    available: availableIn(thread) ?? 0,
    budget: thread.config.budget?.tokens ?? 0,
    reserve: thread.config.budget?.reserve ?? 0,
    fixed: tokensOf([...systemOf(thread), ...pinned, ...last]),
    largest: largest === undefined ? null : { message: largest.id, tokens: largest.tokens },
  };
};

interface PlainUnit {
  readonly turn: number;
  readonly messages: readonly Said[];
  readonly pinned: boolean;
}

const systemOf = ({ system }: PlainThread): readonly Said[] => (system === null ? [] : [system]);

/** The units of the path, oldest first; those of interrupted turns, where they are left out, only if something in them is pinned. */
const unitsIn = (thread: PlainThread): readonly PlainUnit[] => {
  const blocks = [{ number: 0, completed: true, said: thread.seed }, ...pathOf(thread)];
  const units = blocks.flatMap(({ number, completed, said: inTurn }): PlainUnit[] => {
    const isLeftOut = !completed && thread.config.interrupted === "omit";
    const ids = [...new Set(inTurn.map(({ unit }) => unit))];
    return ids
      .map((id) => {
        const messages = inTurn.filter(({ unit }) => unit === id);
        return { turn: number, messages, pinned: messages.some((each) => thread.pins.includes(each.id)) };
      })
      .filter(({ pinned, messages }) => pinned || !isLeftOut || isQuestionOfPinned(thread, inTurn, messages));
  });
  const questions = questionsOf(units);
  const pinned = new Set(units.flatMap((unit, at) => (unit.pinned ? [questions[at]] : [])));
  return units.map((unit, index) => ({ ...unit, pinned: unit.pinned || pinned.has(index) }));
};

/** An interrupted turn shows the question of what is pinned in it. */
const isQuestionOfPinned = (thread: PlainThread, inTurn: readonly Said[], [first]: readonly Said[]): boolean =>
  first !== undefined &&
  first.role === "user" &&
  inTurn.some(({ id, unit }) => unit !== first.id && thread.pins.includes(id));

/**
 * The place of each unit's question: the first user message of its turn, if that is before it; else, for what a model said, the
 * nearest question before. Null for none.
 */
const questionsOf = (units: readonly PlainUnit[]): readonly (number | null)[] => {
  const firstOf = new Map<number, number>();
  let nearest: number | null = null;
  return units.map(({ turn, messages }, at) => {
    const role = messages[0]?.role;
    const question = firstOf.get(turn) ?? (role === "user" || role === "system" ? null : nearest);
    if (role === "user" && !firstOf.has(turn)) {
      nearest = at;
      if (turn > 0) firstOf.set(turn, at);
    }
    return question;
  });
};

/** The turns that a policy gets to see: those that are not left out, and the seed as turn 0 if there is one. */
const visibleIn = (thread: PlainThread): readonly { readonly number: number; readonly turn: PlainTurn | null }[] => {
  const turns = pathOf(thread).filter(({ completed }) => completed || thread.config.interrupted === "keep");
  const seed = thread.seed.length === 0 ? [] : [{ number: 0, turn: null }];
  return [...seed, ...turns.map((turn) => ({ number: turn.number, turn }))];
};

/** Everything from a turn on, and what is pinned before it. */
const showing = (
  thread: PlainThread,
  last: readonly Said[],
  from: number,
  summary: readonly Said[] = [],
): readonly Said[] => {
  const all = unitsIn(thread);
  const shown = all.map(({ turn, pinned }) => pinned || (turn >= from && !isHidden(thread, turn)));
  return [...systemOf(thread), ...summary, ...led(thread, all, shown, last), ...last];
};

/**
 * Returns the shown messages of closed turns, with the questions of partly shown turns. A question leads those that
 * would begin with a message of the model.
 */
const led = (
  thread: PlainThread,
  all: readonly PlainUnit[],
  shown: readonly boolean[],
  last: readonly Said[],
): readonly Said[] => {
  const questionAt = questionsOf(all);
  const questions = new Set(
    all.flatMap(({ turn }, at) => {
      const question = shown[at] === true ? (questionAt[at] ?? null) : null;
      return question !== null && turn > 0 && all[question]?.turn === turn ? [question] : [];
    }),
  );
  const isShown = (at: number): boolean => shown[at] === true || questions.has(at);
  const isSaid = (unit: PlainUnit | undefined): boolean => unit?.messages[0]?.role !== "system";
  const first = all.findIndex((unit, at) => isShown(at) && isSaid(unit));
  const open = last.find(({ role }) => role !== "system");
  const beginning =
    first >= 0
      ? all
      : open === undefined
        ? []
        : [...all, { turn: Number.POSITIVE_INFINITY, messages: [open], pinned: false }];
  const at = first >= 0 ? first : beginning.length - 1;
  const isModels = beginning[at] !== undefined && beginning[at].messages[0]?.role !== "user";
  const lead = isModels ? questionsOf(beginning)[at] : null;
  return all.flatMap(({ messages, turn }, index) =>
    isShown(index) || (index === lead && !isHidden(thread, turn)) ? messages : [],
  );
};

/** Tries all, then all but the oldest unit, and so on. */
const newestThatFit = (thread: PlainThread, last: readonly Said[]): readonly Said[] => {
  const units = unitsIn(thread);
  let prompt: readonly Said[] = [];
  for (let dropped = 0; dropped <= units.length; dropped++) {
    const kept = units.map(({ pinned, turn }, index) => pinned || (index >= dropped && !isHidden(thread, turn)));
    prompt = [...systemOf(thread), ...led(thread, units, kept, last), ...last];
    if (fitsInto(thread, prompt)) return prompt;
  }
  return prompt;
};

const isHidden = (thread: PlainThread, turn: number): boolean =>
  thread.config.interrupted === "omit" && thread.turns[turn - 1]?.completed === false;

interface Covered {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The newest turn up to which everything is summarised, and how. */
const coveredIn = (thread: PlainThread): Covered | null => {
  const visible = visibleIn(thread);
  const from = visible[0]?.number;
  for (const { number, turn } of visible.toReversed()) {
    const summary = turn?.summaries.findLast((each) => each.from === from);
    if (summary !== undefined) return { from: summary.from, to: number, text: summary.text };
  }
  return null;
};

const summaryOf = ({ from, to, text }: Covered): Said => {
  const several = from === 0 ? `Up to turn ${to}` : `Turns ${from} to ${to}`;
  const label = from === to ? `Turn ${to}` : several;
  return said("summary", "user", `Earlier in this conversation:\n[${label}] ${text}`);
};
