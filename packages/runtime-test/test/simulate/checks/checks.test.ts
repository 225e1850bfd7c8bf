import { AskRefusedError } from "@colloquy/host";
import { type State, usageMonoid, usageOfCall } from "@colloquy/machine";
import { describe, expect, it } from "vitest";
import { checkUsage } from "../../../src/simulate/checks/journal.ts";
import { checkQuestions } from "../../../src/simulate/checks/questions.ts";
import { reply, toolCalls } from "../../../src/models/index.ts";
import { noFaults, type Script, simulate } from "../../../src/simulate/index.ts";
import type { Question } from "../../../src/simulate/script/question.ts";
import { World } from "../../../src/simulate/world/world.ts";
import { withoutApprovals } from "../broken-host.ts";

// The machine prevents these mistakes in any host, so the checks get a wrong state.

/** Returns the broken rule that a check finds, or null. */
const brokenBy = async (check: (world: World) => void): Promise<unknown> => {
  const world = new World(1, noFaults, []);
  check(world);
  try {
    await world.run(world.sleep(1));
    return null;
  } catch (error) {
    return error;
  }
};

const simulated = async (): Promise<State> => (await simulate({ seed: 12, faults: noFaults })).state;

it("checkUsage finds a call that was not counted, and one that belongs to nothing", async () => {
  const state = await simulated();
  const { total } = state.context.usage;
  const more = usageMonoid.concat(total, usageOfCall({ inputTokens: 1 }, null));
  const nobodys = { ...state, context: { ...state.context, usage: { ...state.context.usage, total: more } } };
  expect(await brokenBy((world) => checkUsage(world, { usage: total, state }))).toBeNull();
  expect(await brokenBy((world) => checkUsage(world, { usage: more, state }))).toMatchObject({ law: "M8" });
  expect(await brokenBy((world) => checkUsage(world, { usage: more, state: nobodys }))).toMatchObject({ law: "M8" });
});

describe("checkQuestions", () => {
  const question = (askId: string, end: Question["end"]): Question => ({
    askId,
    input: "",
    handle: null,
    end,
    tries: 1,
    mayBeInboxItem: false,
  });
  const refused = (askId: string): Question =>
    question(askId, new AskRefusedError("simulated", askId, { kind: "busy", reason: "" }));

  it("finds an ask that never came to an end", async () => {
    const state = await simulated();
    const open = question("ask-1", null);
    expect(await brokenBy((world) => checkQuestions(world, { state }, [open]))).toMatchObject({ law: "settles" });
  });

  it("finds an ask that was refused, and is answered all the same", async () => {
    const state = await simulated();
    const unheard = refused("nobody heard of it");
    expect(await brokenBy((world) => checkQuestions(world, { state }, [unheard]))).toBeNull();
    const answered = refused("ask-1");
    expect(await brokenBy((world) => checkQuestions(world, { state }, [answered]))).toMatchObject({ law: "R3" });
  });
});

it("checkToolCall finds a tool that runs without its approval", async () => {
  const script: Script = {
    actions: [{ type: "ask", input: "Post it." }],
    reply: ({ step }) => (step === 1 ? toolCalls([{ name: "post", arguments: { about: "it" } }]) : reply("Done.")),
  };
  const simulating = simulate({ seed: 1, script, faults: "none", createHost: withoutApprovals });
  await expect(simulating).rejects.toThrow(
    /^law R1 is broken: post \(simulated\/1\.1\.0#1\) runs, but was not approved/u,
  );
});
