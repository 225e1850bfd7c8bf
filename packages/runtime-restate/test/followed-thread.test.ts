import type { EngineNews } from "@colloquy/host/store";
import { describe, expect, it } from "vitest";
import { FollowedThread } from "../src/engine-store.ts";
import type { HubMessage } from "../src/hub.ts";

type Stored = Extract<HubMessage, { readonly type: "stored" }>;

const entry = (seq: number): Stored["entries"][number] => ({
  seq,
  event: { type: "turn.annotated", at: 0, turn: 1, name: "n", value: seq },
});

const stored = (...seqs: readonly number[]): Stored => ({
  type: "stored",
  entries: seqs.map((seq) => entry(seq)),
  parts: [],
});

const delta = (run: string, text: string): HubMessage => ({
  type: "shown",
  effectId: "t/1.1#1",
  run,
  parts: [{ turn: 1, part: { type: "text.delta", turn: 1, step: 1, attempt: 1, text } }],
});

const following = (): { readonly thread: FollowedThread; readonly news: EngineNews[] } => {
  const news: EngineNews[] = [];
  return { thread: new FollowedThread((each) => news.push(each)), news };
};

describe("a thread that is followed by a hub", () => {
  it("gives only entries that were heard and are unread", () => {
    const { thread } = following();
    expect(thread.unread(0)).toBeNull();
    thread.hear(stored(3, 4));
    expect(thread.unread(2)).toBeNull();
    expect(thread.unread(4)).toEqual([entry(4)]);
    expect(thread.unread(4)).toBeNull();
  });

  it("forgets the heard entries before a gap or a redaction", () => {
    const { thread } = following();
    thread.hear(stored(3, 4));
    thread.hear(stored(6));
    expect(thread.unread(4)).toBeNull();
    expect(thread.unread(6)).toEqual([entry(6)]);
    const redacted = { seq: 7, event: { type: "thread.redacted", at: 0, seqs: [6] } } as const;
    thread.hear({ ...stored(), entries: [redacted] });
    expect(thread.unread(6)).toBeNull();
    expect(thread.unread(7)).toEqual([redacted]);
  });

  it("voids the parts of a run when another begins, and ignores later parts of the first", () => {
    const { thread, news } = following();
    for (const message of [delta("a", "1"), delta("a", "2"), delta("b", "1"), delta("a", "3"), delta("b", "2")])
      thread.hear(message);
    const shown = news.flatMap((each) => (each.type === "part" ? [each.part] : []));
    expect(shown).toMatchObject([
      { text: "1" },
      { text: "2" },
      { type: "thread.lost", turn: 1 },
      { type: "step.started", step: 1 },
      { text: "1" },
      { text: "2" },
    ]);
  });
});
