import { expect } from "vitest";
import { reply, streams } from "../../models/script.ts";
import { scriptedModel } from "../../models/scripted-model.ts";
import { loopbackServer } from "../../server/loopback-server.ts";
import { recordedJson, recordedNothing, recordedStream } from "../../server/recorded-response.ts";
import { completed, failureOf, saidInPieces } from "./call.ts";
import type { CallUnderTest, ModelChecks } from "./subject.ts";

export const discretionChecks: ModelChecks = {
  "takes its key out of an answer that repeats it, however that is cut": async ({ apiKey, play, wire }) => {
    const pieces = ["The key is ", ...pairs(apiKey), ", they say."];
    const said = { model: `model-${apiKey}`, responseId: `id-${apiKey}` };
    const bytes = await wire(reply(pieces.join(""), { deltas: pieces, ...said }), true);
    const underTest = await play([recordedStream(bytes)]);
    completed(await underTest.ended());
    await expectSilence(underTest, apiKey);
    expect(saidInPieces(underTest.deltas).text).toMatch(/^The key is .+, they say\.$/);
  },
  "takes its key out of a failure that repeats it": async ({ apiKey, play }) => {
    const error = { message: `wrong key: ${apiKey}`, type: apiKey, param: apiKey, code: `no_${apiKey}` };
    for (const recorded of [
      recordedJson({ error }, { status: 401 }),
      recordedJson({ error }, { status: 500 }),
      recordedJson({ answer: apiKey }),
      recordedStream(`data: ${JSON.stringify({ error })}\n\n`),
    ]) {
      const underTest = await play([recorded]);
      failureOf(await underTest.ended());
      await expectSilence(underTest, apiKey);
    }
  },
  "changes nothing of what it was given": async ({ call }) => {
    // The subject freezes its arguments, so a handler that writes into them throws.
    const fields = { model: { temperature: 0.5 }, metadata: { user: "ada" } };
    const { ended } = await call(scriptedModel([reply("Snow.")]), { fields });
    completed(await ended());
  },
};

export const secretToolChecks: ModelChecks = {
  "takes its key out of the calls of an answer": async ({ apiKey, play, wire }) => {
    const toolCall = { id: `call_${apiKey}`, name: `f_${apiKey}`, arguments: JSON.stringify({ key: apiKey }) };
    const underTest = await play([recordedStream(await wire(streams([{ toolCall }]), true), { pieceBytes: 7 })]);
    await underTest.ended();
    await expectSilence(underTest, apiKey);
  },
};

export const secretReasoningChecks: ModelChecks = {
  "takes its key out of the reasoning of an answer": async ({ apiKey, play, wire }) => {
    const pieces = [...pairs(apiKey).map((reasoning) => ({ reasoning })), "Snow."];
    const underTest = await play([recordedStream(await wire(streams(pieces), true))]);
    await underTest.ended();
    await expectSilence(underTest, apiKey);
  },
};

export const redirectChecks: ModelChecks = {
  "follows no redirect, and sends its key nowhere else": async ({ play }) => {
    for (const status of [301, 302, 307, 308]) {
      const elsewhere = await loopbackServer({ model: scriptedModel([reply("Snow.")]) });
      try {
        const { ended } = await play([
          recordedNothing({ status, headers: { location: `${elsewhere.url}/elsewhere` } }),
        ]);
        expect(failureOf(await ended()), `status ${status}`).toMatchObject({ retryable: false });
        expect(elsewhere.requests).toEqual([]);
      } finally {
        await elsewhere.close();
      }
    }
  },
};

const pairs = (text: string): readonly string[] => text.match(/.{1,2}/gs) ?? [];

/** Expects that neither the call's outcome nor its pieces, single or joined, contain the secret. */
const expectSilence = async ({ ended, deltas }: CallUnderTest, secret: string): Promise<void> => {
  const heard = JSON.stringify([await ended(), deltas, saidInPieces(deltas)]);
  expect(heard).not.toContain(secret);
};
