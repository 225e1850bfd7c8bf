import { fc, test } from "@fast-check/vitest";
import type { AskHandle, HostedThread } from "@colloquy/host";
import { fails, type Piece, type ScriptLine, streams } from "@colloquy/runtime-test/models";
import type { UIMessage } from "ai";
import { describe, expect } from "vitest";
import { toUiMessageStream, uiMessagesOf } from "../../src/index.ts";
import { allOf, messageOf, seat, stage } from "./page.ts";
import { runs } from "../../../../test/runs.ts";

const words = fc.constantFrom("A", " queue", " is a line.", "\n", "é");

const pieces: fc.Arbitrary<readonly Piece[]> = fc.array(
  fc.oneof(
    fc.record({ text: words }),
    fc.record({ reasoning: words }),
    fc.record({ refusal: words }),
    fc.record({
      toolCall: fc.record({
        name: fc.constantFrom("echo", "pay", "seat", "nobody"),
        arguments: fc.constantFrom({ at: 1 }, {}, "no JSON"),
      }),
    }),
  ),
  { maxLength: 5 },
);

const lines: fc.Arbitrary<readonly ScriptLine[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: pieces.map((shown) => streams([...shown])) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(pieces, fc.constantFrom("overloaded" as const, "auth" as const))
        .map(([partial, kind]) => fails({ kind }, { partial: [...partial] })),
    },
  ),
  { minLength: 1, maxLength: 6 },
);

/** A person's answers, in order. */
const answers = fc.array(fc.constantFrom("yes", "no", "one", "stop"), { minLength: 1, maxLength: 4 });

describe("law: what a client makes of the live stream is what it makes of a replay, and what the thread has", () => {
  test.prop([lines, answers], { numRuns: runs(600) })("of any turn", async (script, said) => {
    const { host, another } = stage([...script, ...Array.from({ length: 3 }, () => streams(["Done."]))], {
      machine: { limits: { steps: 6 }, retry: { attempts: 2 } },
    });
    const thread = host.thread("t");
    const live = await livingMessage(thread, thread.ask("Hello?", { askId: "a", tools: [seat] }), said);
    const state = await thread.state();
    const shown = state === null ? [] : uiMessagesOf(state);
    expect(shown.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(bare(live)).toEqual(bare(shown[1]));
    expect(bare(await messageOf(await allOf(toUiMessageStream(thread.rejoin("a"), { thread }))))).toEqual(
      bare(shown[1]),
    );
    await host.close();
    const next = another();
    const there = next.host.thread("t");
    const replayed = await allOf(toUiMessageStream(there.rejoin("a"), { thread: there }));
    expect(bare(await messageOf(replayed))).toEqual(bare(shown[1]));
    await next.host.close();
  });
});

/** Reads a turn as a page does: leg by leg, answering each before the next. */
const livingMessage = async (thread: HostedThread, ask: AskHandle, said: readonly string[]): Promise<UIMessage> => {
  ask.catch(() => {});
  let message = await messageOf(await allOf(toUiMessageStream(ask)));
  for (let leg = 0; (await thread.state())?.context.open != null; leg += 1) {
    const behind = await answered(thread, said[leg % said.length] ?? "yes");
    const chunks = await allOf(toUiMessageStream(thread.rejoin("a"), { behind, thread }));
    message = await messageOf(chunks, message);
    const state = await thread.state();
    expect(bare(message)).toEqual(bare(state === null ? null : uiMessagesOf(state).at(-1)));
  }
  return message;
};

/** Answers the waiting questions, all or one. Returns their step. */
const answered = async (thread: HostedThread, how: string): Promise<number> => {
  const state = await thread.state();
  const step = state?.context.open?.step ?? 0;
  if (how === "stop") await thread.cancel("enough");
  const approvals = await thread.approvals();
  const calls = await thread.callsToAnswer();
  const isOne = how === "one";
  for (const { id } of isOne ? approvals.slice(0, 1) : approvals)
    await (how === "no" ? thread.deny(id) : thread.approve(id));
  for (const { callId } of isOne && approvals.length > 0 ? [] : isOne ? calls.slice(0, 1) : calls)
    await thread.answerTool(callId, how === "no" ? { failed: "it stands" } : "12C");
  return step;
};

/** Returns a message as sent, without starts of empty steps (which can't be undone) and approvers of calls that ran. */
const bare = (message: unknown): unknown => {
  const { parts, ...rest } = JSON.parse(JSON.stringify(message)) as { parts: readonly Record<string, unknown>[] };
  const shown = parts.filter(
    ({ type }, place) => type !== "step-start" || (parts[place + 1]?.["type"] ?? "step-start") !== "step-start",
  );
  return {
    ...rest,
    parts: shown.map(({ approval, ...part }) => (part["state"] === "output-denied" ? { ...part, denied: true } : part)),
  };
};
