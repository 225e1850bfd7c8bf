import { expect, test } from "vitest";
import { held, partsOf, settle, stage } from "../stage.ts";

test.each([{ begun: "Well, " }, { begun: null }])(
  "an answer from elsewhere is shown in place of what the model has said so far: $begun",
  async ({ begun }) => {
    const call = held();
    const { host, model } = stage({ script: [call.step] });
    const asked = host.ask("Is it late?");
    const parts = partsOf(asked);
    await settle();
    if (begun !== null) call.show(begun);
    const [{ id: effectId, promptDigest } = { id: "", promptDigest: "" }] = model.calls;
    const { reply, finishReason } = { reply: { content: "It is." }, finishReason: "stop" } as const;
    await host.thread().send({ type: "llm.completed", at: 1, effectId, promptDigest, reply, finishReason });
    expect((await asked).text).toBe("It is.");
    const texts = (await parts).flatMap((part) => (part.type === "text.delta" ? [part] : []));
    const last = Math.max(...texts.map(({ attempt }) => attempt));
    const shown = texts.filter(({ attempt }) => attempt === last).map(({ text }) => text);
    expect(shown.join("")).toBe("It is.");
    await host.close();
  },
);
