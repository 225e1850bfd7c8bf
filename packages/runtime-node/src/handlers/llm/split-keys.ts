import type { ReplyDraft } from "@colloquy/machine";
import type { KeyFilter, KeyPieces } from "./key-filter.ts";

/**
 * A reply without keys that a server cut over several parts of it: parts of one type that stand side by side are read as
 * one text, as whoever joins them would.
 */
export const withoutSplitKeys = (reply: ReplyDraft, filter: KeyFilter): ReplyDraft =>
  typeof reply.content === "object" ? { ...reply, content: filtered(reply.content, filter) } : reply;

type Parts = Exclude<ReplyDraft["content"], string | undefined>;

const filtered = (parts: Parts, { pieces }: KeyFilter): Parts => {
  const shown: Parts[number][] = [];
  let run: KeyPieces = pieces();
  const endRun = (): void => {
    const [last, rest] = [shown.at(-1), run.end()];
    if (rest !== "" && last !== undefined && "text" in last)
      shown[shown.length - 1] = { ...last, text: last.text + rest };
    run = pieces();
  };
  for (const part of parts) {
    if (shown.at(-1)?.type !== part.type) endRun();
    shown.push("text" in part ? { ...part, text: run.push(part.text) } : part);
  }
  endRun();
  return shown;
};
