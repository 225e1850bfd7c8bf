import type { LlmHandler } from "@colloquy/host";
import { expect } from "vitest";
import { reply, streams } from "../../models/script.ts";
import { scriptedModel } from "../../models/scripted-model.ts";
import { recordedJson, recordedStream } from "../../server/recorded-response.ts";
import { question } from "./call.ts";
import { completed, saidInPieces, saidInReply } from "./said.ts";
import type { ModelChecks } from "./subject.ts";

const text = "Grüße: ☃ and 🌨🌨, then sun.";

/** Checks of successful answers. */
export const answerChecks: ModelChecks = {
  "sends what it was asked, in one request": async ({ call }) => {
    const { ended, requests } = await call(scriptedModel([reply(text)]));
    completed(await ended());
    expect(requests).toHaveLength(1);
    expect(requests[0]?.text).toContain(question);
  },
  "shows a piece when it comes, before the next is there": async ({ call, soon }) => {
    const seen = Promise.withResolvers<void>();
    const model: LlmHandler = async (_, { onDelta }) => {
      onDelta({ type: "text", text: "First, " });
      await soon(seen.promise, "the first piece was not shown while the second had not come");
      onDelta({ type: "text", text: "second." });
      return { type: "completed", reply: { content: "First, second." }, finishReason: "stop" };
    };
    const { ended, shown, deltas } = await call(model);
    await shown(1);
    seen.resolve();
    expect(saidInReply(completed(await ended()).reply).text).toBe("First, second.");
    expect(saidInPieces(deltas).text).toBe("First, second.");
  },
  "shows pieces that together are the reply, in order, however the bytes are cut": async ({ play, wire }) => {
    const bytes = await wire(reply(text), true);
    for (const pieceBytes of [5, 1_000_000]) {
      const { ended, deltas } = await play([recordedStream(bytes, { pieceBytes })]);
      const outcome = completed(await ended());
      expect(saidInReply(outcome.reply)).toEqual({ text, reasoning: "", refusal: "", calls: [] });
      expect(saidInPieces(deltas)).toEqual(saidInReply(outcome.reply));
      expect(outcome.finishReason).toBe("stop");
    }
  },
  "reports the usage that the server reports": async ({ call }) => {
    const usage = { inputTokens: 11, outputTokens: 7, totalTokens: 18 };
    const { ended } = await call(scriptedModel([reply(text, { usage })]));
    expect(completed(await ended()).usage).toMatchObject({ inputTokens: 11, outputTokens: 7 });
  },
  "does not make zeros of a usage that the server does not report": async ({ play, wire }) => {
    const { ended } = await play([recordedStream(await wire(reply(text), true))]);
    const { usage = {} } = completed(await ended());
    expect(usage.inputTokens).toBeUndefined();
    expect(usage.outputTokens).toBeUndefined();
    expect(usage.totalTokens).toBeUndefined();
  },
};

/** Checks of answers that are not streamed. */
export const plainChecks: ModelChecks = {
  "gives a plain answer as a streamed one, shown in one go": async ({ play, wire }) => {
    const usage = { inputTokens: 11, outputTokens: 7 };
    const body = await wire(reply(text, { usage }), false);
    for (const pieceBytes of [5, 1_000_000]) {
      const { ended, deltas, requests } = await play([recordedJson(body, { pieceBytes })], { stream: false });
      const outcome = completed(await ended());
      expect(saidInReply(outcome.reply).text).toBe(text);
      expect(saidInPieces(deltas)).toEqual(saidInReply(outcome.reply));
      expect(outcome.usage).toMatchObject(usage);
      expect(requests[0]?.body).not.toMatchObject({ stream: true });
    }
  },
};

/** Checks of refusals, which some models return beside text. */
export const refusalChecks: ModelChecks = {
  "keeps a refusal apart from text": async ({ play, wire }) => {
    const bytes = await wire(streams([{ refusal: "I can't " }, { refusal: "say." }]), true);
    const { ended, deltas } = await play([recordedStream(bytes)]);
    const said = saidInReply(completed(await ended()).reply);
    expect(said).toMatchObject({ refusal: "I can't say.", text: "" });
    expect(saidInPieces(deltas)).toEqual(said);
  },
};

export const reasoningChecks: ModelChecks = {
  "keeps reasoning apart from text": async ({ play, wire }) => {
    const bytes = await wire(streams([{ reasoning: "Winter, " }, { reasoning: "so: " }, "Snow."]), true);
    const { ended, deltas } = await play([recordedStream(bytes)]);
    const said = saidInReply(completed(await ended()).reply);
    expect(said).toMatchObject({ reasoning: "Winter, so: ", text: "Snow." });
    expect(saidInPieces(deltas)).toEqual(said);
  },
};
