import type { Ending } from "./talk.ts";

/** An ask of a conversation. */
export interface Fate {
  readonly input: string;
  /** The tab that waits for it; null where that is gone and nobody asked again. */
  tab: number | null;
  isEnded: boolean;
}

/** Whether an ask was rejected by what may pass: then it may be asked again. */
export const mayPass = (ending: Ending): boolean => ending.type === "failed" && passing.includes(ending.name);

const passing: readonly string[] = ["ThreadHeldError", "LeaseLostError", "SequenceConflictError", "StoreError"];

/** The asks that a journal has. */
export const takenIn = (journal: readonly unknown[]): ReadonlySet<string> =>
  new Set(
    journal.flatMap((entry) => {
      // A journal has at least these members; the judge reads it whole.
      const { event } = entry as { readonly event: { readonly type: string; readonly askId?: string } };
      return event.type === "ask.received" && event.askId !== undefined ? [event.askId] : [];
    }),
  );
