import { expect, test } from "vitest";
import { held, partsOf, says, settle, stage } from "../stage.ts";
import { summarising } from "../summarising.ts";

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

test("a summary from elsewhere is not shown in the turn that runs beside it", async () => {
  const [summary, answer] = [held(), held()];
  const { host, model } = stage({
    script: [says("1"), summary.step, answer.step, says("They said two.")],
    machine: { policy: summarising },
  });
  await host.ask("one");
  const second = host.ask("two");
  const parts = partsOf(second);
  await settle();
  const { id: effectId = "", promptDigest = "" } = model.calls.find(({ purpose }) => purpose === "summary") ?? {};
  const { reply, finishReason } = { reply: { content: "They said one." }, finishReason: "stop" } as const;
  await host.thread().send({ type: "llm.completed", at: 1, effectId, promptDigest, reply, finishReason });
  answer.answer(says("2"));
  await second;
  expect((await parts).flatMap((part) => (part.type === "text.delta" ? [part.text] : [])).join("")).toBe("2");
  await host.close();
});
